"""The PromQL of the dashboards.

Rule 1: a result is made once a day, and Prometheus forgets a value after five minutes, so every
query looks back ``LOOK_BACK``: a day, and two hours for a run that is late.
Rule 2: every query aggregates instance and job away, so that a restarted exporter, or a second
one, doubles no line.
"""

LOOK_BACK = "26h"

# What is selected of a gauge: models, their verdicts, their windows of complete outcomes.
MODELS = 'model=~"$model"'
JUDGED_MODELS = f'{MODELS}, segment="$segment"'
WINDOWS_OF_MODELS = f'{JUDGED_MODELS}, window="$window", maturity="final"'
MODEL = 'model="$model"'
JUDGED = f'{MODEL}, segment="$segment"'
WINDOW = f'{JUDGED}, window="$window", maturity="final"'

WHOLE = "all"  # the segment that is the sum of the others

# The states of the verdict, the most severe last: where two exporters differ, it is shown.
STATES = (
    "ok",
    "prior_shift",
    "level_drift",
    "acknowledged",
    "calibration_drift",
    "insufficient_data",
    "data_error",
)


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


def verdict(selector: str) -> str:
    """Ask for the verdict of each model, as its place among STATES."""
    held = []
    for place, state in enumerate(STATES):
        asked = recent("verdict", f'{selector}, state="{state}"')
        held.append(f"{place} * ({asked} == 1)")
    return f"max by (model) ({' or '.join(held)})"


def evidence_share(selector: str) -> str:
    """Ask for the strongest evidence of each model, as a share of its limit."""
    strongest, limit = (newest(g, selector) for g in ("evidence_log10", "evidence_limit_log10"))
    return f"{strongest} / {limit}"


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
    """Turn a Unix time into the one that Grafana's dates want."""
    return f"1000 * {query}"
