"""The counts of classes inside the table of a day's summary: parts beside the segments. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from monitor.days.summary import Segment
from monitor.metrics.beyond_binary.class_counts import ClassCounts, Reading, Sums, with_parts
from monitor.metrics.beyond_binary.class_pairs import Pairs
from monitor.metrics.beyond_binary.class_parts import ClassPart
from monitor.metrics.core.coarse import COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Ints
from monitor.metrics.core.tally import Tally

# Names of the first column of the table. In the table of a model with segments or strata they begin
# with `APART`, which no value of a segment has; those of a part with its segment and its stratum.
TOP, CLASS, PAIR, THIRD = "adjusted first choice", "class", "pair", "third pair"
OUTCOMES = "outcomes"  # of a part: rows by class, whose number is the cell
REST = "rest"  # of a part: a class against the rest
APART = "\0"
READINGS = ("raw", "adjusted")
Part = tuple[str, str]
Numbers = Mapping[str, Ints]


def class_parts(counts: ClassCounts) -> Iterator[tuple[Part, Segment]]:
    """List the tallies that are parts of the table; that of the first choices is the whole's."""
    apart = APART if counts.parts else ""
    if counts.adjusted:
        yield (apart + TOP, READINGS[1]), _alone(counts.adjusted.top)
    for name, reading in _readings(counts).items():
        for k, tally in reading.by_class.items():
            yield (f"{apart}{CLASS} {name}", str(k)), _alone(tally)


def _readings(counts: ClassCounts) -> dict[str, Reading]:
    """Name the readings; a log with the highest scores only has one."""
    readings = zip(READINGS, (counts.raw, counts.adjusted), strict=True)
    return {name: reading for name, reading in readings if reading}


def pair_numbers(counts: ClassCounts) -> Iterator[tuple[Part, dict[str, Ints]]]:
    """Lay out the tallies of pairs, which are on the coarse grid, and the outcomes of each part."""
    if not counts.parts:
        yield from _pair_numbers("", counts)
    for (segment, stratum), part in counts.parts.items():
        first = APART.join(["", segment, stratum, ""])
        seen = np.nonzero(part.outcomes)[0]
        yield (first + OUTCOMES, ""), _numbers(seen, part.outcomes[seen], np.zeros_like(seen))
        yield from _pair_numbers(first, part)
        for k, own in part.by_class.items():
            yield (first + REST, str(k)), _numbers_of(own)


def _pair_numbers(
    first: str, of: ClassCounts | ClassPart
) -> Iterator[tuple[Part, dict[str, Ints]]]:
    for kind, pairs in ((PAIR, of.pairs), (THIRD, of.third)):
        for (a, b), pair in pairs.items():
            yield (first + kind, f"{a} {b}"), _numbers_of(pair)


def _numbers_of(counted: Coarse) -> dict[str, Ints]:
    cells = np.nonzero(counted.counts)[0]
    return _numbers(cells, counted.counts[cells], counted.positives[cells])


def _numbers(cells: Ints, counts: Ints, positives: Ints) -> dict[str, Ints]:
    nothing = np.zeros(cells.size, np.int64)
    return {
        "cell": cells,
        "count": counts,
        "positives": positives,
        "offset_sum": nothing,
        "awaited": nothing,
    }


def class_facts(counts: ClassCounts) -> dict[str, Any]:
    """Give what is no tally, for the metadata of the table."""
    pairs = {"pairs": list(counts.pairs), "third": list(counts.third)}
    return {
        "names": counts.names,
        "outcomes": counts.outcomes.tolist(),
        "score_sums": counts.score_sums.tolist(),
        "two_highest": [counts.among, counts.promised],
        "watched": list(counts.raw.by_class),
        **({"weights": counts.weights} if counts.weights else {}),
        **({"divided": True} if counts.parts else pairs),
        **{
            name: {of: sums and vars(sums) for of, sums in (("brier", r.brier), ("log", r.log))}
            for name, r in _readings(counts).items()
        },
    }


def class_counts_of(
    facts: Mapping[str, Any],
    top: Tally,
    tally_of: Callable[[Part], Tally],
    numbers_of: Callable[[Part], Numbers],
    *,
    parts: Sequence[Part],
    named: Iterable[Part],
) -> ClassCounts:
    """Read the counts back.

    Parameters
    ----------
    facts : mapping
        As `class_facts` gave them.
    top : Tally
        Of the first choices, as logged.
    tally_of, numbers_of : callable
        The tally, or the columns, of a part of the table.
    parts : sequence of (str, str)
        Segment and stratum of each part of the traffic.
    named : iterable of (str, str)
        All parts of the table.
    """
    divided = "divided" in facts
    among, promised = facts.get("two_highest", (0, 0))
    apart, watched = APART if divided else "", facts["watched"]

    def reading(name: str, first: Tally) -> Reading:
        return Reading(
            top=first,
            by_class={k: tally_of((f"{apart}{CLASS} {name}", str(k))) for k in watched},
            **{of: sums and Sums(**sums) for of, sums in facts[name].items()},
        )

    def pairs(kind: str, listed: Iterable[tuple[int, int]]) -> Pairs:
        return {(a, b): _coarse(numbers_of((kind, f"{a} {b}"))) for a, b in listed}

    counts = ClassCounts(
        names=tuple(facts["names"]),
        outcomes=np.array(facts["outcomes"], np.int64),
        score_sums=np.array(facts["score_sums"], np.int64),
        raw=reading("raw", top),
        adjusted=reading("adjusted", tally_of((apart + TOP, READINGS[1])))
        if "adjusted" in facts
        else None,
        pairs={} if divided else pairs(PAIR, facts["pairs"]),
        # Files of earlier versions do not have them.
        third=pairs(THIRD, facts.get("third", ())),
        weights=tuple(facts.get("weights", ())),
        among=among,
        promised=promised,
    )
    if not divided:
        return counts
    return with_parts(counts, _parts(parts, named, numbers_of, len(counts.names)))


def _parts(
    parts: Sequence[Part],
    named: Iterable[Part],
    numbers_of: Callable[[Part], Numbers],
    classes: int,
) -> dict[Part, ClassPart]:
    """Read the parts of the traffic back, in their order."""
    outcomes = {part: np.zeros(classes, np.int64) for part in parts}
    pairs, third = ({part: dict[tuple[int, int], Coarse]() for part in parts} for _ in range(2))
    rest = {part: dict[int, Coarse]() for part in parts}
    for name, pair in named:
        if name.count(APART) != len(("segment", "stratum", "kind")):
            continue  # of the whole
        _, segment, stratum, kind = name.split(APART)
        numbers = numbers_of((name, pair))
        if kind == OUTCOMES:
            outcomes[segment, stratum][numbers["cell"]] = numbers["count"]
        elif kind == REST:
            rest[segment, stratum][int(pair)] = _coarse(numbers)
        else:
            a, b = map(int, pair.split())
            (pairs if kind == PAIR else third)[segment, stratum][a, b] = _coarse(numbers)
    return {part: ClassPart(outcomes[part], pairs[part], third[part], rest[part]) for part in parts}


def _alone(tally: Tally) -> Segment:
    return Segment(tally, tally.total)


def _coarse(numbers: Numbers) -> Coarse:
    counts, positives = np.zeros(COARSE_COUNT, np.int64), np.zeros(COARSE_COUNT, np.int64)
    counts[numbers["cell"]] = numbers["count"]
    positives[numbers["cell"]] = numbers["positives"]
    return Coarse(counts, positives)
