"""Brier score, log score, their bounds on calibration error and what injective maps change."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import expit, logit

from monitor.metrics.binned.binning import pava_bc, quantile_bins, uniform_bins
from monitor.metrics.binned.ece import ece
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.tally import Tally, tally
from monitor.metrics.scores.bounds import ScoringRule, calibration_bounds, improvement
from monitor.metrics.scores.brier import brier, rbs
from monitor.metrics.scores.log_score import log_score
from tests.support.cases import few_examples
from tests.support.paths import GOLDEN
from tests.support.recorded import Recorded

SMALL = json.loads((GOLDEN / "score_measures.json").read_text())["datasets"]

rows = st.lists(
    st.tuples(st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans()),
    min_size=1,
    max_size=60,
)
inner_rows = st.lists(st.tuples(st.floats(0.001, 0.999), st.booleans()), min_size=1, max_size=60)


def recorded(name: str) -> Tally:
    """Give a recorded data set."""
    data = SMALL[name]
    return Tally(*(np.array(data[key]) for key in ("scores", "counts", "positives")))


def of(pairs: list[tuple[float, bool]]) -> Tally:
    """Tally pairs of score and outcome."""
    return tally([y for _, y in pairs], [s for s, _ in pairs])


def calibration_error(t: Tally, p: Floats, rule: ScoringRule) -> float:
    """Divergence of `p` from the observed rate of each distinct score, the sample's own truth."""
    total = 0.0
    for q, n, k in zip(p, t.counts, t.positives, strict=True):
        rate = k / n
        if rule == "brier":
            total += n * (q - rate) ** 2
        else:
            total += k * math.log(rate / q) if k else 0.0
            total += (n - k) * math.log((1 - rate) / (1 - q)) if n - k else 0.0
    return total / t.total


@pytest.mark.parametrize("name", SMALL)
def test_scores_equal_other_programs(name: str) -> None:
    """Scikit-learn's Brier score and log loss and 60-digit sums, to 1e-12 relative."""
    t, data = recorded(name), SMALL[name]

    for source in (data["peers"], data["exact"]):
        assert brier(t) == pytest.approx(source["brier"], rel=1e-12)
        if "log_score" in source:
            assert log_score(t) == pytest.approx(source["log_score"], rel=1e-12)


def test_conventions_equal_the_recorded_ones() -> None:
    """One vector and two classes are what the reference calls one vector and two vectors."""
    t, values = recorded("ties_and_bounds"), SMALL["ties_and_bounds"]["recorded"]

    assert brier(t) == pytest.approx(values["brier"]["one_vector"], abs=1e-12)
    assert brier(t, convention="two_class") == pytest.approx(values["brier"]["two_vector"], 1e-12)
    assert rbs(t, convention="one_vector") == pytest.approx(values["rbs"]["one_vector"], 1e-12)
    assert rbs(t, convention="two_class") == pytest.approx(values["rbs"]["two_vector"], 1e-12)
    assert log_score(t) == float(values["nll"]["unclipped"]) == math.inf


def test_log_score_after_clipping_equals_the_recorded_one() -> None:
    """To get a finite value, clip the scores first: here to [1e-12, 1 - 1e-12]."""
    t = recorded("ties_and_bounds")
    clipped = Tally(np.clip(t.scores, 1e-12, 1 - 1e-12), t.counts, t.positives)
    expected = SMALL["ties_and_bounds"]["recorded"]["nll"]["clip_1e_12"]

    # 1 - 1e-12 keeps only four digits of its distance from 1, and log(1 - s) shows them.
    assert log_score(clipped) == pytest.approx(expected, rel=1e-6)


