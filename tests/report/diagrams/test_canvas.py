"""Pictures are the same bytes every time, fit into other figures and leave no trace."""

import re
import subprocess
import sys
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from monitor.metrics import tally
from monitor.report.diagrams import DARK, LIGHT, Theme, draw_evidence, draw_test_based, png, svg
from tests.support.paths import ROOT

SMALL = tally([0] * 36 + [1] * 4 + [0] * 20 + [1] * 20, [0.1] * 40 + [0.6] * 40)
LEAST_CONTRAST, LEAST_OF_TEXT = 3.0, 4.5  # of WCAG 2.1 for graphics, and for text


def luminance(colour: str) -> float:
    """Compute the relative luminance of WCAG 2.1."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Compute the contrast of two colours."""
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def test_same_input_gives_the_same_bytes() -> None:
    """Drawing twice, here and in a process of its own, gives the same SVG, without a date.

    The other process shows too that matplotlib is loaded only to draw.
    """
    code = (
        "import sys\n"
        "from monitor.metrics import tally\n"
        "from monitor.report.diagrams import draw_test_based, svg\n"
        "assert 'matplotlib' not in sys.modules\n"
        "t = tally([0] * 36 + [1] * 4 + [0] * 20 + [1] * 20, [0.1] * 40 + [0.6] * 40)\n"
        "print(svg(draw_test_based(t), title='TCE'), end='')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    first = svg(draw_test_based(SMALL), title="TCE")

    assert svg(draw_test_based(SMALL), title="TCE") == first == ended.stdout
    assert png(draw_test_based(SMALL)) == png(draw_test_based(SMALL))
    assert "<title>TCE</title>" in first
    assert not re.search(r"20\d\d-\d\d-\d\d", first)


def test_draws_into_axes_of_others(verdicts: list[Any]) -> None:
    """A diagram stays in the place that it gets, in a grid or anywhere, and no setting changes."""
    before, figure = dict(mpl.rcParams), Figure(figsize=(9, 4))
    left, right = figure.subplots(1, 2)
    free = figure.add_axes((0.4, 0.4, 0.2, 0.2))
    middle = 0.5 * (left.get_position().x1 + right.get_position().x0)

    assert draw_evidence(verdicts, axes=left) is left
    main = draw_test_based(SMALL, axes=right, theme=DARK)
    other = draw_test_based(SMALL, axes=free)

    assert right not in figure.axes
    assert main.get_position().x0 > middle
    assert 0.4 <= other.get_position().x0 < other.get_position().x1 <= 0.6
    svg(main)
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_stand_out(theme: Theme) -> None:
    """Text and lines have the contrast that WCAG asks for; what is drawn over bands does too."""
    for text in (theme.ink, theme.muted):
        assert contrast(text, theme.paper) >= LEAST_OF_TEXT
    for data in (theme.main, theme.alarm, theme.extra):
        assert contrast(data, theme.paper) >= LEAST_CONTRAST
    assert contrast(theme.ink, theme.band) >= LEAST_OF_TEXT
    assert contrast(theme.main, theme.band) >= LEAST_CONTRAST
