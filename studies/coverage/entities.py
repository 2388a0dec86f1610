"""How often 95 % intervals hold the truth where rows hang together, without and with `entity`.

    .venv/bin/python -m studies.coverage.entities [--repetitions 200] [--write]

Worlds: entities with a score of their own around which each of their rows scatters. Every row is
calibrated by itself, or has a slope of 0.8; its outcome is 1 where a normal variable is below the
quantile of the right probability, and rows of an entity share a part of its variance. Windows are
evaluated as the daily job does it, once without and once with the buckets of entities. Truths are
those of two million independent rows; of TCE@N* the mean over the samples themselves. A map in the
shadow is one fixed beforehand, and its gain over 14 days is compared with that of these rows.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from math import sqrt
from pathlib import Path

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from monitor.base.segment_names import WHOLE
from monitor.days.summary import Segment, Summary
from monitor.evaluation.attribution import causes_of
from monitor.evaluation.evaluate import evaluate
from monitor.evaluation.evaluation import Causes
from monitor.evaluation.score_errors import Settings
from monitor.evaluation.shadow import Shadow, day_gains, map_gain
from monitor.metrics.core.buckets import BUCKETS, add_up_buckets, bins_of
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats, locate
from monitor.metrics.core.tally import Tally, shift, tally_on_grid
from monitor.metrics.logistic.intercept import fit_intercept
from monitor.metrics.maps.calibration_map import CalibrationMap, apply_calibration_map
from monitor.metrics.scores.brier import rbs
from studies.coverage.page_entities import (
    ABOVE,
    BEGIN,
    CAUSES,
    COUNTS,
    GAIN,
    REMOVED,
    TCE,
    Counts,
    stored_section,
)

PAGE = Path("docs/coverage.md")
FIRST, KNOWN = date(2026, 1, 1), datetime(2026, 3, 1, tzinfo=UTC)
SPREAD, MANY = 1.2, 2_000_000
SETTINGS = Settings(alpha=0.05, null_replicates=100, tce_size=5_000, interval_days=1)


@dataclass(frozen=True)
class World:
    """Entities, rows of each a day, days, share of the variance that rows share, prevalence."""

    entities: int
    rows: int
    days: int
    shared: float
    centre: float
    slope: float = 1.0
    scatter: float = 0.3
    leave: float = 0.0


INDEPENDENT = World(12_000, 1, 1, 0.0, -1.4)
ONE_FATE, IN_PART = World(500, 24, 1, 1.0, -1.4), World(500, 24, 1, 0.3, -1.4)
CUSTOMERS = World(1_000, 1, 14, 0.5, -1.4, leave=0.03)
CAMPAIGNS = World(200, 15, 7, 0.03, -2.5, scatter=1.0)
WORLDS = {
    "independent": INDEPENDENT,
    "500 x 24, one outcome": ONE_FATE,
    "500 x 24, in part": IN_PART,
    "in part, slope 0.8": replace(IN_PART, slope=0.8),
    "customers, 14 days": CUSTOMERS,
    "customers, slope 0.8": replace(CUSTOMERS, slope=0.8),
    "campaigns, 7 days": CAMPAIGNS,
    "campaigns, slope 0.8": replace(CAMPAIGNS, slope=0.8),
    "2,600 independent, slope 0.8": replace(INDEPENDENT, entities=2_600, slope=0.8),
}
MAP = Shadow(CalibrationMap("platt", parameters=(0.9,)))
ROUNDING = 1e-12


def draw(world: World, rng: np.random.Generator) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Draw entities, scores and outcomes of each day."""
    base, fates = np.empty(world.entities), np.empty(world.entities)
    buckets, new = np.zeros(world.entities, np.int64), np.ones(world.entities, bool)
    who = np.repeat(np.arange(world.entities), world.rows)
    for _ in range(world.days):
        base[new] = rng.normal(world.centre, SPREAD, new.sum())
        fates[new], buckets[new] = rng.normal(size=new.sum()), rng.integers(BUCKETS, size=new.sum())
        logits = base[who] + rng.normal(0.0, world.scatter, who.size)
        own = rng.normal(size=who.size)
        latent = sqrt(world.shared) * fates[who] + sqrt(1.0 - world.shared) * own
        right = expit(world.centre + world.slope * (logits - world.centre))
        yield buckets[who], expit(logits), latent < norm.ppf(right)
        new = rng.random(world.entities) < world.leave


def summary(number: int, buckets: Floats, scores: Floats, outcomes: Floats) -> Summary:
    """Count a day as the logs of a model with entities are counted."""
    t = tally_on_grid(outcomes, scores)
    one, hits = np.ones(scores.size, np.int64), outcomes.astype(np.int64)
    held = add_up_buckets(buckets, bins_of(locate(scores)[0]), one, hits)
    day = (FIRST + timedelta(number),)
    parts = {WHOLE: Segment(t, t.total)}
    return Summary("m", day, parts, {}, True, KNOWN, entities={(WHOLE, WHOLE): held})