def test_scores_equal_the_reference(reference: list[Recorded]) -> None:
    """All conventions on thousands of rows, to 1e-12; both sums are means of those rows."""
    for data in reference:
        t, values = data.t, data.values

        assert brier(t) == pytest.approx(values["brier"]["one_vector"], abs=1e-12)
        assert rbs(t, convention="two_class") == pytest.approx(
            values["rbs"]["two_vector"], abs=1e-12
        )
        assert log_score(t) == pytest.approx(float(values["nll"]["unclipped"]), abs=1e-12)


@few_examples
@given(rows)
def test_scores_equal_their_formulas(pairs: list[tuple[float, bool]]) -> None:
    """Row by row sums give the same values; 60 rows, so a few roundings."""
    t = of(pairs)
    chances = [s if y else 1 - s for s, y in pairs]
    logs = [-math.log(s) if s > 0 else math.inf for s in chances]

    assert brier(t) == pytest.approx(sum((s - y) ** 2 for s, y in pairs) / t.total, rel=1e-13)
    assert rbs(t) == math.sqrt(brier(t))
    # 1 - s rounds a tiny s away, where log1p keeps it: 1e-16 a row.
    assert log_score(t) == pytest.approx(sum(logs) / t.total, rel=1e-13, abs=1e-15)


@few_examples
@given(rows, st.integers(2, 5), st.randoms())
def test_order_and_repetition_change_nothing(
    pairs: list[tuple[float, bool]], times: int, random: Any
) -> None:
    """Rows in another order give the same bits; every row `times` over the same score."""
    shuffled = random.sample(pairs, len(pairs))

    for measure in (brier, rbs, log_score):
        assert measure(of(pairs)) == measure(of(shuffled))
        assert measure(of(pairs * times)) == pytest.approx(measure(of(pairs)), rel=1e-14)


@few_examples
@given(inner_rows, st.integers(2, 5))
def test_errors_shrink_with_repetition(pairs: list[tuple[float, bool]], times: int) -> None:
    """Standard errors are the sample's: of n rows repeated r times, sqrt((n-1)/(rn-1)) of it."""
    assume(len(pairs) > 1)
    once, more = calibration_bounds(of(pairs)), calibration_bounds(of(pairs * times))
    factor = math.sqrt((len(pairs) - 1) / (times * len(pairs) - 1))

    # Equal losses leave a variance of pure rounding, about 1e-16 of the loss.
    for a, b in ((once.squared, more.squared), (once.divergence, more.divergence)):
        assert b.standard_error == pytest.approx(a.standard_error * factor, rel=1e-9, abs=1e-13)


def test_wrong_certainty_is_infinitely_surprising() -> None:
    """A score of 0 or 1 costs nothing when right and everything when wrong."""
    assert log_score(tally([0, 1], [0.0, 1.0])) == 0.0
    assert math.copysign(1.0, log_score(tally([0, 1], [0.0, 1.0]))) == 1.0
    assert log_score(tally([1, 1], [0.0, 0.5])) == math.inf
    assert log_score(tally([1, 0], [0.5, 1.0])) == math.inf
    assert log_score(tally([0] * 9 + [1] * 9, [0.0] * 9 + [1.0] * 9)) == 0.0


@few_examples
@given(rows)
def test_bounds_are_the_scores(pairs: list[tuple[float, bool]]) -> None:
    """The bounds of Theorem 4.3 are the mean scores; their errors the textbook's."""
    t, bounds = of(pairs), calibration_bounds(of(pairs))

    assert bounds.root.value == rbs(t)
    assert bounds.squared.value == brier(t)
    assert bounds.divergence.value == log_score(t)
    if t.total == 1:
        assert math.isnan(bounds.squared.standard_error)
        return
    losses = [(s - y) ** 2 for s, y in pairs]
    error = np.std(losses, ddof=1) / math.sqrt(len(losses))
    assert bounds.squared.standard_error == pytest.approx(error, rel=1e-9, abs=1e-14)
    assert math.isnan(bounds.divergence.standard_error) == math.isinf(log_score(t))


