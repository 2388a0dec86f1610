"""The axes of diagrams: probabilities, linear or in log-odds, and days."""

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Literal

import numpy as np

from monitor.metrics.core.grid import Floats
from monitor.metrics.core.option_check import check_option
from monitor.metrics.core.special import expit, logit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Scale = Literal["probability", "logit"]
Ends = tuple[float, float]
NEAREST = 1e-6  # to 0 and 1: what is beyond is drawn at the edge of a logit axis
MARGIN = 0.04  # of the range
NEAR = 0.3  # times the range: an end as near to 0 or 1 is moved there
WHOLE_AXIS = 0.6  # a range of probabilities as wide is shown from 0 to 1
FEWEST_TICKS, MOST_TICKS = 3, 6
EPOCH, FEW_DAYS = date(1970, 1, 1), 7
DECADES = (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1)
TICKS = (
    (*DECADES, 0.5, *(1 - p for p in DECADES)),
    (0.02, 0.05, 0.2, 0.3, 0.7, 0.8, 0.95, 0.98),
    (0.002, 0.005, 0.03, 0.15, 0.4, 0.6, 0.85, 0.97, 0.995, 0.998),
)


def limits(values: Floats, scale: Scale) -> Ends:
    """Choose the ends of an axis that shows all values.

    Examples
    --------
    >>> limits(np.array([0.1, 0.9]), "probability"), limits(np.array([]), "probability")
    ((0.0, 1.0), (0.0, 1.0))
    >>> [round(end, 3) for end in limits(np.array([0.001, 0.05]), "probability")]
    [0.0, 0.052]
    """
    check_option("scale", scale, Scale)
    if scale == "logit":
        values = values[(values > NEAREST) & (values < 1 - NEAREST)]
    if not values.size:
        return (0.0, 1.0) if scale == "probability" else (0.001, 0.999)
    low, high = float(values.min()), float(values.max())
    if scale == "logit":
        below, above = float(logit(low)), float(logit(high))
        room = max(MARGIN * (above - below), 0.1)
        return float(expit(below - room)), float(expit(above + room))
    if high - low > WHOLE_AXIS:
        return 0.0, 1.0
    room = max(MARGIN * (high - low), 1e-9)
    return (
        0.0 if low < NEAR * (high - low) else low - room,
        1.0 if 1.0 - high < NEAR * (high - low) else high + room,
    )


def slices(low: float, high: float, number: int, scale: Scale) -> Floats:
    """Cut a range into slices that look equally wide on the axis; shape (number + 1,)."""
    if scale == "probability":
        return np.linspace(low, high, number + 1)
    return np.asarray(expit(np.linspace(logit(low), logit(high), number + 1)))


def show_probabilities(
    axes: "Axes", which: Literal["x", "y"], ends: Ends, scale: Scale, *, most: int = 8
) -> None:
    """Make one axis of a panel one of probabilities, with so many labels in percent at most."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    if scale == "logit":
        axes.set(**{f"{which}scale": "logit"})
        ticks = _logit_ticks(*ends)
        ticks = ticks[:: -(-len(ticks) // most)]
        axis.set_ticks(ticks, labels=[percent(p) for p in ticks])
        axis.set_ticks([], minor=True)
    else:
        axis.set_major_formatter(percent)
        axes.locator_params(axis=which, nbins=min(most, MOST_TICKS))
    axes.set(**{f"{which}lim": ends})


def percent(share: float, _: object = None) -> str:
    """Write a probability for an axis.

    Examples
    --------
    >>> percent(0.001), percent(0.25), percent(0.9999)
    ('0.1 %', '25 %', '99.99 %')
    """
    return f"{100 * share:.6g} %"


def _logit_ticks(low: float, high: float) -> list[float]:
    """Take tens, and more where these are too few."""
    shown: list[float] = []
    for ticks in TICKS:
        shown = sorted([*shown, *(p for p in ticks if low <= p <= high)])
        if len(shown) >= FEWEST_TICKS:
            break
    return shown


def show_days(axes: "Axes", days: Sequence[date]) -> None:
    """Make the horizontal axis one of days."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, DateFormatter, DayLocator

    axes.xaxis_date()
    if not days:
        return
    if (days[-1] - days[0]).days <= FEW_DAYS:
        axes.xaxis.set_major_locator(DayLocator())
        axes.xaxis.set_major_formatter(DateFormatter("%-d %b"))
    else:
        locator = AutoDateLocator(minticks=3, maxticks=8)
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    axes.set_xlim(day_number(days[0]) - 0.5, day_number(days[-1]) + 0.5)


def day_number(day: date) -> float:
    """Give the place of a day on an axis of days, matplotlib's number of it."""
    return float((day - EPOCH).days)


def broken(days: Sequence[date], *values: Floats) -> tuple[Floats, ...]:
    """Put nan between days that do not follow one another, so that lines break there.

    Examples
    --------
    >>> broken([date(1970, 1, 2), date(1970, 1, 4)], np.array([5.0, 6.0]))
    (array([1., 2., 3.]), array([ 5., nan,  6.]))
    """
    numbers = np.array([day_number(day) for day in days])
    gaps = np.flatnonzero(np.diff(numbers) > 1) + 1
    return (
        np.insert(numbers, gaps, numbers[gaps] - 1),
        *(np.insert(np.asarray(v, np.float64), gaps, np.nan) for v in values),
    )
