"""The report pages beside the gauges: what is served, to whom, and where links lead."""

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPMessage
from pathlib import Path

import pytest

from monitor.export.http.app import Exporter
from monitor.export.http.server import serve
from monitor.store.store import Store
from tests.conftest import run_command
from tests.support.exporting import DAY, VERDICT, fill, serving
from tests.support.servers import PATIENCE

# Of the password "correct horse", as htpasswd writes it, at the lowest cost there is.
HASH = "$2y$04$wSnZVd/F4aR2tSWpJRA6pOKEMzX94qtT02wvNqbaVOrzIRYCZWPxW"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Fill a store, and write its pages."""
    config = fill(tmp_path) / "monitor.yaml"
    config.write_text(json.dumps({**json.loads(config.read_text()), "report": {"path": "pages"}}))
    Store(str(tmp_path / "store")).write_verdicts("fraud", DAY, [VERDICT], basis="")
    assert run_command("report", "--config", config, "--model", "fraud").code == 0
    return tmp_path


@contextmanager
def answering(folder: Path, web: Path | None = None, url: str = "") -> Iterator[str]:
    """Serve in this process on a free port: host:port."""
    exporter = Exporter(folder / "monitor.yaml")
    server, _ = serve(exporter, address="127.0.0.1", port=0, web_path=web, url=url)
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def ask(where: str, path: str, login: str = "") -> tuple[int, HTTPMessage, str]:
    """Ask for a path, and give status, headers and text."""
    connection = HTTPConnection(where, timeout=PATIENCE)
    headers = {"Authorization": f"Basic {b64encode(login.encode()).decode()}"} if login else {}
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    found = answer.status, answer.headers, answer.read().decode()
    connection.close()
    return found


def test_pages_are_named_only_where_there_are_any(folder: Path) -> None:
    """The first page names them if the configuration does; a broken one is left to /healthz."""
    config = folder / "monitor.yaml"
    content = json.loads(config.read_text())
    with answering(folder) as where:
        named = ask(where, "/")
        config.write_text(json.dumps({k: v for k, v in content.items() if k != "report"}))
        unnamed = ask(where, "/")
        config.write_text("models: none")
        broken = ask(where, "/")

    assert (named[0], unnamed[0], broken[0]) == (200, 200, 200)
    assert ["/reports/" in text for _, _, text in (named, unnamed, broken)] == [True, False, False]


def test_pages_are_served_as_they_were_written(folder: Path) -> None:
    """The index and the page of a model come with their type and a policy against anything else."""
    pages = {"/reports/": "index.html", "/reports/models/fraud.html": "models/fraud.html"}
    with answering(folder) as where:
        answers = {path: ask(where, path) for path in pages}
        moved = ask(where, "/reports")

    for path, (status, headers, text) in answers.items():
        assert (status, text) == (200, (folder / "pages" / pages[path]).read_text())
        assert headers["Content-Type"] == "text/html; charset=utf-8"
        assert headers["Content-Security-Policy"].startswith("default-src 'none'; ")
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
    assert (moved[0], moved[1]["Location"]) == (301, "/reports/")


def test_nothing_else_is_served(folder: Path) -> None:
    """A path that no page has leads to no file."""
    with answering(folder) as where:
        for path in (
            "/reports/models/other.html",
            "/reports/../monitor.yaml",
            "/reports/models/../../monitor.yaml",
            "/reports/%2e%2e/monitor.yaml",
            "/reports/models/fraud.html/",
            "/reports//etc/passwd",
            "/reportsx",
        ):
            status, headers, text = ask(where, path)

            assert status == 404, path
            assert headers["Content-Type"] == "text/plain; charset=utf-8"
            assert "store" not in text


def test_a_missing_page_says_what_to_do(folder: Path) -> None:
    """A page that was not written yet, and a configuration without a place, are explained."""
    config = folder / "monitor.yaml"
    with answering(folder) as where:
        absent = ask(where, "/reports/models/well.html")
        content = json.loads(config.read_text())
        config.write_text(json.dumps({k: v for k, v in content.items() if k != "report"}))
        without = ask(where, "/reports/")

    assert absent[0] == without[0] == 404
    assert absent[2] == "not written yet: run calibration-monitor run or report.\n"
    assert without[2] == "no report pages: set report.path in the configuration.\n"


def test_pages_need_the_password_of_the_gauges(folder: Path) -> None:
    """Without it, nothing is learnt of any page."""
    web = folder / "web.yml"
    web.write_text(json.dumps({"basic_auth_users": {"alice": HASH}}))
    with answering(folder, web) as where:
        for path in ("/reports", "/reports/", "/reports/models/fraud.html", "/reports/x"):
            assert ask(where, path)[0] == 401
        assert ask(where, "/reports/models/fraud.html", "alice:correct horse")[0] == 200


def links(where: str) -> set[str]:
    """Read where the alerts would link to."""
    text = ask(where, "/metrics?name[]=calibration_report_info")[2]
    return {line.split('url="')[1].split('"')[0] for line in text.splitlines() if "url=" in line}


def test_alerts_link_to_the_pages_that_are_served(folder: Path) -> None:
    """Where no address is configured, it is that of the server, or the one that serve is given."""
    with answering(folder) as where:
        served = links(where)
    with answering(folder, url="https://monitor.test/") as elsewhere:
        given = links(elsewhere)
    config = folder / "monitor.yaml"
    content = json.loads(config.read_text())
    config.write_text(json.dumps({**content, "report": {"path": "pages", "url": "https://r.test"}}))
    with answering(folder) as again:
        configured = links(again)

    names = ("fraud", "new", "well")
    assert served == {f"http://{where}/reports/models/{name}.html" for name in names}
    assert given == {f"https://monitor.test/reports/models/{name}.html" for name in names}
    assert configured == {f"https://r.test/models/{name}.html" for name in names}


@pytest.mark.parametrize(
    ("arguments", "warns"), [((), True), (("--url", "https://monitor.example.org"), False)]
)
def test_warns_of_links_that_nobody_else_can_open(
    folder: Path, arguments: tuple[str, ...], *, warns: bool
) -> None:
    """Without an address of its own for people, a link in an alert leads to 127.0.0.1."""
    with serving(folder, *arguments) as (program, where):
        said = program.complained.read_text()

    warning = f"links to report pages lead to http://{where}, which only this machine can open"
    assert (warning in said) == warns
    assert bool(said) == warns
