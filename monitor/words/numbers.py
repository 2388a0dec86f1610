"""The style of numbers that an `Estimate` does not write itself. Pure."""

from math import isnan

from monitor.drift.records.day_evidence import SLOPES
from monitor.metrics.core.estimate import Estimate

LONG = 6.0  # log10: a number too long to be read
WHOLE = 100.0  # an amount without a fraction
TO_ONE = "\u00a0to\u00a01"  # stays on one line


def times(log10: float) -> str:
    """Write a ratio of likelihoods with two digits, or as a power of ten if it is long.

    Examples
    --------
    >>> times(3.04), times(12.3), times(0.0)
    ('1,100', '10^12', '1')
    """
    return f"10^{log10:.0f}" if log10 >= LONG else f"{float(f'{10**log10:.2g}'):,g}"


def about(slope: Estimate) -> str:
    """Write a slope, which is only known to be beyond the ends of the range that is remembered.

    Examples
    --------
    >>> from math import nan
    >>> about(Estimate.normal(0.81, 0.026)), about(Estimate(0.25, nan, nan))
    ('about 0.81, 95 % 0.76 to 0.86', 'at most 0.25')
    """
    if isnan(slope.low) and slope.value in (SLOPES[0], SLOPES[-1]):
        return f"at {'most' if slope.value < 1.0 else 'least'} {slope.value:.2f}"
    return f"about {slope:.2f plain}"


def odds(log10: float) -> str:
    r"""Write evidence as odds.

    Examples
    --------
    >>> odds(3.04)
    '1,100\xa0to\xa01'
    """
    return f"{times(log10)}{TO_ONE}"


def amount(value: float) -> str:
    """Write an amount of any size: whole from 100 on, and with three digits below.

    Examples
    --------
    >>> amount(12345.6), amount(-0.0123456), amount(0.0000012)
    ('12,346', '-0.0123', '1.2e-06')
    """
    return f"{value:,.0f}" if abs(value) >= WHOLE else f"{value:z.3g}"


def percent(ratio: float, digits: int = 1) -> str:
    """Write a ratio with so many digits behind the point; - for nan.

    Examples
    --------
    >>> percent(0.4149), percent(0.4149, 0)
    ('41.5 %', '41 %')
    """
    return "-" if isnan(ratio) else f"{100 * ratio:.{digits}f} %"


def short_percent(ratio: float, digits: int) -> str:
    """Write a ratio with so many digits that count.

    Examples
    --------
    >>> short_percent(0.00123, 2), short_percent(0.98943, 3)
    ('0.12 %', '98.9 %')
    """
    return f"{100 * ratio:.{digits}g} %"
