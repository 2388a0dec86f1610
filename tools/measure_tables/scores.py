"""Scores of one class: the worlds of docs/measure-tables.md, and what measures say of them."""

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.special import expit, logit

from monitor.metrics.binned.binning import (
    Bins,
    monitor_sizes,
    paper_sizes,
    pava,
    pava_bc,
    quantile_bins,
    uniform_bins,
)
from monitor.metrics.binned.ece import (
    ace,
    debiased_mean_squared_gap,
    debiased_root_mean_squared_gap,
    ece,
    mce,
    root_mean_squared_gap,
)
from monitor.metrics.binned.estimation_error import estimation_error
from monitor.metrics.binned.hosmer_lemeshow import hosmer_lemeshow
from monitor.metrics.core.tally import Tally, shift, tally_on_grid
from monitor.metrics.logistic.cox import fit_cox, slope_z
from monitor.metrics.logistic.intercept import fit_intercept
from monitor.metrics.scores.bounds import calibration_bounds, improvement
from monitor.metrics.scores.brier import brier, rbs
from monitor.metrics.scores.corp import corp
from monitor.metrics.scores.discrimination import auc, tjur_r2
from monitor.metrics.scores.log_score import log_score
from monitor.metrics.scores.spiegelhalter import spiegelhalter
from monitor.metrics.smooth.cumulative import CumulativeDifferences, cumulative_differences
from monitor.metrics.smooth.kernel_density import kernel_density_error
from monitor.metrics.smooth.skce import skce
from monitor.metrics.smooth.smooth_ece import smooth_ece, smooth_ece_at
from monitor.metrics.test_based.null_reference import tce_null_reference
from monitor.metrics.test_based.t_test import tce_t
from monitor.metrics.test_based.tce import tce
from monitor.metrics.test_based.tce_at_size import standard_size, tce_at_size
from tools.measure_tables.table import Table

DAYS = 40
ROWS = 20_000
USUAL, RARE = -1.5, -6.0  # centres of the scores' logits: 23 % and 0.5 % positive


def scores(rng: np.random.Generator, size: int, centre: float = USUAL) -> np.ndarray:
    """Draw scores whose logits are normal."""
    return np.asarray(expit(rng.normal(centre, 1.2, size)))


def calibrated(rng: np.random.Generator, size: int = ROWS, centre: float = USUAL) -> Tally:
    """Let every score be the probability of its outcome."""
    s = scores(rng, size, centre)
    return tally_on_grid(rng.random(size) < s, s)


def prior_shift(rng: np.random.Generator) -> Tally:
    """Double the odds of a positive outcome, with P(score | outcome) as it was."""
    s = scores(rng, 3 * ROWS)
    y = rng.random(s.size) < s
    kept = np.flatnonzero(y | (rng.random(s.size) < 0.5))[:ROWS]  # all positives, half the others
    return tally_on_grid(y[kept], s[kept])


def slope_drift(rng: np.random.Generator) -> Tally:
    """Make scores too extreme: true logits are 0.8 times as far from their centre."""
    s = scores(rng, ROWS)
    true = 0.8 * np.log(s / (1.0 - s)) - 0.197  # which leaves the prevalence as it was
    return tally_on_grid(rng.random(s.size) < expit(true), s)


WORLDS: dict[str, Callable[[np.random.Generator], Tally]] = {
    "calibrated": calibrated,
    "prior odds doubled": prior_shift,
    "slope 0.8": slope_drift,
    "10 x volume": lambda rng: calibrated(rng, 10 * ROWS),
    "rare, 10 x volume": lambda rng: calibrated(rng, 10 * ROWS, RARE),
}


# Every row of the table is about the same days, and several rows about one result.
quantiles, uniform = cache(quantile_bins), cache(uniform_bins)
intercept, cox = cache(fit_intercept), cache(fit_cox)
differences, decomposed = cache(cumulative_differences), cache(corp)
estimated, bounds = cache(estimation_error), cache(calibration_bounds)
kernel = cache(kernel_density_error)  # whose bandwidth is the dear part, and that of each order


@cache
def paper_bins(t: Tally) -> Bins:
    """Cut PAVA-BC bins of the paper's sizes."""
    smallest, largest = paper_sizes(t.total)
    return pava_bc(t, min_size=smallest, max_size=largest)


@cache
def our_bins(t: Tally) -> Bins:
    """Cut PAVA-BC bins of the monitor's sizes."""
    smallest, largest = monitor_sizes(t.total)
    return pava_bc(t, min_size=smallest, max_size=largest)


@cache
def adjusted_scores(t: Tally) -> Tally:
    """Forgive the prior."""
    return shift(t, intercept(t).delta)


def headline(t: Tally, *, adjusted: bool) -> float:
    """Take TCE@N*, of the model's own size, before or after forgiving the prior."""
    size = standard_size(0.005 if t.prevalence < 0.05 else 0.23)
    moved = adjusted_scores(t) if adjusted else t
    return tce_at_size(moved, size=size, rng=np.random.default_rng(1)).mean.value


def in_deviations(t: Tally) -> float:
    """Take the SKCE in units of its deviation under calibration."""
    found = skce(t)
    return found.value / found.deviation


@cache
def after_intercept(t: Tally) -> CumulativeDifferences:
    """Take the cumulative differences of prior-adjusted scores, against their own null."""
    return cumulative_differences(adjusted_scores(t), null="intercept_fitted")


