"""What stands of a model on a day: its newest verdicts and windows, and the days that wait.

Rule 1: a verdict stands until the next one that is final or says that the logs failed a check.
Rule 2: an evaluation that is newer than the verdicts waits for its own, so what is shown together
belongs together.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from monitor.base.errors import DataError
from monitor.base.segment_names import WHOLE
from monitor.drift.records.detector import Incident
from monitor.drift.records.facts import OneDay
from monitor.drift.records.verdict import WEEK, Brief, Verdict
from monitor.evaluation.evaluation import Evaluation, MapGain
from monitor.read.results import Results

RECENT = 31  # verdicts whose pauses say how often there is one


@dataclass(frozen=True)
class Standing:
    """What is known of one model and segment on a day.

    Attributes
    ----------
    verdict : Verdict or None
        Of the newest day that was judged, or whose logs failed a check; else of the newest day.
    alone : Evaluation or None
        Of the verdict's day alone; None if its logs failed a check.
    week : Evaluation or None
        The newest final window, of the length nearest to a week.
    map_gain : MapGain or None
        What the calibration map in the shadow gained up to the newest final day.
    waiting : sequence of Evaluation
        Of the days after the newest final one, each alone, rising: outcomes are still arriving.
    damage : DataError or None
        Why nothing else is known: a file cannot be read.
    """

    verdict: Verdict | None = None
    alone: Evaluation | None = None
    week: Evaluation | None = None
    map_gain: MapGain | None = None
    waiting: Sequence[Evaluation] = ()
    damage: DataError | None = None

    @property
    def state(self) -> str:
        """State of the verdict; empty without one, and `unreadable` after damage."""
        return "unreadable" if self.damage else self.verdict.state if self.verdict else ""

    @property
    def incident(self) -> Incident | None:
        """The drift that is open."""
        return self.verdict.incident if self.verdict else None


@dataclass(frozen=True)
class Newest:
    """What stands of all segments of a model.

    Attributes
    ----------
    verdicts : sequence of Verdict
        Of the newest day that was judged, or whose logs failed a check; else of the newest day.
    evaluations : sequence of Evaluation
        The newest final one of each segment and window, and the newest of later provisional ones.
    waiting : sequence of Evaluation
        Every provisional window of a single day that is later than the newest final day, rising.
    """

    verdicts: Sequence[Verdict]
    evaluations: Sequence[Evaluation]
    waiting: Sequence[Evaluation]

    @property
    def judged(self) -> Sequence[Verdict]:
        """The verdicts, if their day was judged or its logs failed a check."""
        return shown_of(self.verdicts)

    def of(self, segment: str, window: int) -> Standing:
        """Give what stands of a segment, with windows of this length."""
        verdict = next((v for v in self.verdicts if v.segment == segment), None)
        final = {e.window_days: e for e in self.evaluations if e.final and e.segment == segment}
        waiting = [e for e in self.waiting if e.segment == segment]
        of_days = (*waiting, *filter(None, [final.get(1)]))
        alone = next((e for e in of_days if verdict and e.day == verdict.day), None)
        return _together(verdict, alone, final, window, waiting)


def day_that_contradicts(results: Results, verdict: Verdict) -> tuple[date, OneDay] | None:
    """Find the newest day of the week before a verdict that alone contradicts the reference."""
    week = [d for d in results.days("verdicts") if 0 < (verdict.day - d).days < WEEK]
    for day in reversed(week):
        for v in results.verdicts(day):
            if v.segment == verdict.segment and v.facts.one_day:
                return day, v.facts.one_day
    return None


def is_old(days: Sequence[date], newest: date, today: date, settled_after: int) -> bool:
    """Say whether a verdict is so old that later days must have settled without one.

    It is where a week more has passed than outcomes are waited for and than lay between two of the
    last verdicts, because some models are judged once in a month.

    Examples
    --------
    >>> daily = [date(2026, 3, day) for day in range(1, 11)]
    >>> [is_old(daily, daily[-1], date(2026, 3, day), 2) for day in (20, 21)]
    [False, True]
    >>> monthly = [date(2026, month, 1) for month in (1, 2, 3)]
    >>> is_old(monthly, monthly[-1], date(2026, 4, 2), 0)
    False
    """
    pauses = [(later - day).days for day, later in pairwise(days[-RECENT:])]
    return (today - newest).days > settled_after + max(pauses, default=1) + WEEK


def nearest_to_week(windows: Iterable[int]) -> int:
    """Choose the longest window of at most a week."""
    return max(length for length in windows if length <= WEEK)


def standing(results: Results, segment: str, window: int, last: date | None = None) -> Standing:
    """Read what stands of a segment on a day, by default the newest; damage is part of it."""
    return standings(results, [segment], window, last)[segment]


def standings(
    results: Results, segments: Sequence[str], window: int, last: date | None = None
) -> dict[str, Standing]:
    """Read what stands of several segments on a day, by default the newest, at once."""
    try:
        all_of_them = newest(results, last)
    except DataError as error:
        return dict.fromkeys(segments, Standing(damage=error))
    return {segment: all_of_them.of(segment, window) for segment in segments}


def newest(results: Results, last: date | None = None) -> Newest:
    """Read what stands of a model on a day, by default the newest.

    Reads verdicts first, because a run that is under way writes them last.

    Raises
    ------
    DataError
        If a file cannot be read.
    """
    verdicts = newest_verdicts(results, last)
    judged = shown_of(verdicts)
    newest_of: dict[tuple[str, int, bool], Evaluation] = {}
    waiting = list[Evaluation]()
    for day in results.newest_first("evaluations", last):
        evaluations = results.evaluations(day)
        if _await_their_verdict(evaluations, judged):
            continue
        for e in evaluations:
            if (e.segment, e.window_days, True) not in newest_of:
                newest_of.setdefault((e.segment, e.window_days, e.final), e)
        if all(e.final for e in evaluations):
            break
        waiting += [e for e in reversed(evaluations) if e.window_days == 1 and not e.final]
    in_order = sorted(newest_of.values(), key=lambda e: (e.segment, e.window_days, e.final))
    return Newest(verdicts, in_order, waiting[::-1])


def newest_verdicts(results: Results, last: date | None = None) -> list[Verdict]:
    """Read the verdicts of the newest day that was judged or failed, else of the newest."""
    first_seen = list[Verdict]()
    for day in results.newest_first("verdicts", last):
        verdicts = results.verdicts(day)
        if shown_of(verdicts):
            return verdicts
        first_seen = first_seen or verdicts
    return first_seen


def shown_of(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Take the verdicts that replace those before them."""
    return [verdict for verdict in verdicts if verdict.shown]


