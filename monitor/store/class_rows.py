"""The counts of classes inside the table of a day's summary: parts beside the segments. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from monitor.metrics.beyond_binary.class_counts import ClassCounts, Reading, Sums
from monitor.metrics.core.coarse import COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Ints
from monitor.metrics.core.tally import Tally
from monitor.summary import Segment

# Names of the first column of the table. A model with classes has no segments of such names.
TOP, CLASS, PAIR, THIRD = "adjusted first choice", "class", "pair", "third pair"
READINGS = ("raw", "adjusted")
Part = tuple[str, str]
Numbers = Mapping[str, Ints]


def class_parts(counts: ClassCounts) -> Iterator[tuple[Part, Segment]]:
    """List the tallies that are parts of the table; that of the first choices is the whole's."""
    yield (TOP, READINGS[1]), _alone(counts.adjusted.top)
    for reading in READINGS:
        for k, tally in getattr(counts, reading).by_class.items():
            yield (f"{CLASS} {reading}", str(k)), _alone(tally)


def pair_numbers(counts: ClassCounts) -> Iterator[tuple[Part, dict[str, Ints]]]:
    """Lay out the tallies of pairs, which are on the coarse grid."""
    for kind, pairs in ((PAIR, counts.pairs), (THIRD, counts.third)):
        for (a, b), pair in pairs.items():
            cells = np.nonzero(pair.counts)[0]
            nothing = np.zeros(cells.size, np.int64)
            yield (
                (kind, f"{a} {b}"),
                {
                    "cell": cells,
                    "count": pair.counts[cells],
                    "positives": pair.positives[cells],
                    "offset_sum": nothing,
                    "awaited": nothing,
                },
            )


def class_facts(counts: ClassCounts) -> dict[str, Any]:
    """Give what is no tally, for the metadata of the table."""
    return {
        "names": counts.names,
        "outcomes": counts.outcomes.tolist(),
        "score_sums": counts.score_sums.tolist(),
        "watched": list(counts.raw.by_class),
        "pairs": list(counts.pairs),
        "third": list(counts.third),
        **{
            name: {of: vars(getattr(getattr(counts, name), of)) for of in ("brier", "log")}
            for name in READINGS
        },
    }


def class_counts_of(
    facts: Mapping[str, Any],
    top: Tally,
    tally_of: Callable[[Part], Tally],
    numbers_of: Callable[[Part], Numbers],
) -> ClassCounts:
    """Read the counts back.

    Parameters
    ----------
    facts : mapping
        As `class_facts` gave them.
    top : Tally
        Of the first choices, as logged.
    tally_of, numbers_of : callable
        The tally, or the columns, of a part.
    """
    watched: Sequence[int] = facts["watched"]

    def reading(name: str, first: Tally) -> Reading:
        return Reading(
            top=first,
            by_class={k: tally_of((f"{CLASS} {name}", str(k))) for k in watched},
            brier=Sums(**facts[name]["brier"]),
            log=Sums(**facts[name]["log"]),
        )

    return ClassCounts(
        names=tuple(facts["names"]),
        outcomes=np.array(facts["outcomes"], np.int64),
        score_sums=np.array(facts["score_sums"], np.int64),
        raw=reading("raw", top),
        adjusted=reading("adjusted", tally_of((TOP, READINGS[1]))),
        pairs={(a, b): _coarse(numbers_of((PAIR, f"{a} {b}"))) for a, b in facts["pairs"]},
        # Files of earlier versions do not have them.
        third={(a, b): _coarse(numbers_of((THIRD, f"{a} {b}"))) for a, b in facts.get("third", ())},
    )


def _alone(tally: Tally) -> Segment:
    return Segment(tally, tally.total)


def _coarse(numbers: Numbers) -> Coarse:
    counts, positives = np.zeros(COARSE_COUNT, np.int64), np.zeros(COARSE_COUNT, np.int64)
    counts[numbers["cell"]] = numbers["count"]
    positives[numbers["cell"]] = numbers["positives"]
    return Coarse(counts, positives)
