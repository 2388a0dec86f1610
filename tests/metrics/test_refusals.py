"""What the measures refuse: each message names the rule and the value."""

from collections.abc import Callable
from math import inf, nan
from typing import Any, get_args

import numpy as np
import pytest

from monitor import metrics as m
from monitor.metrics.binned.binning import Tail
from monitor.metrics.intervals.bootstrap import Method
from monitor.metrics.intervals.ece_interval import Adjustment
from monitor.metrics.intervals.intervals import Scale
from monitor.metrics.scores.bounds import ScoringRule
from monitor.metrics.scores.brier import Convention
from monitor.metrics.smooth.cumulative import Null, log10_tail_of_maximum, log10_tail_of_range

T = m.tally
EMPTY, ONE, TWO = T([], []), T([1], [0.5]), T([0, 1], [0.2, 0.5])
HUNDRED = T([0, 1] * 50, np.linspace(0.05, 0.95, 100))
HALVES = [[0.5, 0.5]] * 2
NO_BINS = m.Bins(np.zeros(1, np.int64), *[np.zeros(0, np.int64)] * 2, np.zeros(0))
NO_VECTORS = np.zeros(0, int), np.zeros((0, 3))
IMPROVED = np.array([0.3, 0.6])


def rng() -> np.random.Generator:
    """Give a source of chance."""
    return np.random.default_rng(1)


def of_sums(count: int, positives: int, score_sum: float) -> m.Bins:
    """Make a bin of its sums."""
    return m.Bins(np.arange(2), *(np.array([n]) for n in (count, positives, score_sum)))


def null(t: m.Tally = TWO, **given: Any) -> object:
    """Simulate calibrated worlds."""
    return m.tce_null_reference(t, **{"min_size": 1, "max_size": 2, "rng": rng(), **given})


def resampled(t: m.Tally = HUNDRED, **given: Any) -> object:
    """Resample a tally."""
    return m.bootstrap_interval(t, m.brier, rng=rng(), **given)


def at_size(size: int = 40, **given: Any) -> object:
    """Take TCE at a size."""
    return m.tce_at_size(T([0, 1] * 30, [0.1, 0.9] * 30), size=size, rng=rng(), **given)


EMPTY_SAMPLES: dict[Callable[[m.Tally], object], str] = {
    m.brier: "the Brier score of an empty sample is undefined",
    m.rbs: "the Brier score of an empty sample is undefined",
    m.log_score: "the log score of an empty sample is undefined",
    m.corp: "score of an empty sample is undefined: give at least",
    m.calibration_bounds: "the Brier score of an empty sample is undefined",
    m.auc: "the AUC needs both outcomes, got",
    m.tjur_r2: "Tjur's R2 needs both outcomes, got",
    m.cumulative_differences: "an empty tally has no cumulative differences",
    m.smooth_ece: "the smooth ECE of an empty tally is undefined",
    m.skce: "the SKCE needs at least two predictions",
    m.spiegelhalter: "Spiegelhalter's z needs a score other than 0, 0.5",
    m.confidence_band: "an empty tally has no band",
    m.actual_over_expected: "no outcome is expected",
    m.grade_tests: "at least one prediction",
    m.tce: "empty tally",
    m.tce_t: "empty tally",
    m.fit_cox: "a Cox line needs both outcomes .* got 0 positives of 0",
    null: "an empty tally has no null reference",
    resampled: "an empty tally cannot be resampled",
    lambda t: m.net_benefit(t, 0.5): "at least one prediction",
    lambda t: m.uniform_bins(t, 3): "an empty sample has no bins",
    lambda t: m.improvement(t, np.array([])): "an empty tally has no calibration to improve",
}


@pytest.mark.parametrize("measure", EMPTY_SAMPLES)
def test_an_empty_sample_is_refused(measure: Callable[[m.Tally], object]) -> None:
    """Nothing has no measure."""
    with pytest.raises(ValueError, match=EMPTY_SAMPLES[measure]):
        measure(EMPTY)


