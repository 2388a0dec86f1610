"""Chromium without a window, for pages: what they ask for, complain about, and draw."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.servers import program_path

# Chromium may not look anything up by itself, whatever page it shows.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--proxy-server=127.0.0.1:9",  # nothing listens there
    "--proxy-bypass-list=127.0.0.1",
]
DESKTOP, PHONE = (1280, 900), (360, 740)
PAPER = 695  # pixels between the margins of an A4 sheet
# Dates that are drawn on more than one line.
BROKEN_DATES = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  for (let text; text = texts.nextNode(); ) {
    if (text.parentElement.closest("script, style, svg, pre")) continue;
    for (const date of text.data.matchAll(/\\d{4}-\\d\\d-\\d\\d/g)) {
      const range = document.createRange();
      range.setStart(text, date.index);
      range.setEnd(text, date.index + date[0].length);
      const tops = [...range.getClientRects()].filter((box) => box.width).map((box) => box.top);
      if (new Set(tops).size > 1) found.push(`${date[0]} in ${text.data.trim().slice(0, 60)}`);
    }
  }
  return found;
}"""
# The boxes of all marks of a drawing, relative to it: left, top, right, bottom, ratios.
BOXES = """
([svg, marks]) => {
  const whole = svg.getBoundingClientRect();
  return [...svg.querySelectorAll(marks)].map((mark) => {
    const box = mark.getBoundingClientRect();
    return [(box.left - whole.left) / whole.width, (box.top - whole.top) / whole.height,
      (box.right - whole.left) / whole.width, (box.bottom - whole.top) / whole.height];
  });
}
"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and does not report it."""

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine, and give its address."""
    answer = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@dataclass
class Opened:
    """A page in the browser, the requests that it made and what it complained about."""

    page: Page
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser; Playwright's loop lasts as long, so no other loop may run in this thread."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program_path("chromium-headless-shell"), args=ARGUMENTS
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Browser,
    address: str | Path,
    *,
    size: tuple[int, int] = DESKTOP,
    colours: Literal["light", "dark"] = "light",
    script: str = "",
) -> Iterator[Opened]:
    """Open a file or an address in a new page, in which a script has run before its own."""
    viewport: Any = {"width": size[0], "height": size[1]}
    page = browser.new_page(viewport=viewport, color_scheme=colours)
    page.add_init_script(script)
    found = Opened(page)
    page.on("request", lambda request: found.asked.append(request.url))
    page.on("console", lambda message: found.complaints.append(message.text))
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    page.on("dialog", lambda dialog: (found.complaints.append(dialog.message), dialog.dismiss()))
    page.goto(address.as_uri() if isinstance(address, Path) else address)
    try:
        yield found
    finally:
        page.close()


def accessibility_faults(page: Page) -> list[str]:
    """Run axe-core: contrast, names, roles and labels."""
    violations = Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in violations
        for node in violation["nodes"]
    ]


def boxes(page: Page, drawing: str, marks: str) -> list[tuple[float, float, float, float]]:
    """Measure the marks of a drawing: left, top, right and bottom of each, as ratios of it."""
    svg = page.locator(drawing).element_handle()
    found: list[list[float]] = page.evaluate(BOXES, [svg, marks])
    return [(left, top, right, bottom) for left, top, right, bottom in found]
