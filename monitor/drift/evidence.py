"""What one day says of each distortion, whatever its priors. Pure.

Rule: evidence is a ratio of likelihoods given the number of positive outcomes, so a prior can
neither raise nor lower it. Segments are summed, never pooled: each has a prior of its own.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import log

import numpy as np

from monitor.drift.reference import DIRECTIONS, Reference
from monitor.metrics.core.coarse import Coarse
from monitor.metrics.core.grid import Floats
from monitor.metrics.logistic.conditional import score_directions, score_slopes, weigh_directions

KINDS = (  # down and up each direction of the reference, in their order
    "too_extreme",
    "too_timid",
    "ends_overpredicted",
    "ends_underpredicted",
    "tails_too_extreme",
    "tails_too_timid",
    "top_overpredicted",
    "top_underpredicted",
)


SLOPES = (0.25, 0.5, 0.75, 1.0, 1.35, 2.0)  # where the slope of the likelihood is remembered


MOST_OF_A_DAY = 2.0  # log10: one broken day makes no drift, and wipes out none


@dataclass(frozen=True, eq=False)
class DayEvidence:
    """What one day says, all segments of a stream together.

    Attributes
    ----------
    ratios : ndarray of shape (8,)
        For each kind, log10 of the likelihood of its effect over that of its tolerance; from -2
        to 2.
    scores : ndarray of shape (4,)
        Slope of the conditional log-likelihood along each direction, at the reference curve.
    informations : ndarray of shape (4,)
        What the day knows of each direction.
    slopes : ndarray of shape (6,)
        Slope of the conditional log-likelihood along the first direction, where the outcomes have
        each of `SLOPES` on the reference curve, over the dispersion of the day. It adds over
        days, and is 0 at the best slope.
    """

    ratios: Floats
    scores: Floats
    informations: Floats
    slopes: Floats


def day_evidence(reference: Reference, parts: Iterable[Coarse]) -> DayEvidence:
    """Weigh the outcomes of one day, each part with a prior of its own.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    parts : iterable of Coarse
        The day's outcomes by segment and stratum; those of one class only say nothing.

    Returns
    -------
    DayEvidence
        The sum over the parts.

    Notes
    -----
    ``r = [log E(effect) - log E(tolerance)] / (phi ln 10)`` for each direction and sign, with E
    of `monitor.metrics.logistic.conditional.conditional_log_ratio` and ``phi = 1 + jitter I`` the
    dispersion of a day whose information on the direction is I; then `bounded`.

    Examples
    --------
    >>> from scipy.special import expit
    >>> from monitor.metrics.core.coarse import CENTRES
    >>> from monitor.drift.reference import fit_reference
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> def day(slope, prior):
    ...     p = expit(slope * CENTRES + prior)
    ...     return {"all": Coarse(n, np.rint(n * p).astype(np.int64))}
    >>> reference = fit_reference([day(1.0, 0.0)] * 28)
    >>> found = day_evidence(reference, day(0.8, 0.7).values())
    >>> KINDS[found.ratios.argmax()]
    'too_extreme'
    """
    ratios, slopes = np.zeros((len(DIRECTIONS), 2)), np.zeros(len(SLOPES))
    scores, informations = np.zeros(len(DIRECTIONS)), np.zeros(len(DIRECTIONS))
    for part in parts:
        seen = np.nonzero(part.counts)[0]
        if not seen.size:
            continue
        counts, positives = part.counts[seen], part.positives[seen]
        curve = reference.curve[seen]
        directions = np.ascontiguousarray(reference.directions[:, seen])
        ratios += weigh_directions(
            curve, counts, positives, directions, reference.tolerances, reference.effects
        )
        pull, known = score_directions(curve, counts, positives, directions)
        scores, informations = scores + pull, informations + known
        slopes += score_slopes(curve, counts, positives, directions, np.array(SLOPES))
    dispersions = 1.0 + reference.jitters * informations
    with_evidence = (ratios / dispersions[:, None]).ravel() / log(10.0)
    return DayEvidence(bounded(with_evidence), scores, informations, slopes / dispersions[0])


def bounded(ratios: Floats) -> Floats:
    """Let no day say more than a hundred to one, either way.

    Parameters
    ----------
    ratios : ndarray
        Evidence, log10.

    Returns
    -------
    ndarray
        ``min(2, log10(0.01 + 0.99 10**ratio))``: a hundredth is kept back and the rest is bet.
        What has an expectation of at most 1 still has.

    Examples
    --------
    >>> bounded(np.array([-9.0, 0.0, 1.0, 9.0])).round(2) + 0.0
    array([-2.,  0.,  1.,  2.])
    """
    kept = 10.0**-MOST_OF_A_DAY
    hedged = np.logaddexp(log(kept), np.log1p(-kept) + ratios * log(10.0)) / log(10.0)
    return np.asarray(np.minimum(hedged, MOST_OF_A_DAY))
