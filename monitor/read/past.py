"""When each verdict and window of a model was the newest: from when it was known until the next.

Rule: as in `monitor.read.standing`, a verdict stands until the next one that is final or says that
the logs failed a check. A window stands until the next final one of the same segment and length, or
until a day that is final as a whole no longer has the segment or the length.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import takewhile
from math import inf
from typing import Generic, TypeVar

from monitor.drift.records.verdict import Verdict
from monitor.evaluation.evaluation import Evaluation
from monitor.read.results import Results
from monitor.read.standing import shown_of

T = TypeVar("T", Verdict, Evaluation)


@dataclass(frozen=True)
class Stood(Generic[T]):
    """What was the newest of a model for a while.

    Attributes
    ----------
    day : date
        Whose results they are.
    begin, end : float
        From when until before when, Unix time in seconds; inf for what still stands.
    records : list of Verdict or of Evaluation
        Those of the day that stood for this time.
    """

    day: date
    begin: float
    end: float
    records: list[T]


def verdicts_that_stood(results: Results, first: date) -> Iterator[Stood[Verdict]]:
    """Go back from the newest day to the first one, and give the verdicts that stood."""
    end = inf
    for day in takewhile(lambda day: day >= first, results.newest_first("verdicts")):
        if shown := shown_of(results.verdicts(day)):
            begin = _known_from(shown)
            yield Stood(day, begin, end, shown)
            end = min(begin, end)


def windows_that_stood(
    results: Results,
    first: date,
    chosen: Callable[[Sequence[Evaluation]], Sequence[Evaluation]],
) -> Iterator[Stood[Evaluation]]:
    """Go back from the newest day to the first one, and give the final windows that stood.

    Parameters
    ----------
    results, first : Results, date
        Of which model, and how far back.
    chosen : callable
        Takes those evaluations of a day that count; the others are as if they were not stored.
    """
    rest = inf
    ends: dict[tuple[str, int], float] = {}  # of windows of days that are final in part
    for day in takewhile(lambda day: day >= first, results.newest_first("evaluations")):
        evaluations = chosen(results.evaluations(day))
        finals = [e for e in evaluations if e.final]
        if not finals:
            continue
        begin = _known_from(finals)
        groups = defaultdict(list)
        for e in finals:
            groups[ends.get((e.segment, e.window_days), rest)].append(e)
        for end, group in groups.items():
            yield Stood(day, begin, end, group)
            ends |= {(e.segment, e.window_days): min(begin, end) for e in group}
        if len(finals) == len(evaluations):
            rest = min(rest, *ends.values())
            ends.clear()


def _known_from(records: Iterable[Verdict | Evaluation]) -> float:
    return max(record.known_at for record in records).timestamp()
