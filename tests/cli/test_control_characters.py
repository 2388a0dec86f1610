"""Control characters of logs and configuration are shown, never obeyed, wherever people read."""

import json
import random
import re
from collections.abc import Iterator
from datetime import date
from html import unescape
from itertools import cycle, islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from monitor.base.errors import ConfigError, DataError
from monitor.base.segment_names import printable_lines, shown
from monitor.report.notebook.html import table_html
from tests.conftest import run_command

DAYS = tuple(date(2026, 3, day) for day in (1, 2, 3))
ROWS = 240
NAMES = 8
CONTROLS = [chr(code) for code in (*range(1, 32), 127, *range(128, 160), 0x85, 0xAD)]
DIRECTIONS = [
    *"\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2069\ufeff"
]
SEQUENCES = ["\x1b[2J", "\x1b[31m", "\x1b]0;title\x07", "\x9b2K", "\r\x1b[K", "\x08\x08"]
SURROGATES = ["\ud800", "\udbff", "\udc80", "\udcff"]
SEEDS = range(1)


def texts(seed: int, signs: list[str], number: int = NAMES) -> list[str]:
    """Deal all signs that a terminal would obey to different texts, among some letters."""
    chance = random.Random(seed)  # noqa: S311 - texts, no secrets
    dealt, drawn = chance.sample(signs, len(signs)), list[str]()
    for place in range(number):
        parts = [*chance.choices(["AT", "x", "é"], k=4), *dealt[place::number]]
        chance.shuffle(parts)
        drawn.append(f"{place}{''.join(parts)}")
    return drawn


def dangerous(text: str) -> list[str]:
    """List the characters of an output that a terminal or a browser would obey."""
    return [sign for sign in text if not sign.isprintable() and sign not in "\n\u00a0"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Process days whose segments, columns and owner have such names."""
    folder = tmp_path_factory.mktemp("controls")
    (folder / "logs").mkdir()
    # A Parquet file cannot hold half of a character, and YAML refuses it.
    names = texts(0, [*CONTROLS, *DIRECTIONS, *SEQUENCES])
    column = names[0]
    for day in DAYS:
        ids = [f"{day}{i}{names[1]}" for i in range(ROWS)]
        predictions = {"score": [(i % 60 + 1) / 62 for i in range(ROWS)], column: [
            *islice(cycle([*names, None]), ROWS)
        ]}  # fmt: skip
        outcomes = {"outcome": [i * i % 7 % 2 for i in range(ROWS)]}
        for log, columns in (("predictions", predictions), ("outcomes", outcomes)):
            table = pa.table({"prediction_id": ids, **columns})
            pq.write_table(table, folder / f"logs/{log}-{day}.parquet")
    model = {
        "owner": names[2],
        "segments": {"column": column, "values": names},
        "settled_after": 0,
        "verdicts": {"references": [{"first": DAYS[0], "last": DAYS[1]}]},
        **{log: {"path": f"logs/{log}-{{day}}.parquet"} for log in ("predictions", "outcomes")},
    }
    content = {"store": "store", "report": {"path": "pages"}, "models": {"ctr": model}}
    (folder / "monitor.yaml").write_text(yaml.safe_dump(content))
    (folder / "names.json").write_text(json.dumps(names))
    return folder


def calls(folder: Path) -> Iterator[tuple[object, ...]]:
    """List commands that print what they read."""
    config = ("--config", folder / "monitor.yaml")
    names = json.loads((folder / "names.json").read_text())
    span = ("--from", DAYS[0], "--to", DAYS[-1])
    show = ("show", *config, "--model", "ctr")
    yield ("check", *config)
    yield ("backfill", *config, *span, "--dry-run")
    yield ("backfill", *config, *span)
    yield ("run", *config)
    yield from ((*show, *flag) for flag in ((), ("--days", 3), ("--incidents",), ("--revisions",)))
    yield (*show, "--as-of", DAYS[-1])
    yield from ((*show, "--segment", name) for name in names)
    yield from ((*show, "--segment", name) for name in texts(9, SURROGATES, 3))
    yield ("where", *config, "--model", "ctr")
    yield ("where", *config, "--model", "ctr", "--columns", names[0])
    yield ("recalibrate", *config, "--model", "ctr", "--segment", names[3])
    yield ("report", *config)
    yield ("textfile", *config, "--into", folder / "all.prom")
    yield ("prune", *config, "--keep", "1d", "--dry-run")
    yield ("check", *config, "--store")
    yield ("init", folder / "logs", "--out", folder / "guessed.yaml")
    yield ("init", folder / "logs", "--out", "-")
    yield ("show", *config, "--model", names[0])
    yield ("show", "--config", folder / names[1], "--model", "ctr")


def test_nothing_printed_controls_a_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No command prints such a character, on standard output or standard error."""
    monkeypatch.setenv("COLUMNS", "400")  # so that no name is on two lines
    ended = [(call, run_command(*call)) for call in calls(folder)]
    said = {call: dangerous(done.out + done.err) for call, done in ended}
    names = json.loads((folder / "names.json").read_text())
    listed = next(done for call, done in ended if call[0] == "show")

    assert {call: signs for call, signs in said.items() if signs} == {}
    assert all(done.code in (0, 2, 3) for _, done in ended)
    for name in names:
        assert shown(name)[:39] in listed.out  # tables cut the rest


def test_no_page_has_such_a_character(folder: Path) -> None:
    """The page and the index show the same texts escaped, in their HTML and in their data."""
    done = run_command("report", "--config", folder / "monitor.yaml", "--out", folder / "read")
    pages = [path.read_text() for path in (folder / "read").rglob("*.html")]
    names = json.loads((folder / "names.json").read_text())

    assert done.code == 0, done.err
    assert len(pages) == 2
    for page in pages:
        assert dangerous(page) == []
        assert dangerous(unescape(re.sub(r"\\u([0-9a-f]{4})", "", page))) == []
    model = unescape(max(pages, key=len))
    for name in names:
        assert printable_lines(name) in model


@pytest.mark.parametrize("seed", SEEDS)
def test_errors_have_no_such_character(seed: int) -> None:
    """What Slack, log lines and terminals get of an error is escaped, whatever it quotes."""
    for text in texts(seed, [*CONTROLS, *DIRECTIONS, *SEQUENCES, *SURROGATES]):
        for kind in (ConfigError, DataError):
            assert dangerous(str(kind(text))) == []
        assert dangerous(table_html(["name", "value"], [[text, text]])) == []
