"""What looks wrong in valid logs is named with its setting, and good logs are left in peace."""

from datetime import UTC, date, datetime, tzinfo

import numpy as np
import pytest
from scipy.special import expit, logit

from monitor.words.plausibility import Remark, ScoreRange, about_outcomes, about_scores, about_times
from tests.support.cases import some

DAY = date(2026, 3, 2)
ROWS = 5000


def world(seed: int, prior: float = -3.0) -> tuple[np.ndarray, np.ndarray]:
    """Draw the scores of a calibrated model, in order, and their outcomes."""
    rng = np.random.default_rng(seed)
    scores = np.sort(expit(rng.normal(prior, 1.0, ROWS)))
    return scores, (rng.random(ROWS) < scores).astype(float)


def range_of(scores: np.ndarray) -> ScoreRange:
    """Describe where the finite scores lie, as a query of the log does."""
    finite = scores[np.isfinite(scores)]
    return ScoreRange(finite.min(), finite.max(), np.mean(finite < 0), np.mean(finite > 1))


def remarks(scores: np.ndarray, outcomes: np.ndarray) -> list[Remark]:
    """Ask about rows, each its own group."""
    order = np.argsort(scores)
    return about_outcomes(scores[order], np.ones(scores.size), outcomes[order])


@pytest.mark.parametrize("seed", some(range(20), 10))
@pytest.mark.parametrize("prior", [-5.0, -3.0, 0.0, 3.0])
def test_a_calibrated_model_gets_no_remark(seed: int, prior: float) -> None:
    """Neither its scores nor its outcomes look wrong, whatever the prevalence."""
    scores, outcomes = world(seed, prior)

    assert about_scores(range_of(scores)) == []
    assert remarks(scores, outcomes) == []


def test_a_useless_model_gets_no_remark() -> None:
    """Scores without any relation to outcomes may order them a little wrong by chance."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        assert remarks(rng.random(300), (rng.random(300) < 0.5).astype(float)) == []


@pytest.mark.parametrize(
    ("scores", "value"),
    [
        (np.linspace(0.0, 100.0, 500), "percent"),
        (logit(np.linspace(0.001, 0.9, 500)), "logit"),
        (np.linspace(300.0, 850.0, 500), None),
        (np.linspace(-500.0, 500.0, 500), None),
    ],
    ids=["percent", "logits", "points", "a wide range"],
)
def test_scores_on_another_scale(scores: np.ndarray, value: str | None) -> None:
    """Percent and logits are told from other numbers."""
    (remark,) = about_scores(range_of(scores))

    assert remark.value == value
    assert remark.key in remark.sentence


def test_single_scores_out_of_range_are_no_scale() -> None:
    """One score of 1.7 among a thousand is an error of that row."""
    assert about_scores(range_of(np.array([*np.linspace(0, 1, 1000), 1.7, np.nan, np.inf]))) == []


def test_scores_of_the_other_class() -> None:
    """Scores that fall as outcomes rise are probably 1 minus the probability."""
    scores, outcomes = world(2)
    (remark,) = remarks(1 - scores, outcomes)

    assert (remark.key, remark.value) == ("predictions.score_means", "probability_of_0")


def test_outcomes_that_are_the_threshold_of_the_score() -> None:
    """A decision that was made from the score is not an outcome."""
    scores, _ = world(3, prior=0.0)
    (remark,) = remarks(scores, (scores >= 0.6).astype(float))

    assert remark.key == "outcomes.outcome"
    assert "0.6" in remark.sentence


@pytest.mark.parametrize(
    ("prior", "offset", "key", "value"),
    [
        (-3.0, -4.0, "settled_after", None),
        (-5.0, 4.0, "predictions.weight", None),
        (-3.0, -5.0, "predictions.score_means", "percent"),
    ],
)
def test_a_mean_score_far_from_the_prevalence(
    prior: float, offset: float, key: str, value: str | None
) -> None:
    """A factor of ten or more is named with what usually causes it."""
    rng = np.random.default_rng(4)
    scores = np.sort(expit(rng.normal(prior, 1.0, 10 * ROWS)))
    outcomes = (rng.random(scores.size) < expit(logit(scores) + offset)).astype(float)
    (remark,) = remarks(scores, outcomes)

    assert (remark.key, remark.value) == (key, value)


@pytest.mark.parametrize("zone", [None, UTC], ids=["naive", "zoned"])
@pytest.mark.parametrize(
    ("times", "odd"),
    [
        (["2026-03-01 14:00", "2026-03-02 05:00"], False),
        (["2026-03-03 13:00"], False),
        (["2025-03-02", "2025-03-02"], True),
        (["1970-01-21"], True),
        (["2026-03-09"], True),
        (["2026-03-01 01:00", "2026-03-01 23:00"], True),
        (["2026-03-01 14:00", "2026-03-01 23:00"], False),
        ([], False),
    ],
)
def test_times_far_from_their_partition(
    times: list[str],
    odd: bool,  # noqa: FBT001
    zone: tzinfo | None,
) -> None:
    """Half a day more is the time zone, a whole one the date of the run, years the wrong unit."""
    given = [datetime.fromisoformat(time).replace(tzinfo=zone) for time in times]

    assert bool(about_times("predictions.time", DAY, given)) == odd
