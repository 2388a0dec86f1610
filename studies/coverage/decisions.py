"""How often the interval of what decisions lost holds the truth, and whether its mean is right.

Run as `python -m studies.coverage.decisions`; it prints the table of docs/metrics.md.
"""

import argparse
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from monitor.evaluation.attribution import Worth, lost_of
from monitor.metrics.core.buckets import NO_BUCKETS
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.tally import tally_on_grid
from monitor.metrics.scores.net_benefit import Decision

SEED = 1


class World(NamedTuple):
    """Scores that are normal in logit, and how outcomes differ from them."""

    name: str
    intercept: float
    slope: float
    bend: float

    def log_odds(self, z: Floats, mean: float) -> Floats:
        """Give the true log-odds of scores."""
        bent = np.clip(z - mean, -3.0, 3.0) ** 2
        return self.intercept + self.slope * z + self.bend * bent


WORLDS = (
    World("calibrated", 0.0, 1.0, 0.0),
    World("prior shift of 0.4", 0.4, 1.0, 0.0),
    World("slope 0.75", 0.0, 0.75, 0.0),
    World("all three causes", 0.2, 0.9, 0.05),
)
SCORES = ((-3.5, 1.2, 20_000), (-1.0, 1.0, 3_000), (0.0, 1.5, 20_000))  # mean, deviation, a day
DECISIONS = (Decision(0.2, 1.0, 0.25), Decision(0.2, 1.0, 1.0))


def truth(world: World, decision: Decision, mean: float, deviation: float) -> float:
    """Integrate what endless predictions lose."""
    z = mean + deviation * np.linspace(-8.0, 8.0, 400_001)
    weights = np.exp(-0.5 * ((z - mean) / deviation) ** 2)
    p = expit(world.log_odds(z, mean))
    worth = decision.benefit * p - decision.cost * (1.0 - p)
    saved = (p >= decision.threshold).astype(float) - (expit(z) >= decision.threshold)
    return float((weights * saved * worth).sum() / weights.sum())


def row(world: World, decision: Decision, scores: tuple[float, float, int], days: int) -> str:
    """Draw days, and lay out how their losses compare with the truth."""
    mean, deviation, size = scores
    rng, true = np.random.default_rng(SEED), truth(world, decision, mean, deviation)
    lost = []
    for _ in range(days):
        z = rng.normal(mean, deviation, size)
        t = tally_on_grid(rng.random(size) < expit(world.log_odds(z, mean)), expit(z))
        of_day = lost_of(Worth("", decision=decision), t, NO_BUCKETS)
        if of_day:
            lost.append(of_day.all)
    values = [amount.value for amount in lost]
    held = np.mean([amount.low <= true <= amount.high for amount in lost])
    return (
        f"| {world.name} | {size:,} | {decision.cost:g} | {1000 * true:.2f} | "
        f"{1000 * np.mean(values):.2f} | {1000 * np.std(values):.2f} | "
        f"{1000 * np.mean([amount.error for amount in lost]):.2f} | {100 * held:.0f} % |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=150)
    days = parser.parse_args().days
    print("| world | predictions | cost | lost, in thousandths | mean | deviation | error | held |")
    print("|---|---|---|---|---|---|---|---|")
    for scores in SCORES:
        for world in WORLDS:
            for decision in DECISIONS:
                print(row(world, decision, scores, days), flush=True)


if __name__ == "__main__":
    main()
