"""A past of one sample for each change answers as one of a sample every five minutes did."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.conftest import run_command
from tests.grafana.test_dashboard_queries import Asked, every_query, substituted
from tests.support.exporting import serving
from tests.support.filled import HOUR, scraping
from tests.support.servers import get, program_path

LAST_DAYS = 12  # in which a drift opens and logs break
BLOCKS = ("tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=744h")
OF_RULES = '{__name__=~"ALERTS|calibration:.+"}'


@dataclass(frozen=True)
class Pasts:
    """Two servers with the same past, of few samples and of many, and one exporter.

    Attributes
    ----------
    few, many : str
        Where the servers listen.
    counts : tuple of int
        How many samples each was given.
    begin, end : int
        When the first and the last sample are, Unix time.
    """

    few: str
    many: str
    counts: tuple[int, int]
    begin: int
    end: int


@pytest.fixture(scope="module")
def pasts(
    two_models: Path, today: date, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pasts]:
    """Export twice, import twice, and let both servers scrape the same exporter."""
    first = today - timedelta(days=LAST_DAYS)
    with serving(two_models) as (_, exporter), ExitStack() as stack:
        where, counts = [], []
        for repeat in ("24h", "5m"):
            folder = tmp_path_factory.mktemp("past")
            counts.append(fill(two_models, folder, first, today, repeat=repeat))
            where.append(stack.enter_context(scraping(folder, exporter)))
        samples = (folder / "past.om").read_text().splitlines()
        times = [int(line.rpartition(" ")[2]) for line in samples if line[0] != "#"]
        yield Pasts(where[0], where[1], (counts[0], counts[1]), min(times), max(times))


def fill(store: Path, folder: Path, first: date, last: date, *, repeat: str) -> int:
    """Make blocks of Prometheus of the past, and count its samples."""
    ended = run_command(
        *("export", "openmetrics", "--config", store / "monitor.yaml", "--repeat", repeat),
        *("--from", first, "--to", last, "--into", folder / "past.om"),
    )
    assert ended.code == 0, ended.err
    call = [program_path("promtool"), *BLOCKS, folder / "past.om", folder / "data"]
    subprocess.run(call, check=True, capture_output=True)
    return int(ended.out.split()[-2].replace(",", ""))


def of_rules(where: str) -> set[str]:
    """List what the rules of a server record and alert on now, without its moment or value."""
    found = ask(where, "query", query=OF_RULES)
    return {json.dumps(one["metric"], sort_keys=True) for one in found}


def ask(where: str, path: str, **parameters: object) -> list[dict[str, Any]]:
    """Ask the API of a server for results."""
    status, text = get(where, f"/api/v1/{path}?{urlencode(parameters)}")
    assert status == 200, text
    return list(json.loads(text)["data"]["result"])


def test_there_are_far_fewer_samples(pasts: Pasts) -> None:
    """A result a day needs a sample a day: less than a hundredth of one every five minutes."""
    few, many = pasts.counts

    assert 0 < few < many / 100


@pytest.mark.parametrize("asked", every_query())
def test_every_panel_answers_as_before(pasts: Pasts, asked: Asked) -> None:
    """Each query gives the same values at every hour, also where series begin and disappear."""
    query = substituted(asked.dashboard, asked.expression)
    span = {"start": pasts.begin - HOUR, "end": pasts.end - HOUR, "step": HOUR}
    few, many = (
        ask(where, "query_range", query=query, **span) for where in (pasts.few, pasts.many)
    )

    assert few == many


def test_every_rule_answers_as_before(pasts: Pasts) -> None:
    """What the rules record and alert on does not depend on how dense the past is."""
    few, many = of_rules(pasts.few), of_rules(pasts.many)
    names = {re.findall(r'"__name__": "([^"]+)"', one)[0] for one in few}

    assert few == many
    assert {"ALERTS", "calibration:model:info", "calibration:verdict:news"} <= names
