"""How often 95 % intervals hold the true value: every scalar measure, rare events, few rows.

    .venv/bin/python -m studies.coverage.run [--repetitions 100]

Worlds: scores whose logits are normal (sd 1.2) around a centre that makes their mean the
prevalence; calibrated, or with a slope of 0.8 and the same prevalence. Logits are rounded to
1/64, so a sample is a multinomial draw of a few hundred groups and the true value of a measure
is its value on a billion expected rows; that of measures without a population value is their
mean over fresh samples. Closed forms are tried more often than bootstrap intervals, smooth
ECE, which is slow, in every second round only. Counts are kept in studies/coverage/run.json
after each world, so an interrupted study goes on where it was; delete it to start over.
The tables go to docs/coverage.md.
"""

import argparse
import json
from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from math import isnan
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

from monitor.metrics import intervals as closed
from monitor.metrics.binned.binning import paper_sizes, pava_bc, quantile_bins, uniform_bins
from monitor.metrics.binned.ece import (
    ace,
    debiased_mean_squared_gap,
    ece,
    mce,
    root_mean_squared_gap,
)
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.tally import Tally
from monitor.metrics.intervals.bootstrap import Measure, Method, bootstrap_intervals
from monitor.metrics.intervals.ece_interval import forgiven_ece, pava_bc_ece
from monitor.metrics.logistic.cox import fit_cox
from monitor.metrics.logistic.intercept import fit_intercept
from monitor.metrics.scores.brier import brier, rbs
from monitor.metrics.scores.corp import corp
from monitor.metrics.scores.discrimination import auc, tjur_r2
from monitor.metrics.scores.log_score import log_score
from monitor.metrics.smooth.cumulative import cumulative_differences
from monitor.metrics.smooth.skce import mean_distance, skce
from monitor.metrics.smooth.smooth_ece import smooth_ece
from monitor.metrics.test_based.tce import count_rejected
from monitor.metrics.test_based.tce_at_size import standard_size, tce_at_size
from studies.coverage.page import CLOSED_IN_ROUND, REPLICATES, ROUND, page
from studies.coverage.worlds import (
    PREVALENCES,
    SIZES,
    SLOPES,
    World,
    expected,
    key,
    population,
    sample,
)

FRESH = 1_000
COUNTS, PAGE = Path("studies/coverage/run.json"), Path("docs/coverage.md")
SLOW = "smooth ECE"
ADJUSTED = "ECE, PAVA-BC bins, prior-adjusted"
Find = Callable[[Tally], Estimate]


def line(t: Tally, part: str) -> Estimate:
    """Take the normal interval of one part of Cox's line."""
    found = fit_cox(t)
    return closed.normal_interval(getattr(found, part), getattr(found, f"{part}_standard_error"))


def intercept(t: Tally) -> Estimate:
    """Take the normal interval of calibration in the large."""
    found = fit_intercept(t)
    return closed.normal_interval(found.delta, found.standard_error)


CLOSED: dict[str, tuple[Measure, Find]] = {
    "prevalence": (lambda t: t.prevalence, closed.prevalence_interval),
    "mean score": (lambda t: t.mean_score, closed.mean_score_interval),
    "intercept": (lambda t: fit_intercept(t).delta, intercept),
    "Cox intercept": (lambda t: fit_cox(t).intercept, lambda t: line(t, "intercept")),
    "Cox slope": (lambda t: fit_cox(t).slope, lambda t: line(t, "slope")),
    "Brier score": (brier, closed.brier_interval),
    "RBS": (rbs, closed.rbs_interval),
    "log score": (log_score, closed.log_score_interval),
    "CORP uncertainty": (lambda t: corp(t).uncertainty, closed.uncertainty_interval),
    "AUC": (lambda t: auc(t).value, closed.auc_interval),
    "Tjur's R2": (tjur_r2, closed.tjur_interval),
}


def published_tce(t: Tally) -> float:
    """Take TCE as in the paper, without its accepted intervals, which are not needed here."""
    smallest, largest = paper_sizes(t.total)
    starts = pava_bc(t, min_size=smallest, max_size=largest).starts
    return int(count_rejected(t.scores, t.counts, t.positives, starts, 0.05).sum()) / t.total


MEANS: dict[str, Measure] = {
    "TCE, paper's sizes": published_tce,
    "MCE, 15 uniform bins": lambda t: mce(uniform_bins(t, 15)).value,
}


@cache
def bootstrapped(world: World) -> dict[str, tuple[Measure, Method]]:
    """List what has no closed form; the kernel's width is fixed beforehand."""
    width = mean_distance(expected(population(world)))
    errors: dict[str, Measure] = {
        "ECE, PAVA-BC bins": pava_bc_ece,
        ADJUSTED: forgiven_ece,
        "ECE, 15 uniform bins": lambda t: ece(uniform_bins(t, 15)),
        "ACE, 10 bins": lambda t: ace(t, 10),
        "MCE(Q), 10 bins": lambda t: mce(quantile_bins(t, 10)).value,
        "CE_2, 10 quantile bins": lambda t: root_mean_squared_gap(quantile_bins(t, 10)),
        "debiased CE_2 squared": lambda t: debiased_mean_squared_gap(quantile_bins(t, 10)),
        SLOW: smooth_ece,
        "KS": lambda t: cumulative_differences(t).ks,
        "Kuiper": lambda t: cumulative_differences(t).kuiper,
        "SKCE": lambda t: skce(t, bandwidth=width).value,
        "CORP miscalibration": lambda t: corp(t).miscalibration,
        "CORP miscalibration, log": lambda t: corp(t, rule="log").miscalibration,
    }
    found: dict[str, tuple[Measure, Method]] = {n: (m, "inverted") for n, m in errors.items()}
    found["CORP discrimination"] = (lambda t: corp(t).discrimination, "bias_corrected")
    return found | {name: (measure, "inverted_mean") for name, measure in MEANS.items()}


