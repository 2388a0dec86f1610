"""The panels of pictures look as they did when a person looked at the whole pictures.

    python -m tests.report.diagrams.test_images

draws them anew into `tests/report/diagrams/images`. Look at them before you commit them.
"""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy.special import expit

from monitor.drift.curve.reference import fit_reference
from monitor.metrics import coarsen, tally
from monitor.metrics.core.tally import Tally
from monitor.report.diagrams import (
    DARK,
    LIGHT,
    Theme,
    draw_bins,
    draw_corp,
    draw_prior_adjusted,
    draw_reference,
    draw_test_based,
    png,
)

IMAGES = Path(__file__).parent / "images"
WIDTH, SIDE, COLOURS = 1200, 96, 96
# Root mean square over the means of 4 x 4 pixels, in levels of 255. Measured: up to 0.6 by the few
# colours of the kept pictures, up to 1.7 with matplotlib 3.10.7 instead of 3.11.2; 3.3 to 14
# without the violins, a band or the points.
TOLERANCE = 3.0


def sample(size: int, *, slope: float = 1.0, prior: float = 0.0, seed: int = 1) -> Tally:
    """Draw scores, and outcomes of another slope and prior."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1.0, 1.2, size)
    return tally(rng.random(size) < expit(slope * logits + prior), expit(logits))


def against_reference(theme: Theme) -> Any:
    """Draw a changed model against a reference of four weeks."""
    days = [{"all": coarsen(sample(2_000, seed=day))} for day in range(28)]
    return draw_reference(fit_reference(days), sample(8_000, slope=0.6, prior=0.5), theme=theme)


PICTURES: dict[str, Callable[[], Any]] = {
    "test-based": lambda: draw_test_based(sample(5_000, slope=0.7), theme=LIGHT),
    "test-based-logit": lambda: draw_test_based(sample(5_000, prior=1), scale="logit", theme=DARK),
    "corp": lambda: draw_corp(sample(3_000, slope=0.7), theme=DARK),
    "prior-adjusted": lambda: draw_prior_adjusted(sample(3_000, prior=0.8), theme=LIGHT),
    "reference": lambda: against_reference(LIGHT),
    "bins": lambda: draw_bins(sample(2_000), theme=DARK),
}


def strip(axes: Any) -> Image.Image:
    """Draw the figure of some axes, and put the insides of its panels next to each other.

    Each is scaled to one size: where panels lie depends on the width of letters, which differs
    between versions of matplotlib.
    """
    picture = Image.open(BytesIO(png(axes, width=WIDTH))).convert("RGB")
    scale = WIDTH / axes.figure.bbox.width
    panels = []
    for panel in axes.figure.axes:
        box = panel.get_window_extent()
        left, low, right, high = (scale * end for end in box.extents)
        inside = (left, picture.height - high, right, picture.height - low)
        panels.append(np.asarray(picture.resize((SIDE, SIDE), Image.Resampling.BOX, inside)))
    return Image.fromarray(np.concatenate(panels, axis=1))


def difference(axes: Any, name: str) -> float:
    """Compare the panels of a picture with the kept ones, as means of 4 x 4 pixels."""
    kept = Image.open(IMAGES / f"{name}.png").convert("RGB")
    means = [
        np.asarray(picture, float).reshape(SIDE // 4, 4, -1, 4, 3).mean(axis=(1, 3))
        for picture in (strip(axes), kept)
    ]
    return float(np.sqrt(((means[0] - means[1]) ** 2).mean()))


@pytest.mark.parametrize("name", PICTURES)
def test_picture_is_as_it_was(name: str) -> None:
    """A picture differs from the kept one by less than the tolerance."""
    assert difference(PICTURES[name](), name) < TOLERANCE


def main() -> None:
    """Keep the panels of now, with few colours."""
    IMAGES.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        strip(draw()).quantize(COLOURS).save(IMAGES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
