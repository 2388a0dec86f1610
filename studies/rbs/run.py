"""What the RBS paper claims, simulated: flat in the sample size, exact improvement, inequalities.

    python -m studies.rbs.run

writes the tables of docs/rbs-properties.md below its mark, and docs/rbs-properties.svg, in about
a minute. Seeds are fixed, so the result is always the same. The paper is Gruber and
Buettner, NeurIPS 2022.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from studies.rbs import inequalities as rbs_inequalities
from studies.rbs import picture as rbs_picture
from studies.rbs.samples import (
    CURVES,
    ESTIMATORS,
    IMPROVEMENTS,
    SIZES,
    SLOPE,
    TEMPERATURE,
    Means,
    average,
    infinite_sample,
    not_injective,
    population,
    true_improvements,
)

SHOWN = (100, 1_000, 10_000, 100_000)  # in the tables
DRAWS, GAIN_DRAWS, WORLDS = 10_000, 20_000, 3_000
DOCS = Path(__file__).parents[2] / "docs"
MARK = "<!-- `python -m studies.rbs.run` writes everything below this line. -->\n"


def cell(value: float, error: float) -> str:
    """Print a mean with its Monte-Carlo error to two digits of that error."""
    decimals = max(1, 1 - int(np.floor(np.log10(error))))
    return f"{round(value, decimals) + 0.0:.{decimals}f} ± {error:.{decimals}f}"


def table(found: Means, heads: tuple[str, str], last: Callable[[str], list[str]]) -> list[str]:
    """Lay out means by size, and two columns that they are compared with."""
    names = ["mean over samples of", *(f"{size:,}" for size in SHOWN), *heads]
    lines = ["| " + " | ".join(names) + " |", "|---|" + "---:|" * (len(names) - 1)]
    for name, by_size in found.items():
        cells = [*(cell(*by_size[size]) for size in SHOWN), *last(name)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def level_table(found: Means, world: str) -> list[str]:
    """Show levels, those of an infinite sample, and how far they fall."""
    rows = infinite_sample(population(CURVES[world]))

    def last(name: str) -> list[str]:
        limit = f"{round(ESTIMATORS[name](rows), 5) + 0.0:.5f}"  # no -0
        fall = found[name][SIZES[0]][0] / found[name][SIZES[-1]][0]
        return [limit, "-" if "signed" in name else f"{fall:.3f}"]

    return table(found, ("infinite sample", "at 100 / at 100,000"), last)


def gain_table(found: Means) -> list[str]:
    """Show improvements, the true ones, and the worst difference in Monte-Carlo errors."""
    true = true_improvements(population(SLOPE))

    def last(name: str) -> list[str]:
        off = [(mean - true[name]) / error for mean, error in found[name].values()]
        return [f"{true[name]:.5f}", f"{max(off, key=abs):+.1f}"]

    return table(found, ("true", "worst (mean - true) / error"), last)


def page(levels: dict[str, Means], gains: Means, sides: list[str]) -> str:
    """Write the part of the page below its mark."""
    true, brier_gain = not_injective(population(SLOPE))
    lines = ["## Levels by sample size"]
    for world, found in levels.items():
        lines += ["", f"### {world.capitalize()}", "", *level_table(found, world)]
    lines += ["", f"## Improvement by a temperature of {TEMPERATURE}", "", *gain_table(gains), ""]
    lines += ["Sending every score to the prevalence is not injective. It lowers the squared"]
    lines += [f"error by {true:.5f}, but changes the Brier score by {-brier_gain:+.5f}.", ""]
    lines += [f"## Inequalities on {WORLDS:,} random worlds", "", *sides]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Simulate, write the tables and draw the picture."""
    levels = {
        world: average(population(slope), ESTIMATORS, DRAWS, seed)
        for seed, (world, slope) in enumerate(CURVES.items())
    }
    gains = average(population(SLOPE), IMPROVEMENTS, GAIN_DRAWS, 45)
    sides = rbs_inequalities.both_sides(WORLDS)
    target = DOCS / "rbs-properties.md"
    text, _, _ = target.read_text().partition(MARK)
    tables = page(levels, gains, rbs_inequalities.table(sides))
    target.write_text(text + MARK + "\n" + tables)
    rbs_picture.draw(levels, gains, true_improvements(population(SLOPE)), sides, DOCS)


if __name__ == "__main__":
    main()
