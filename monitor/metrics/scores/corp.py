"""CORP: a proper score split into miscalibration, discrimination and uncertainty."""

from dataclasses import dataclass

import numpy as np

from monitor.base.short_text import shown_shortly
from monitor.metrics.binned.binning import pava
from monitor.metrics.core.grid import Ints
from monitor.metrics.core.option_check import check_option
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.special import xlogy
from monitor.metrics.core.tally import Tally
from monitor.metrics.scores.bounds import ScoringRule
from monitor.metrics.scores.brier import brier
from monitor.metrics.scores.log_score import log_score


@shown_shortly
@dataclass(frozen=True)
class Corp:
    """A mean score and its parts: ``score = miscalibration - discrimination + uncertainty``.

    Attributes
    ----------
    score : float
        Brier score (one-vector, in [0, 1]) or log score (nats, in [0, inf]).
    miscalibration : float
        At least 0: what the best increasing map of the scores would save. Infinite with the
        log score.
    discrimination : float
        At least 0: how much better the recalibrated scores predict than the prevalence.
    uncertainty : float
        Score of always predicting the prevalence; a property of the outcomes alone.
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


@takes_rows
def corp(t: Tally, *, rule: ScoringRule = "brier") -> Corp:
    """Split a mean score by isotonic regression of the outcomes on the scores.

    For analysis, not used by the daily job.

    Parameters
    ----------
    t : Tally or rows
        At least one prediction.
    rule : {"brier", "log"}
        Which proper score to split.

    Returns
    -------
    Corp
        The parts add up to the score but for rounding. The map is fitted on the same
        predictions, so miscalibration and discrimination are both optimistic: calibrated
        data give a little more than 0.

    Raises
    ------
    ValueError
        If the tally is empty or the rule unknown.

    Notes
    -----
    With c the isotonic (PAVA) rates and pi the prevalence: ``MCB = S(s) - S(c)``,
    ``DSC = S(pi) - S(c)``, ``UNC = S(pi)`` (Dimitriadis, Gneiting and Jordan, PNAS 118,
    2021, equation 4), the sample form of the decomposition of [RBS, Lemma 4.1]. One fit
    serves both scores: PAVA minimises every proper score among increasing maps. Being means
    of their blocks, c and pi score exactly the entropy of the blocks and of the whole.

    Intervals, for the parts of endless rows: `uncertainty_interval` in closed form;
    `bootstrap_interval` by inversion for miscalibration and with its bias corrected for
    discrimination, whose low end may be negative. Measured coverage: docs/coverage.md.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> parts = corp(tally([0, 1, 1, 1], [0.2, 0.2, 0.7, 0.7]))
    >>> round(parts.miscalibration, 6), round(parts.discrimination, 6), parts.uncertainty
    (0.09, 0.0625, 0.1875)
    """
    check_option("rule", rule, ScoringRule)
    score = brier(t) if rule == "brier" else log_score(t)
    bins = pava(t)
    entropy = _entropy(bins.counts, bins.positives, rule)
    uncertainty = _entropy(np.array([t.total]), np.array([t.total_positives]), rule)
    # Neither difference is negative before rounding: the scores and the prevalence are
    # increasing maps too, and no increasing map beats PAVA.
    return Corp(score, max(0.0, score - entropy), max(0.0, uncertainty - entropy), uncertainty)


def _entropy(counts: Ints, positives: Ints, rule: ScoringRule) -> float:
    """Score the observed rates of blocks against their own outcomes."""
    rates, misses = positives / counts, counts - positives
    if rule == "brier":
        return float((misses * rates).sum() / counts.sum())
    logs = xlogy(positives, rates).sum() + xlogy(misses, misses / counts).sum()
    return abs(float(logs / counts.sum()))
