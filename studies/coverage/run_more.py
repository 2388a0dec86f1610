"""How often the intervals beside those of studies/coverage/run.py hold the true value.

    .venv/bin/python -m studies.coverage.run_more [--repetitions 500]

Improvement by a fixed map, numbers that professions ask for, means over three classes, and
predicted moments; resampled ones are tried a fifth as often, and on the smallest worlds only.
Takes a few minutes. Counts go to studies/coverage/run_more.json, tables into the last section of
docs/coverage.md.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from math import sqrt
from pathlib import Path

import numpy as np
from scipy.special import expit, logit, softmax

from monitor.evaluation.evaluate import INTERVAL_REPLICATES
from monitor.metrics.beyond_binary.multiclass import classwise, classwise_tallies
from monitor.metrics.beyond_binary.regression import dawid_sebastiani, squared_error_ratio_interval
from monitor.metrics.beyond_binary.variance_scaling import fit_variance_scaling
from monitor.metrics.binned.binning import monitor_sizes, pava_bc
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.tally import Tally
from monitor.metrics.intervals.actual_over_expected import actual_over_expected
from monitor.metrics.intervals.bootstrap import bootstrap_interval
from monitor.metrics.intervals.ece_interval import ece_interval
from monitor.metrics.intervals.intervals import normal_interval, rbs_interval
from monitor.metrics.scores.bounds import ScoringRule, improvement
from monitor.metrics.scores.brier import rbs
from monitor.metrics.scores.brier_skill import brier_skill
from monitor.metrics.scores.corp import corp
from monitor.metrics.test_based.tce import tce
from studies.coverage.page_entities import stored_section
from studies.coverage.page_more import BEGIN, COUNTS, section
from studies.coverage.worlds import World, expected, population, sample

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
PREVALENCES, SIZES = (0.5, 0.05, 0.005), (1_000, 10_000)
FEWER, REPLICATES, REFITS, FRESH = 5, 100, 30, 400
SLOPE, INTERCEPT = 2.0, 0.5  # of the true variances
Truths = Mapping[str, float]
Found = dict[str, Estimate]


def monitors_tce(t: Tally) -> float:
    """Take TCE with the monitor's sizes."""
    smallest, largest = monitor_sizes(t.total)
    return tce(t, pava_bc(t, min_size=smallest, max_size=largest)).value


def log_discrimination(t: Tally) -> float:
    """Take CORP's discrimination of the log score."""
    return corp(t, rule="log").discrimination


PROFESSIONS: dict[str, Callable[[Tally], Estimate]] = {
    "actual over expected": actual_over_expected,
    "Brier skill": brier_skill,
}
RULES: tuple[ScoringRule, ...] = ("brier", "log")
DAILY_ECE = f"ECE of the daily job, {INTERVAL_REPLICATES} resamples a world"


def improvements(t: Tally, world: World) -> Iterator[tuple[str, float, float]]:
    """Give name, value and standard error of each improvement."""
    centre = logit(world.prevalence)
    for words, slope in (("right", 0.8), ("worse", 1.25)):
        map_ = expit(centre + slope * (logit(t.scores) - centre))
        for rule in RULES:
            found = improvement(t, map_, rule=rule)
            yield f"improvement, {rule}, put {words}", found.value, found.standard_error


def two_classes(world: World) -> tuple[Truths, Callable[[np.random.Generator, bool], Found]]:
    """Give the truths of a world of two classes, and what finds a sample's intervals."""
    p, rng = population(world), np.random.default_rng(7)
    many = expected(p)
    truths = {name: value for name, value, _ in improvements(many, world)}
    truths |= {name: measure(many).value for name, measure in PROFESSIONS.items()}
    means = [monitors_tce(sample(p, world.size, rng)) for _ in range(FRESH)]
    truths["TCE, monitor's sizes, inverted mean"] = float(np.mean(means))
    truths["CORP discrimination, log, bias-corrected"] = log_discrimination(many)
    truths[DAILY_ECE] = float((p.shares * np.abs(p.truths - p.scores)).sum())

    def find(rng: np.random.Generator, slow: bool) -> Found:  # noqa: FBT001 - passed by position
        t = sample(p, world.size, rng)
        found = {name: normal_interval(v, e) for name, v, e in improvements(t, world)}
        if t.total_positives:
            found |= {name: measure(t) for name, measure in PROFESSIONS.items()}
        found[DAILY_ECE] = ece_interval(t, adjusted="raw", replicates=INTERVAL_REPLICATES, rng=rng)
        if slow:
            found["TCE, monitor's sizes, inverted mean"] = bootstrap_interval(
                t, monitors_tce, method="inverted_mean", replicates=REPLICATES, rng=rng
            )
            found["CORP discrimination, log, bias-corrected"] = bootstrap_interval(
                t, log_discrimination, method="bias_corrected", replicates=REPLICATES, rng=rng
            )
        return found

    return truths, find


