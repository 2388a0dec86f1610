"""A log that keeps some of the negatives says the same of the model as the log that keeps all."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import expit, logit

from monitor.base.errors import DataError
from monitor.days.summary import Summary
from monitor.evaluation.evaluate import evaluate
from monitor.evaluation.evaluation import Evaluation
from monitor.evaluation.score_errors import Settings
from monitor.logs import summarise_day
from tests.logs.test_row_settings import DAY, SCORES, model_of, summarise, write

ROWS = 400_000
KEPT = 0.1
SETTINGS = Settings(alpha=0.05, null_replicates=100)


def population(rng: np.random.Generator, *, delta: float, slope: float) -> dict[str, np.ndarray]:
    """Draw scores of a rare event, and outcomes whose true logit is delta + slope * logit."""
    scores = expit(rng.normal(-4.0, 1.0, ROWS))
    outcomes = rng.random(ROWS) < expit(delta + slope * logit(scores))
    return {"prediction_id": np.arange(ROWS), "score": scores, "outcome": outcomes}


def sample(
    rng: np.random.Generator, rows: dict[str, np.ndarray], kept: float = KEPT
) -> dict[str, np.ndarray]:
    """Keep every positive and a share of the negatives, with inverse-probability weights."""
    outcome = rows["outcome"]
    stays = outcome | (rng.random(outcome.size) < kept)
    weights = np.where(outcome, 1.0, 1.0 / kept)
    return {name: column[stays] for name, column in {**rows, "w": weights}.items()}


def read(folder: Path, rows: dict[str, np.ndarray], **keys: Any) -> Summary:
    """Write one log with scores and outcomes, and summarise it."""
    ids = rows["prediction_id"]
    predictions = {k: v for k, v in rows.items() if k not in ("outcome", "w")}
    outcomes = {"prediction_id": ids, "outcome": rows["outcome"]}
    if "w" in rows:
        target = outcomes if "weight" in keys.get("outcomes", {}) else predictions
        target["w"] = rows["w"]
    write(folder, "predictions", predictions)
    write(folder, "outcomes", outcomes)
    return summarise_day("ctr", model_of(folder, **keys), DAY, as_of=DAY + timedelta(days=9))


def evaluated(summary: Summary) -> Evaluation:
    """Evaluate the whole."""
    return evaluate([summary], window_days=1, settings=SETTINGS)[0]


@pytest.fixture(
    scope="module",
    params=[(0.0, 1.0), (0.7, 1.0), (0.0, 0.8)],
    ids=["right", "shifted", "flat"],
)
def sampled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[float, Evaluation, dict[str, np.ndarray]]:
    """Draw a population and evaluate it; give its slope, the evaluation, and a sample."""
    delta, slope = request.param
    rng = np.random.default_rng(7)
    rows = population(rng, delta=delta, slope=slope)
    every = evaluated(read(tmp_path_factory.mktemp("every"), rows))
    return slope, every, sample(rng, rows)


@pytest.mark.parametrize("log", ["predictions", "outcomes"])
def test_a_sample_says_what_its_population_says(
    log: str, sampled: tuple[float, Evaluation, dict[str, np.ndarray]], tmp_path: Path
) -> None:
    """Prevalence, mean score, intercept and slope agree with those of all rows."""
    slope, every, kept = sampled
    summary = read(tmp_path / "kept", kept, **{log: {"weight": "w"}})
    some = evaluated(summary)

    assert summary.class_weights == (10.0, 1.0)
    assert (some.matched, some.positives) == (kept["w"].size, every.positives)
    assert every.shift
    assert some.shift
    assert every.slope
    assert some.slope
    # The number of kept negatives is binomial: a tenth of n, give or take sqrt(.09 n).
    error = 4 * np.sqrt((1 - KEPT) / (KEPT * ROWS))
    assert some.prevalence == pytest.approx(every.prevalence, rel=error)
    # Mean scores differ by the choice of the negatives: 4 standard errors of a mean of 40,000.
    assert some.mean_score == pytest.approx(every.mean_score, rel=4 * 1.3 / np.sqrt(KEPT * ROWS))
    # Standard errors of the sample are larger, so the difference has less variance than theirs.
    for of_sample, of_all in ((some.shift, every.shift), (some.slope, every.slope)):
        width = (of_sample.high - of_sample.low) / 2
        if slope == 1.0 or of_sample is some.slope:
            assert of_sample.value == pytest.approx(of_all.value, abs=width)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([10, 9, 1, 1], "the weights of outcome 0 lie between 9 and 10; .* binomial"),
        ([10, 10, 1, None], "1 rows with outcome 1 have no weight above 0"),
        ([10, 10, 0, 1], "1 rows with outcome 1 have no weight above 0"),
        ([10, float("inf"), 1, 1], "1 rows with outcome 0 have no weight above 0"),
        ([10, float("nan"), 1, 1], "1 rows with outcome 0 have no weight above 0"),
    ],
)
def test_other_weights_are_refused(tmp_path: Path, weights: list[Any], said: str) -> None:
    """Weights that differ inside a class would make the counts no binomial ones."""
    ids = [1, 2, 3, 4]
    with pytest.raises(DataError, match=said):
        summarise(
            tmp_path,
            {"prediction_id": ids, "score": SCORES, "w": pa.array(weights, pa.float64())},
            {"prediction_id": ids, "outcome": [0, 0, 1, 1]},
            predictions={"weight": "w"},
        )


def test_the_weight_of_a_class_without_outcomes(tmp_path: Path) -> None:
    """Of two weights in the predictions the other belongs to the other class; else say so."""
    ids = [1, 2, 3, 4]
    outcomes = {"prediction_id": [1, 2], "outcome": [0, 0]}
    logs = {"prediction_id": ids, "score": SCORES, "w": [10, 10, 1, 10]}, outcomes
    assert summarise(tmp_path, *logs, predictions={"weight": "w"}).class_weights == (10.0, 1.0)

    with pytest.raises(DataError, match="not known for outcome 1, of which there is no row yet"):
        summarise(
            tmp_path,
            {**logs[0], "w": [10, 10, 1, 2]},
            outcomes,
            predictions={"weight": "w"},
        )