OF_WORDS: dict[tuple[str, Any], list[Callable[[Any], object]]] = {
    ("rule", ScoringRule): [
        lambda word: m.corp(HUNDRED, rule=word),
        lambda word: m.improvement(HUNDRED, 0.9 * HUNDRED.scores, rule=word),
        lambda word: m.uncertainty_interval(HUNDRED, rule=word),
    ],
    ("null", Null): [
        lambda word: m.cumulative_differences(HUNDRED, null=word),
        lambda word: log10_tail_of_maximum(1.0, null=word),
        lambda word: log10_tail_of_range(1.0, null=word),
    ],
    ("tail", Tail): [lambda word: m.pava_bc(HUNDRED, min_size=2, max_size=4, tail=word)],
    ("convention", Convention): [
        lambda word: m.brier(HUNDRED, convention=word),
        lambda word: m.rbs(HUNDRED, convention=word),
    ],
    ("scale", Scale): [lambda word: m.normal_interval(0.5, 0.1, scale=word)],
    ("adjusted", Adjustment): [lambda word: m.ece_interval(HUNDRED, adjusted=word, rng=rng())],
    ("method", Method): [lambda word: resampled(method=word)],
}
REFUSED: list[tuple[str, Callable[[], object]]] = [
    # Bins.
    (r"0 <= min_size <= max_size, got 3 and 2\.$", lambda: m.pava_bc(ONE, min_size=3, max_size=2)),
    (r"number of bins must be at least 1, got 0\.$", lambda: m.quantile_bins(ONE, 0)),
    (r"number of bins must be at least 1, got 0\.$", lambda: m.ace(ONE, 0)),
    (r"number of bins must be an integer, got 2\.5\.$", lambda: m.quantile_bins(ONE, 2.5)),
    (r"number of bins must be an integer, got 2\.5\.$", lambda: m.uniform_bins(ONE, 2.5)),
    (r"number of bins must be an integer, got 2\.5\.$", lambda: m.ace(ONE, 2.5)),
    ("at least one prediction", lambda: m.grade_tests(NO_BINS)),
    ("degrees_lost .* got 1 and 1", lambda: m.hosmer_lemeshow(of_sums(10, 7, 5), degrees_lost=1)),
    ("degrees_lost .* got -1 and 1", lambda: m.hosmer_lemeshow(of_sums(10, 7, 5), degrees_lost=-1)),
    ("degrees_lost .* got 0 and 0", lambda: m.hosmer_lemeshow(of_sums(4, 0, 0))),
    ("no outcome is expected", lambda: m.actual_over_expected(T([0, 0], [0.0, 0.0]))),
    ("exact tallies and grid tallies", lambda: m.merge([ONE, m.tally_on_grid([0], [0.1])])),
    ("there is nothing to merge", lambda: m.merge([])),
    # Binomial tests.
    ("successes must be integers", lambda: m.binomial_pvalues(1.5, 3, 0.5)),
    ("successes must be integers", lambda: m.binomial_pvalues(True, 3, 0.5)),
    ("trials must be integers", lambda: m.binomial_pvalues(1, 3.0, 0.5)),
    ("trials must be at least 1, got 0", lambda: m.binomial_pvalues(0, 0, 0.5)),
    ("between 0 and the trials, got 4", lambda: m.binomial_pvalues(4, 3, 0.5)),
    ("between 0 and the trials, got -1", lambda: m.binomial_pvalues(-1, 3, 0.5)),
    (r"probabilities .* got 1.1 \(1 of 2\)", lambda: m.binomial_pvalues(1, 3, [0.5, 1.1])),
    ("probabilities must be numbers in", lambda: m.binomial_pvalues(1, 3, -1e-9)),
    ("probabilities .* got nan", lambda: m.binomial_pvalues(1, 3, nan)),
    ("got 3 of 2", lambda: m.accepted_intervals(3, 2)),
    ("got -1 of 2", lambda: m.accepted_intervals(-1, 2)),
    ("got 0 of 0", lambda: m.accepted_intervals(0, 0)),
    ("alpha must be in", lambda: m.accepted_intervals(1, 2, alpha=0.0)),
    ("alpha must be in", lambda: m.accepted_intervals(1, 2, alpha=1.0)),
    ("alpha must be in", lambda: m.accepted_intervals(1, 2, alpha=nan)),
    # TCE.
    *((f"alpha must be in .* got {a}", lambda a=a: m.tce(TWO, alpha=a)) for a in (0.0, 1.0, nan)),
    *((f"alpha must be in .* got {a}", lambda a=a: m.tce_t(TWO, alpha=a)) for a in (0.0, 1.0, nan)),
    ("min_size <= max_size, got 2 and 1", lambda: m.tce(TWO, sizes=lambda _: (2, 1))),
    ("min_size <= max_size, got 2 and 1", lambda: m.tce([0], [0.2], sizes=lambda _: (2, 1))),
    (r"^alpha must be in \(0, 1\), got 0\.0", lambda: null(alpha=0.0)),
    (r"^alpha must be in \(0, 1\), got nan", lambda: null(alpha=nan)),
    (r"0 <= min_size <= max_size, got 5 and 4\.$", lambda: null(min_size=5, max_size=4)),
    (r"0 <= min_size <= max_size, got -1 and 2\.$", lambda: null(min_size=-1)),
    ("^the null reference needs at least 1 replicate, got 0", lambda: null(replicates=0)),
    ("^subsamples of 61 predictions need .* got 60: take a long", lambda: at_size(61)),
    (r"^the size of a subsample must be at least 20, got 19\.$", lambda: at_size(19)),
    (r"^the number of subsamples must be at least 2, got 1\.$", lambda: at_size(subsamples=1)),
    (r"^the confidence level must be in \(0, 1\), got 1\.0\.$", lambda: at_size(level=1.0)),
    ("alpha", lambda: at_size(alpha=0.0)),
    *((r"prevalence must be in \(0, 1\)", lambda p=p: m.standard_size(p)) for p in (0, 1, nan)),
    # Scores.
    ("at least two predictions, got 1", lambda: m.brier_skill(ONE)),
    ("the constant forecast 1 is never wrong", lambda: m.brier_skill(T([1, 1], [0.5, 0.5]))),
    (r"must lie in \[0, 1\], got 1.5", lambda: m.brier_skill(TWO, climatology=1.5)),
    ("got nan", lambda: m.brier_skill(TWO, climatology=nan)),
    ("the AUC needs both outcomes", lambda: m.auc(ONE)),
    ("Tjur's R2 needs both outcomes", lambda: m.tjur_r2(T([0, 0], [0.2, 0.4]))),
    *((f"between 0 and 1, got {x}", lambda x=x: m.net_benefit(TWO, x)) for x in (0.0, 1.0, nan)),
    ("benefit must be above 0 and finite", lambda: m.net_benefit(TWO, 0.5, benefit=0.0)),
    ("cost must be at least 0 and finite, got -1", lambda: m.net_benefit(TWO, 0.5, cost=-1.0)),
    (r"each of the 2 scores, got shape \(1,\)", lambda: m.improvement(TWO, IMPROVED[:1])),
    (r"stay in \[0, 1\], but sends 0.5 to 1.2", lambda: m.improvement(TWO, np.array([0.3, 1.2]))),
    (r"stay in \[0, 1\], but sends 0.2 to nan", lambda: m.improvement(TWO, np.array([nan, 0.2]))),
    ("the scores 0.2 and 0.5 both to 0.3", lambda: m.improvement(TWO, np.array([0.3, 0.3]))),
    ("other than 0, 0.5", lambda: m.spiegelhalter(T([0, 1, 1], [0.0, 0.5, 1.0]))),
    # Lines.
    ("got 0 positives of 2", lambda: m.fit_cox(T([0, 0], [0.2, 0.4]))),
    ("got 2 positives of 2", lambda: m.fit_cox(T([1, 1], [0.2, 0.4]))),
    ("got 1 positives of 1", lambda: m.fit_cox(T([1, 1, 0], [0.0, 0.3, 1.0]))),
    ("two different logits, got that of 0.3", lambda: m.fit_cox(T([0, 1, 1], [0.3] * 3))),
    ("^scores up to 0.3 and from 0.6 on sep", lambda: m.fit_cox(T([0, 0, 1], [0.2, 0.3, 0.6]))),
    ("^scores up to 0.2 and from 0.3 on sep", lambda: m.fit_cox(T([1, 0, 0], [0.2, 0.3, 0.6]))),
    ("up to 0.3 and from 0.3 on", lambda: m.fit_cox(T([0, 0, 1, 1], [0.2, 0.3, 0.3, 0.6]))),
    ("^a finite intercept needs both outcomes", lambda: m.fit_intercept(T([1, 1], [0.2, 0.4]))),
    ("^a finite intercept needs both outcomes", lambda: m.fit_intercept(T([0, 1], [0.3, 1.0]))),
    # Intervals.
    (r"^the confidence level must be in \(0, 1\), got 0\.0\.$", lambda: resampled(level=0.0)),
    (r"^the confidence level must be in \(0, 1\), got 1\.0\.$", lambda: resampled(level=1.0)),
    ("level 0.95 needs at least 20 repl.*got 19", lambda: resampled(replicates=19)),
    ("level 0.99 needs at least 100 .*got 99", lambda: resampled(level=0.99, replicates=99)),
    (r"level must be in \(0, 1\), got 95", lambda: m.consistency_band(ONE, level=95, rng=rng())),
    # Smooth errors.
    *(("bandwidth must be a positive", lambda w=w: m.skce(TWO, bandwidth=w)) for w in (0, inf)),
    ("^the SKCE needs at least two predictions", lambda: m.skce(ONE)),
    *((r"bandwidth must lie in \[7\.63e-06, 1\]", lambda w=w: m.smooth_ece_at(TWO, bandwidth=w))
      for w in (0.0, 1.1, nan)),
    ("at least two predictions, got 1", lambda: m.kernel_density_error(ONE)),
    ("order must be at least 1, got 0.5", lambda: m.kernel_density_error(TWO, order=0.5)),
    ("order must be at least 1, got nan", lambda: m.kernel_density_error(TWO, order=nan)),
    ("bandwidth must be a positive", lambda: m.kernel_density_error(TWO, bandwidth=0.0)),
    ("bandwidth must be a positive", lambda: m.kernel_density_error(TWO, bandwidth=inf)),
    # Classes.
    ("two rows, got 1", lambda: m.kernel_density_class_error([0], HALVES[:1])),
    ("do not sum to 1", lambda: m.kernel_density_class_error([0, 0], [[0.5, 0.6]] * 2)),
    ("order must be at least 1", lambda: m.kernel_density_class_error([0, 0], HALVES, order=0.0)),
    ("be a positive", lambda: m.kernel_density_class_error([0, 0], HALVES, bandwidth=-1.0)),
    ("one row for each label", lambda: m.fit_class_map([], [], "temperature")),
    ("at least one row", lambda: m.fit_class_map(*NO_VECTORS, "temperature")),
    ("got 'platt'", lambda: m.fit_class_map([0], HALVES[:1], "platt")),
    ("do not sum to 1", lambda: m.fit_class_map([0], [[0.5, 0.6]], "vector")),
    ("be at least 0, got -1", lambda: m.fit_class_map([0], HALVES[:1], "dirichlet", penalty=-1.0)),
    ("of 3 classes, the scores are of 2",
     lambda: m.apply_class_map(HALVES, m.ClassMap("temperature", 3, np.ones(1)))),
    *((f"^the order of a calibration error must be at least 1, got {order}.$",
       lambda measure=measure, order=order: measure([1], [[0.2, 0.8]], 10, order=order))
      for measure in (m.classwise_calibration_error, m.top_label_calibration_error)
      for order in (0.5, nan)),
    # Words that choose between formulas: those that there are, and the one given.
    *((rf"^the {option} must be one of {', '.join(get_args(words))}, got {wrong!r}\.$",
       lambda call=call, wrong=wrong: call(wrong))
      for (option, words), calls in OF_WORDS.items() for call in calls for wrong in ("Log", None)),
    # Regression.
    ("one prediction, got none", lambda: m.squared_error_ratio([], means=[], variances=[])),
    ("at least two predictions, got 1",
     lambda: m.squared_error_ratio_interval([1.0], means=[0.0], variances=[1.0])),
    ("first -0.8 at row 1: refit on a sample with variances like these",
     lambda: m.scale_variances([1.0, 0.1], m.VarianceScaling(slope=2.0, intercept=-1.0))),
]  # fmt: skip


@pytest.mark.parametrize(("message", "call"), REFUSED)
def test_what_means_nothing_is_refused(message: str, call: Callable[[], object]) -> None:
    """With the rule and the value."""
    with pytest.raises(ValueError, match=message):
        call()


def test_a_count_that_is_no_integer_has_no_exact_test() -> None:
    """A fraction is another type."""
    with pytest.raises(TypeError):
        m.accepted_intervals(1.5, 3)
