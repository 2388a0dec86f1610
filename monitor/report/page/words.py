"""Words and numbers as the report page writes them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, isnan

from monitor.drift.verdict import Verdict
from monitor.drift.wording import WITHHELD
from monitor.metrics.core.estimate import Estimate

SMALL = 0.01  # ratios below are shown with two digits that count
LONG = 6.0  # log10: evidence that is shown as a power of ten
TO_ONE = "\u00a0to\u00a01"  # stays on one line
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
    "level_drift": StateWords("level drift", "The level drifted", "\u25c6", 3),
    "prior_shift": StateWords("prior shift", "Only the prior moved", "\u25cf", 4),
    "acknowledged": StateWords("acknowledged", "A known drift", "\u25a0", 5),
    "ok": StateWords("ok", "No drift found", "\u2713", 6),
    "insufficient_data": StateWords("not judged", "Not judged", "\u25cb", 7),
    "": StateWords("no result", "No result", "\u00b7", 8),
}


def odds(log10: float) -> str:
    r"""Write evidence as odds with two digits, or as a power of ten if they are long.

    Examples
    --------
    >>> odds(3.04), odds(12.3), odds(0.0)
    ('1,100\xa0to\xa01', '10^12\xa0to\xa01', '1\xa0to\xa01')
    """
    if log10 >= LONG:
        return f"10^{log10:.0f}{TO_ONE}"
    return f"{float(f'{10**log10:.2g}'):,g}{TO_ONE}"


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


def minus(text: str) -> str:
    """Replace hyphens before digits by minus signs, as wide as a plus."""
    return text.replace("-", "\u2212")


def share(ratio: float | None) -> str:
    """Write a ratio as a percentage: one digit, or two that count where it is small.

    Examples
    --------
    >>> share(0.2279), share(0.00123), share(None)
    ('22.8%', '0.12%', '\u2013')
    """
    if ratio is None or isnan(ratio):
        return NONE
    return f"{ratio:.1%}" if ratio >= SMALL or ratio == 0.0 else f"{100 * ratio:.2g}%"


def interval(found: Estimate, form: str = "z.2f") -> str:
    """Write the interval of an estimate; empty if it has none.

    Examples
    --------
    >>> interval(Estimate(0.46, 0.387, 0.541))
    '95 % 0.39 to 0.54'
    """
    if not isfinite(found.low):
        return ""
    return f"95 % {minus(format(found.low, form))} to {minus(format(found.high, form))}"
