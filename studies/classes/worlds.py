"""Days of models with many classes, whose class priors move every day.

Every class is a normal cloud of features, so the likelihood ratios are known exactly. The scores
are the posterior probabilities under equal priors, bent as the world says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np
from scipy.special import softmax

from monitor.base.segment_names import WHOLE
from monitor.days.summary import Segment, Summary, end_of_day
from monitor.drift.fold.inputs import Day, inputs_of
from monitor.metrics.beyond_binary.class_counts import choose_classes, count_classes
from monitor.metrics.core.coarse import CELLS_IN_ONE, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats, Ints, locate
from monitor.metrics.core.tally import tally_on_grid

FIRST = date(2026, 1, 1)
REFERENCE = 28
SPREAD, MEMORY, CALM = 0.8, 0.9, 0.1  # of the log weights: AR(1), and their spread in the reference
WEIGHT, FIRST_MONTH, LAST_MONTH = 5.0, 20, 80  # one class is so much more frequent for two months
GONE, MONTH = 8.0, 30  # log weight that a class loses where it vanishes, and for how many days


@dataclass(frozen=True)
class World:
    """A kind of model.

    Attributes
    ----------
    name : str
        As in the table.
    classes, rows : int
        Number of classes, and of rows a day.
    group : int
        Classes that resemble each other: so many have neighbouring clouds.
    distance : float
        Between the clouds of a group, in standard deviations.
    frequency : float
        Spread of the log weights of the classes in the reference: above 0 some are rare.
    bent : float
        Half the range of the classes' own factors of their logits: 0 if calibrated.
    vanishing : bool
        Whether class 1 all but vanishes for a month after the second.
    """

    name: str
    classes: int
    rows: int = 5_000
    group: int = 3
    distance: float = 2.0
    frequency: float = 0.0
    bent: float = 0.0
    vanishing: bool = False


@dataclass(frozen=True)
class Drift:
    """What changes on a day.

    Attributes
    ----------
    name : str
        As in the table.
    sharpened : float
        Factor of all logits.
    pair : float
        Factor of the difference of the logits of the first two classes.
    relabelled : float
        Share of the outcomes of class 0 that become class 1, whatever their features.
    split : bool
        Whether the outcomes of class 0 on one side of its cloud become class 1.
    biased : float
        Added to the logit of the scores of class 0.
    lifted : float
        Added to the log-odds of class 0 given the features, while the scores stay.
    third : float
        Share of the outcomes that become the class of the third highest score.
    followed : float
        How much of the shift of the class weights the outcomes follow: 1 is a shift of the priors,
        0 one of the features alone, after a reference without any.
    """

    name: str
    sharpened: float = 1.0
    pair: float = 1.0
    relabelled: float = 0.0
    split: bool = False
    biased: float = 0.0
    lifted: float = 0.0
    third: float = 0.0
    followed: float = 1.0


NONE = Drift("none")
DRIFTS = (
    Drift("all logits times 1.25", sharpened=1.25),
    Drift("one confused pair: its log-odds times 1.6", pair=1.6),
    Drift("a third of one class relabelled as another", relabelled=1 / 3),
    Drift("one class split: half of it joins another", split=True),
)
WORLDS = (
    World("3 classes", 3),
    World("10 classes", 10),
    World("100 classes, confused in fives", 100, group=5),
    World("100 classes, some rare", 100, group=5, frequency=1.0),
    World("3 classes, each bent in its own way", 3, bent=0.3),
    World("10 classes, each bent in its own way", 10, bent=0.3),
    World("100 classes, each bent in its own way", 100, group=5, bent=0.3),
    World("100 classes, all confused: 4,950 rare pairs", 100, group=100),
)


@dataclass(frozen=True, eq=False)
class Rows:
    """A day of vectors, shape (n, c), and the classes that came true."""

    day: date
    vectors: Floats
    labels: Ints


def stream(world: World, drift: Drift, seed: int, *, days: int, start: int) -> Iterator[Rows]:
    """Draw the reference and the days after it; the drift begins `start` days after it."""
    rng = np.random.default_rng([seed, world.classes, int(10 * world.frequency)])
    centres = _centres(rng, world)
    usual = rng.normal(0.0, world.frequency, world.classes)
    factors = rng.uniform(1.0 - world.bent, 1.0 + world.bent, world.classes)
    wave = rng.normal(0.0, SPREAD, world.classes)
    for number in range(-REFERENCE, days):
        wave = MEMORY * wave + rng.normal(0.0, SPREAD * (1 - MEMORY**2) ** 0.5, world.classes)
        moving = wave if number >= 0 else CALM * drift.followed * wave
        weights = usual + moving
        if FIRST_MONTH <= number < LAST_MONTH:
            weights[2] += np.log(WEIGHT)
        if world.vanishing and LAST_MONTH <= number < LAST_MONTH + MONTH:
            weights[1] -= GONE
        now = drift if number >= start else NONE
        vectors, labels = _rows(rng, world, centres, (weights, usual), factors, now)
        yield Rows(FIRST + timedelta(days=number + REFERENCE), vectors, labels)


def _centres(rng: np.random.Generator, world: World) -> Floats:
    """Place the clouds: those of a group around one place, the groups far apart."""
    groups = -(-world.classes // world.group)
    places = rng.normal(0.0, 3.0, (groups, 8))
    inside = rng.normal(0.0, 1.0, (world.classes, 8))
    inside *= world.distance / np.sqrt(2.0) / np.linalg.norm(inside, axis=1, keepdims=True)
    return np.asarray(np.repeat(places, world.group, axis=0)[: world.classes] + inside)


def _rows(
    rng: np.random.Generator,
    world: World,
    centres: Floats,
    log_weights: tuple[Floats, Floats],
    factors: Floats,
    drift: Drift,
) -> tuple[Floats, Ints]:
    moved, usual = log_weights
    labels = rng.choice(world.classes, world.rows, p=softmax(moved))
    features = centres[labels] + rng.normal(size=(world.rows, centres.shape[1]))
    logits = features @ centres.T - 0.5 * (centres**2).sum(axis=1)
    if drift.lifted or drift.followed < 1.0:
        given = logits + usual + drift.followed * (moved - usual)
        given[:, 0] += drift.lifted
        labels = (given + rng.gumbel(size=given.shape)).argmax(axis=1)
    logits = (logits - logits.mean(axis=1, keepdims=True)) * factors * drift.sharpened
    middle, half = logits[:, :2].mean(axis=1), (logits[:, 0] - logits[:, 1]) / 2
    logits[:, 0], logits[:, 1] = middle + drift.pair * half, middle - drift.pair * half
    relabelled = (labels == 0) & (rng.random(world.rows) < drift.relabelled)
    if drift.split:
        relabelled = (labels == 0) & (features[:, 0] > centres[0, 0])
    logits[:, 0] += drift.biased
    labels = np.where(relabelled, 1, labels)
    if drift.third:
        moved_there = rng.random(world.rows) < drift.third
        labels = np.where(moved_there, np.argsort(-logits, axis=1)[:, 2], labels)
    return softmax(logits, axis=1), labels


def day_of_pairs(rows: Rows) -> Day:
    """Count a day as the daily job does."""
    classes = rows.vectors.shape[1]
    names: Sequence[str] = [f"class {k}" for k in range(classes)]
    batch = rows.vectors, rows.labels
    _, pairs, third = choose_classes([batch], classes)
    counts = count_classes(names, [batch], np.zeros(classes), watched=[], pairs=pairs, third=third)
    right = rows.vectors.argmax(axis=1) == rows.labels
    top = tally_on_grid(right, rows.vectors.max(axis=1))
    summary = Summary(
        model="study",
        days=(rows.day,),
        segments={WHOLE: Segment(top, len(rows.labels))},
        rejected={},
        final=True,
        known_at=end_of_day(rows.day, "UTC"),
        classes=counts,
    )
    return inputs_of(summary)


def without_third(day: Day) -> Day:
    """Leave out the pairs of the first and the third choice."""
    return replace(day, third={})


def day_of_rest(rows: Rows) -> Day:
    """Count a day as strata of one class against the rest, which any other monitor would do."""
    cells = locate(rows.vectors)[0] // CELLS_IN_ONE
    parts = {}
    for k in range(rows.vectors.shape[1]):
        counts, hits = (
            np.bincount(found, minlength=COARSE_COUNT)
            for found in (cells[:, k], cells[rows.labels == k, k])
        )
        parts[WHOLE, f"class {k}"] = Coarse(counts, hits)
    return Day(rows.day, True, end_of_day(rows.day, "UTC"), 1.0, parts)
