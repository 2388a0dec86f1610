"""How many outcomes are recorded as their opposite, and which, where that bends the curve. Pure.

There are three families: the same share of both outcomes is swapped, positive ones are lost,
or negative ones are added to them.

Rule 1: what a day is judged with rests on the reference and on days before it, never on its own
outcomes. A day on which a drift is open says nothing of labels.
Rule 2: labels are taken for right until nothing else explains the data nearly as well, so a model
whose labels are right is judged as without this module.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import log
from typing import Any

import numpy as np

from monitor.drift.curve.fitting import RIDGE
from monitor.drift.records.day_evidence import SIDES, WrongLabels
from monitor.drift.records.detector import ERRORS, SHARES, no_sums
from monitor.metrics.core.coarse import Coarse
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.special import expit
from monitor.metrics.logistic.conditional import project_directions
from monitor.metrics.logistic.label_noise import MOST_OF_A_RATE, merged, noisy_curve, weigh_shares

FAMILIES = tuple(SIDES)  # in the order of all rows of shares and sums
MOST_WRONG, TOO_MANY = 0.05, 0.04
MOST_LOST = 0.5  # where many are usual
MOST_OF_A_DAY = 1.0  # nats
BENT = (SHARES // 2, SHARES - 1)  # the shares at which the scores of days are known
ASKED_FOR = 100.0  # times likelier than right labels
MOST_REMEMBERED = 1024  # labels of streams


@dataclass(frozen=True, eq=False)
class Noise:
    """What a reference says of wrong labels.

    Attributes
    ----------
    shares : ndarray of shape (3, 13)
        Of each family: shares of the outcomes that may be recorded as their opposite, from 0 on.
    sums : ndarray of shape (3, 43)
        What its days say of each; see `monitor.metrics.logistic.label_noise.weigh_shares`.
    bends : ndarray of shape (3, 2, days, 4)
        Of each family, by how much the middle and the last share change the score of each day along
        the directions.
    """

    shares: Floats
    sums: Floats
    bends: Floats = field(default_factory=lambda: np.zeros((len(FAMILIES), len(BENT), 0, 4)))

    @cached_property
    def added_and_lost(self) -> tuple[Floats, Floats]:
        """Of each share: that of the negative outcomes, and that of the positive ones; (3, 13)."""
        added, lost = np.array(list(SIDES.values())).T[..., None]
        return added * self.shares, lost * self.shares


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
        Up to 0.95 times the least probability that the curve has of an outcome which wrong labels
        alone would make: of a negative one, if positives are lost. At most 50 % are lost, and 5 %
        swapped or added.
    """
    rows = np.sum([part.counts[known] for day in days for part in day.values()], axis=0)
    seen = curve[known][rows > 0]
    positive = float(expit(seen.min(initial=0.0)))  # the least rates of both outcomes
    negative = float(expit(-seen.max(initial=0.0)))
    most = {
        "swapped": min(MOST_WRONG, MOST_OF_A_RATE * min(positive, negative)),
        "lost": min(MOST_LOST, MOST_OF_A_RATE * negative),
        "added": min(MOST_WRONG, MOST_OF_A_RATE * positive),
    }
    steps = np.linspace(0.0, 1.0, SHARES)  # those of lost ones lie close where they are few
    shares = [most[of] * (steps**2 if of == "lost" else steps) for of in FAMILIES]
    return Noise(np.array(shares), no_sums())


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
    sums, shares = no_sums(), noise.added_and_lost
    bends = np.zeros((*noise.bends.shape[:2], len(days), len(directions)))
    for i, (day, dispersion) in enumerate(zip(days, dispersions, strict=True)):
        for part in day.values():
            cells = np.nonzero(part.counts[known])[0] + known.start
            along = np.ascontiguousarray(directions[:, cells])
            counts, positives = part.counts[cells], part.positives[cells]
            sums += weigh_shares(curve[cells], counts, positives, along, *shares) / dispersion
            bends[:, :, i] += _bends(*merged(curve[cells], counts, positives, along), *shares)
    return replace(noise, sums=sums, bends=bends)


def _bends(
    curve: Floats, counts: Ints, positives: Ints, along: Floats, added: Floats, lost: Floats
) -> Floats:
    """Give by how much shares of wrong labels change the scores of a part of a day; (3, 2, 4)."""
    hits = int(positives.sum())
    if hits in (0, counts.sum()):
        return np.zeros((len(FAMILIES), len(BENT), len(along)))

    def pull(curve: Floats) -> Floats:
        return np.asarray(project_directions(curve, counts, positives, along, along[:0])[0])

    def bent(family: int, share: int) -> Floats:
        return noisy_curve(curve, counts, hits, added[family, share], lost[family, share])

    each = [[pull(bent(family, share)) for share in BENT] for family in range(len(FAMILIES))]
    return np.array(each) - pull(curve)


def scores_bent(noise: Noise, wrong: WrongLabels) -> Floats:
    """Give by how much wrong labels change the score of each day of a reference; (days, 4).

    A parabola through none and the two shares of `Noise.bends`.
    """
    family = FAMILIES.index(wrong.family)
    middle, last = noise.shares[family, BENT]
    of_middle, of_last = noise.bends[family]
    share = wrong.share
    parabola = (last - share) * of_middle / middle + (share - middle) * of_last / last
    return np.asarray(parabola * share / (last - middle))


