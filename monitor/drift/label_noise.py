"""How many outcomes are recorded as their opposite, where that bends the curve. Pure.

Rule 1: what a day is judged with rests on the reference and on days before it, never on its own
outcomes. A day on which a drift is open says nothing of labels.
Rule 2: labels are taken for right until nothing else explains the data nearly as well, so a model
whose labels are right is judged as if nobody had asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from monitor.drift.curve import RIDGE
from monitor.drift.detector import ERRORS, SHARES, no_sums
from monitor.metrics.core.coarse import Coarse
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.special import expit
from monitor.metrics.logistic.label_noise import MOST_OF_A_RATE, weigh_shares

MOST_WRONG, TOO_MANY = 0.05, 0.04
MOST_OF_A_DAY = 1.0  # nats
ASKED_FOR = 1000.0  # times likelier than right labels
MOST_REMEMBERED = 1024  # shares of streams


@dataclass(frozen=True, eq=False)
class Noise:
    """What a reference says of wrong labels.

    Attributes
    ----------
    shares : ndarray of shape (13,)
        Shares of the outcomes that may be recorded as their opposite, from 0 on.
    sums : ndarray of shape (43,)
        What its days say of each; see `monitor.metrics.logistic.label_noise.weigh_shares`.
    """

    shares: Floats
    sums: Floats


def possible_noise(curve: Floats, known: slice, days: Sequence[Mapping[Any, Coarse]]) -> Noise:
    """Choose the shares that a reference compares, of which nothing has been learned yet.

    Parameters
    ----------
    curve : ndarray of shape (1024,)
        Of the reference.
    known : slice
        The cells in which the curve is known.
    days : sequence of mapping to Coarse
        Its days.

    Returns
    -------
    Noise
        Up to a share of 5 %, or 0.95 times the least probability that the curve has of either
        outcome, which wrong labels alone would make.
    """
    rows = np.sum([part.counts[known] for day in days for part in day.values()], axis=0)
    least = expit(-np.abs(curve[known][rows > 0]).max(initial=0.0))
    shares = np.linspace(0.0, min(MOST_WRONG, MOST_OF_A_RATE * float(least)), SHARES)
    return Noise(shares, no_sums())


def noise_of_days(
    noise: Noise,
    curve: Floats,
    directions: Floats,
    known: slice,
    days: Sequence[Mapping[Any, Coarse]],
    dispersions: Floats,
) -> Noise:
    """Learn from the days of a reference, each part of a day with a prior of its own.

    Parameters
    ----------
    noise : Noise
        What is compared.
    curve, known, days
        As for `possible_noise`.
    directions : ndarray of shape (4, 1024)
        Of the reference.
    dispersions : ndarray of shape (days,)
        Of each day.
    """
    sums = no_sums()
    for day, dispersion in zip(days, dispersions, strict=True):
        for part in day.values():
            cells = np.nonzero(part.counts[known])[0] + known.start
            along = np.ascontiguousarray(directions[:, cells])
            counts, positives = part.counts[cells], part.positives[cells]
            sums += weigh_shares(curve[cells], counts, positives, along, noise.shares) / dispersion
    return replace(noise, sums=sums)


def with_day(learned: Floats, said: Floats) -> Floats:
    """Add what a day says of labels; no day says more than `MOST_OF_A_DAY`.

    Parameters
    ----------
    learned, said : ndarray of shape (43,)
        Sums over the days before, and those of the day.

    Notes
    -----
    The first days of a drift look like many wrong labels, before it is found. Real ones are learned
    from many days, whose priors differ.

    Examples
    --------
    >>> said = no_sums()
    >>> said[:SHARES] = np.linspace(0.0, 60.0, SHARES)
    >>> float(with_day(no_sums(), said)[:SHARES].max())
    1.0
    """
    most = float(np.abs(said[:SHARES]).max())
    return np.asarray(learned + said * min(1.0, MOST_OF_A_DAY / most) if most else learned + said)


def wrong_share(noise: Noise | None, learned: Floats) -> float:
    """Give the share of wrong labels that the next day is judged with.

    Parameters
    ----------
    noise : Noise or None
        Of the reference; None if its outcomes cannot be wrong in this way.
    learned : ndarray of shape (43,)
        The same sums over the days since.

    Returns
    -------
    float
        The posterior mean, each share as likely a priori; 0 until the mean likelihood of the
        others is 1,000 times that of 0, and where 4 % or more fit best of all: then something else
        bends the curve, such as days that differ by nature.

    Notes
    -----
    An error of the reference curve looks like wrong labels on days whose priors lie to one side of
    the reference's. So the likelihood of 0 is that at the best of all smooth errors,
    ``U' (I + R)**-1 U / 2`` higher with the sums of score and information over the reference and
    all days since, and the ridge R of the curve: what is left is how it bends while the prior
    moves.

    Examples
    --------
    >>> noise = Noise(np.linspace(0.0, 0.012, SHARES), no_sums())
    >>> learned = no_sums()
    >>> learned[:SHARES] = 4.0 - ((noise.shares - 0.006) / 0.003) ** 2
    >>> wrong_share(noise, learned)
    0.0
    >>> round(wrong_share(noise, 4.0 * learned), 4)
    0.006
    """
    return _wrong_share(noise, learned.tobytes(), RIDGE) if noise else 0.0


@lru_cache(MOST_REMEMBERED)  # asked again by the verdict of a day, and on the day after
def _wrong_share(noise: Noise, learned: bytes, stiffness: float) -> float:
    sums, end = noise.sums + np.frombuffer(learned), SHARES + ERRORS
    fits, scores, information = sums[:SHARES], sums[SHARES:end], sums[end:]
    ridge = information.reshape(ERRORS, ERRORS) + stiffness * np.eye(ERRORS)
    fits[0] += 0.5 * float(scores @ np.linalg.solve(ridge, scores))
    weights = np.exp(fits - fits.max())
    beyond = noise.shares[weights.argmax()] >= TOO_MANY
    if beyond or weights[1:].mean() < ASKED_FOR * weights[0]:
        return 0.0
    return float((weights * noise.shares).sum() / weights.sum())
