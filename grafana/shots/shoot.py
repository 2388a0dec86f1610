"""Draw the dashboards from the flights demo: ``make dashboard-shots``.

What was known on a morning of the demo goes into a real Prometheus, the page that `npm run build`
made asks it what Grafana would ask, and Chromium takes the pictures.

    shoot.py [FOLDER OF PICTURES [FOLDER OF THE DEMO]]
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from time import sleep
from typing import Any
from urllib.parse import urlencode

from history import MORNING, SHOWN, fill
from PIL import Image, ImageChops
from PIL.PngImagePlugin import PngInfo

from monitor.export.fleet_dashboard import as_high_as

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
from looks import KEY, digest  # noqa: E402 - beside the generator

WIDTH, HEAD = 1280, 165  # of a page, and of its title and choices in two lines, in pixels
MARGIN = 16
OF_ONE = {"model": "flights-stretched", "segment": "all", "window": "7d", "budget": "5"}
SHOTS = {
    "fleet": {"model": ".+", "owner": ".+", "segment": "all", "window": "1d"},
    "model": OF_ONE,
    "errors": OF_ONE,
    "data": OF_ONE,
}


class Quiet(SimpleHTTPRequestHandler):
    """Serve files without a word."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def pages(folder: Path) -> Iterator[str]:
    """Serve a folder on the loopback address."""
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:  # leaving waits for the server, after an error too
            server.shutdown()


@contextmanager
def prometheus(folder: Path) -> Iterator[str]:
    """Start a Prometheus that holds the history."""
    (folder / "prometheus.yml").write_text("{}\n")
    call = [
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--storage.tsdb.retention.time=100y",
        "--web.listen-address=127.0.0.1:0",
    ]
    log = folder / "prometheus.log"
    with log.open("wb") as complained:
        process = subprocess.Popen(call, stderr=complained)
    try:
        while process.poll() is None and "Server is ready" not in log.read_text():
            sleep(0.1)
        heard = re.search(r'"Listening on".* address=(\S+)', log.read_text())
        if heard is None:
            sys.exit(log.read_text())
        yield f"http://{heard[1]}"
    finally:
        process.terminate()
        process.wait()


def shoot(page: str, picture: Path, height: int, looks: str) -> None:
    """Take a picture of a page, which carries the digest of what it shows."""
    browser = shutil.which("chromium") or sys.exit("chromium is not installed: apt-get install it.")
    with TemporaryDirectory() as profile:
        raw = Path(profile) / "shot.png"
        call = [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={profile}",
            f"--window-size={WIDTH},{height}",
            "--virtual-time-budget=60000",
            f"--screenshot={raw}",
            page,
        ]
        subprocess.run(call, check=True, capture_output=True, timeout=300)
        colors = without_foot(Image.open(raw).convert("RGB"))
        few = colors.quantize(256, Image.Quantize.MEDIANCUT, kmeans=8, dither=Image.Dither.NONE)
        about = PngInfo()
        about.add_text(KEY, looks)
        few.save(picture, optimize=True, pnginfo=about)  # a third of the bytes


def without_foot(picture: Image.Image) -> Image.Image:
    """Cut off what lies empty below the last panel, but a margin."""
    empty = Image.new("RGB", picture.size, picture.getpixel((0, picture.height - 1)))
    box = ImageChops.difference(picture, empty).getbbox() or (0, 0, *picture.size)
    return picture.crop((0, 0, picture.width, min(picture.height, box[3] + MARGIN)))


def bottom(panel: dict[str, Any]) -> int:
    """Give where a panel ends, in units from the top."""
    return int(panel["gridPos"]["y"] + panel["gridPos"]["h"])


def height(dashboard: dict[str, Any]) -> int:
    """Give the height of a dashboard, with its title and choices, in pixels."""
    return 38 * max(map(bottom, dashboard["panels"])) + HEAD


def main(docs: Path, demo: Path | None) -> None:
    """Write a picture of each dashboard into the folder."""
    built = HERE / "dist"
    with TemporaryDirectory() as folder, pages(built) as site:
        fill(Path(folder) / "data", demo or Path(folder) / "demo")
        span = {"from": int((MORNING - SHOWN).timestamp()), "to": int(MORNING.timestamp())}
        with prometheus(Path(folder)) as server:
            for name, values in SHOTS.items():
                committed = ROOT / "grafana" / "dashboards" / f"{name}.json"
                content = json.loads(committed.read_text())
                looks = digest(content)
                dashboard = as_high_as(3, content) if name == "fleet" else content
                (built / committed.name).write_text(json.dumps(dashboard))
                query = urlencode({"dashboard": name, "server": server, **span, **values})
                picture = docs / f"dashboard-{name}.png"
                shoot(f"{site}/index.html?{query}", picture, height(dashboard), looks)


if __name__ == "__main__":
    folders = [Path(argument) for argument in sys.argv[1:]]
    main(folders[0] if folders else ROOT / "docs", folders[1] if folders[1:] else None)