def true_values(world: World) -> dict[str, float]:
    """Compute what the intervals should hold."""
    p, rng = population(world), np.random.default_rng([7, world.size])
    many = expected(p)
    values = {name: measure(many) for name, (measure, _) in CLOSED.items()}
    for name, (measure, method) in bootstrapped(world).items():
        # Errors of a calibrated world are 0; rounding to whole rows is not.
        none = world.slope == 1.0 and method == "inverted"
        values[name] = 0.0 if none else measure(many)
    # Bins of N**(2/3) rows become so narrow that the error is that of single scores.
    delta = fit_intercept(many).delta if world.slope != 1.0 else 0.0
    for name, move in (("ECE, PAVA-BC bins", 0.0), (ADJUSTED, delta)):
        gaps = np.abs(p.truths - expit(logit(p.scores) + move))
        values[name] = float((p.shares * gaps).sum()) if world.slope != 1.0 else 0.0
    for name, measure in MEANS.items():
        values[name] = float(np.mean([measure(sample(p, world.size, rng)) for _ in range(FRESH)]))
    fixed = [sample(p, standard_size(world.prevalence), rng) for _ in range(FRESH)]
    return values | {"TCE@N*": float(np.mean([published_tce(t) for t in fixed]))}


def closed_forms(world: World, t: Tally, rng: np.random.Generator) -> dict[str, Estimate]:
    """Find the intervals that cost little; leave out what is undefined for this sample."""
    found = {}
    for name, (_, interval) in CLOSED.items():
        try:
            found[name] = interval(t)
        except ValueError:  # one class, or separated classes
            continue
    fixed = standard_size(world.prevalence)
    if world.size > fixed:
        found["TCE@N*"] = tce_at_size(t, size=fixed, rng=rng).mean
    return found


def bootstrap(
    world: World, t: Tally, rng: np.random.Generator, *, slow: bool
) -> dict[str, Estimate]:
    """Find the bootstrap intervals, those of one method from the same resamples."""
    found: dict[str, Estimate] = {}
    listed = {n: m for n, m in bootstrapped(world).items() if slow or n != SLOW}
    for method in {method: None for _, method in listed.values()}:
        measures = {name: measure for name, (measure, how) in listed.items() if how == method}
        found |= bootstrap_intervals(t, measures, method=method, replicates=REPLICATES, rng=rng)
    return found


Held = dict[str, list[int]]  # of a measure: times the interval was below, right, above


def play(world: World, truths: Mapping[str, float], number: int) -> Held:
    """Play one round: count how often each interval lies below the true value, on it, above."""
    rng, p = (
        np.random.default_rng([number, world.size, round(1e3 * world.prevalence)]),
        population(world),
    )
    held: Held = {}
    for i in range(CLOSED_IN_ROUND + ROUND):
        t = sample(p, world.size, rng)
        if i < CLOSED_IN_ROUND:
            found = closed_forms(world, t, rng)
        else:
            found = bootstrap(world, t, rng, slow=number % 2 == 0)
        for name, one in found.items():
            if isnan(one.low):  # one positive has no variance
                continue
            # An error is never negative, so an interval that ends at 0 holds it.
            side = 1 + int(one.low - 1e-12 > truths[name]) - int(one.high + 1e-12 < truths[name])
            held.setdefault(name, [0, 0, 0])[side] += 1
    return held


def study(repetitions: int) -> None:
    """Play rounds in all worlds in turn, and keep what was counted after each."""
    worlds = [World(*world) for world in product(PREVALENCES, SLOPES, SIZES)]
    done = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    for number in range(repetitions // ROUND):
        for world in worlds:
            entry = done.setdefault(key(world), {"rounds": 0, "truths": {}, "held": {}})
            if entry["rounds"] > number:
                continue
            entry["truths"] = entry["truths"] or true_values(world)
            for name, sides in play(world, entry["truths"], number).items():
                before = entry["held"].get(name, [0, 0, 0])
                entry["held"][name] = [a + b for a, b in zip(before, sides, strict=True)]
            entry["rounds"] = number + 1
            COUNTS.write_text(one_line_each(done))
        print(f"{(number + 1) * ROUND} repetitions", flush=True)


def one_line_each(done: Mapping[str, object]) -> str:
    """Write a dictionary with one line for each world."""
    lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in done.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> None:
    """Play what is missing and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=100)
    study(parser.parse_args().repetitions)
    PAGE.write_text(page(json.loads(COUNTS.read_text())))


if __name__ == "__main__":
    main()
