"""`init` finds a planted score beside others, and says what is unsure (see also the drawn logs)."""

import re
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import expit, logit

from monitor.logs.discovery import guess
from tests.support.cases import some
from tests.support.undescribed import active

FIRST, DAYS, ROWS = date(2026, 4, 1), 6, 900
Array = np.ndarray


def make(seed: int) -> tuple[np.random.Generator, Array, Array]:
    """Draw scores that are calibrated, and outcomes."""
    rng = np.random.default_rng(seed)
    scores = expit(rng.normal(rng.uniform(-2.5, 0.5), rng.uniform(0.9, 1.8), DAYS * ROWS))
    return rng, scores, (rng.random(scores.size) < scores).astype(int)


def write_logs(
    root: Path,
    rng: np.random.Generator,
    of_predictions: dict[str, Array],
    of_outcomes: dict[str, Array],
    *,
    together: bool,
) -> None:
    """Write the columns in a random order, in one log or in two."""
    ids = np.array([f"r{n:06}" for n in range(DAYS * ROWS)])
    for n in range(DAYS):
        rows = slice(n * ROWS, (n + 1) * ROWS)
        ours = {name: values[rows] for name, values in of_predictions.items()}
        theirs = {name: values[rows] for name, values in of_outcomes.items()}
        logs = (
            {"p": ours | theirs}
            if together
            else {"p": {"key_id": ids[rows], **ours}, "o": {"key_id": ids[rows], **theirs}}
        )
        for folder, columns in logs.items():
            names = list(columns)
            (root / folder).mkdir(parents=True, exist_ok=True)
            table = pa.table({names[i]: columns[names[i]] for i in rng.permutation(len(names))})
            pq.write_table(table, root / folder / f"{FIRST + timedelta(n)}.parquet")


@pytest.mark.parametrize("seed", some(range(6), 3))
def test_a_prior_that_moved_does_not_decide(seed: int, tmp_path: Path) -> None:
    """A model trained with fewer negatives is ten times too high, and still the score."""
    rng, scores, _ = make(80 + seed)
    low = expit(logit(scores) - 2.3)
    rare = (rng.random(low.size) < low).astype(int)
    close = rng.beta(2, 2 * (1 / rare.mean() - 1), low.size)  # the mean is right, the rest is not
    write_logs(tmp_path, rng, {"x": scores, "score": close}, {"label": rare}, together=False)

    (model,) = guess([str(tmp_path)]).models

    assert active(model)["predictions.score"] == "x"


def test_the_console_says_what_is_unsure(tmp_path: Path) -> None:
    """The runner-up has its numbers: of a score, and of an outcome with another horizon."""
    rng, scores, labels = make(1)
    worse = expit(logit(scores) + rng.normal(0, 1.0, scores.size))
    early = labels * (rng.random(labels.size) < 0.4)
    ours, theirs = (
        {"quality_score": worse, "output": scores},
        {"y_7d": early, "y_30d": labels},
    )
    write_logs(tmp_path, rng, ours, theirs, together=False)

    (model,) = guess([str(tmp_path)]).models

    of_score, of_outcome, of_horizon = model.doubts
    assert of_score.startswith("`output` predicts better than `quality_score` (log loss 0.")
    assert of_outcome.startswith("`y_30d` (1 in ")
    assert "better than `y_7d` (1 in " in of_outcome
    assert of_horizon.startswith("`y_30d` says 30 days")


def test_the_reason_has_the_log_loss_of_the_reading(tmp_path: Path) -> None:
    """Of a confidence in a label beside it, that of the probability, not of another reading."""
    _, scores, labels = make(3)
    likely = scores > 0.5
    words = np.array(["lost", "won"])
    ours = {"confidence": np.where(likely, scores, 1 - scores), "predicted": words[likely * 1]}
    write_logs(tmp_path, np.random.default_rng(4), ours, {"label": words[labels]}, together=False)

    (model,) = guess([str(tmp_path)]).models

    assert active(model)["predictions.score_means"] == "probability_of_label"
    loss = -np.log(np.where(labels == 1, scores, 1 - scores)).mean()
    (why,) = (s.why for s in model.settings if s.key == "score")
    said = re.search(r"log loss (\d\.\d+)", why)
    assert said
    assert float(said[1]) == pytest.approx(loss, abs=0.05)
