"""The figures of the pages about the papers: present, small, and of the numbers in the tables."""

import re

from monitor.metrics import uniform_bins
from studies.paper_figures import FOLDER, draw_standard
from studies.paper_tables import draw
from tests.support.paths import ROOT

FIGURES = sorted(FOLDER.glob("*.svg"))


def test_pages_show_every_figure() -> None:
    """Each figure is on a page under `docs`, and each that a page names exists."""
    pages = "".join(path.read_text() for path in (ROOT / "docs").rglob("*.md"))

    assert set(re.findall(r"figures/([\w-]+\.svg)", pages)) == {path.name for path in FIGURES}


def test_first_figure_shows_the_number_of_the_table() -> None:
    """Figure 1 is the simulation whose TCE and ECE Table 2 prints as 96.10 % and 0.0963."""
    sample = draw(0.5, 0.4, 14_000, 6_000)

    axes = draw_standard(sample, uniform_bins(sample, 10), "ECE")

    assert axes.get_title(loc="left").startswith("ECE 0.0963")
    assert "<title>ECE 0.0963" in (FOLDER / "tce-1-standard.svg").read_text()
    assert "<title>TCE 96.1 %" in (FOLDER / "tce-1-test-based.svg").read_text()
