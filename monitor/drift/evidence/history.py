"""What a stream has shown so far: the last days one by one, and the weeks before them. Pure.

Rule: a history is a fold over days and holds at most a year, so its size does not grow.
"""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import TypeVar

import numpy as np

from monitor.drift.curve.reference import Reference
from monitor.drift.curve.regions import Regions
from monitor.drift.curve.variance import WEEK, between_week_variance, sums_of_weeks
from monitor.drift.evidence.directions import LONG_RUN
from monitor.drift.records.day_evidence import DayEvidence
from monitor.drift.records.detector import SUMS, WIDTHS, Detector, History, Span
from monitor.metrics.core.grid import Floats, Ints, Singles

WEEKS_APART = 4  # weeks whose days are kept one by one
MOST_WEEKS = 52
REMEMBERED = timedelta(weeks=MOST_WEEKS)
Sums = TypeVar("Sums", Floats, Singles)
FAR_APART = 10_000  # weeks: those of the reference neighbour no others


def new_history() -> History:
    """Begin without days."""
    none = np.zeros(0, np.int64)
    return History(none, none, *(np.zeros((0, width), np.float32) for width in WIDTHS))


def remember(history: History, day: date, evidence: DayEvidence) -> History:
    """Add a day; merge the days of weeks that are over for long, and forget weeks of a year ago."""
    both = ((getattr(history, name), getattr(evidence, name)) for name in SUMS)
    sums = (np.vstack([before, now.astype(np.float32)]) for before, now in both)
    longer = History(np.append(history.firsts, day.toordinal()), np.append(history.days, 1), *sums)
    weeks, this = weeks_of(longer.firsts), week_of(day)
    old = weeks <= this - WEEKS_APART
    if not np.any(old[1:] & (weeks[1:] == weeks[:-1])) and weeks[0] > this - MOST_WEEKS:
        return longer
    # A row begins where a week does, or is a day of one of the last weeks.
    begins = np.append(True, ~old[1:] | (weeks[1:] != weeks[:-1]))
    starts = np.nonzero(begins)[0]
    firsts, *others = vars(longer).values()
    merged = History(firsts[starts], *(np.add.reduceat(of, starts, axis=0) for of in others))
    return _rows(merged, int(np.searchsorted(weeks_of(merged.firsts), this - MOST_WEEKS + 1)))


def week_of(day: date) -> int:
    """Give the number of the week of a day, from Monday to Sunday."""
    return (day.toordinal() - 1) // WEEK


def learned_day_variances(
    reference: Reference, history: History, day: date, drifted: Iterable[Span] = ()
) -> Floats:
    """Find the between-day variances from the reference and from all weeks before a day's.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    history : History
        Of the days before.
    day : date
        Whose week is not looked at, so that the bet on it is fair.
    drifted : iterable of Span
        Days of drifts that were found. Their weeks are not looked at either: a drift that came and
        went would count as what is usual, and hide the next one.

    Returns
    -------
    ndarray of shape (4,)
        The reference's, and seven days' share of what the days of a week have in common.

    Notes
    -----
    With v the variance of `between_week_variance`, a day gets ``2 * 7 v``. More would hide lasting
    changes in streams whose slope wanders a lot; see docs/drift.md.
    """
    weeks = weeks_of(history.firsts)
    usual = weeks < week_of(day)
    for span in drifted:
        usual &= (weeks < week_of(span.first)) | (weeks > week_of(span.last))
    past = weeks[usual], history.scores[usual], history.informations[usual]
    return with_weeks(reference, past, reference.judge_every)


def with_weeks(
    own: Reference | Regions, past: tuple[Ints, Singles, Singles], judge_every: int = 1
) -> Floats:
    """Add what the days of a week have in common to the between-day variances of a reference.

    Parameters
    ----------
    own : Reference or Regions
        What it says of its own days.
    past : tuple of ndarray
        The weeks since, rising, with their scores and informations.
    judge_every : int
        Number of days that are judged together.
    """
    weeks = np.arange(len(own.scores)) * judge_every // WEEK - FAR_APART
    numbers, scores, informations = sums_of_weeks(
        np.concatenate([weeks, past[0]]),
        np.concatenate([own.scores, past[1]]),
        np.concatenate([own.informations, past[2]]),
    )
    between = between_week_variance(numbers, scores, informations, own.day_variances)
    return np.asarray(own.day_variances + LONG_RUN * WEEK * between)


def variances_before(reference: Reference, detector: Detector, first: date) -> Floats:
    """Find the between-day variances that were known before a drift began.

    Parameters
    ----------
    reference : Reference
        Of the stream, as its days are judged.
    detector : Detector
        Whose open incident is the drift.
    first : date
        The first day of the drift, if no incident is open.

    Returns
    -------
    ndarray of shape (4,)
        Those of this week where the history begins after the drift.

    Notes
    -----
    A change bends its own week more than others, so it would make itself look like chance.
    """
    start, history = (detector.incident.started if detector.incident else first), detector.history
    if not history.firsts.size or start.toordinal() < history.firsts[0]:
        return detector.jitters
    return learned_day_variances(reference, history, start, detector.drifted)


def since_counted(history: History, counted: int) -> History:
    """Keep the rows that hold the last days, as many as a detector has counted; at least one."""
    behind = int(np.searchsorted(np.cumsum(history.days[::-1]), max(1, counted)))
    return _rows(history, max(0, history.firsts.size - behind - 1))


def sums_since(
    history: History, first: date, day_variances: Floats
) -> tuple[Floats, Floats, Floats]:
    """Add up scores, informations and slopes of the rows from a day on, over their dispersion."""
    kept = rows_since(history, first)
    phi = 1.0 + day_variances * kept.informations / kept.days[:, None]
    scores, informations = ((of / phi).sum(axis=0) for of in (kept.scores, kept.informations))
    return scores, informations, kept.slopes.sum(axis=0)


def rows_since(history: History, first: date) -> History:
    """Keep the rows from a day on."""
    return _rows(history, int(np.searchsorted(history.firsts, first.toordinal())))


def week_slopes(history: History, day: date) -> Floats:
    """Add up the slopes of the week up to a day; spans of days as a whole."""
    week = rows_since(history, day - timedelta(days=WEEK - 1))
    return np.asarray(week.slopes.astype(np.float64).sum(axis=0))


def weeks_of(ordinals: Ints) -> Ints:
    """Give the number of the week of each day, given by its ordinal."""
    return np.asarray((ordinals - 1) // WEEK)


def with_week(weeks: Ints, sums: Sums, week: int, now: Sums) -> tuple[Ints, Sums]:
    """Add what a day says to the sums of its week: the last one, or one that begins.

    Parameters
    ----------
    weeks : ndarray of shape (w,)
        Numbers of the weeks before, rising.
    sums : ndarray of shape (w, ...)
        What each of them said.
    week : int
        The week of the day.
    now : ndarray of shape (...)
        What the day says.

    Examples
    --------
    >>> weeks, sums = with_week(np.array([7]), np.array([1.0]), 7, np.array(2.0))
    >>> with_week(weeks, sums, 9, np.array(0.5))
    (array([7, 9]), array([3. , 0.5]))
    """
    if weeks.size and weeks[-1] == week:
        return weeks, np.concatenate([sums[:-1], (sums[-1] + now)[np.newaxis]])
    return np.append(weeks, week), np.concatenate([sums, now[np.newaxis]])


def _rows(history: History, first: int) -> History:
    return History(*(values[first:] for values in vars(history).values()))
