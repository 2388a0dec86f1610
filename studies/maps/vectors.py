"""What do maps of class vectors gain on later days? Beside nothing, and temperature scaling.

    OMP_NUM_THREADS=1 python -m studies.maps.vectors

writes the table of docs/map-promises.md below its mark, in about half a minute of CPU time.
Seeds are fixed, so it is always the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from monitor.metrics import apply_class_map, fit_class_map
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import softmax
from monitor.metrics.maps.class_choosing import choose_vector_map, vector_losses_by_day
from monitor.metrics.maps.class_rows import ClassRows
from monitor.metrics.maps.vector_map import VECTOR_KINDS, VectorMap
from studies.maps.page import marks, write_section
from studies.maps.worlds import wander

STREAMS = {3: 8, 5: 8, 20: 4}  # by the number of classes
WORLDS = "sound", "temperature 0.7", "slopes 0.5 to 1", "confused"
DAYS, FITTED, ROWS = 28, 14, 200
PRIOR = 0.3  # standard deviation of the log-odds of each class from day to day
SPREAD = 1.5  # of the logarithms of scores, before they are normalised
MARKS = marks("vectors")


@dataclass(frozen=True)
class Stream:
    """What became of one stream: gains in log loss of a prediction on the later days.

    Attributes
    ----------
    kind : str
        The family that `auto` proposed; identity if no map was worth it.
    kept : bool
        Whether the promised interval of the gain held what came.
    gains : mapping of str to float
        Of each family that could be fitted, of what was proposed, and of temperature scaling.
    """

    kind: str
    kept: bool
    gains: Mapping[str, float]


def truth(world: str, logs: Floats) -> Floats:
    """Give the log-probabilities of the truth, up to a constant, by those of the scores."""
    count = logs.shape[1]
    if world == "temperature 0.7":
        return 0.7 * logs
    if world == "slopes 0.5 to 1":
        return np.linspace(0.5, 1.0, count) * logs
    if world == "confused":  # half of what speaks for the first class speaks for the second
        mixing = np.eye(count)
        mixing[:2, :2] = [[0.5, 0.5], [0.0, 1.0]]
        return np.asarray(logs @ mixing.T)
    return logs


def draw(world: str, count: int, seed: int) -> ClassRows:
    """Draw all days; the priors wander, the map from scores to outcomes stays."""
    rng = np.random.default_rng([seed, count, WORLDS.index(world)])
    vectors = np.asarray(softmax(rng.normal(0.0, SPREAD, (DAYS * ROWS, count)), axis=1))
    priors = np.column_stack([wander(PRIOR, DAYS, rng) for _ in range(count)])
    right = softmax(truth(world, np.log(vectors)) + np.repeat(priors, ROWS, axis=0), axis=1)
    labels: Ints = (right.cumsum(axis=1) < rng.random((len(right), 1))).sum(axis=1)
    names = tuple(f"class {k}" for k in range(count))
    labels = np.minimum(labels, count - 1)  # where a sum of probabilities is below 1 by rounding
    return ClassRows(names, vectors, labels, np.full(DAYS, ROWS))


def follow(rows: ClassRows) -> Stream:
    """Fit to the first days, and see what comes of it on the others."""
    fitted, later = rows.take(range(FITTED)), rows.take(range(FITTED, DAYS))
    before = vector_losses_by_day(later, VectorMap("identity", rows.classes))[0].sum()

    def gain(found: VectorMap) -> float:
        after = vector_losses_by_day(later, found)[0].sum()
        return float(before - after) / later.labels.size

    choice = choose_vector_map(fitted)
    gains = {candidate.kind: gain(candidate.fitted) for candidate in choice.candidates}
    promised, chosen = choice.chosen.log_loss, choice.chosen.kind
    scaled = apply_class_map(
        later.vectors, fit_class_map(fitted.labels, fitted.vectors, "temperature")
    )
    true = np.arange(later.labels.size), later.labels
    kind = chosen if choice.worth_it else "identity"
    return Stream(
        kind,
        kept=promised.low - 1e-12 <= gains[chosen] <= promised.high + 1e-12,
        gains=gains
        | {
            "proposed": gains[kind],
            "scaling": float(np.log(scaled[true] / later.vectors[true]).mean()),
        },
    )


COLUMNS = *VECTOR_KINDS[1:], "scaling", "proposed"
HEADS = (
    *("world", "classes", "proposed kinds", "promise kept"),
    *VECTOR_KINDS[1:],
    "temperature scaling",
    "**proposed**",
)


def row_of(world: str, count: int) -> str:
    """Lay out a world with a number of classes."""
    streams = [follow(draw(world, count, seed)) for seed in range(STREAMS[count])]
    kinds = [stream.kind for stream in streams]
    proposed = ", ".join(f"{kinds.count(k)} {k}" for k in dict.fromkeys(sorted(kinds)))
    cells = [world, f"{count}", proposed, f"{sum(s.kept for s in streams)} of {len(streams)}"]
    for column in COLUMNS:
        found = np.array([s.gains[column] for s in streams if column in s.gains])
        if found.size < len(streams):
            cells.append("-")
            continue
        error = found.std(ddof=1) / np.sqrt(len(streams))
        cells.append(f"{1e3 * found.mean():.1f} ± {1e3 * error:.1f}")
    line = f"| {' | '.join(cells)} |"
    print(line, flush=True)
    return line


def main() -> None:
    """Write the table."""
    lines = [row_of(world, count) for count in STREAMS for world in WORLDS]
    table = [f"| {' | '.join(HEADS)} |", f"|{'---|' * len(HEADS)}", *lines]
    write_section("\n".join(table), MARKS)


if __name__ == "__main__":
    main()
