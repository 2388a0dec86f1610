"""The page about the measures: its examples run, and its tables are computed anew.

`python tests/metrics/test_metrics_page.py` prints the table of worlds for the page.
"""

import ast
import doctest
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from monitor.metrics.binning import (
    Bins,
    monitor_sizes,
    paper_sizes,
    pava_bc,
    quantile_bins,
    uniform_bins,
)
from monitor.metrics.brier import brier, rbs
from monitor.metrics.corp import corp
from monitor.metrics.cox import fit_cox, slope_z
from monitor.metrics.cumulative import CumulativeDifferences, cumulative_differences
from monitor.metrics.discrimination import auc, tjur_r2
from monitor.metrics.ece import ace, debiased_mean_squared_gap, ece, mce, root_mean_squared_gap
from monitor.metrics.hosmer_lemeshow import hosmer_lemeshow
from monitor.metrics.intercept import fit_intercept
from monitor.metrics.log_score import log_score
from monitor.metrics.skce import skce
from monitor.metrics.smooth_ece import smooth_ece
from monitor.metrics.spiegelhalter import spiegelhalter
from monitor.metrics.tally import Tally, shift, tally_on_grid
from monitor.metrics.tce import tce
from monitor.metrics.tce_at_size import standard_size, tce_at_size
from monitor.metrics.tce_t import tce_t

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
MEASURES = Path(__file__).parents[2] / "monitor" / "metrics"
DAYS = 40
ROWS = 20_000
USUAL, RARE = -1.5, -6.0  # centres of the scores' logits: 23 % and 0.5 % positive


def scores(rng: np.random.Generator, size: int, centre: float = USUAL) -> np.ndarray:
    """Draw scores whose logits are normal."""
    return np.asarray(expit(rng.normal(centre, 1.2, size)))


def calibrated(rng: np.random.Generator, size: int = ROWS, centre: float = USUAL) -> Tally:
    """Let every score be the probability of its outcome."""
    s = scores(rng, size, centre)
    return tally_on_grid(s, rng.random(size) < s)


def prior_shift(rng: np.random.Generator) -> Tally:
    """Double the odds of a positive outcome, with P(score | outcome) as it was."""
    s = scores(rng, 3 * ROWS)
    y = rng.random(s.size) < s
    kept = np.flatnonzero(y | (rng.random(s.size) < 0.5))[:ROWS]  # all positives, half the others
    return tally_on_grid(s[kept], y[kept])


def slope_drift(rng: np.random.Generator) -> Tally:
    """Make scores too extreme: true logits are 0.8 times as far from their centre."""
    s = scores(rng, ROWS)
    true = 0.8 * np.log(s / (1.0 - s)) - 0.197  # which leaves the prevalence as it was
    return tally_on_grid(s, rng.random(s.size) < expit(true))


WORLDS: dict[str, Callable[[np.random.Generator], Tally]] = {
    "calibrated": calibrated,
    "prior odds doubled": prior_shift,
    "slope 0.8": slope_drift,
    "10 x volume": lambda rng: calibrated(rng, 10 * ROWS),
    "rare, 10 x volume": lambda rng: calibrated(rng, 10 * ROWS, RARE),
}


def paper_bins(t: Tally) -> Bins:
    """Cut PAVA-BC bins of the paper's sizes."""
    smallest, largest = paper_sizes(t.total)
    return pava_bc(t, min_size=smallest, max_size=largest)


def our_bins(t: Tally) -> Bins:
    """Cut PAVA-BC bins of the monitor's sizes."""
    smallest, largest = monitor_sizes(t.total)
    return pava_bc(t, min_size=smallest, max_size=largest)


def headline(t: Tally, *, adjusted: bool) -> float:
    """Take TCE@N*, of the model's own size, before or after forgiving the prior."""
    size = standard_size(0.005 if t.prevalence < 0.05 else 0.23)
    moved = shift(t, fit_intercept(t).delta) if adjusted else t
    return tce_at_size(moved, size=size, rng=np.random.default_rng(1)).value


def in_deviations(t: Tally) -> float:
    """Take the SKCE in units of its deviation under calibration."""
    found = skce(t)
    return found.value / found.deviation


def after_intercept(t: Tally) -> CumulativeDifferences:
    """Take the cumulative differences of prior-adjusted scores, against their own null."""
    moved = shift(t, fit_intercept(t).delta)
    return cumulative_differences(moved, null="intercept_fitted")


HEAD = f"| mean over {DAYS} days | " + " | ".join(WORLDS) + " |"

