"""Take the picture of the README: the demo's report page on a July morning, ``make report-shot``.

Arguments: the folder of the demo and the picture; by default demo-data and docs/report.png.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
DAY = "2013-07-10"  # three weeks after the drift was found, and in the middle of a prior shift
SIZE = {"width": 1160, "height": 1400}
BELOW = 40  # pixels under the last chart that is shown
COLOURS = 96  # enough for text and flat colours, and a third of the bytes


def main(demo: Path, picture: Path) -> None:
    """Write the page, photograph its top, and save the picture with few colours."""
    with TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        command = Path(sys.executable).with_name("calibration-monitor")
        call = ("report", "--config", demo / "monitor.yaml", "--model", "flights-stretched")
        subprocess.run([command, *call, "--day", DAY, "--out", page], check=True)
        shot = Path(folder, "shot.png")
        photograph(page, shot)
        Image.open(shot).convert("RGB").quantize(COLOURS).save(picture, optimize=True)


def photograph(page: Path, shot: Path) -> None:
    """Take the verdict and what happened to the prior."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium",
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        tab = browser.new_page(viewport=SIZE, device_scale_factor=1.5, color_scheme="light")
        tab.goto(page.as_uri())
        last = tab.locator("#plot-shift").bounding_box()
        height = last["y"] + last["height"] + BELOW if last else SIZE["height"]
        area = {"x": 0, "y": 0, "width": SIZE["width"], "height": height}
        tab.screenshot(path=shot, clip=area, full_page=True)
        browser.close()


if __name__ == "__main__":
    given = [Path(argument) for argument in sys.argv[1:]]
    main(*given, *(ROOT / "demo-data", ROOT / "docs" / "report.png")[len(given) :])