def said_of_labels(noise: Noise, said: Floats) -> Floats:
    """Bound what a day says of labels: `MOST_OF_A_DAY` for any share, and against any.

    Parameters
    ----------
    noise : Noise
        Of the reference.
    said : ndarray of shape (3, 43)
        The sums over the parts of the day, over its dispersion.

    Notes
    -----
    The first days of a drift look like many wrong labels, before it is found. Real ones are learned
    from many days, whose priors differ. All sums of a family are scaled down alike, so that a day
    counts as part of one. But what it says against more than 5 % does not scale it: it is much on
    every day, and would leave nothing of what the day says of few.

    Examples
    --------
    >>> noise = Noise(np.tile(np.linspace(0.0, 0.12, SHARES), (3, 1)), no_sums())
    >>> said = no_sums()
    >>> said[1, :4], said[1, 12] = [0.0, 1.0, 2.0, 1.0], -60.0
    >>> said_of_labels(noise, said)[1, [1, 2, 3, 12]]
    array([ 0.5,  1. ,  0.5, -1. ])
    """
    fits = said[:, :SHARES]
    most = np.maximum(fits, np.where(noise.shares <= MOST_WRONG, -fits, 0.0))
    scales = np.maximum(1.0, most.max(axis=1, keepdims=True) / MOST_OF_A_DAY)
    bounded = said / scales
    bounded[:, :SHARES] = np.maximum(bounded[:, :SHARES], -MOST_OF_A_DAY)
    return np.asarray(bounded)


def wrong_labels(noise: Noise | None, learned: Floats) -> WrongLabels | None:
    """Tell which labels the next day is judged with as wrong ones.

    Parameters
    ----------
    noise : Noise or None
        Of the reference; None if its outcomes cannot be wrong in this way.
    learned : ndarray of shape (3, 43)
        The same sums over the days since.

    Returns
    -------
    WrongLabels or None
        The likeliest family with the posterior mean of its share, each share as likely a priori;
        None until the mean likelihood of all shares of all families is 100 times that of right
        labels, and where 4 % or more fit best of all, unless they are lost: then something else
        bends the curve, such as days that differ by nature.

    Notes
    -----
    An error of the reference curve looks like wrong labels on days whose priors lie to one side of
    the reference's. So the likelihood of right labels is that at the best of all smooth errors,
    ``U' (I + R)**-1 U / 2`` higher with the sums of score and information over the reference and
    all days since, and the ridge R of the curve: what is left is how it bends while the prior
    moves.

    Examples
    --------
    >>> shares = np.linspace(0.0, [0.012, 0.3, 0.012], SHARES, axis=1)
    >>> noise, learned = Noise(shares, no_sums()), no_sums()
    >>> learned[1, :SHARES] = 4.0 - ((noise.shares[1] - 0.15) / 0.05) ** 2
    >>> wrong_labels(noise, learned)
    >>> wrong = wrong_labels(noise, 4.0 * learned)
    >>> wrong.family, round(wrong.share, 4)
    ('lost', 0.15)
    """
    return _wrong_labels(noise, learned.tobytes(), RIDGE) if noise else None


@lru_cache(MOST_REMEMBERED)  # asked again by the verdict of a day, and on the day after
def _wrong_labels(noise: Noise, learned: bytes, stiffness: float) -> WrongLabels | None:
    sums = noise.sums + np.frombuffer(learned).reshape(noise.sums.shape)
    if sums[:, 1:SHARES].max() < log(ASKED_FOR):  # an error of the curve only lowers them
        return None
    gains = _gains(sums, stiffness)
    most = float(gains[:, 1:].max())
    if most + log(np.exp(gains[:, 1:] - most).mean()) < log(ASKED_FOR):
        return None
    likelihoods = np.exp(gains - most)
    likeliest = int(likelihoods.sum(axis=1).argmax())
    family, weights, shares = FAMILIES[likeliest], likelihoods[likeliest], noise.shares[likeliest]
    if family != "lost" and shares[weights.argmax()] >= TOO_MANY:
        return None
    return WrongLabels(family, float((weights * shares).sum() / weights.sum()))


def fits_of_shares(noise: Noise, learned: Floats) -> Floats:
    """Give the log-likelihood of each share less that of right labels, on the same curve.

    Returns
    -------
    ndarray of shape (3, 13)
        0 of a share of 0. Unlike in `wrong_labels`, right labels are not granted another curve:
        what they are compared with here could not have it either.
    """
    return np.asarray((noise.sums + learned)[:, :SHARES])


def _gains(sums: Floats, stiffness: float) -> Floats:
    fits, scores, information = np.split(sums, [SHARES, SHARES + ERRORS], axis=1)
    ridge = information.reshape(-1, ERRORS, ERRORS) + stiffness * np.eye(ERRORS)
    solved = np.linalg.solve(ridge, scores[..., None])[..., 0]
    of_curve = 0.5 * (scores * solved).sum(axis=1, keepdims=True)
    return np.concatenate([fits[:, :1], fits[:, 1:] - of_curve], axis=1)
