"""The measures of vectors: those of plain numpy, as logged and adjusted by class weights."""

from datetime import date, timedelta

import numpy as np
import pytest

from monitor.days.summary import Segment, Summary, end_of_day
from monitor.evaluation.evaluate import evaluate, slope_of_pairs
from monitor.evaluation.evaluation import Evaluation
from monitor.evaluation.score_errors import Settings
from monitor.metrics.beyond_binary.class_counts import choose_classes, count_classes
from monitor.metrics.beyond_binary.class_priors import fit_class_weights
from monitor.metrics.core.tally import tally_on_grid
from tests.support.class_logs import NAMES, draw

FIRST = date(2026, 3, 1)
ROWS = 2_000
SETTINGS = Settings(alpha=0.05, null_replicates=100, tce_size=None)


def day(number: int, *, slope: float = 1.0) -> tuple[Summary, np.ndarray, np.ndarray]:
    """Draw a day; its class priors are its own."""
    rng = np.random.default_rng(number)
    vectors, labels = draw(rng, ROWS, slope=slope, priors=[1 + 2 * number, 1, 1])
    batch = [(vectors, labels)]
    weights = fit_class_weights(lambda: batch, 3)
    watched, pairs, _ = choose_classes(batch, 3)
    when = FIRST + timedelta(days=number)
    summary = Summary(
        model="pets",
        days=(when,),
        segments={
            "all": Segment(tally_on_grid(vectors.argmax(1) == labels, vectors.max(axis=1)), ROWS)
        },
        rejected={},
        final=True,
        known_at=end_of_day(when, "UTC"),
        classes=count_classes(NAMES, batch, weights, watched=watched, pairs=pairs),
    )
    return summary, vectors, labels


@pytest.fixture(scope="module")
def drawn() -> list[tuple[Summary, np.ndarray, np.ndarray]]:
    """Draw two days."""
    return [day(0), day(1)]


@pytest.fixture(scope="module")
def found(drawn: list[tuple[Summary, np.ndarray, np.ndarray]]) -> Evaluation:
    """Evaluate both days together."""
    (only,) = evaluate([s for s, _, _ in drawn], window_days=7, settings=SETTINGS)
    return only


def test_vector_scores_are_those_of_numpy(
    drawn: list[tuple[Summary, np.ndarray, np.ndarray]], found: Evaluation
) -> None:
    """Root Brier and log score over all classes, with intervals of independent rows."""
    vectors = np.concatenate([v for _, v, _ in drawn])
    labels = np.concatenate([found for _, _, found in drawn])
    brier = ((vectors - np.eye(3)[labels]) ** 2).sum(axis=1)
    log = -np.log(vectors[np.arange(len(labels)), labels])
    raw = found.classes.raw

    # Fixed-point sums: 2**-33 a row.
    assert raw.rbs.value == pytest.approx(np.sqrt(brier.mean()), abs=1e-9)
    assert raw.log_score.value == pytest.approx(log.mean(), abs=1e-9)
    width = 2 * 1.959964 * log.std() / np.sqrt(len(log))
    assert raw.log_score.high - raw.log_score.low == pytest.approx(width, rel=1e-5)


def test_class_weights_forgive_each_day_its_priors(found: Evaluation) -> None:
    """The scores are right for equal priors only, so adjusting lowers every error."""
    classes = found.classes

    assert classes.prior.log_score.value < classes.raw.log_score.value - 0.01
    assert [one.name for one in classes.by_class] == [*NAMES]
    for one in classes.by_class:
        assert one.prior.ece < one.raw.ece
    assert found.prior.ece < 0.03  # a calibrated day of 4,000 rows: about 0.01 by chance
    assert found.shift is found.causes is found.correction is None


def test_the_slope_is_that_of_the_pairs() -> None:
    """It stays 1 under any priors, and is 0.8 where the logits are too large by 1.25."""
    for truth in (1.0, 0.8):
        days = [day(number, slope=truth)[0].classes for number in range(4)]

        slope = slope_of_pairs([[day.pairs] for day in days])

        assert abs(slope.value - truth) < 3.3 * slope.standard_error  # one in a thousand by chance
        assert slope.high - slope.low < 0.15


def test_the_first_choices_are_the_whole(
    drawn: list[tuple[Summary, np.ndarray, np.ndarray]], found: Evaluation
) -> None:
    """Prevalence is the accuracy, and the mean score that of the first choice."""
    right = np.concatenate([v.argmax(axis=1) == labels for _, v, labels in drawn])
    top = np.concatenate([v.max(axis=1) for _, v, _ in drawn])

    assert found.prevalence == right.mean()
    # A cell keeps its mean in logit: 2e-7 relative.
    assert found.mean_score == pytest.approx(top.mean(), rel=1e-6)
    assert 0.9 < found.classes.judged < 1.0


def test_of_many_classes_the_most_frequent_are_measured() -> None:
    """Those with most outcomes in the window, though each day may have others at its top."""
    classes, days = 30, []
    for number in range(2):
        rng = np.random.default_rng(number)
        priors = np.ones(classes)
        priors[:25] = 2.0
        priors[5 * number : 5 * number + 5] = 6.0
        vectors, labels = draw(rng, ROWS, classes, priors=list(priors))
        batch = [(vectors, labels)]
        watched, pairs, _ = choose_classes(batch, classes)
        when = FIRST + timedelta(days=number)
        top = tally_on_grid(vectors.argmax(1) == labels, vectors.max(axis=1))
        names = [f"item {k}" for k in range(classes)]
        counts = count_classes(names, batch, np.zeros(classes), watched=watched, pairs=pairs)
        days.append(
            Summary(
                "pets",
                (when,),
                {"all": Segment(top, ROWS)},
                rejected={},
                final=True,
                known_at=end_of_day(when, "UTC"),
                classes=counts,
            )
        )
    (found,) = evaluate(days, window_days=2, settings=SETTINGS)
    outcomes = sum(day.classes.outcomes for day in days if day.classes)
    measured = {int(one.name.split()[1]) for one in found.classes.by_class}

    assert len(measured) == 20
    assert measured >= set(range(10))
    assert min(outcomes[k] for k in measured) >= max(
        outcomes[k] for k in range(classes) if k not in measured
    )
