"""Evidence that positive outcomes get lost, accumulated over days. Pure.

Lost labels bend the curve by little where few scores are high: less than a drift of the scores that
is worth an alert. So they are looked for by themselves, as distortions are: a share that is sought
against the share that an error of the reference curve could look like.
"""

from collections.abc import Sequence

import numpy as np

from monitor.drift.curve.reference import TOLERATED, Reference
from monitor.drift.evidence.directions import FULL_GAIN, LEAST_RATIO, Rows, bounded_ratio
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.logistic.conditional import project_directions
from monitor.metrics.logistic.intercept import solve_factor
from monitor.metrics.logistic.label_noise import merged, weigh_changes

SOUGHT_SHARES = np.array([0.1, 0.2, 0.35])  # of the positive outcomes
MIDDLE = 0.2  # at which the bend of a share is measured
MOST_SHARE = 0.5  # that is sought; a day whose scores would need more says nothing
_NONE = np.zeros(1 + SOUGHT_SHARES.size)


def no_lost() -> Floats:
    """Begin with no evidence of any share."""
    return np.zeros(SOUGHT_SHARES.size)


def with_lost(
    sums: Floats | None, reference: Reference, rows: Sequence[Rows], dispersion: float
) -> Floats:
    """Weigh shares of lost positives against what the curve is not known better than.

    Parameters
    ----------
    sums : ndarray of shape (3,) or None
        M for each of `SOUGHT_SHARES` before the day; None begins.
    reference : Reference
        Of the stream.
    rows : sequence of Rows
        The parts of a day, each with a prior of its own.
    dispersion : float
        Of the day, at least 1.

    Returns
    -------
    ndarray of shape (3,)
        The same after the day.

    Notes
    -----
    The share b moves the log-odds of odds o by ``log(1 - b) - log(1 + b o)``. With the direction
    ``-log(1 + 0.2 o) / 0.2`` projected as in `monitor.drift.evidence.directions.price`, the error
    of the curve is that of a share; 1.25 of these are tolerated, and at least twice that is sought.
    All of it depends on the scores and on the number of positive outcomes only.

    Examples
    --------
    >>> from monitor.drift.curve.reference import fit_reference
    >>> from monitor.drift.evidence.directions import rows_of_day
    >>> from monitor.metrics.core.coarse import CENTRES, Coarse
    >>> from monitor.metrics.core.special import expit
    >>> n = np.where(abs(CENTRES) < 3, 50, 0)
    >>> def day(lost):
    ...     return {"all": Coarse(n, np.rint(n * (1.0 - lost) * expit(CENTRES)).astype(np.int64))}
    >>> reference = fit_reference([day(0.0)] * 28)
    >>> for lost in (0.0, 0.2):
    ...     print(with_lost(None, reference, rows_of_day(reference, day(lost)).bent, 1.0) > 1.0)
    [False False False]
    [ True  True  True]
    """
    sums = no_lost() if sums is None else sums
    parts = [merged(*part[:3], part.basis) for part in rows]
    known = sum((_projected(*part) for part in parts), np.zeros(1 + len(reference.basis)))
    information = float(known[0])
    if information <= 0.0:
        return sums
    along = known[1:] / information
    variance = float(reference.dispersions.max()) * float(along @ reference.covariance @ along)
    tolerated = TOLERATED * np.sqrt(max(0.0, variance))
    shares = np.maximum(SOUGHT_SHARES, LEAST_RATIO * tolerated)
    if shares[0] > MOST_SHARE:
        return sums
    shares = np.minimum(shares, MOST_SHARE)
    compared = np.insert(shares, 0, tolerated)
    said = sum((weigh_changes(*part[:3], _NONE, compared) for part in parts), np.zeros(4))
    expected = 0.5 * (shares - tolerated) ** 2 * information / dispersion
    ratios = bounded_ratio((said[1:] - said[0]) / dispersion)
    return np.asarray((sums + np.minimum(1.0, expected / FULL_GAIN)) * ratios)


def _projected(curve: Floats, counts: Ints, positives: Ints, basis: Floats) -> Floats:
    """Give the information of a share, and that of it with the functions of the curve."""
    odds = np.exp(curve)
    factor, _ = solve_factor(odds, counts, int(positives.sum()))
    along = -np.log1p(MIDDLE * factor * odds)[np.newaxis] / MIDDLE
    return np.asarray(project_directions(curve, counts, positives, along, basis)[1][0])
