"""Our side of `metrics.py`: our measures, run on demand.

    python -m bench.metrics_worker rows FOLDER [--whole-loop]
    python -m bench.metrics_worker stored TOTAL

As `peers_worker.py` does, it prints which jobs it has, then runs the one named on each line of
its input and prints the CPU time.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from bench import metrics_classes as classes
from bench.peers_worker import BINS, CONTROL, POOLING, QUANTILES, Job, control, load, serve

LOOP_SIZE, LOOP_SAMPLE = 50_000, 400
REPLICATES = 100  # as many as the monitor uses


def our_measures() -> dict[str, Callable]:
    """Name the functions of a tally, with the peers' names for the same measures."""
    from monitor import metrics as m
    from monitor.metrics import (
        monitor_sizes,
        paper_sizes,
        pava,
        pava_bc,
        quantile_bins,
        tce,
        uniform_bins,
    )

    def pava_bins(t, sizes):  # noqa: ANN001, ANN202
        smallest, largest = sizes(t.total)
        return pava_bc(t, min_size=smallest, max_size=largest)

    return {
        "TCE, monitor's PAVA-BC bins": lambda t: tce(t, pava_bins(t, monitor_sizes)),
        "TCE, paper's PAVA-BC bins": lambda t: tce(t, pava_bins(t, paper_sizes)),
        "TCE(Q), 10 quantile bins": lambda t: tce(t, quantile_bins(t, QUANTILES)),
        "TCE(V), PAVA bins": lambda t: tce(t, pava(t)),
        "TCE, 15 uniform bins": lambda t: tce(t, uniform_bins(t, BINS)),
        "TCE, t-test": lambda t: m.tce_t(t, pava_bins(t, paper_sizes)),
        "ECE, PAVA-BC bins": lambda t: m.ece(pava_bins(t, monitor_sizes)),
        "ECE, 15 uniform bins": lambda t: m.ece(uniform_bins(t, BINS)),
        "ACE, 10 quantile bins": lambda t: m.ace(t, QUANTILES),
        "MCE, 15 uniform bins": lambda t: m.mce(uniform_bins(t, BINS)),
        "MCE(Q), 10 quantile bins": lambda t: m.mce(quantile_bins(t, QUANTILES)),
        "L2, 15 uniform bins": lambda t: m.root_mean_squared_gap(uniform_bins(t, BINS)),
        "L2, 15 quantile bins": lambda t: m.root_mean_squared_gap(quantile_bins(t, BINS)),
        "L2 debiased, 15 uniform bins": lambda t: m.debiased_root_mean_squared_gap(
            uniform_bins(t, BINS)
        ),
        "L2 debiased, 15 quantile bins": lambda t: m.debiased_root_mean_squared_gap(
            quantile_bins(t, BINS)
        ),
        "squared and debiased, signed": lambda t: m.debiased_mean_squared_gap(
            quantile_bins(t, BINS)
        ),
        "estimation errors": lambda t: m.estimation_error(pava_bins(t, monitor_sizes)),
        "Hosmer-Lemeshow, 10 bins": lambda t: m.hosmer_lemeshow(quantile_bins(t, QUANTILES)),
        "Brier": m.brier,
        "log score": m.log_score,
        "CORP, Brier": m.corp,
        "CORP, log": lambda t: m.corp(t, rule="log"),
        "bounds": m.calibration_bounds,
        "improvement": lambda t: m.improvement(t, t.scores**0.9),
        "improvement, log": lambda t: m.improvement(t, t.scores**0.9, rule="log"),
        "intercept": m.fit_intercept,
        "slope test": m.slope_z,
        "Cox line": m.fit_cox,
        "Spiegelhalter's z": m.spiegelhalter,
        "AUC": m.auc,
        "Tjur's R2": m.tjur_r2,
        "KS and Kuiper": m.cumulative_differences,
        "SKCE": m.skce,
        "smooth ECE": m.smooth_ece,
        "smooth ECE, one bandwidth": lambda t: m.smooth_ece_at(t, bandwidth=0.05),
        "intervals in closed form": closed_intervals,
    }


def closed_intervals(t) -> list:  # noqa: ANN001
    """Find every interval that has a closed form, fits included."""
    from monitor import metrics as m

    of_scores = (
        *(m.prevalence_interval, m.mean_score_interval, m.brier_interval, m.rbs_interval),
        *(m.log_score_interval, m.uncertainty_interval, m.auc_interval, m.tjur_interval),
    )
    level, line = m.fit_intercept(t), m.fit_cox(t)
    return [
        *(find(t) for find in of_scores),
        m.normal_interval(level.delta, level.standard_error),
        m.normal_interval(line.intercept, line.intercept_standard_error),
        m.normal_interval(line.slope, line.slope_standard_error),
    ]


def our_measures_of_rows() -> dict[str, Callable]:
    """Name the functions of a pair of arrays; for the other measures a tally is made."""
    from monitor import metrics as m

    def over_uniform_bins(measure: Callable) -> Callable:
        return lambda rows: measure(m.uniform_bins(rows, BINS))

    def over_quantile_bins(measure: Callable, n: int = QUANTILES) -> Callable:
        return lambda rows: measure(m.quantile_bins(rows, n))

    return {
        "TCE, monitor's PAVA-BC bins": lambda rows: m.tce(rows, sizes=m.monitor_sizes),
        "TCE, paper's PAVA-BC bins": m.tce,
        "ECE, 15 uniform bins": over_uniform_bins(m.ece),
        "ACE, 10 quantile bins": lambda rows: m.ace(rows, QUANTILES),
        "MCE, 15 uniform bins": over_uniform_bins(m.mce),
        "MCE(Q), 10 quantile bins": over_quantile_bins(m.mce),
        "L2, 15 uniform bins": over_uniform_bins(m.root_mean_squared_gap),
        "L2, 15 quantile bins": over_quantile_bins(m.root_mean_squared_gap, BINS),
        "L2 debiased, 15 quantile bins": over_quantile_bins(m.debiased_root_mean_squared_gap, BINS),
        "L2 debiased, 15 uniform bins": over_uniform_bins(m.debiased_root_mean_squared_gap),
        "Hosmer-Lemeshow, 10 bins": over_quantile_bins(m.hosmer_lemeshow),
        "Brier": m.brier,
        "log score": m.log_score,
        "Spiegelhalter's z": m.spiegelhalter,
    }


