"""Recompute the simulation tables of the TCE paper and compare each value with the printed one.

    python -m studies.paper_tables

Tables 2, 6 to 8 and 10 to 13 of [TCE]; the printed digits and each row's settings are in
`paper_tables.json`, and the tables are written into `docs/paper-tables.md` below its mark. Every
difference must be explained: where the monitor's value is not the printed one, the value is
computed once more with what the published program is known to do differently, and if that
does not give the printed digits either, the program fails.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import fmin_l_bfgs_b
from scipy.special import expit, stdtr

from monitor.metrics.binned.binning import Bins, pava, pava_bc, quantile_bins, uniform_bins
from monitor.metrics.binned.ece import ece, mce
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.tally import Tally, tally
from monitor.metrics.test_based.t_test import tce_t
from monitor.metrics.test_based.tce import tce

PRINTED = json.loads(Path(__file__).with_suffix(".json").read_text())["tables"]
PAGE = Path(__file__).parents[1] / "docs" / "paper-tables.md"
MARK = "<!-- `make paper-tables` writes everything below this line. -->\n"
# Bins (P: PAVA-BC, Q: quantile, V: PAVA, U: uniform) and the measure on them.
COLUMNS = {
    **dict.fromkeys(["TCE", "TCE(P)", "TCE(P)-B"], ("P", "TCE")),
    **dict.fromkeys(["TCE(Q)", "TCE(Q)-B"], ("Q", "TCE")),
    **dict.fromkeys(["TCE(V)", "TCE(V)-B"], ("V", "TCE")),
    **{f"TCE({bins})-T": (bins, "TCE by t-test") for bins in "PQV"},
    "ECE": ("U", "ECE"),
    "ACE": ("Q", "ECE"),
    "MCE": ("U", "MCE"),
    "MCE(Q)": ("Q", "MCE"),
}


@dataclass(frozen=True)
class Setting:
    """One row's simulation and bins; the defaults are those of section 4.1."""

    train: float = 0.5
    test: float = 0.5
    train_size: int = 14_000
    test_size: int = 6_000
    min_size: int = 300
    max_size: int = 1_200
    bins: int = 10
    alpha: float = 0.05


@dataclass(frozen=True)
class Cell:
    """A value as the monitor computes it and as the paper prints it.

    `notes` names what must be done differently to get the printed digits: "" if nothing, "?"
    if nothing known helps.
    """

    computed: str
    printed: str
    notes: str


def fit_logistic(x: Floats, outcomes: Ints) -> Floats:
    """Fit slope and intercept, and stop as early as scikit-learn did when the paper was written.

    Its default is a penalty of half the squared slope and L-BFGS from zero that stops when no
    derivative of the *sum* of losses exceeds 1e-4 or the sum hardly falls. Its later releases
    come closer to the optimum, which moves some of the printed digits.
    """

    def loss(line: Floats) -> tuple[float, Floats]:
        z = line[0] * x + line[1]
        excess = expit(z) - outcomes
        value = np.logaddexp(0.0, z).sum() - outcomes @ z + 0.5 * line[0] ** 2
        return float(value), np.array([excess @ x + line[0], excess.sum()])

    line, _, _ = fmin_l_bfgs_b(loss, np.zeros(2), pgtol=1e-4, maxiter=100)
    return np.asarray(line)


def fit_as_now(x: Floats, outcomes: Ints) -> Floats:
    """Fit the same model with the installed scikit-learn, which comes closer to the optimum."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(x[:, None], outcomes)
    return np.array([model.coef_[0, 0], model.intercept_[0]])


Fit = Callable[[Floats, Ints], Floats]


@cache
def draw(
    train: float, test: float, train_size: int, test_size: int, fit: Fit = fit_logistic
) -> Tally:
    """Draw both samples in the paper's order, fit the model to one and score the other."""
    stream = np.random.RandomState(0)  # numpy.random.seed(0), without touching the global state
    trained = stream.binomial(1, train, train_size)
    outcomes = stream.binomial(1, test, test_size)
    x = 2.0 * stream.standard_normal(train_size) + (trained - 0.5)
    slope, intercept = fit(x, trained)
    x = 2.0 * stream.standard_normal(test_size) + (outcomes - 0.5)
    return tally(outcomes, expit(slope * x + intercept))


def cut(sample: Tally, setting: Setting, kind: str, *, truncated: bool = False) -> Bins:
    """Make the bins of one column."""
    if kind == "P":
        sizes = {"min_size": setting.min_size, "max_size": setting.max_size}
        return pava_bc(sample, tail="reference", **sizes)
    if kind == "V":
        return pava(sample)
    if kind == "U":
        return uniform_bins(sample, setting.bins)
    return (truncated_quantile_bins if truncated else quantile_bins)(sample, setting.bins)


def truncated_quantile_bins(sample: Tally, n: int) -> Bins:
    """Cut at ``int(q N)`` with q in floating point, which can fall one short of ``i N // n``."""
    starts = np.unique((np.linspace(0.0, 1.0, n + 1) * sample.total).astype(np.int64))
    columns = (sample.counts, sample.positives, sample.counts * sample.scores)
    # The scores of a simulation are all distinct, so rows and groups have the same numbers.
    return Bins(starts, *(np.add.reduceat(column, starts[:-1]) for column in columns))


