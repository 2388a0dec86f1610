"""How often intervals of all predictions hold the truth where labels were chosen by score.

    .venv/bin/python -m studies.coverage.chosen [--repetitions 1000]

Worlds: 20,000 predictions with scores that are normal in logit, calibrated or with a slope of 0.6,
of which some get an outcome by a rule that looks at the score; and by rules that look at something
hidden too, with the probability of each row in the log. Without weights the numbers are those of
the labelled predictions. Truths are those of two million predictions that all have an outcome. The
tables go into docs/chosen-labels.md.
"""

import argparse
from functools import cache
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

from monitor.days.summary import SQUARE, UNIT, Segment, awaited, rated
from monitor.evaluation.population import population_of
from monitor.evaluation.score_errors import LabelRates
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats, locate
from monitor.metrics.core.tally import tally_on_grid
from monitor.metrics.scores.brier import rbs

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
LOGGED = "<!-- logged: begin -->", "<!-- logged: end -->"
HIDDEN = 0.8  # by how much what reviewers see moves the log-odds, for each standard deviation
# Of log-odds of the score and what only reviewers see: the probability that is in the log.
REVIEWS = {
    "1 % to all, by what reviewers see": lambda _, z: np.maximum(expit(3.0 * (z - 2.0)), 0.01),
    "1 % to all, by both": lambda x, z: np.maximum(expit(x + 1.5 * z), 0.01),
    "a tenth to all, by both": lambda x, z: np.maximum(expit(x + 1.5 * z), 0.1),
}


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
        t = tally_on_grid(rng.random(has.sum()) < right[has], scores[has])
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


def review(number: int, rule: str, centre: float, slope: float, repetitions: int) -> list[str]:
    """Give a row of the table of probabilities in the log."""
    rng, held = np.random.default_rng([19, number]), np.zeros(len(NAMES), int)
    truth, plain, counted, share = hidden_truths(centre, slope), 0.0, 0.0, 0.0
    for _ in range(repetitions):
        scores, right, rate = reviewed(ROWS, rule, centre, slope, rng)
        has, outcomes = rng.random(ROWS) < rate, rng.random(ROWS) < right
        cells, late = locate(scores[has])[0], locate(scores[~has])[0]
        w = 1.0 / rate[has]
        units = (np.rint(UNIT * w).astype(int), np.rint(SQUARE * w * w).astype(int))
        part = Segment(
            tally_on_grid(outcomes[has], scores[has]),
            ROWS,
            awaited(late, np.ones(late.size, np.int64)),
            rated=rated(cells, *units, outcomes[has]),
        )
        found = population_of(part, ALPHA, LabelRates(in_log=True))
        by_score = population_of(part, ALPHA)
        assert found
        assert by_score
        ends = found.prevalence, found.mean_score, found.errors.rbs_interval
        held += [e is not None and inside(e, at) for e, at in zip(ends, truth, strict=True)]
        plain += part.tally.prevalence / repetitions
        counted += by_score.prevalence.value / repetitions
        share += has.mean() / repetitions
    shares = [f"{hit / repetitions:.0%}" for hit in held]
    world = f"{truth[0]:.1%}, slope {slope:g}"
    return [world, rule, f"{share:.0%}", *shares, f"{counted:.1%}", f"{plain:.1%}"]


def reviewed(
    rows: int, rule: str, centre: float, slope: float, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Draw scores, right probabilities, and those of being chosen."""
    x, z = rng.normal(centre, SPREAD, rows), rng.normal(size=rows)
    right = expit(centre + slope * (x - centre) + HIDDEN * z)
    return expit(x), right, REVIEWS[rule](x, z)


@cache
def hidden_truths(centre: float, slope: float) -> tuple[float, ...]:
    """Compute what the intervals should hold where something hidden moves the outcome."""
    some = next(iter(REVIEWS))
    scores, right, _ = reviewed(MANY, some, centre, slope, np.random.default_rng(8))
    squared = right * (1.0 - scores) ** 2 + (1.0 - right) * scores**2
    return float(right.mean()), float(scores.mean()), float(np.sqrt(squared.mean()))


def inside(one: Estimate, truth: float) -> bool:
    """Say whether an interval holds the truth."""
    return one.low - 1e-12 <= truth <= one.high + 1e-12


def main() -> None:
    """Play all worlds and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--logged", action="store_true", help="probabilities in the log only")
    given = parser.parse_args()
    repetitions = given.repetitions
    write_reviews(repetitions)
    if given.logged:
        return
    head = ["prevalence", "labelled", *NAMES, "prevalence without weights", "RBS without weights"]
    rows = [head, ["---"] * len(head)]
    for number, (centre, slope) in enumerate(WORLDS):
        for other, rule in enumerate(RULES):
            rows.append(play(rule, centre, slope, 10 * number + other, repetitions))
            print(*rows[-1], sep=" | ", flush=True)
    write_table(rows, BEGIN, END)


def write_reviews(repetitions: int) -> None:
    """Play the worlds with probabilities in the log, and write their table."""
    others = "prevalence as if by score", "prevalence without weights"
    head = ["prevalence", "probability in the log", "labelled", *NAMES, *others]
    rows = [head, ["---"] * len(head)]
    for number, (centre, slope) in enumerate(WORLDS):
        for other, rule in enumerate(REVIEWS):
            rows.append(review(10 * number + other, rule, centre, slope, repetitions))
            print(*rows[-1], sep=" | ", flush=True)
    write_table(rows, *LOGGED)


def write_table(rows: list[list[str]], begin: str, end: str) -> None:
    """Replace a table of the page."""
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    before, _, rest = PAGE.read_text().partition(begin)
    PAGE.write_text(f"{before}{begin}\n\n{table}\n\n{end}{rest.partition(end)[2]}")


if __name__ == "__main__":
    main()