def test_perfect_scores_have_bounds_of_zero() -> None:
    """Certainty that came true leaves no calibration error and no doubt about it."""
    bounds = calibration_bounds(tally([0, 1, 1], [0.0, 1.0, 1.0]))

    assert (bounds.root.value, bounds.squared.value, bounds.divergence.value) == (0.0, 0.0, 0.0)
    assert (bounds.root.standard_error, bounds.divergence.standard_error) == (0.0, 0.0)


@few_examples
@given(inner_rows)
def test_calibration_errors_never_exceed_their_bounds(pairs: list[tuple[float, bool]]) -> None:
    """RBS >= CE_2 >= CE_1, log score >= divergence [RBS, Theorems 3.1 and 4.3]; binned ones too.

    The rows are a population of their own, whose true probabilities are the observed rates.
    """
    t = of(pairs)
    bounds = calibration_bounds(t)
    ce_2 = math.sqrt(calibration_error(t, t.scores, "brier"))
    ce_1 = float(t.counts @ np.abs(t.scores - t.positives / t.counts)) / t.total

    # Equality is possible, so allow for rounding.
    assert bounds.root.value >= ce_2 - 1e-15
    assert ce_2 >= ce_1 - 1e-15
    assert bounds.divergence.value >= calibration_error(t, t.scores, "log") - 1e-14
    # In the paper's convention CE_p sums |gap|**p over both classes, and n**(1/p - 1/2) = sqrt(2).
    assert math.sqrt(2) * rbs(t, convention="two_class") >= 2 * ce_1 - 1e-14
    assert rbs(t, convention="two_class") >= math.sqrt(2) * ce_2 - 1e-14
    for bins in (uniform_bins(t, 10), quantile_bins(t, 5), pava_bc(t, min_size=3, max_size=9)):
        assert ce_1 >= ece(bins) - 1e-15


@few_examples
@given(inner_rows)
def test_pinsker_never_beats_the_root_brier_score(pairs: list[tuple[float, bool]]) -> None:
    """The log score bounds CE_2 as well, but always more loosely than the Brier score."""
    bounds = calibration_bounds(of(pairs))

    assert math.sqrt(bounds.divergence.value / 2) >= bounds.root.value


@few_examples
@given(inner_rows, st.floats(-3, 3), st.floats(0.3, 3), st.sampled_from(["brier", "log"]))
def test_improvement_is_a_difference_of_calibration_errors(
    pairs: list[tuple[float, bool]], delta: float, slope: float, rule: ScoringRule
) -> None:
    """Under an injective map, with the observed rates as truth, exactly [RBS, Prop. 4.5]."""
    t = of(pairs)
    moved = expit(delta + slope * logit(t.scores))
    assume(np.unique(moved).size == moved.size)
    score = {"brier": brier, "log": log_score}[rule]
    expected = calibration_error(t, t.scores, rule) - calibration_error(t, moved, rule)

    found = improvement(t, moved, rule=rule)

    # Scores up to 10 nats are subtracted.
    assert found.value == pytest.approx(expected, abs=1e-13)
    assert found.value == pytest.approx(
        score(t) - score(Tally(moved, t.counts, t.positives)), abs=1e-13
    )