# Each row of the table: its name, the measure, and the decimals that are printed.
TABLE: dict[str, tuple[Callable[[Tally], float], int]] = {
    "TCE, paper's bins": (lambda t: tce(t, paper_bins(t)).value, 2),
    "TCE, monitor's bins": (lambda t: tce(t, our_bins(t)).value, 2),
    "TCE, t-test, paper's bins": (lambda t: tce_t(t, paper_bins(t)).value, 2),
    "**TCE@N\\***, raw": (lambda t: headline(t, adjusted=False), 2),
    "**TCE@N\\***, prior-adjusted": (lambda t: headline(t, adjusted=True), 2),
    "ECE, monitor's PAVA-BC bins": (lambda t: ece(our_bins(t)), 4),
    "ECE, 15 uniform bins": (lambda t: ece(uniform_bins(t, 15)), 4),
    "ACE, 10 quantile bins": (lambda t: ace(t, 10), 4),
    "MCE, 15 uniform bins": (lambda t: mce(uniform_bins(t, 15)).value, 3),
    "L2 error, 15 quantile bins": (lambda t: root_mean_squared_gap(quantile_bins(t, 15)), 4),
    "squared, debiased, in 1e-4": (
        lambda t: 1e4 * debiased_mean_squared_gap(quantile_bins(t, 15)),
        2,
    ),
    "smooth ECE": (smooth_ece, 4),
    "SKCE, in deviations": (in_deviations, 1),
    "KS": (lambda t: cumulative_differences(t).ks, 4),
    "KS, log10 p": (lambda t: cumulative_differences(t).ks_log10_p, 1),
    "Kuiper, log10 p": (lambda t: cumulative_differences(t).kuiper_log10_p, 1),
    "KS after the intercept, log10 p": (lambda t: after_intercept(t).ks_log10_p, 1),
    "Hosmer-Lemeshow, log10 p": (lambda t: hosmer_lemeshow(quantile_bins(t, 10)).log10_p, 1),
    "Spiegelhalter's z": (lambda t: spiegelhalter(t).z, 1),
    "intercept": (lambda t: fit_intercept(t).delta, 3),
    "Cox slope": (lambda t: fit_cox(t).slope, 3),
    "slope z": (slope_z, 1),
    "Brier score": (brier, 4),
    "RBS": (rbs, 4),
    "log score": (log_score, 4),
    "CORP miscalibration, Brier, in 1e-4": (lambda t: 1e4 * corp(t).miscalibration, 2),
    "CORP discrimination, Brier": (lambda t: corp(t).discrimination, 4),
    "AUC": (lambda t: auc(t).value, 3),
    "Tjur's R²": (tjur_r2, 3),
}


# Explained in full where they are, but parts of what the page names.
PARTS = {
    "cumulative.log10_tail_of_maximum", "cumulative.log10_tail_of_range",
    "draws.resample", "draws.subsample", "grid.locate", "grid.representative_scores",
    "hosmer_lemeshow.log10_chi_squared_tail",
    "log_score.surprises", "samples.checked", "samples.unchecked", "skce.mean_distance",
    "spiegelhalter.two_sided_log10_p",
}  # fmt: skip


def functions_explained() -> list[str]:
    """Name the public functions, as `file.function`, whose docstring says what they return."""
    return [
        f"{path.stem}.{node.name}"
        for path in sorted(MEASURES.glob("*.py"))
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and not node.decorator_list
        and any(word in (ast.get_docstring(node) or "") for word in ("Returns", "Notes"))
    ]


@cache
def tallies() -> dict[str, list[Tally]]:
    """Draw the days of every world."""
    return {
        name: [make(np.random.default_rng([7, day])) for day in range(DAYS)]
        for name, make in WORLDS.items()
    }


def row(name: str) -> list[str]:
    """Compute a row of the table: means over the days of every world, as printed."""
    measure, decimals = TABLE[name]
    means = [np.mean([measure(t) for t in days]) for days in tallies().values()]
    # Adding 0.0 makes -0.0 a plain 0.
    return [f"{round(mean, decimals) + 0.0:.{decimals}f}" for mean in means]


def printed_rows() -> dict[str, list[str]]:
    """Read the table of worlds from the page."""
    lines = PAGE.read_text().splitlines()
    head = lines.index(HEAD)
    cells = {}
    for line in lines[head + 2 :]:
        if not line.startswith("|"):
            break
        name, *values = (cell.strip() for cell in line.strip("|").split("|"))
        cells[name] = values
    return cells


def test_examples_run() -> None:
    """Every example of the page prints what the page says."""
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)

    assert tried > 10
    assert failed == 0


@pytest.mark.parametrize("name", TABLE)
def test_table_is_what_is_computed(name: str) -> None:
    """Each row of the table is computed anew to its printed digits, give or take the last one."""
    printed = printed_rows()[name]

    # The last digit may go either way where a mean lies between two.
    step = 10.0 ** -TABLE[name][1]
    assert [float(cell) for cell in printed] == pytest.approx(
        [float(cell) for cell in row(name)], abs=1.01 * step
    )


def test_table_has_no_other_row() -> None:
    """The table has the rows that are computed, in their order."""
    assert list(printed_rows()) == list(TABLE)


def test_every_function_is_on_the_page() -> None:
    """Every function that a docstring explains in full is named on the page with its file."""
    text = PAGE.read_text()
    names = [name for name in functions_explained() if name not in PARTS]

    assert len(names) > 60
    missing = [name for name in names if f"`{name}`" not in text]
    assert not missing, f"say in docs/metrics.md when to use {missing}"


def test_no_function_is_excused_in_vain() -> None:
    """What is left out of the page exists, and is not on it."""
    text = PAGE.read_text()

    assert set(functions_explained()) >= PARTS
    assert not [name for name in PARTS if f"`{name}`" in text]


def test_links_of_the_page_lead_somewhere() -> None:
    """Files that the page points at exist."""
    for target in re.findall(r"\]\(([^)#:]+)\)", PAGE.read_text()):
        assert (PAGE.parent / target).exists(), target


if __name__ == "__main__":
    print(HEAD)  # noqa: T201
    print("|---|" + "---:|" * len(WORLDS))  # noqa: T201
    for measure_name in TABLE:
        print(f"| {measure_name} | " + " | ".join(row(measure_name)) + " |")  # noqa: T201
