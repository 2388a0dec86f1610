"""How often intervals of all predictions hold the truth where labels were chosen by score.

    .venv/bin/python -m studies.coverage.chosen [--repetitions 400]

Worlds: 20,000 predictions with scores that are normal in logit, calibrated or with a slope of 0.6,
of which some get an outcome by a rule that looks at the score. Without weights the numbers are
those of the labelled predictions. Truths are those of two million predictions that all have an
outcome. The tables go into docs/chosen-labels.md.
"""

import argparse
from functools import cache
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

from monitor.evaluation.population import population_of
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats, locate
from monitor.metrics.core.tally import tally_on_grid
from monitor.metrics.scores.brier import rbs
from monitor.summary import Segment, awaited

PAGE = Path("docs/chosen-labels.md")
BEGIN, END = "<!-- coverage: begin -->", "<!-- coverage: end -->"
ROWS, MANY, SPREAD = 20_000, 2_000_000, 1.3
ALPHA = 0.05
RULES = {
    "100 %": lambda s: np.ones(s.size),
    "1 % at random": lambda s: np.full(s.size, 0.01),
    "1 % below 0.5, all above": lambda s: np.where(s > 0.5, 1.0, 0.01),
    "2 % below 0.5, half above": lambda s: np.where(s > 0.5, 0.5, 0.02),
    "the score to the power 1.5, at least 1 %": lambda s: np.maximum(s**1.5, 0.01),
    "3 % and up to 33 % around 0.5": lambda s: 0.03 + 0.3 * np.exp(-(logit(s) ** 2)),
}
WORLDS = [(centre, slope) for centre in (-1.5, -4.0) for slope in (1.0, 0.6)]
NAMES = "prevalence", "mean score", "RBS"


def draw(rows: int, centre: float, slope: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw scores and the right probabilities."""
    logits = rng.normal(centre, SPREAD, rows)
    return expit(logits), expit(centre + slope * (logits - centre))


@cache
def truths(centre: float, slope: float) -> tuple[float, ...]:
    """Compute what the intervals should hold."""
    scores, right = draw(MANY, centre, slope, np.random.default_rng(7))
    squared = right * (1.0 - scores) ** 2 + (1.0 - right) * scores**2
    return float(right.mean()), float(scores.mean()), float(np.sqrt(squared.mean()))


def play(rule: str, centre: float, slope: float, number: int, repetitions: int) -> list[str]:
    """Give a row of the table."""
    rng, held = np.random.default_rng([17, number]), np.zeros((2, len(NAMES)), int)
    plain = np.zeros(2)
    for _ in range(repetitions):
        scores, right = draw(ROWS, centre, slope, rng)
        has = rng.random(ROWS) < RULES[rule](scores)
        t = tally_on_grid(scores[has], rng.random(has.sum()) < right[has])
        cells = locate(scores[~has])[0]
        part = Segment(t, ROWS, awaited(cells, np.ones(cells.size, np.int64)))
        found = population_of(part, ALPHA)
        assert found
        ends = found.prevalence, found.mean_score, found.errors.rbs_interval
        for j, (one, truth) in enumerate(zip(ends, truths(centre, slope), strict=True)):
            held[:, j] += [one is not None and inside(one, truth), 1]
        plain += [t.prevalence / repetitions, rbs(t) / repetitions]
    shares = [f"{hit / of:.0%}" for hit, of in held.T]
    prevalence, _, root = truths(centre, slope)
    world = f"{prevalence:.1%}, slope {slope:g}"
    return [world, rule, *shares, f"{plain[0]:.1%}", f"{plain[1]:.3f} for {root:.3f}"]


def inside(one: Estimate, truth: float) -> bool:
    """Say whether an interval holds the truth."""
    return one.low - 1e-12 <= truth <= one.high + 1e-12


def main() -> None:
    """Play all worlds and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=400)
    repetitions = parser.parse_args().repetitions
    head = ["prevalence", "labelled", *NAMES, "prevalence without weights", "RBS without weights"]
    rows = [head, ["---"] * len(head)]
    for number, (centre, slope) in enumerate(WORLDS):
        for other, rule in enumerate(RULES):
            rows.append(play(rule, centre, slope, 10 * number + other, repetitions))
            print(*rows[-1], sep=" | ", flush=True)
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