def serve_rows(folder: Path, *, whole_loop: bool) -> None:
    """Serve our measures from rows and from their tally, the sorts, and the published loop."""
    from monitor.metrics import paper_sizes, pava, pava_bc, tally
    from monitor.metrics.binned.pooling import pool_rows
    from monitor.metrics.core.sorted_rows import sort_rows

    s, y = load(folder)
    t = tally(y, s)
    smallest, largest = paper_sizes(t.total)
    whole = whole_loop and s.size == LOOP_SIZE
    share = 1.0 if whole else min(1.0, LOOP_SAMPLE / s.size)
    tests = list(sampled_tests(t, pava_bc(t, min_size=smallest, max_size=largest), share))
    test_one_by_one(tests[:1])  # imports SciPy before timing
    jobs: dict[str, Job] = {
        CONTROL: control,
        "np.sort": lambda: np.sort(s),
        "argsort": lambda: np.argsort(s, kind="stable"),
        "tally": lambda: tally(y, s),
        "loop": lambda: test_one_by_one(tests),
    }
    without_tally = our_measures_of_rows()
    for measure in without_tally.values():
        measure((y[:100], s[:100]))  # compiles before timing
    for name, measure in our_measures().items():
        of_rows = without_tally.get(name, lambda rows, measure=measure: measure(tally(*rows)))
        jobs[f"{name}|rows"] = lambda of_rows=of_rows: of_rows((y, s))
        jobs[f"{name}|tally"] = lambda measure=measure: measure(t)
        jobs[f"{name}|tally"]()
    sorted_rows = sort_rows(y, s)
    pool_rows(sorted_rows[:100], 1, 100)  # compiles before timing
    jobs[f"{POOLING}|rows"] = lambda: pool_rows(sorted_rows, 1, s.size)
    jobs[f"{POOLING}|tally"] = lambda: pava(t)
    jobs[f"{POOLING}|tally"]()
    many = classes.our_jobs(*classes.load_classes(folder))
    for job in many.values():
        job()
    jobs |= many
    serve(jobs, {"tested": str(len(tests)), "whole": str(whole)})


def sampled_tests(t, bins, share: float) -> Iterator[tuple[int, int, float]]:  # noqa: ANN001
    """Yield successes, trials and probability for the tests of a share of each bin."""
    rng = np.random.default_rng(1)
    for b in range(bins.counts.size):
        members = t.scores[bins.starts[b] : bins.starts[b + 1]]
        some = rng.choice(members, max(1, round(share * members.size)), replace=False)
        yield from ((int(bins.positives[b]), int(bins.counts[b]), float(q)) for q in some)


def test_one_by_one(tests: list[tuple[int, int, float]]) -> int:
    """Run [TCE, Algorithm 1] literally."""
    from scipy.stats import binomtest

    return sum(binomtest(k, n, q).pvalue <= 0.05 for k, n, q in tests)


def serve_stored(total: int) -> None:
    """Serve our measures of a tally with a group in each of the 16,384 cells."""
    from monitor.metrics import monitor_sizes, standard_size, tce_at_size, tce_null_reference
    from monitor.metrics.core.grid import CELL_COUNT, CELLS_PER_LOGIT, LOGIT_LIMIT, OFFSETS_PER_CELL
    from monitor.metrics.core.tally import Cells, from_cells

    rng = np.random.default_rng(20_260_301)
    cells = np.arange(CELL_COUNT)
    logits = (cells + 0.5) / CELLS_PER_LOGIT - LOGIT_LIMIT
    density = np.exp(-0.5 * ((logits + 1.5) / 1.2) ** 2)
    counts = np.maximum(1, np.round(total * density / density.sum())).astype(np.int64)
    positives = rng.binomial(counts, 1.0 / (1.0 + np.exp(-0.9 * logits - 0.1)))
    t = from_cells(Cells(cells, counts * (OFFSETS_PER_CELL // 2)), counts, positives)

    measures = our_measures()
    smallest, largest = monitor_sizes(t.total)
    size = standard_size(t.prevalence)
    jobs: dict[str, Job] = {CONTROL: control}
    jobs |= {name: lambda measure=measure: measure(t) for name, measure in measures.items()}
    jobs["all together"] = lambda: [measure(t) for measure in measures.values()]
    jobs["null replicate"] = lambda: tce_null_reference(
        t, min_size=smallest, max_size=largest, replicates=REPLICATES, rng=rng
    )
    jobs["TCE@N*, 20 subsamples"] = lambda: tce_at_size(t, size=size, rng=rng)
    for job in jobs.values():
        job()
    serve(jobs, {"N*": str(size)})


def main() -> None:
    """Serve the measures of rows, or those of a stored tally."""
    kind, what, *options = sys.argv[1:]
    if kind == "rows":
        serve_rows(Path(what), whole_loop="--whole-loop" in options)
    else:
        serve_stored(int(what))


if __name__ == "__main__":
    main()
