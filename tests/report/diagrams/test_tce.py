"""The test-based reliability diagram draws what TCE counted."""

import numpy as np
import pytest

from monitor.metrics import tally
from monitor.metrics.core.tally import Tally
from monitor.report.diagrams import DARK, draw_test_based, svg
from monitor.report.diagrams.scales import Scale
from monitor.report.diagrams.violin import violin


def sample(size: int, seed: int = 1) -> Tally:
    """Draw scores, and outcomes with a steeper curve."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1.5, 1.0, size)
    return tally(rng.random(size) < 1 / (1 + np.exp(-1.4 * logits)), 1 / (1 + np.exp(-logits)))


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


def test_unknown_scale_is_refused() -> None:
    """A misspelt scale is named."""
    with pytest.raises(ValueError, match=r"scale must be one of probability, logit, got 'log'\."):
        draw_test_based(sample(100), scale="log")  # type: ignore[arg-type]
