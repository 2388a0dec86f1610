"""Take the pictures of the demo, ``make report-shot``.

The README has its report page on a July morning, the site the year of its broken model. Arguments:
the folder of the demo and that of the pictures; by default demo-data and docs.
"""

import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import sync_playwright

from monitor.base.segment_names import WHOLE
from monitor.config import load_config
from monitor.drift.records.verdict import WEEK
from monitor.pipeline.verdicts.references import read_references
from monitor.read.results import results_of
from monitor.read.standing import Standing, day_by_day
from monitor.report.page.assemble import model_page
from monitor.report.page.content import DayOnPage
from monitor.report.page.html import model_html
from monitor.report.page.still import HEIGHT, LEFT, WIDTH, evidence_svg

ROOT = Path(__file__).parents[1]
MODEL = "flights-stretched"
DAY = date(2013, 7, 10)  # three weeks after the drift was found, and in the middle of a prior shift
SIZE = {"width": 1160, "height": 1400}
BELOW = 40  # pixels under the last chart that is shown
STRIP = 34  # height of the bars of verdicts
HEIGHTS = {"calibration_drift": 1.0, "data_error": 1.0, "level_drift": 0.75, "prior_shift": 0.5}
# Greys that are seen on white and on black, and the colours of the verdicts on the report page.
STYLE = """\
text { fill: #7b838d; }
.k-drift, .s-calibration_drift { fill: #cf5a1e; }
.k-other, .s-insufficient_data { fill: #8a929c; }
.s-ok { fill: #3d8a66; }
.s-prior_shift { fill: #2f86c8; }
.s-level_drift, .s-undecided, .s-not_comparable, .s-reference_changed { fill: #a457a3; }
.limit { stroke: #7b838d; stroke-width: 1.25; stroke-dasharray: 5 4; }
.again { stroke: #7b838d; stroke-dasharray: 1.5 3; }
"""
COLOURS = 96  # enough for text and flat colours, and a third of the bytes


def main(demo: Path, pictures: Path) -> None:
    """Write the page, photograph its top, and save the picture with few colours; draw the year."""
    (pictures / "demo-year.svg").write_text(year_svg(days_of(demo)))
    config = load_config(demo / "monitor.yaml")
    references = read_references(config, MODEL).fitted
    with TemporaryDirectory() as folder:
        page, shot = Path(folder, "page.html"), Path(folder, "shot.png")
        page.write_text(model_html(model_page(config, MODEL, references, day=DAY)))
        photograph(page, shot)
        picture = Image.open(shot).convert("RGB").quantize(COLOURS)
        picture.save(pictures / "report.png", optimize=True)


def photograph(page: Path, shot: Path) -> None:
    """Take the verdict and what happened to the prior."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=which("chromium-headless-shell"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        tab = browser.new_page(viewport=SIZE, device_scale_factor=1.5, color_scheme="light")
        tab.goto(page.as_uri())
        last = tab.locator("#plot-shift").bounding_box()
        height = last["y"] + last["height"] + BELOW if last else SIZE["height"]
        area = {"x": 0, "y": 0, "width": SIZE["width"], "height": height}
        tab.screenshot(path=shot, clip=area, full_page=True)
        browser.close()


def days_of(demo: Path) -> list[DayOnPage]:
    """Read what stood of the broken model on each day of its year."""
    config = load_config(demo / "monitor.yaml")
    results = results_of(config, MODEL, kept=True)
    days = [*results.days("verdicts")]
    by_day = day_by_day(results, days, WEEK)
    return [
        DayOnPage(day, whole=of_day.get(WHOLE, Standing()))
        for day, of_day in zip(days, by_day, strict=True)
    ]


def year_svg(days: Sequence[DayOnPage]) -> str:
    """Draw a bar for each day in the colour of its verdict, over the evidence of a drift."""
    step = (WIDTH - LEFT) / len(days)
    bars = "".join(
        f'<rect class="s-{day.state}" x="{LEFT + place * step:.1f}" y="{STRIP - tall:.1f}" '
        f'width="{max(1.0, step - 0.6):.1f}" height="{tall:.1f}"/>'
        for place, day in enumerate(days)
        if (tall := STRIP * HEIGHTS.get(day.state, 0.2))
    )
    chart = evidence_svg(days).partition(">")[2].removesuffix("</svg>")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {STRIP + 10 + HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="11.5"><style>{STYLE}</style>{bars}'
        f'<g transform="translate(0 {STRIP + 10})">{chart}</g></svg>\n'
    )


if __name__ == "__main__":
    given = [Path(argument) for argument in sys.argv[1:]]
    main(*given, *(ROOT / "demo-data", ROOT / "docs")[len(given) :])