def day_by_day(
    results: Results, days: Sequence[date], window: int
) -> Iterator[dict[str, Standing]]:
    """Read what is known by each day itself, of each segment with a verdict or predictions.

    The week is the window of this length that ends on the day, final or not.
    """
    judged, evaluated = ({*results.days(kind)} for kind in ("verdicts", "evaluations"))
    for day in days:
        verdicts = results.verdicts(day) if day in judged else ()
        evaluations = results.evaluations(day) if day in evaluated else ()
        yield _of_day(verdicts, evaluations, window)


def briefly_day_by_day(
    results: Results, days: Sequence[date], segment: str
) -> Iterator[tuple[Brief | None, Evaluation | None]]:
    """Read as `day_by_day` does what lines draw of a segment: its verdict, and the day alone."""
    judged, evaluated = ({*results.days(kind)} for kind in ("verdicts", "evaluations"))
    for day in days:
        briefs = results.briefs(day) if day in judged else ()
        evaluations = results.evaluations(day) if day in evaluated else ()
        yield (
            next((brief for brief in briefs if brief.segment == segment), None),
            next((e for e in evaluations if e.segment == segment and e.window_days == 1), None),
        )


def _of_day(
    verdicts: Sequence[Verdict], evaluations: Sequence[Evaluation], window: int
) -> dict[str, Standing]:
    by_segment = {v.segment: v for v in verdicts}
    windows = defaultdict[str, dict[int, Evaluation]](dict)
    for e in evaluations:
        windows[e.segment][e.window_days] = e
    weeks = {e.segment: e for e in evaluations if e.window_days == window}
    return {
        name: _together(by_segment.get(name), windows[name].get(1), windows[name], window)
        for name in dict.fromkeys((*weeks, *by_segment))
        if name in by_segment or weeks[name].predicted or name == WHOLE
    }


def _together(
    verdict: Verdict | None,
    alone: Evaluation | None,
    by_length: Mapping[int, Evaluation],
    window: int,
    waiting: Sequence[Evaluation] = (),
) -> Standing:
    single = by_length.get(1)
    gain = single.map_gain if single else None
    return Standing(verdict, alone, by_length.get(window), gain, waiting)


def _await_their_verdict(evaluations: Sequence[Evaluation], judged: Sequence[Verdict]) -> bool:
    """Say whether the verdicts are of an earlier day, or of fewer outcomes of the same day."""
    if not judged:
        return False
    day, known_at = judged[0].day, judged[0].known_at
    return any(
        e.final and (e.day > day or (e.day == day and e.window_days == 1 and e.known_at > known_at))
        for e in evaluations
    )