def null_level(t: Tally) -> float:
    """Take the mean TCE, with the monitor's sizes, of calibrated worlds like this one."""
    smallest, largest = monitor_sizes(t.total)
    moved, rng = adjusted_scores(t), np.random.default_rng(1)
    found = tce_null_reference(moved, min_size=smallest, max_size=largest, replicates=20, rng=rng)
    return found.mean


def gain(t: Tally) -> float:
    """Take what the map that rights the world of slope 0.8 is worth."""
    return improvement(t, expit(0.8 * logit(t.scores) - 0.197)).value


# Each row of the table: its name, the measure, and the decimals that are printed.
MEASURES: dict[str, tuple[Callable[[Tally], float], int]] = {
    "TCE, paper's bins": (lambda t: tce(t, paper_bins(t)).value, 2),
    "TCE, monitor's bins": (lambda t: tce(t, our_bins(t)).value, 2),
    "its null reference, mean": (null_level, 2),
    "TCE(Q), 10 quantile bins": (lambda t: tce(t, quantiles(t, 10)).value, 2),
    "TCE(V), PAVA bins": (lambda t: tce(t, pava(t)).value, 2),
    "TCE, 15 uniform bins": (lambda t: tce(t, uniform(t, 15)).value, 2),
    "TCE, t-test, paper's bins": (lambda t: tce_t(t, paper_bins(t)).value, 2),
    "**TCE@N\\***, raw": (lambda t: headline(t, adjusted=False), 2),
    "**TCE@N\\***, prior-adjusted": (lambda t: headline(t, adjusted=True), 2),
    "estimation error, total": (lambda t: estimated(our_bins(t)).total, 4),
    "estimation error, within bin": (lambda t: estimated(our_bins(t)).within_bin, 4),
    "ECE, monitor's PAVA-BC bins": (lambda t: ece(our_bins(t)), 4),
    "ECE, 15 uniform bins": (lambda t: ece(uniform(t, 15)), 4),
    "ACE, 10 quantile bins": (lambda t: ace(t, 10), 4),
    "MCE, 15 uniform bins": (lambda t: mce(uniform(t, 15)).value, 3),
    "MCE(Q), 10 quantile bins": (lambda t: mce(quantiles(t, 10)).value, 4),
    "L2 error, 15 quantile bins": (lambda t: root_mean_squared_gap(quantiles(t, 15)), 4),
    "L2 error, 15 uniform bins": (lambda t: root_mean_squared_gap(uniform(t, 15)), 4),
    "squared, debiased, in 1e-4": (lambda t: 1e4 * debiased_mean_squared_gap(quantiles(t, 15)), 2),
    "its root, 0 where negative": (lambda t: debiased_root_mean_squared_gap(quantiles(t, 15)), 4),
    "smooth ECE": (smooth_ece, 4),
    "smooth ECE, bandwidth 0.05": (lambda t: smooth_ece_at(t, bandwidth=0.05), 4),
    "kernel density, order 1": (lambda t: kernel(t).value, 4),
    "kernel density, order 1, bandwidth 0.001": (
        lambda t: kernel_density_error(t, bandwidth=0.001).value,
        4,
    ),
    "kernel density, order 2": (
        lambda t: kernel_density_error(t, order=2.0, bandwidth=kernel(t).bandwidth).value,
        4,
    ),
    "SKCE, in 1e-4": (lambda t: 1e4 * skce(t).value, 2),
    "SKCE, in deviations": (in_deviations, 1),
    "KS": (lambda t: differences(t).ks, 4),
    "Kuiper": (lambda t: differences(t).kuiper, 4),
    "KS, log10 p": (lambda t: differences(t).ks_log10_p, 1),
    "Kuiper, log10 p": (lambda t: differences(t).kuiper_log10_p, 1),
    "KS after the intercept, log10 p": (lambda t: after_intercept(t).ks_log10_p, 1),
    "Hosmer-Lemeshow, log10 p": (lambda t: hosmer_lemeshow(quantiles(t, 10)).log10_p, 1),
    "Spiegelhalter's z": (lambda t: spiegelhalter(t).z, 1),
    "intercept": (lambda t: intercept(t).delta, 3),
    "Cox intercept": (lambda t: cox(t).intercept, 3),
    "Cox slope": (lambda t: cox(t).slope, 3),
    "slope z": (slope_z, 1),
    "Brier score": (brier, 4),
    "RBS": (rbs, 4),
    "RBS, two classes": (lambda t: rbs(t, convention="two_class"), 4),
    "log score": (log_score, 4),
    "bound of CE_2": (lambda t: bounds(t).root.value, 4),
    "bound of the divergence": (lambda t: bounds(t).divergence.value, 4),
    "improvement by slope 0.8, in 1e-4": (lambda t: 1e4 * gain(t), 2),
    "CORP miscalibration, Brier, in 1e-4": (lambda t: 1e4 * decomposed(t).miscalibration, 2),
    "CORP discrimination, Brier": (lambda t: decomposed(t).discrimination, 4),
    "CORP uncertainty, Brier": (lambda t: decomposed(t).uncertainty, 4),
    "CORP miscalibration, log, in 1e-4": (
        lambda t: 1e4 * decomposed(t, rule="log").miscalibration,
        2,
    ),
    "CORP discrimination, log": (lambda t: decomposed(t, rule="log").discrimination, 4),
    "CORP uncertainty, log": (lambda t: decomposed(t, rule="log").uncertainty, 4),
    "AUC": (lambda t: auc(t).value, 3),
    "Tjur's R²": (tjur_r2, 3),
}

SCORES = Table(DAYS, WORLDS, MEASURES)
