"""Words and numbers as the report page writes them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, isnan

from monitor.drift.records.verdict import Verdict
from monitor.metrics.core.estimate import Estimate
from monitor.report.columns import Styles
from monitor.words.numbers import odds, percent, short_percent
from monitor.words.verdict import WITHHELD

SMALL = 0.01  # ratios below are shown with two digits that count
NONE = "\u2013"  # what a table shows for a number that is not known


@dataclass(frozen=True)
class StateWords:
    """How a state is shown: in a table, as a heading, and by a sign that needs no colour.

    The rank orders states from the worst (0) to the best.
    """

    word: str
    title: str
    sign: str
    rank: int


STATES: Mapping[str, StateWords] = {
    "calibration_drift": StateWords("calibration drift", "Calibration drift", "\u25b2", 0),
    "data_error": StateWords("data error", "The logs failed a check", "\u2715", 1),
    "unreadable": StateWords("unreadable", "The results cannot be read", "?", 2),
    "undecided": StateWords("undecided", "A drift that may be over", "\u25b3", 3),
    "labels_lost": StateWords("labels lost", "Positive outcomes seem to be lost", "\u25bd", 4),
    "labels_added": StateWords("labels added", "Outcomes seem to be added", "\u25bd", 4),
    "level_drift": StateWords("level drift", "The level drifted", "\u25c6", 5),
    "improved": StateWords("improved", "Changed for the better", "\u25b3", 5),
    "not_comparable": StateWords(
        "not comparable", "Read otherwise than its reference", "\u2260", 6
    ),
    "reference_changed": StateWords(
        "reference changed", "The reference itself changed", "\u25c7", 5
    ),
    "prior_shift": StateWords("prior shift", "The prior moved", "\u25cf", 6),
    "acknowledged": StateWords("acknowledged", "A known drift", "\u25a0", 7),
    "ok": StateWords("ok", "No drift found", "\u2713", 8),
    "insufficient_data": StateWords("not judged", "Not judged", "\u25cb", 9),
    "": StateWords("no result", "No result", "\u00b7", 10),
}


def evidence(verdict: Verdict | None) -> str:
    """Write the evidence that a day reached, or that it is withheld."""
    if verdict is None or not verdict.compared:
        return NONE
    return WITHHELD if verdict.reached is None else odds(verdict.reached)


def signed(value: float) -> str:
    """Write a number with its sign and two digits.

    Examples
    --------
    >>> signed(0.618), signed(-0.2)
    ('+0.62', '\u22120.20')
    """
    return minus(f"{value:+z.2f}")


STYLES: Styles = {"slope": ".2f", "prior shift": lambda shift: signed(shift.value)}  # of a verdict


def minus(text: str) -> str:
    """Replace hyphens before digits by minus signs, as wide as a plus."""
    return text.replace("-", "\u2212")


def share(ratio: float | None) -> str:
    """Write a ratio as a percentage: one digit, or two that count where it is small.

    Examples
    --------
    >>> share(0.2279), share(0.00123), share(None)
    ('22.8 %', '0.12 %', '\u2013')
    """
    if ratio is None or isnan(ratio):
        return NONE
    return percent(ratio) if ratio >= SMALL or ratio == 0.0 else short_percent(ratio, 2)


def share_of(estimate: Estimate) -> str:
    """Write the value of an estimate as `share` does."""
    return share(estimate.value)


def interval(estimate: Estimate, form: str = "z.2f interval") -> str:
    """Write the interval of an estimate; empty if it has none.

    Examples
    --------
    >>> interval(Estimate(0.46, 0.387, 0.541))
    '95 % 0.39 to 0.54'
    """
    return minus(f"{estimate:{form}}") if isfinite(estimate.low) else ""
