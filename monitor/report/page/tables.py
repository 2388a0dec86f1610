"""The tables of a report page: incidents, rejected rows, waiting days, sensitivity. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite, isnan

from monitor.base.segment_names import WHOLE
from monitor.drift.records.places import Place, name_of
from monitor.drift.records.verdict import WEEK, Verdict
from monitor.evaluation.evaluation import Evaluation
from monitor.read.incidents import IncidentSummary
from monitor.read.value_incidents import PastValueIncident
from monitor.report.incidents import OF_VALUES, closing, described, value_row
from monitor.report.page.content import DayOnPage, Row, Table
from monitor.report.page.words import NONE, share
from monitor.report.verdicts import chance
from monitor.words.numbers import odds
from monitor.words.where import new_values, values_not_shown

INCIDENTS = ("segment", "found on", "since", "90 %", "scores", "evidence", "closed on", "because")
WAITING = ("day", "predictions", "known", "expected", "95 %", "fit", "rates kept")
SENSITIVITY = (
    "segment",
    "tolerated",
    "looked for",
    "rarer outcome a day",
    "days to find a slope of 0.8",
    "days to find a slope of 0.7",
)
WHERE = (
    "value",
    "compared with its reference",
    "evidence",
    "slope, 1 as before",
    "share of the error",
    "outcomes",
)
MOST_PLACES = 20  # values in the table: those that are most off


def incident_rows(by_segment: Mapping[str, Sequence[IncidentSummary]]) -> Table:
    """List the incidents of the whole and of its segments, the newest first."""
    ordered = [(name, e) for name, of_segment in by_segment.items() for e in of_segment]
    ordered.sort(key=lambda of: (of[1].opened, of[0] == WHOLE), reverse=True)
    return Table(INCIDENTS, [_incident(name, e) for name, e in ordered])


def _incident(name: str, e: IncidentSummary) -> Row:
    return (
        name,
        f"{e.opened}",
        f"{e.started}",
        f"{e.start_low} to {e.start_high}",
        described(e),
        odds(e.evidence),
        closing(e),
        e.ended or ("another drift" if e.closed else NONE),
    )


def value_rows(verdicts: Sequence[Verdict], holders: Mapping[str, str]) -> Table:
    """List the values that drift by themselves, the clearest first, and below who has each."""
    watched = next((v.values for v in verdicts if v.values), None)
    ranked = watched.ranked if watched else ()
    notes = [values_not_shown(len(ranked) - MOST_PLACES)]
    names = [name_of(each.name) for each in ranked[:MOST_PLACES]]
    notes += [f"Who has {name}? {holders[name]}" for name in names if name in holders]
    rows = [value_row(PastValueIncident(each, None)) for each in ranked[:MOST_PLACES]]
    cells = [tuple(cell or NONE for cell in row) for row in rows]
    return Table(OF_VALUES, cells, [*filter(None, notes)])


def rejected_rows(days: Sequence[DayOnPage], chosen: int) -> Table:
    """Count rows that were left out, by check: on the day, over a week and over all days."""
    columns = ("check", f"{days[chosen].day}", f"{WEEK} days", f"{len(days)} days")
    spans = (days[chosen : chosen + 1], days[max(0, chosen - WEEK + 1) : chosen + 1], days)
    sums = [
        sum((Counter(e.rejected) for d in span if (e := d.whole.alone)), Counter[str]())
        for span in spans
    ]
    checks = sorted(check for check, rows in sums[-1].items() if rows)
    return Table(columns, [(check, *(f"{s[check]:,}" for s in sums)) for check in checks])


def waiting_rows(waiting: Sequence[Evaluation]) -> Table:
    """List the days after the judged one, with the prevalence to expect from their scores."""
    return Table(WAITING, [_waiting(e) for e in waiting])


def _waiting(e: Evaluation) -> Row:
    cells = (f"{e.day}", f"{e.predicted:,}", share(e.coverage))
    expected = e.expected
    if not expected:
        return (*cells, *[NONE] * 4)
    span = NONE if isnan(expected.low) else expected.estimate.written(share, "range")
    return (
        *cells,
        share(expected.prevalence),
        span,
        NONE if isnan(expected.fit_log10_p) else chance(expected.fit_log10_p),
        share(expected.unshifted),
    )


def sensitivity_rows(verdicts: Sequence[Verdict]) -> Table:
    """Say of each stream which changes of the slope its detector finds, and how fast."""
    return Table(
        SENSITIVITY,
        [
            (
                v.segment,
                f"below {detectable.tolerated:.2f}",
                f"above {detectable.found:.2f}",
                f"{float(f'{detectable.rarer:.3g}'):,g}",
                _days(detectable.days),
                _days(detectable.days_strong),
            )
            for v in verdicts
            if (detectable := v.detectable)
        ],
    )


def where_rows(verdicts: Sequence[Verdict]) -> Table:
    """List the values of columns where the open drift sits: those that are most off."""
    where = next((v.where for v in verdicts if v.where), None)
    if where is None:
        return Table(WHERE, ())
    few = where.worst(MOST_PLACES)
    notes = [values_not_shown(few.left_out), new_values(where, MOST_PLACES)]
    return Table(WHERE, [_place(place) for place in few.places], [*filter(None, notes)])


def _place(place: Place) -> Row:
    slope = place.slope
    return (
        name_of(place),
        "off" if place.flagged else "as before",
        odds(place.evidence),
        f"{slope:.2f brief}" if slope else NONE,
        share(place.share),
        f"{place.rows:,}",
    )


def _days(days: float) -> str:
    return f"{days:,.0f}" if isfinite(days) else "never"
