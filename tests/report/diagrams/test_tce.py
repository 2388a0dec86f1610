"""The test-based reliability diagram draws what TCE counted."""

from typing import Any

import numpy as np
import pytest

from monitor.metrics import paper_sizes, pava_bc, quantile_bins, tally, tce
from monitor.metrics.core.tally import Tally
from monitor.report.diagrams import DARK, draw_test_based, svg
from monitor.report.diagrams.scales import Scale
from monitor.report.diagrams.violin import violin


def sample(size: int, seed: int = 1) -> Tally:
    """Draw scores, and outcomes with a steeper curve."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1.5, 1.0, size)
    return tally(rng.random(size) < 1 / (1 + np.exp(-1.4 * logits)), 1 / (1 + np.exp(-logits)))


def panels(axes: Any) -> tuple[Any, Any, Any]:
    """Find the three panels: main, sizes of bins, histogram."""
    main, side, sizes = axes.figure.axes
    return main, sizes, side


def heights(axes: Any) -> list[list[float]]:
    """Read the bars of a panel, by the call that drew them."""
    return [[bar.get_height() for bar in drawn] for drawn in axes.containers]


def test_bars_are_bins_and_what_they_reject() -> None:
    """The lower panel has the size of every bin and the number of its rejected predictions."""
    t = sample(4_000)
    smallest, largest = paper_sizes(t.total)
    bins = pava_bc(t, min_size=smallest, max_size=largest)

    main, sizes, _ = panels(draw_test_based(t))

    assert heights(sizes) == [bins.counts.tolist(), tce(t, bins).rejected.tolist()]
    assert f"TCE {100 * tce(t, bins).value:.3g} %" in main.get_title(loc="left")


def test_lines_are_observed_shares_and_boxes_are_accepted() -> None:
    """The main panel has a line at every bin's share, and its accepted intervals around it."""
    t = sample(4_000)
    bins = quantile_bins(t, 8)
    found = tce(t, bins, alpha=0.01)

    main, _, _ = panels(draw_test_based(t, bins=bins, alpha=0.01))

    lines, boxes, *_ = main.collections
    drawn = [segment[0, 1] for segment in lines.get_segments()]
    assert drawn == pytest.approx(bins.rates.tolist(), abs=1e-12)  # not through log-odds
    edges = [path.vertices[[0, 2], 1] for path in boxes.get_paths()]
    assert np.stack(edges) == pytest.approx(np.concatenate(found.accepted), abs=1e-12)


def test_histogram_holds_all_predictions() -> None:
    """The right panel counts every prediction once."""
    t = sample(3_000)

    for scale in ("probability", "logit"):
        _, _, side = panels(draw_test_based(t, scale=scale))
        assert sum(bar.get_width() for bar in side.containers[0]) == t.total


@pytest.mark.parametrize("scale", ["probability", "logit"])
def test_violin_is_cut_where_the_outcomes_reject(scale: Scale) -> None:
    """Neighbouring shapes meet at an end of the accepted interval, and none crosses one."""
    scores = np.linspace(0.1, 0.5, 401)
    counts, accepted = np.ones(401, np.int64), np.array([[0.2, 0.3]])

    shapes = violin(1.0, scores, counts, accepted, width=0.4, ends=(0.01, 0.99), scale=scale)

    assert [shape.accepted for shape in shapes] == [False, True, False]
    spans = [(s.outline[:, 1].min(), s.outline[:, 1].max()) for s in shapes]
    # Through log-odds and back: 1e-12 is far above the rounding of both.
    assert spans == [
        pytest.approx(span, abs=1e-12) for span in [(0.1, 0.2), (0.2, 0.3), (0.3, 0.5)]
    ]


@pytest.mark.parametrize("scale", ["probability", "logit"])
@pytest.mark.parametrize(
    "t",
    [
        tally([], []),
        tally([0], [0.0]),
        tally([1] * 30, [1.0] * 30),
        tally([1] * 20 + [0] * 30, [0.3] * 50),
        tally([1, 0], [0.2, 0.9]),
        sample(19),
    ],
    ids=["empty", "zero", "all one", "one score", "two rows", "few rows"],
)
def test_draws_small_tallies(t: Tally, scale: Scale) -> None:
    """Nothing warns or fails with no prediction, one, one score or one bin."""
    drawn = svg(draw_test_based(t, scale=scale, theme=DARK))

    assert ("no predictions" in drawn) == (t.total == 0)


def test_draws_a_million_rows() -> None:
    """A million different scores make a picture as small as that of a thousand."""
    million, thousand = (svg(draw_test_based(sample(n), scale="logit")) for n in (10**6, 10**3))

    assert len(million) < 1.5 * len(thousand)


def test_unknown_scale_is_refused() -> None:
    """A misspelt scale is named."""
    with pytest.raises(ValueError, match=r"scale must be one of probability, logit, got 'log'\."):
        draw_test_based(sample(100), scale="log")  # type: ignore[arg-type]