def draw_classes(size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw probabilities of three classes, too extreme, and labels."""
    logits = rng.normal([1.0, 0.0, -1.0], 1.2, (size, 3))
    true = softmax(0.8 * logits, axis=1)
    labels = (rng.random((size, 1)) > np.cumsum(true, axis=1)[:, :2]).sum(axis=1)
    return softmax(logits, axis=1), labels


def three_classes(size: int) -> tuple[Truths, Callable[[np.random.Generator, bool], Found]]:
    """Give the true mean RBS of three classes, and what finds a sample's interval."""
    name = "class-wise RBS, mean of the classes' ends"
    truth = classwise(rbs, *draw_classes(1_000_000, np.random.default_rng(7))[::-1]).value

    def find(rng: np.random.Generator, slow: bool) -> Found:  # noqa: FBT001, ARG001
        each = [
            rbs_interval(t, level=1 - 0.05 / 3)
            for t in classwise_tallies(*draw_classes(size, rng)[::-1])
        ]
        return {name: Estimate(*np.mean([(e.value, e.low, e.high) for e in each], axis=0))}

    return {name: truth}, find


def moments(
    size: int, tails: int | None
) -> tuple[Truths, Callable[[np.random.Generator, bool], Found]]:
    """Give truths of predicted means and variances, and what finds a sample's intervals."""
    grid = np.linspace(0.5, 2.0, 100_001)
    ratio = (SLOPE * grid + INTERCEPT) / grid
    truths = {
        "squared error over variance": ratio.mean(),
        "mean Dawid-Sebastiani score": (ratio + np.log(grid)).mean(),
    }
    for words in ("sandwich", "resampled"):
        truths |= {f"scaling slope, {words}": SLOPE, f"scaling intercept, {words}": INTERCEPT}

    def find(rng: np.random.Generator, slow: bool) -> Found:  # noqa: FBT001 - passed by position
        v = rng.uniform(0.5, 2.0, size)
        unit = rng.normal(size=size) if tails is None else student(tails, size, rng)
        y, zeros = unit * np.sqrt(SLOPE * v + INTERCEPT), np.zeros(size)
        scores = dawid_sebastiani(y, means=zeros, variances=v)
        error = float(scores.std(ddof=1)) / sqrt(size)
        found = {
            "squared error over variance": squared_error_ratio_interval(
                y, means=zeros, variances=v
            ),
            "mean Dawid-Sebastiani score": normal_interval(float(scores.mean()), error),
        }
        line = fit_variance_scaling(y, means=zeros, variances=v)
        fitted = np.array([line.slope, line.intercept])
        errors = {"sandwich": sandwich(y**2, v, fitted)}
        if slow:
            errors["resampled"] = resampled(y, v, rng)
        for words, (of_slope, of_intercept) in errors.items():
            found[f"scaling slope, {words}"] = normal_interval(line.slope, of_slope)
            found[f"scaling intercept, {words}"] = normal_interval(line.intercept, of_intercept)
        return found

    return truths, find


def student(degrees: int, size: int, rng: np.random.Generator) -> Floats:
    """Draw Student's t of variance 1."""
    return rng.standard_t(degrees, size) * sqrt((degrees - 2) / degrees)


def sandwich(squares: Floats, v: Floats, line: Floats) -> list[float]:
    """Give standard errors of slope and intercept that trust no law of the errors."""
    x = np.stack([v, np.ones_like(v)])
    u = (line[:, None] * x).sum(axis=0)
    slopes = x * ((1.0 - squares / u) / u)
    bread = np.linalg.inv((x * ((2.0 * squares / u - 1.0) / u**2)) @ x.T)
    return np.sqrt(np.diag(bread @ (slopes @ slopes.T) @ bread)).tolist()


def resampled(y: Floats, v: Floats, rng: np.random.Generator) -> list[float]:
    """Give standard deviations of slope and intercept over resampled rows."""
    lines = []
    for _ in range(REFITS):
        rows = rng.integers(0, v.size, v.size)
        line = fit_variance_scaling(y[rows], means=np.zeros(v.size), variances=v[rows])
        lines.append((line.slope, line.intercept))
    return np.std(lines, axis=0, ddof=1).tolist()


def play(repetitions: int) -> dict[str, dict[str, list[int]]]:
    """Count how often each interval holds its truth in every world."""
    worlds = {
        f"2 classes, {100 * p:g} %, {n:,}": (two_classes(World(p, 0.8, n)), n == SIZES[0])
        for n in SIZES
        for p in PREVALENCES
    }
    worlds |= {f"3 classes, {n:,}": (three_classes(n), False) for n in SIZES}
    for words, tails in (("normal", None), ("t with 6", 6)):
        worlds |= {f"{words}, {n:,}": (moments(n, tails), n == 100) for n in (30, 100, 1_000)}
    counts: dict[str, dict[str, list[int]]] = {}
    for number, (name, ((truths, find), with_slow)) in enumerate(worlds.items()):
        rng = np.random.default_rng([11, number])
        for i in range(repetitions):
            for what, one in find(rng, with_slow and i % FEWER == 0).items():
                pair = counts.setdefault(what, {}).setdefault(name, [0, 0])
                pair[0] += int(one.low <= truths[what] <= one.high)
                pair[1] += 1
        print(name, flush=True)
    return counts


def main() -> None:
    """Play, keep the counts and write the section."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=500)
    counts = play(parser.parse_args().repetitions)
    lines = [f"{json.dumps(name)}: {json.dumps(worlds)}" for name, worlds in counts.items()]
    COUNTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    before, _, _ = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + section(counts) + stored_section())


if __name__ == "__main__":
    main()
