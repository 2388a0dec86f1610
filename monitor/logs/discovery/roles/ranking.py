"""Which score predicts which outcome, measured on rows that have both. Pure.

A prior that moved, or a model trained with fewer negatives, shifts all scores by a constant in
log-odds, so scores are compared with the best constant first (`shifted`), and as they are only
where that does not separate them. Names break ties.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SURE = 1e-6  # scores are cut here, so that one wrong certainty does not decide
STEPS = 30  # of Newton's method; five are usual
LARGEST_STEP = 3.0  # in log-odds
STANDARD_ERRORS = 2.0  # of a mean difference: within it, two scores are a tie
BINS = 20  # of the scores, by rows
TIE = 0.02  # of the entropy: within it, two outcomes are a tie
FEWEST = 50  # rows: with fewer, nothing is measured


@dataclass(frozen=True)
class Fit:
    """How well a score predicts an outcome.

    Attributes
    ----------
    shifted : ndarray of shape (n,)
        Log loss of each row, in nats, with the best constant added to the log-odds.
    loss : float
        Mean log loss of the scores as they are, in nats.
    entropy : float
        Mean log loss of a constant score, in nats.
    mean_score, prevalence : float
        Ratios in [0, 1].
    flipped : bool
        Whether the score is that of the other class.
    worth : float
        Share of the entropy that the best curve of the scores explains, less twice the share that
        is lost because the scores are not on that curve: a decision that was made from the score
        follows it more closely than the score claims, and loses more than it gains.
    """

    shifted: Floats
    loss: float
    entropy: float
    mean_score: float
    prevalence: float
    flipped: bool
    worth: float

    @property
    def predicts(self) -> bool:
        """Whether the score predicts the outcome better than a constant, beyond chance."""
        return is_better(self.entropy - self.shifted)


def fit(scores: Floats, outcomes: Floats) -> Fit | None:
    """Measure a score against an outcome, turned round if it predicts only then.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Probabilities; nan where there is none, which counts as the prevalence.
    outcomes : ndarray of shape (n,)
        1.0, 0.0, or nan where it is not known.

    Returns
    -------
    Fit or None
        None if there are too few rows, or only one class.

    Examples
    --------
    >>> p = np.tile([0.1, 0.9], 500)
    >>> fit(p, np.tile([0.0, 1.0], 500)).predicts
    True
    >>> fit(p, np.tile([0.0, 0.0, 1.0, 1.0], 250)).predicts
    False
    """
    with_outcome = ~np.isnan(outcomes)
    y = outcomes[with_outcome]
    if y.size < FEWEST or y.min() == y.max():
        return None
    prevalence = float(y.mean())
    p = np.where(np.isnan(scores[with_outcome]), prevalence, scores[with_outcome])
    p = np.clip(p, SURE, 1 - SURE)
    as_it_is = _fit(p, y, with_outcome, flipped=False)
    if as_it_is.predicts:
        return as_it_is
    turned = _fit(1 - p, y, with_outcome, flipped=True)
    return turned if turned.predicts else as_it_is


def is_better(gains: Floats) -> bool:
    """Tell whether the mean of some differences is above 0 by more than chance."""
    gains = gains[~np.isnan(gains)]
    if gains.size < FEWEST:
        return False
    return float(gains.mean()) > STANDARD_ERRORS * float(gains.std()) / float(np.sqrt(gains.size))


def best_score(fits: Mapping[str, Fit], points: Mapping[str, float]) -> str:
    """Choose the score that predicts best; of a tie the calibrated one, then the better name.

    Parameters
    ----------
    fits : mapping of str to Fit
        By column, against one outcome.
    points : mapping of str to float
        How well the names fit.
    """
    able = {name: fit for name, fit in fits.items() if fit.predicts} or fits
    first = min(able, key=lambda name: (float(np.nanmean(able[name].shifted)), name))
    tied = [n for n in able if not is_better(able[n].shifted - able[first].shifted)]
    least = min(able[n].loss for n in tied)
    calibrated = [n for n in tied if able[n].loss <= least + TIE * able[n].entropy]
    return min(calibrated, key=lambda n: (able[n].flipped, -points[n], able[n].loss, n))


def best_outcome(fits: Mapping[str, Fit], points: Mapping[str, float]) -> str:
    """Choose the outcome that its best score fits best; of a tie the better name.

    Parameters
    ----------
    fits : mapping of str to Fit
        By column of an outcome, that of its best score.
    points : mapping of str to float
        How well the names fit.
    """
    able = {name: fit for name, fit in fits.items() if fit.predicts} or fits
    straight = {name: fit for name, fit in able.items() if not fit.flipped} or able
    most = max(fit.worth for fit in straight.values())
    tied = [name for name, fit in straight.items() if fit.worth >= most - TIE]
    return max(tied, key=lambda name: (points[name], straight[name].worth, name))


def best_reading(readings: Mapping[str, Floats], outcomes: Mapping[str, Floats]) -> str | None:
    """Choose what a score is the probability of: as it is, the first, unless another is better.

    Parameters
    ----------
    readings : mapping of str to ndarray of shape (n,)
        Probabilities by how they are read.
    outcomes : mapping of str to ndarray of shape (n,)
        1.0, 0.0, or nan where it is not known.

    Returns
    -------
    str or None
        The reading with which the score predicts an outcome, and better than as it is; else None.
    """
    first, *others = readings or [""]
    better = dict[str, float]()
    for fits in measured(readings, outcomes).values():
        for name in others:
            own, as_it_is = fits[name], fits[first]
            gains = as_it_is.shifted - own.shifted
            if own.predicts and not own.flipped and is_better(gains):
                better[name] = max(better.get(name, 0.0), float(np.nanmean(gains)))
    return max(better, key=lambda name: better[name], default=None)


def gain(unread: Floats, score: Floats, outcomes: Floats) -> float:
    """Measure how much better the curve of some values predicts than that of a score, in nats.

    Parameters
    ----------
    unread : ndarray of shape (n,)
        Numbers from 0 to 1 in the order of what is no probability; nan where there is none.
    score : ndarray of shape (n,)
        Probabilities; nan where there is none.
    outcomes : ndarray of shape (n,)
        1.0, 0.0, or nan where it is not known.

    Returns
    -------
    float
        The mean over the rows; 0 if it is not above chance.
    """
    with_all = ~(np.isnan(unread) | np.isnan(score) | np.isnan(outcomes))
    y = outcomes[with_all]
    if y.size < FEWEST or y.min() == y.max():
        return 0.0
    own, other = (_losses(_curve(p[with_all], y), y) for p in (score, unread))
    return float((own - other).mean()) if is_better(own - other) else 0.0


def same(a: Floats, b: Floats, most: float = 1e-3) -> bool:
    """Tell whether two columns say the same, where both say something."""
    both = ~(np.isnan(a) | np.isnan(b))
    return bool(both.any()) and float(np.mean(np.abs(a[both] - b[both]))) <= most


def _fit(p: Floats, y: Floats, with_outcome: npt.NDArray[np.bool_], *, flipped: bool) -> Fit:
    prevalence = float(y.mean())
    entropy = _mean_loss(np.full(y.size, prevalence), y)
    shifted = np.full(with_outcome.size, np.nan)
    shifted[with_outcome] = _losses(_shift(p, y), y)
    loss = _mean_loss(p, y)
    curve = _mean_loss(_curve(p, y), y)
    worth = ((entropy - curve) - 2 * max(0.0, loss - curve)) / entropy
    return Fit(shifted, loss, entropy, float(p.mean()), prevalence, flipped, worth)


def _losses(p: Floats, y: Floats) -> Floats:
    p = np.clip(p, SURE, 1 - SURE)
    return -np.log(np.where(y == 1.0, p, 1 - p))


def _mean_loss(p: Floats, y: Floats) -> float:
    return float(_losses(p, y).mean())


def _shift(p: Floats, y: Floats) -> Floats:
    """Add the constant to the log-odds with which the mean score is the prevalence."""
    log_odds, constant = np.log(p) - np.log1p(-p), 0.0
    for _ in range(STEPS):
        q = 1 / (1 + np.exp(-(log_odds + constant)))
        step = float((y - q).sum() / max((q * (1 - q)).sum(), SURE))
        constant += float(np.clip(step, -LARGEST_STEP, LARGEST_STEP))
    return 1 / (1 + np.exp(-(log_odds + constant)))


def _curve(p: Floats, y: Floats) -> Floats:
    """Give each row the share of ones of its bin, one success and one failure added."""
    edges = np.unique(np.quantile(p, np.arange(1, BINS) / BINS))
    bins = np.searchsorted(edges, p, side="right")
    rows = np.bincount(bins, minlength=edges.size + 1)
    ones = np.bincount(bins, weights=y, minlength=edges.size + 1)
    share: Floats = (ones + float(y.mean())) / (rows + 1)
    return share[bins]


def measured(
    scores: Mapping[str, Floats], outcomes: Mapping[str, Floats]
) -> dict[str, dict[str, Fit]]:
    """Measure every score against every outcome: by outcome, by score."""
    return {
        outcome: fits
        for outcome, y in outcomes.items()
        if (fits := {n: fitted for n, p in scores.items() if (fitted := fit(p, y))})
    }
