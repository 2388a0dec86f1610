"""The map as an estimator of scikit-learn: it keeps its rules, and is the same map."""

import warnings
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import estimator_checks_generator

import monitor
from monitor import Recalibrator
from monitor.metrics.core.tally import tally
from monitor.metrics.maps.daily_counts import daily_counts
from monitor.metrics.maps.fitting import fit_calibration_map
from monitor.metrics.maps.map_file import MapFile, Training


class FirstColumn(Recalibrator):
    """The checks draw several columns of any numbers; the first is the score, as log-odds."""

    def __init__(self, kind: str = "platt") -> None:
        super().__init__(kind, scores="log_odds")

    def _score_of(self, columns: np.ndarray) -> np.ndarray:
        return columns[:, 0]


# One column of scores may have one dimension; the last needs a library of other arrays.
NOT_APPLICABLE = {"check_fit1d", "check_fit2d_predict1d", "check_array_api_input"}
CHECKS = [
    pytest.param(estimator, check, id=check.func.__name__)
    for estimator, check in estimator_checks_generator(FirstColumn())
    if check.func.__name__ not in NOT_APPLICABLE
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_it_is_an_estimator(estimator: Any, check: Any) -> None:
    """It passes the checks of scikit-learn."""
    check(estimator)


def rows(number: int = 2_000) -> tuple[np.ndarray, np.ndarray]:
    """Draw scores that are too extreme, and their outcomes."""
    rng = np.random.default_rng(1)
    x = rng.normal(-0.5, 1.5, number)
    return expit(x), rng.random(number) < expit(0.3 + 0.6 * x)


def test_it_is_the_map_of_tallies() -> None:
    """With one day it is the map that is fitted to the tally of the same rows."""
    scores, outcomes = rows()
    found = Recalibrator("beta").fit(scores, outcomes)
    plain = fit_calibration_map(daily_counts([tally(outcomes, scores)]), "beta").map

    assert found.map_.parameters == pytest.approx(plain.parameters, rel=1e-9)
    np.testing.assert_allclose(
        found.predict_proba(scores)[:, 1], monitor.apply_map(scores, found.map_), rtol=1e-12
    )
    assert (found.predict(scores) == (found.predict_proba(scores)[:, 1] > 0.5)).all()


def test_platt_is_the_logistic_regression_of_scikit_learn() -> None:
    """Without a penalty, scikit-learn finds the same slope and intercept."""
    scores, outcomes = rows()
    theirs = LogisticRegression(C=np.inf, tol=1e-10).fit(logit(scores)[:, None], outcomes)
    ours = Recalibrator("platt").fit(scores, outcomes).map_

    assert ours.parameters[0] == pytest.approx(theirs.coef_[0, 0], abs=1e-5)
    assert ours.level == pytest.approx(theirs.intercept_[0], abs=1e-5)


def test_days_take_the_prior_out() -> None:
    """With the days given, the slope is right though every day has another prior."""
    rng = np.random.default_rng(2)
    days = np.repeat(np.arange(20), 2_000)
    prior = np.repeat(np.where(np.arange(20) % 2, 2.0, -2.0), 2_000)
    # Scores know the prior of the day only in half: a plain fit takes it for slope.
    x = rng.normal(0.0, 1.0, days.size) + prior / 2.0
    outcomes = rng.random(days.size) < expit(0.6 * x + prior)
    plain, by_day = (
        Recalibrator("platt", scores="log_odds").fit(x, outcomes, days=given).map_
        for given in (None, days)
    )

    assert by_day.parameters[0] == pytest.approx(0.6, abs=0.04)  # 3 standard errors
    assert plain.parameters[0] > 1.0


def test_auto_finds_the_line_and_leaves_calibrated_scores() -> None:
    """Too extreme scores get a line; calibrated ones stay as they are."""
    scores, outcomes = rows(20_000)
    sound = np.random.default_rng(3).random(20_000) < scores

    assert Recalibrator().fit(scores, outcomes).map_.kind == "platt"
    assert Recalibrator().fit(scores, sound).map_.kind == "identity"
    assert clone(Recalibrator("platt")).kind == "platt"


@pytest.mark.parametrize(
    ("arguments", "X", "message"),
    [
        ({"kind": "cubic"}, [0.2, 0.8], "kind must be"),
        ({"scores": "odds"}, [0.2, 0.8], "scores must be"),
        ({}, [0.2, 1.8], r"scores must lie in \[0, 1\], got 0.2 to 1.8"),
        ({}, [[0.2, 0.1], [0.3, 0.7]], "1 of 2 rows of the two columns of X do not sum to 1"),
        ({}, [[0.2, 0.3, 0.5], [0.3, 0.3, 0.4]], "one column of scores, or the two of"),
    ],
)
def test_refusals(arguments: dict[str, Any], X: Any, message: str) -> None:  # noqa: N803
    """What is no score or no family is named."""
    with pytest.raises(ValueError, match=message):
        Recalibrator(**arguments).fit(X, [0, 1])


def test_it_takes_what_evaluate_takes() -> None:
    """Both columns of `predict_proba`, and weights that are numbers of rows."""
    scores, outcomes = rows()
    expected = Recalibrator("platt").fit(scores, outcomes)
    both = np.column_stack([1.0 - scores, scores])
    weights = np.arange(scores.size) % 3
    repeated = Recalibrator("platt").fit(np.repeat(scores, weights), np.repeat(outcomes, weights))

    assert Recalibrator("platt").fit(both, outcomes).map_ == expected.map_
    weighted = Recalibrator("platt").fit(scores, outcomes, sample_weight=weights)
    assert weighted.map_ == repeated.map_
    for wrong in (weights + 0.5, weights[:-1], weights * 0, weights[:, None]):
        with pytest.raises(ValueError, match="weight"):
            Recalibrator("platt").fit(scores, outcomes, sample_weight=wrong)


def test_it_writes_the_map_file_and_reads_it(tmp_path: Path) -> None:
    """The file says days, outcomes and gains; read back, it gives the same probabilities."""
    scores, outcomes = rows()
    days = np.repeat(np.arange("2026-03-01", "2026-03-21", dtype="datetime64[D]"), 100)
    fitted = Recalibrator("auto").fit(scores, outcomes, days=days)
    fitted.save(tmp_path / "map.json", model="bids")
    content = monitor.read_map(tmp_path / "map.json")
    again = Recalibrator.from_file(tmp_path / "map.json")

    assert isinstance(content, MapFile)
    assert content.training == Training(
        date(2026, 3, 1), date(2026, 3, 20), 20, 2_000, int(outcomes.sum())
    )
    assert content.gains
    assert content.gains.shape_log_loss.low > 0.0
    np.testing.assert_array_equal(again.predict_proba(scores), fitted.predict_proba(scores))
    again.save(tmp_path / "again.json", model="bids")
    assert monitor.read_map(tmp_path / "again.json").map == content.map


@pytest.mark.parametrize("days", [None, np.arange(2_000) // 100, np.array(["a", "b"] * 1_000)])
def test_a_file_needs_its_days(days: np.ndarray | None, tmp_path: Path) -> None:
    """Rows without dates say no day: the call must; a family that was asked for has no gains."""
    fitted = Recalibrator("platt").fit(*rows(), days=days)
    with pytest.raises(ValueError, match="give first= and last="):
        fitted.save(tmp_path / "map.json", model="bids")
    fitted.save(tmp_path / "map.json", model="bids", first=date(2026, 3, 1), last=date(2026, 3, 20))
    content = monitor.read_map(tmp_path / "map.json")

    assert content.gains is None
    assert content.training.days == (20 if days is None else np.unique(days).size)


def test_slope_at_its_bound_is_said() -> None:
    """Scores within 0.46 to 0.54 ask for a slope of 20, and 10 is the most that is tried."""
    rng = np.random.default_rng(7)
    p = rng.uniform(0.05, 0.95, 4000)
    y = (rng.random(4000) < p).astype(int)
    flat = 1 / (1 + np.exp(-np.log(p / (1 - p)) / 20))

    with pytest.warns(UserWarning, match=r"slope is 10, the most that is tried"):
        bent = Recalibrator("platt").fit(flat, y)
    assert bent.map_.parameters == (10.0,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        free = Recalibrator("isotonic").fit(flat, y)
        Recalibrator("platt").fit(p, y)
    assert np.abs(free.predict_proba(flat)[:, 1] - p).mean() < 0.03  # the error of 4,000 rows