@few_examples
@given(inner_rows, st.sampled_from(["brier", "log"]))
def test_improvement_pairs_predictions(pairs: list[tuple[float, bool]], rule: ScoringRule) -> None:
    """Its error is that of the mean difference; a decreasing map is injective too."""
    t = of(pairs)
    moved = 0.9 - 0.8 * t.scores
    assume(len(pairs) > 1 and np.unique(moved).size == moved.size)
    loss = {
        "brier": lambda s, y: (s - y) ** 2,
        "log": lambda s, y: -math.log(s if y else 1 - s),
    }[rule]
    gains = [loss(s, y) - loss(0.9 - 0.8 * s, y) for s, y in pairs]

    found = improvement(t, moved, rule=rule)

    assert found.value == pytest.approx(np.mean(gains), abs=1e-13)
    error = np.std(gains, ddof=1) / math.sqrt(len(gains))
    assert found.standard_error == pytest.approx(error, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("rule", ["brier", "log"])
def test_improvement_is_unbiased_where_the_truth_is_known(rule: ScoringRule) -> None:
    """Mean of 400 samples of 500 rows: the true change of calibration error, within 4 errors.

    Scores s with P(y=1|s) = sigma(.6 logit s - .3), recalibrated by the map that halves the
    defect; the truth is integrated over a million scores. The reported standard error is the
    spread of the samples within 15 %, four errors of a standard deviation of 400.
    """
    rng = np.random.default_rng(11)

    def true_error(s: Floats, p: Floats) -> float:
        if rule == "brier":
            return float(np.mean((s - p) ** 2))
        return float(np.mean(p * np.log(p / s) + (1 - p) * np.log((1 - p) / (1 - s))))

    x = rng.normal(-1.0, 1.5, 1_000_000)
    truth = expit(0.6 * x - 0.3)
    expected = true_error(expit(x), truth) - true_error(expit(0.8 * x - 0.15), truth)
    found, errors = [], []
    for _ in range(400):
        x = rng.normal(-1.0, 1.5, 500)
        t = tally(rng.random(500) < expit(0.6 * x - 0.3), expit(x))
        change = improvement(t, expit(0.8 * logit(t.scores) - 0.15), rule=rule)
        found.append(change.value)
        errors.append(change.standard_error)

    assert abs(np.mean(found) - expected) < 4 * np.std(found) / 20
    assert np.mean(errors) == pytest.approx(np.std(found), rel=0.15)


def test_improvement_of_infinite_scores() -> None:
    """A map may cure or cause an infinite log score; before and after at once has no change."""
    t = tally([1, 1], [0.0, 0.5])

    assert improvement(t, np.array([0.1, 0.5]), rule="log").value == math.inf
    assert math.isnan(improvement(t, np.array([0.1, 0.5]), rule="log").standard_error)
    assert improvement(tally([1, 1], [0.1, 0.5]), t.scores, rule="log").value == -math.inf
    with pytest.raises(ValueError, match=r"^the log score is infinite before and after"):
        improvement(t, np.array([0.0, 0.6]), rule="log")
    with pytest.raises(ValueError, match=r"^the log score is infinite before and after"):
        improvement(t, np.array([0.5, 0.0]), rule="log")


@pytest.mark.parametrize(
    ("recalibrated", "message"),
    [
        ([0.3], r"^the map must give one probability for each of the 2 scores, got shape \(1,\)"),
        ([0.3, 1.2], r"^the map must stay in \[0, 1\], but sends 0.5 to 1.2"),
        ([math.nan, 0.2], r"^the map must stay in \[0, 1\], but sends 0.2 to nan"),
        ([0.3, 0.3], r"^the map sends the scores 0.2 and 0.5 both to 0.3"),
    ],
)
def test_maps_that_are_not_injective_are_refused(recalibrated: list[float], message: str) -> None:
    """Where two scores become one the difference of scores is not one of calibration errors."""
    with pytest.raises(ValueError, match=message):
        improvement(tally([0, 1], [0.2, 0.5]), np.array(recalibrated))


def test_empty_tallies_are_refused() -> None:
    """Nothing has no score."""
    empty = tally([], [])

    with pytest.raises(ValueError, match=r"^the Brier score of an empty sample is undefined"):
        brier(empty)
    with pytest.raises(ValueError, match=r"^the log score of an empty sample is undefined"):
        log_score(empty)
    with pytest.raises(ValueError, match=r"^the Brier score of an empty sample is undefined"):
        calibration_bounds(empty)
    with pytest.raises(ValueError, match=r"^an empty tally has no calibration to improve"):
        improvement(empty, np.array([]))
