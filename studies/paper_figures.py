"""Redraw the figures of the TCE paper from our own numbers, into `docs/figures`.

    python -m studies.paper_figures

Figures 1 to 6 of [TCE]; the page is `docs/paper-tables.md`. Figure 1 shows the simulation of its
Table 2 (trained at a prevalence of 50 %, tested at 40 %), Figure 4 that of 1 %. The other figures
of the paper show models of data that we may not pass on, so here they show models of flights: 70 %
of those of January and February 2013 train them, the others test them. Takes a minute.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from monitor.demo.flights import read_flights
from monitor.metrics.binned.binning import Bins, quantile_bins, uniform_bins
from monitor.metrics.binned.ece import ece
from monitor.metrics.core.tally import Tally, tally
from monitor.report.diagrams import LIGHT, draw_bins, draw_test_based, svg
from monitor.report.diagrams.canvas import divide, dress, head, make_axes, short_count
from monitor.report.diagrams.scales import show_probabilities
from studies.paper_tables import draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FOLDER = Path(__file__).parents[1] / "docs" / "figures"
BINS, TRAINED_ON = 10, 0.7
CATEGORIES, NUMBERS = ["carrier", "origin", "dest"], ["hour", "distance", "weekday", "month"]


def draw_standard(t: Tally, cut: Bins, name: str) -> "Axes":
    """Draw the standard reliability diagram: mean score and observed share of every bin."""
    main, sizes = (row[0] for row in divide(make_axes(None, LIGHT, height=4.6), heights=(3.2, 1)))
    dress(main, LIGHT)
    dress(sizes, LIGHT, grid=None)
    for which in ("x", "y"):
        show_probabilities(main, which, (0.0, 1.0), "probability")  # type: ignore[arg-type]
    show_probabilities(sizes, "x", (0.0, 1.0), "probability")
    main.plot([0, 1], [0, 1], color=LIGHT.muted, lw=1, ls="--", label="calibrated")
    means = cut.mean_scores
    main.vlines(means, means, cut.rates, color=LIGHT.alarm, lw=2, label="gap")
    main.plot(means, cut.rates, "o", color=LIGHT.ink, ms=4, label="observed share")
    main.set_ylabel("probability")
    main.tick_params(labelbottom=False)
    sizes.bar(means, cut.counts, width=0.02, color=LIGHT.bars)
    sizes.set(xlabel="mean score of the bin", ylabel="predictions")
    sizes.yaxis.set_major_formatter(short_count)
    sizes.locator_params(axis="y", nbins=3)
    below = f"{t.total:,} predictions, {t.total_positives:,} positive, bins: {cut.counts.size}"
    head(main, LIGHT, f"{name} {ece(cut):.4f}: mean gap of the bins", below, columns=3)
    return main


def flights() -> tuple[Any, Any]:
    """Read the flights of two months that arrived: features, and whether they were late."""
    import pandas as pd

    table = read_flights()
    table = table[(table["month"] <= 2) & table["arr_delay"].notna()]
    columns = pd.get_dummies(table[CATEGORIES + NUMBERS])
    return columns.to_numpy(float), table["late"].to_numpy(int)


def models() -> dict[str, Tally]:
    """Train three of the paper's models, with its settings, and score the other flights."""
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    features, late = flights()
    order = np.random.default_rng(0).permutation(late.size)
    trained, tested = np.split(order, [int(TRAINED_ON * late.size)])
    kinds = {
        "lr": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "gb": GradientBoostingClassifier(random_state=0),
        "rf": RandomForestClassifier(max_depth=10, random_state=0, n_jobs=2),
    }
    return {
        name: tally(
            late[tested],
            model.fit(features[trained], late[trained]).predict_proba(features[tested])[:, 1],
        )
        for name, model in kinds.items()
    }


def main() -> None:
    """Draw all figures."""
    FOLDER.mkdir(exist_ok=True)
    simulated, rare = draw(0.5, 0.4, 14_000, 6_000), draw(0.01, 0.01, 14_000, 6_000)
    fitted = models()
    pictures = {
        "tce-1-test-based": draw_test_based(simulated),
        "tce-1-standard": draw_standard(simulated, uniform_bins(simulated, BINS), "ECE"),
        "tce-2-bins": draw_bins(fitted["rf"]),
        "tce-4-rare-bins": draw_bins(rare, scale="logit"),
    }
    for number, name in (("5", "lr"), ("6", "gb")):
        t = fitted[name]
        pictures |= {
            f"tce-{number}-{name}-tce": draw_test_based(t),
            f"tce-{number}-{name}-ece": draw_standard(t, uniform_bins(t, BINS), "ECE"),
            f"tce-{number}-{name}-ace": draw_standard(t, quantile_bins(t, BINS), "ACE"),
        }
    for name, axes in pictures.items():
        path = FOLDER / f"{name}.svg"
        path.write_text(svg(axes, title=axes.get_title(loc="left")))
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB, {axes.get_title(loc='left')}")


if __name__ == "__main__":
    main()
