"""The PromQL of the dashboards.

Rule 1: a result is made once a day, and Prometheus forgets a value after five minutes, so every
query looks back ``LOOK_BACK``: a day, and two hours for a run that is late.
Rule 2: every query aggregates instance and job away, so that a restarted exporter, or a second
one, doubles no line.
"""

from collections.abc import Mapping

from monitor.base.segment_names import WHOLE
from monitor.drift.records.verdict import STATES

LOOK_BACK = "26h"
BUDGET_DAYS = 90  # of which a share may be spent in drift

# What is selected of a gauge: models, their verdicts, their windows of complete outcomes.
MODELS = 'model=~"$model"'
JUDGED_MODELS = f'{MODELS}, segment="$segment"'
WINDOWS_OF_MODELS = f'{JUDGED_MODELS}, window="$window", maturity="final"'
MODEL = 'model="$model"'
JUDGED = f'{MODEL}, segment="$segment"'
WINDOW = f'{JUDGED}, window="$window", maturity="final"'

DAY = 86_400  # seconds
EXPECTED = "expected, before outcomes"  # what a forecast of the prevalence is called
FITS = -3  # log10 p: below it a moved base rate alone does not explain the scores

ONE_DAY = "1d"  # the window that alerts compare with longer ones


def recent(gauge: str, selector: str) -> str:
    """Ask for the newest value of each series of a gauge, be it a minute or a day old."""
    return f"last_over_time(calibration_{gauge}{{{selector}}}[{LOOK_BACK}])"


def newest(gauge: str, selector: str, by: str = "model") -> str:
    """Ask for the newest value of a gauge, once for each value of the labels."""
    return f"max by ({by}) ({recent(gauge, selector)})"


def interval(gauge: str, selector: str, by: str, name: str) -> dict[str, str]:
    """Ask for a gauge and both ends of its interval, by what the legend calls them."""
    return {
        f"{name}{end.replace('_', ' ')}": newest(gauge + end, selector, by)
        for end in ("", "_low", "_high")
    }


def while_it_fits(query: str, selector: str) -> str:
    """Keep a forecast of the prevalence while a moved base rate alone explains the scores."""
    fit = newest("expected_prevalence_fit_log10_p", selector)
    return f"{query} and on (model) {fit} >= {FITS}"


def verdict(selector: str) -> str:
    """Ask for the verdict of each model, as its place among STATES."""
    held = []
    for place, state in enumerate(STATES):
        asked = recent("verdict", f'{selector}, state="{state}"')
        held.append(f"{place} * ({asked} == 1)")
    return f"max by (model) ({' or '.join(held)})"


def evidence_share(selector: str) -> str:
    """Ask for the evidence of each model as a share of its limit.

    While an incident is open, that with which it was opened: what gathers begins again from 0.
    """
    strongest, found = (newest(g, selector) for g in ("evidence_log10", "drift_evidence_log10"))
    limit = newest("evidence_limit_log10", selector)
    opened = while_open(f"clamp_min({found} / {limit}, 1)", selector)
    return f"{opened} or on (model) {strongest} / {limit}"


def drift_share(selector: str) -> str:
    """Ask which share of the last 90 days each model was in calibration drift."""
    drifting = f'{selector}, state="calibration_drift"'
    return f"avg_over_time(({newest('verdict', drifting)})[{BUDGET_DAYS}d:6h])"


def run_share(selector: str) -> str:
    """Ask how much of the allowed time has passed since the last success of each model."""
    age = f"(time() - {newest('last_success_timestamp_seconds', selector)})"
    return f"{age} / {newest('run_overdue_limit_seconds', selector)}"


def top_ten(query: str, rank: str | None = None, *, pick: str = "topk") -> str:
    """Keep the ten models that rank highest at the end of the time range."""
    return f"({query}) and on (model) {pick}(10, {at_end(rank or query)})"


def at_end(query: str) -> str:
    """Ask for what holds at the end of the time range, at each of its moments."""
    return query.replace(f"[{LOOK_BACK}]", f"[{LOOK_BACK}] @ end()")


def as_label(query: str, label: str) -> str:
    """Turn the value of each model into a label, for sentences: a legend can hold only labels."""
    return f'count_values by (model) ("{label}", {query})'


def with_labels(query: str, labels: Mapping[str, str]) -> str:
    """Give what a query finds of each model the values of other queries as labels."""
    parts = [f"on (model) group_left ({name}) {as_label(q, name)}" for name, q in labels.items()]
    return " * ".join([f"({query})", *parts])


def two_digits(query: str, label: str) -> str:
    """Put a 0 before a label of one digit."""
    return f'label_replace({query}, "{label}", "0$1", "{label}", "(.)")'


def segments_drifting(selector: str) -> str:
    """Count the segments of each model with an open incident, be it none."""
    of_segments = f'{selector}, segment!="{WHOLE}"'
    count = f"sum by (model) ({newest('drift_kind', of_segments, 'model, segment')})"
    return f"{count} or on (model) 0 * {newest('verdict_timestamp_seconds', selector)}"


def while_open(query: str, selector: str) -> str:
    """Keep what a query says of models with an open incident, and forget it once it closes."""
    return f"{query} and on (model) {newest('drift_kind', selector)} == 1"


def or_words(query: str, label: str, words: str) -> str:
    """Say words where a query finds nothing: a panel of names has no other way to."""
    return f'{query} or on () label_replace(vector(0), "{label}", "{words}", "", "")'


def milliseconds(query: str) -> str:
    """Turn a Unix time into one of Grafana, for a gauge of dates: shown in UTC it is the date."""
    return f"1000 * {query}"
