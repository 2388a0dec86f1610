"""The report pages at /reports/, read from where the daily run writes them.

Rule: only the names that the monitor itself writes lead to a file, so no request reaches another.
"""

from monitor.base.files import open_filesystem, reaching
from monitor.config import REPORT_INDEX, Config, report_page

PATH = "/reports/"
TEXT, HTML = "text/plain; charset=utf-8", "text/html; charset=utf-8"
# A page itself names the digests of its only script and style; a browser enforces both policies.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-cache"),
]
NO_PLACE = "no report pages: set report.path in the configuration.\n"
NO_PAGE = "no such report page; the index of all models is at /reports/.\n"
NOT_WRITTEN = "not written yet: run calibration-monitor run or report.\n"

Page = tuple[str, str, bytes, list[tuple[str, str]]]  # status, content type, content, headers


def report_answer(config: Config, path: str) -> Page:
    """Answer a request for a path below /reports.

    Raises
    ------
    ConfigError
        If the place of the pages is of an unknown kind.
    DataError
        If it cannot be reached.
    """
    if path == PATH.rstrip("/"):  # the links of the index are relative to it
        return "301 Moved Permanently", TEXT, b"", [("Location", PATH)]
    if not config.report:
        return _missing(NO_PLACE)
    pages = {"": REPORT_INDEX, REPORT_INDEX: REPORT_INDEX}
    pages |= {report_page(name): report_page(name) for name in config.models}
    page = pages.get(path.removeprefix(PATH))
    if page is None:
        return _missing(NO_PAGE)
    content = _read(f"{config.report.path.rstrip('/')}/{page}")
    return ("200 OK", HTML, content, HEADERS) if content is not None else _missing(NOT_WRITTEN)


def _read(place: str) -> bytes | None:
    """Read a page; None if it has not been written."""
    filesystem, path = open_filesystem(place)
    with reaching(place):
        try:
            return filesystem.cat_file(path)  # type: ignore[no-any-return]
        except FileNotFoundError:
            return None


def _missing(text: str) -> Page:
    return "404 Not Found", TEXT, text.encode(), []