@cache
def truths(world: World) -> dict[str, float]:
    """Compute what the intervals should hold; that of TCE@N* is not known beforehand."""
    many = replace(world, entities=MANY, rows=1, days=1, shared=0.0)
    ((_, scores, outcomes),) = draw(many, np.random.default_rng(7))
    t = tally_on_grid(outcomes, scores)
    right = expit(world.centre + world.slope * (logit(scores) - world.centre))
    delta = fit_intercept(t).delta if world.slope != 1.0 else 0.0
    moved = scores if world.slope == 1.0 else expit(logit(scores) + delta)
    mapped = apply_calibration_map(scores, MAP.map)
    return {
        "intercept": delta,
        "slope": world.slope,
        "RBS": rbs(t),
        "RBS, prior-adjusted": rbs(shift(t, delta)),
        "ECE": float(np.abs(right - scores).mean()),
        "ECE, prior-adjusted": float(np.abs(right - moved).mean()),
        REMOVED: loss(right, scores) - loss(right, moved),
        **of_causes(whole_causes(t)),
        GAIN: loss(right, scores) - loss(right, mapped),
    }


def whole_causes(t: Tally) -> Causes:
    """Divide the error of independent rows among its causes."""
    found = causes_of(t)
    assert found
    return found


def of_causes(causes: Causes) -> dict[str, float]:
    """Name what is removed by each cause, in nats."""
    return dict(zip(CAUSES, vars(causes.log_loss).values(), strict=True))


def intervals_of_causes(causes: Causes) -> dict[str, Estimate]:
    """Give their intervals; none of a cause whose map could not be fitted."""
    both = zip(vars(causes.log_loss).values(), vars(causes.log_loss_errors).values(), strict=True)
    of_all = {name: Estimate.normal(*of) for name, of in zip(CAUSES, both, strict=True)}
    return {name: found for name, found in of_all.items() if found.standard_error > 0.0}


def loss(right: Floats, p: Floats) -> float:
    """Give the log loss to expect of scores p."""
    return float(-(right * np.log(p) + (1.0 - right) * np.log1p(-p)).mean())


def intervals(world: World, days: list[Summary]) -> tuple[dict[str, Estimate | None], bool]:
    """Find the intervals of a window, and whether its TCE is above what chance allows."""
    e = evaluate(days, window_days=len(days), settings=SETTINGS)[0]
    assert e.raw
    assert e.prior
    assert e.null
    assert e.correction
    assert e.causes
    found = {
        "intercept": e.shift,
        "slope": e.slope,
        "RBS": e.raw.rbs_interval,
        "RBS, prior-adjusted": e.prior.rbs_interval,
        "ECE": e.raw.ece_interval,
        "ECE, prior-adjusted": e.prior.ece_interval,
        REMOVED: e.correction.log_loss,
        TCE: e.prior.tce,
        **intervals_of_causes(e.causes),
    }
    if world.days > 1:
        gain = map_gain([day_gains(day, MAP)[WHOLE] for day in days])
        found[GAIN] = gain and gain.log_loss
    return found, e.prior.tce_published > e.null.q95


def play(world: World, repetitions: int, number: int) -> Counts:
    """Count how often intervals hold the truth, without the key and with it."""
    rng, counts = np.random.default_rng([13, number]), Counts()
    tces: list[list[Estimate]] = [[], []]
    for _ in range(repetitions):
        days = [summary(i, *rows) for i, rows in enumerate(draw(world, rng))]
        without = [replace(day, entities={}) for day in days]
        for place, of in enumerate((without, days)):
            found, above = intervals(world, of)
            tces[place] += [one for one in (found.pop(TCE),) if one]
            for name, one in found.items():
                truth = truths(world)[name]
                held = one and one.low - ROUNDING <= truth <= one.high + ROUNDING
                count(counts, name, place, bool(held))
            if world.slope == 1.0:
                count(counts, ABOVE, place, above)
    mean = float(np.mean([one.value for one in tces[0]])) if tces[0] else np.nan
    for place, estimates in enumerate(tces):
        for one in estimates:
            count(counts, TCE, place, one.low <= mean <= one.high)
    return counts


def count(counts: Counts, name: str, place: int, held: bool) -> None:  # noqa: FBT001 - a count
    """Count one interval."""
    pair = counts.setdefault(name, [[0, 0], [0, 0]])[place]
    pair[0] += held
    pair[1] += 1


def main() -> None:
    """Play all worlds, keep the counts and write the section."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=200)
    repetitions = parser.parse_args().repetitions
    counts = {}
    for number, (name, world) in enumerate(WORLDS.items()):
        counts[name] = play(world, repetitions, number)
        print(name, counts[name], flush=True)
    lines = [f"{json.dumps(name)}: {json.dumps(of)}" for name, of in counts.items()]
    COUNTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    before, _, _ = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + stored_section())


if __name__ == "__main__":
    main()
