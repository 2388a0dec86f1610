"""Random worlds of several columns in which one or two values were made to drift."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from monitor.base.segment_names import WHOLE
from monitor.days.summary import ColumnPart
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.records.places import Condition
from monitor.drift.verdicts.pair_sums import sum_day
from monitor.drift.where.column_sums import Periods, in_both, over_days
from monitor.metrics.core.coarse import CENTRES, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Ints

ROWS, BEFORE, AFTER = 12_000, 21, 10  # a day; days of the reference, and since the drift began
SCORES = norm.pdf(CENTRES, -0.5, 1.3)
SCORES /= SCORES.sum()
LEAST, MOST = 0.03, 0.3  # share of the rows that a cause may have


@dataclass(frozen=True)
class Planted:
    """A world after its days were drawn.

    Attributes
    ----------
    reference : Reference
        Of the whole.
    sums : mapping of str to Periods
        Of each column.
    causes : frozenset of Condition
        The values whose slope changed.
    inside : mapping of Condition to Condition
        For each customer the country that has all its rows.
    slope : float
        Of the causes.
    """

    reference: Reference
    sums: Mapping[str, Periods]
    causes: frozenset[Condition]
    inside: Mapping[Condition, Condition]
    slope: float


def planted(seed: int, causes: int) -> Planted:
    """Draw a world with so many causes, each a value of a column of its own.

    Customers lie in one country each, systems go with devices in seven of ten rows, hours and
    channels with nothing. Countries have levels of their own, and every day has a prior.
    """
    rng = np.random.default_rng([31, seed])
    countries, customers, devices = rng.integers(5, 10), rng.integers(20, 60), 4
    home = rng.integers(0, countries, customers)
    volumes = {
        "customer": rng.dirichlet(np.full(customers, 0.7)),
        "device": rng.dirichlet(np.full(devices, 2.0)),
        "hour": rng.dirichlet(np.full(24, 5.0)),
        "channel": rng.dirichlet(np.full(rng.integers(4, 9), 2.0)),
    }
    levels = rng.normal(0.0, 0.4, countries)

    def values() -> dict[str, Ints]:
        drawn = {name: rng.choice(len(p), ROWS, p=p) for name, p in volumes.items()}
        other = rng.integers(0, devices, ROWS)
        drawn["system"] = np.where(rng.random(ROWS) < 0.7, drawn["device"], other)
        drawn["country"] = home[drawn["customer"]]
        return drawn

    chosen = _choose(rng, values(), causes)
    slope = float(rng.choice([0.35, 0.5, 0.6, 1.6]))

    def day(*, drifted: bool) -> tuple[dict[str, dict[str, ColumnPart]], Coarse]:
        of = values()
        off = np.zeros(ROWS, bool)
        for name, value in chosen:
            off |= of[name] == value
        places = rng.choice(COARSE_COUNT, ROWS, p=SCORES)
        slopes = np.where(off & drifted, slope, 1.0)
        logits = slopes * CENTRES[places] + levels[of["country"]] + rng.normal(0.0, 0.3)
        hits = rng.random(ROWS) < expit(logits)
        whole = Coarse(*(np.bincount(p, minlength=COARSE_COUNT) for p in (places, places[hits])))
        return {name: count(codes, places, hits) for name, codes in of.items()}, whole

    old, new = ([day(drifted=d) for _ in range(n)] for d, n in ((False, BEFORE), (True, AFTER)))
    reference = fit_reference([{WHOLE: whole} for _, whole in old])
    sums = in_both(
        *(over_days([sum_day(reference, of)[0] for of, _ in days]) for days in (old, new))
    )
    return Planted(
        reference,
        sums,
        frozenset(Condition(name, f"v{value}") for name, value in chosen),
        {Condition("customer", f"v{i}"): Condition("country", f"v{c}") for i, c in enumerate(home)},
        slope,
    )


def _choose(
    rng: np.random.Generator, values: Mapping[str, Ints], causes: int
) -> list[tuple[str, int]]:
    """Choose values of different columns, none of which is rare or most of the rows."""
    while True:
        names = rng.choice(sorted(values), causes, replace=False)
        chosen = [(str(name), int(rng.choice(np.unique(values[name])))) for name in names]
        shares = [float((values[name] == value).mean()) for name, value in chosen]
        if all(LEAST <= share <= MOST for share in shares):
            return chosen


def count(codes: Ints, places: Ints, hits: np.ndarray) -> dict[str, ColumnPart]:
    """Count rows by value and place."""
    size = (int(codes.max()) + 1) * COARSE_COUNT
    keys = codes * COARSE_COUNT + places
    both = [np.bincount(of, minlength=size).reshape(-1, COARSE_COUNT) for of in (keys, keys[hits])]
    found = {}
    for value, (counts, positives) in enumerate(zip(*both, strict=True)):
        cells = np.flatnonzero(counts)
        if cells.size:
            found[f"v{value}"] = ColumnPart(
                cells, counts[cells], positives[cells], int(counts.sum())
            )
    return found
