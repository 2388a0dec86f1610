"""Whether the values of a column are still those of the reference: the mix of a day. Pure.

Rule: the share of a segment, of all other values, or of rows without a value is far outside of what
the reference had where three things hold at once: its odds lie beyond those of every reference day
by a factor, it moved by a part of the predictions that matters, and chance does not explain it.
Shares wander, and campaigns triple them; so the factor is large, except for all other values where
new ones make up what they grew by.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from math import sqrt

from monitor.base.segment_names import NO_VALUE, OTHER
from monitor.days.summary import Unlisted

FAR = 10.0  # factor of the odds beyond the least or the greatest of the reference
FAR_OF_NEW = 2.0  # where at least half of what came are values that the reference had not
MATTERS = 0.02  # of the predictions, unless none is left
BEYOND_CHANCE = 5.0  # standard errors
LEAST_DAYS = 7  # of a reference, so that it has each day of the week


@dataclass(frozen=True)
class MovedShare:
    """A part of the predictions whose share is far outside of what the reference had.

    Attributes
    ----------
    name : str
        The segment, or `NO_VALUE` for rows that have no value.
    least, greatest : float
        Its least and greatest share on a day of the reference; ratios in [0, 1].
    now : float
        Its share of the day.
    """

    name: str
    least: float
    greatest: float
    now: float


@dataclass(frozen=True)
class NewValue:
    """A value that the configuration does not list and that was not frequent in the reference."""

    value: str
    rows: int


@dataclass(frozen=True)
class MovedMix:
    """What the mix of a day has that the reference had not.

    Attributes
    ----------
    shares : tuple of MovedShare
        At least one, the largest change first.
    values : tuple of NewValue
        The most frequent ones first.
    predicted : int
        All predictions of the day.
    """

    shares: tuple[MovedShare, ...]
    values: tuple[NewValue, ...]
    predicted: int


@dataclass(frozen=True)
class Mix:
    """The shares of the days of a reference.

    Attributes
    ----------
    names : tuple of str
        The segments, and `NO_VALUE`.
    lows, highs : tuple of float
        Their least and greatest share on a day.
    known : tuple of str
        Values that are not listed and were frequent on one of the days.
    """

    names: tuple[str, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    known: tuple[str, ...]


Counts = Mapping[str, int]  # predictions by segment; `NO_VALUE` counts within `other`


def mix_of_days(days: Iterable[tuple[Counts, Unlisted]]) -> Mix | None:
    """Find the least and the greatest share of each segment; None of too few days.

    Days without a prediction say nothing.

    Examples
    --------
    >>> days = [({"DE": 60 + i, "other": 40 - i}, (("FR", 30),)) for i in range(7)]
    >>> mix_of_days(days)
    Mix(names=('DE', 'other'), lows=(0.6, 0.34), highs=(0.66, 0.4), known=('FR',))
    """
    counted = [(counts, total, unlisted) for counts, unlisted in days if (total := _total(counts))]
    if len(counted) < LEAST_DAYS:
        return None
    names = tuple(dict.fromkeys(name for counts, *_ in counted for name in counts))
    shares = [[counts.get(name, 0) / total for counts, total, _ in counted] for name in names]
    known = {value for *_, unlisted in counted for value, _ in unlisted if value is not None}
    return Mix(names, tuple(map(min, shares)), tuple(map(max, shares)), tuple(sorted(known)))


def moved_shares(counts: Counts, new: Iterable[NewValue], mix: Mix) -> tuple[MovedShare, ...]:
    """Find what is far outside of what the reference had, the largest change first.

    Examples
    --------
    >>> mix = Mix(("DE", "FR", "other"), (0.5, 0.3, 0.02), (0.6, 0.4, 0.08), ())
    >>> day, new = {"DE": 5_500, "FR": 2_000, "other": 2_500}, NewValue("de", 2_000)
    >>> [(s.name, s.now) for s in moved_shares({**day, "FR": 0, "other": 4_500}, [], mix)]
    [('FR', 0.0)]
    >>> [s.name for s in moved_shares(day, [new], mix)], moved_shares(day, [], mix)
    (['other'], ())
    """
    total = _total(counts)
    if not total:
        return ()
    lows, highs = (dict(zip(mix.names, of, strict=True)) for of in (mix.lows, mix.highs))
    found = [
        MovedShare(name, lows.get(name, 0.0), highs.get(name, 0.0), counts.get(name, 0) / total)
        for name in dict.fromkeys([*mix.names, *counts])
    ]
    of_new = sum(value.rows for value in new) / total
    far = [share for share in found if _is_far(share, total, of_new)]
    return tuple(sorted(far, key=lambda share: (-_distance(share), share.name)))


def moved_mix(
    counts: Counts, unlisted: Unlisted, mix: Mix, but: Container[str] = ()
) -> MovedMix | None:
    """Say what moved far, with the new values; None if nothing did, but what is not compared."""
    new = tuple(NewValue(v, n) for v, n in unlisted if v is not None and v not in mix.known)
    shares = tuple(share for share in moved_shares(counts, new, mix) if share.name not in but)
    return MovedMix(shares, new, _total(counts)) if shares else None


def _total(counts: Counts) -> int:
    return sum(rows for name, rows in counts.items() if name != NO_VALUE)


def _distance(share: MovedShare) -> float:
    return max(share.least - share.now, share.now - share.greatest)


def _is_far(share: MovedShare, total: int, of_new: float) -> bool:
    """Say whether a share of `total` predictions is far outside of what it was."""
    distance = _distance(share)
    if distance <= 0.0:
        return False
    near = share.least if share.now < share.least else share.greatest
    supposed = min(max(near, 0.5 / total), 1.0 - 0.5 / total)  # not even one row on the other side
    if distance < BEYOND_CHANCE * sqrt(supposed * (1.0 - supposed) / total):
        return False
    low, high = sorted([share.now, near])
    is_new = share.name == OTHER and 2.0 * of_new >= share.now - share.greatest > 0.0
    factor = FAR_OF_NEW if is_new else FAR
    apart = high * (1.0 - low) >= factor * low * (1.0 - high)
    return apart and (distance >= MATTERS or share.now == 0.0)
