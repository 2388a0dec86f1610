"""What a stream has accumulated of breaks among the scores. Pure data.

`monitor.drift.incidents.region_watch` adds a day to it.
"""

from dataclasses import dataclass
from datetime import date
from functools import cache
from math import nan
from typing import Literal

import numpy as np

from monitor.metrics.core.grid import Floats, Ints, Singles

Family = Literal["region", "beyond", "value", "adjusted", "unlogged"]
KIND = "place"  # of an incident
FAMILIES = (0.5, 0.15, 0.35)  # weights: regions, beyond the known scores, one value
OF_REGION, OF_ZONES, OF_VALUE = 4, 8, 4  # hypotheses of a region, of all zones, and of one value


@dataclass(frozen=True, eq=False)
class RegionDay:
    """What one day says of breaks, all segments of a stream together.

    Attributes
    ----------
    gains : ndarray of shape (h,)
        For each hypothesis, the logarithm of the likelihood of its tilt over that of the tolerated
        one, in nats, over the dispersion of the day.
    begun : ndarray of shape (h,)
        How much the day counts as the first one of a break, at most 1.
    scores, informations : ndarray of shape (r,)
        Of the tilt of each region, at the curve of the reference.
    """

    gains: Floats
    begun: Floats
    scores: Floats
    informations: Floats


@dataclass(frozen=True, eq=False)
class RegionWatch:
    """Accumulated evidence of breaks.

    Attributes
    ----------
    sums : ndarray of shape (h,)
        M for each hypothesis.
    last : date
        The last day with evidence.
    weeks : ndarray of shape (w,)
        Numbers of the last weeks with outcomes, rising, the present one included.
    scores, informations : ndarray of shape (w, r)
        Sums over the days of each of these weeks.
    day_variances : ndarray of shape (r,)
        Between-day variances of this week.
    """

    sums: Floats
    last: date
    weeks: Ints
    scores: Singles
    informations: Singles
    day_variances: Floats

    @property
    def weights(self) -> Floats:
        """The weight of each hypothesis; they sum to 1."""
        return _weights(self.sums.size)

    @property
    def evidence(self) -> float:
        """The weighted mean of M over the hypotheses."""
        return float(self.weights @ self.sums)


@cache  # asked for several times a day
def _weights(hypotheses: int) -> Floats:
    """Share the weight of each family among its hypotheses."""
    sizes = (hypotheses - OF_ZONES - OF_VALUE, OF_ZONES, OF_VALUE)
    return np.repeat([w / n for w, n in zip(FAMILIES, sizes, strict=True)], sizes)


@dataclass(frozen=True, eq=False)
class Break:
    """Where among the scores an open drift is, and what is known of the rows there.

    Attributes
    ----------
    family : str
        A region of the known scores, all beyond them, or one value; of a class a region of its
        scores that are adjusted for the priors of each day, or one that begins with the rows where
        its score was not logged.
    first_cell, end_cell : int
        Its coarse cells: the first, and the one after the last.
    first_score, last_score : float
        The scores from which and to which it reaches, in [0, 1]; the same of one value.
    share_before, rate_before : float
        Share of the reference's rows that were there, and the share of these that came true; nan
        if there were hardly any.
    rows, hits, total : int
        Rows and positive outcomes there since the drift began, and all rows.
    profile : ndarray of shape (16,)
        Sum since then of the logarithm of the likelihood of each tilt of
        `monitor.drift.evidence.directions.SIZES` over that of none.
    information : float
        Sum since then of what is known of the tilt, per logit squared.
    """

    family: Family
    first_cell: int
    end_cell: int
    first_score: float
    last_score: float
    share_before: float
    rate_before: float
    rows: int
    hits: int
    total: int
    profile: Floats
    information: float

    @property
    def share(self) -> float:
        """The share of all rows that are there."""
        return self.rows / self.total if self.total else nan

    @property
    def rate(self) -> float:
        """The share of its rows that came true."""
        return self.hits / self.rows if self.rows else nan