def t_test_by_variance(sample: Tally, bins: Bins, alpha: float) -> float:
    """Return the share of predictions rejected if the t-test divides by the variance instead."""
    rates = np.repeat(bins.rates, bins.counts)
    sizes = np.repeat(bins.counts, bins.counts)
    with np.errstate(divide="ignore"):
        statistics = np.abs(rates - sample.scores) / (rates * (1 - rates) / np.sqrt(sizes))
    p_values = 2 * stdtr(np.maximum(sizes - 1, 1), -statistics)
    return float(np.mean(p_values <= alpha))


def compute(
    setting: Setting, column: str, *, truncated: bool, by_variance: bool, fit: Fit = fit_logistic
) -> float:
    """Compute one value, in percent for TCE, our way or as the published program does."""
    sample = draw(setting.train, setting.test, setting.train_size, setting.test_size, fit)
    kind, measure = COLUMNS[column]
    bins = cut(sample, setting, kind, truncated=truncated)
    if by_variance:
        return 100 * t_test_by_variance(sample, bins, setting.alpha)
    values = {
        "TCE": lambda: 100 * tce(sample, bins, alpha=setting.alpha).value,
        "TCE by t-test": lambda: 100 * tce_t(sample, bins, alpha=setting.alpha).value,
        "ECE": lambda: ece(bins),
        "MCE": lambda: mce(bins).value,
    }
    return values[measure]()


def compare(setting: Setting, column: str, printed: str) -> Cell:
    """Compute one value to the printed digits, and find out why it differs if it does."""
    kind, measure = COLUMNS[column]
    ways = product([False, True] if "t-test" in measure else [False],
                   [False, True] if kind == "Q" else [False])  # fmt: skip
    computed = ""
    for by_variance, truncated in ways:
        value = compute(setting, column, truncated=truncated, by_variance=by_variance)
        text = rounded(value, printed)
        computed = computed or text
        if text == printed:
            return Cell(computed, printed, "a" * truncated + "b" * by_variance)
    return Cell(computed, printed, "?")


def rounded(value: float, printed: str) -> str:
    """Print a value with as many decimals as the paper does."""
    return f"{value:.{len(printed.partition('.')[2])}f}"


def would_differ(columns: list[str], row: dict[str, Any], cells: list[Cell]) -> int:
    """Count the values that would lose the printed digits if the fit had not stopped early."""
    setting = Setting(**row["setting"])
    values = [
        compute(
            setting, column, truncated="a" in cell.notes, by_variance="b" in cell.notes,
            fit=fit_as_now,
        )
        for column, cell in zip(columns, cells, strict=True)
    ]  # fmt: skip
    printed = (cell.printed for cell in cells)
    return sum(rounded(value, p) != p for value, p in zip(values, printed, strict=True))


def compare_row(columns: list[str], row: dict[str, Any]) -> list[Cell]:
    """Compare the cells of one row of a table."""
    setting = Setting(**row["setting"])
    pairs = zip(columns, row["printed"], strict=True)
    return [compare(setting, column, printed) for column, printed in pairs]


def write_table(number: str, rows: list[list[Cell]]) -> str:
    """Write one table in Markdown."""
    table = PRINTED[number]
    heads = " | ".join(table["labels"] + table["columns"])
    rule = "---|" * len(table["labels"]) + "--:|" * len(table["columns"])
    lines = [f"### Table {number}: {table['title']}", "", f"| {heads} |", f"|{rule}"]
    pairs = zip(table["rows"], rows, strict=True)
    return "\n".join([*lines, *(write_row(row["label"], cells) for row, cells in pairs)])


def write_row(labels: list[str], cells: list[Cell]) -> str:
    """Write one row in Markdown."""
    return f"| {' | '.join([*labels, *map(write_cell, cells)])} |"


def write_cell(cell: Cell) -> str:
    """Write computed / printed, in bold and with a note where they differ."""
    text = f"{cell.computed} / {cell.printed}"
    return f"**{text}** ({', '.join(cell.notes)})" if cell.notes else text


def summarise(cells: list[Cell]) -> str:
    """Count the values that agree with the printed ones, and those that differ by reason."""
    counts = Counter(cell.notes for cell in cells)
    return (
        f"Of {len(cells)} values {counts['']} are as printed; {counts['a']} differ by (a), "
        f"{counts['b']} by (b), {counts['ab']} by both, and {counts['?']} are unexplained (?)."
    )


def main() -> int:
    """Write the page; fail if a difference is not explained."""
    tables = {
        number: [compare_row(table["columns"], row) for row in table["rows"]]
        for number, table in PRINTED.items()
    }
    cells = [cell for rows in tables.values() for row in rows for cell in row]
    later = sum(
        would_differ(table["columns"], row, found)
        for number, table in PRINTED.items()
        for row, found in zip(table["rows"], tables[number], strict=True)
    )
    fitted = (
        f"Fitted by scikit-learn {version('scikit-learn')} instead, with all else the same, "
        f"{later} of them would not have the printed digits."
    )
    parts = [summarise(cells), fitted, *(write_table(*item) for item in tables.items())]
    text, _, _ = PAGE.read_text().partition(MARK)
    PAGE.write_text(text + MARK + "\n" + "\n\n".join(parts) + "\n")
    print(f"{PAGE.name}: {parts[0]} {fitted}")
    return int(any(cell.notes == "?" for cell in cells))


if __name__ == "__main__":
    sys.exit(main())
