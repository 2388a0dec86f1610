"""The command line: every command is documented, and does what its help says."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from scipy.special import expit
from typer.testing import CliRunner

from monitor.base.errors import ConfigError
from monitor.cli import CONFIG_ERROR, DATA_ERROR, EXIT_CODES, INTERRUPTED, app, parser
from monitor.cli.gone import GONE, check_options
from monitor.cli.showing import FAILED
from monitor.config import Config
from tests.support.paths import ROOT

COMMANDS = (
    "init",
    *("check", "run", "backfill", "evaluate", "show", "where", "recalibrate", "plan-labels"),
    *("report", "ack", "rebase", "serve"),
    *("push", "textfile", "assets", "prune", "demo", "sql"),
    *("map show", "map sql", "map compose", "map retire"),
    "store compact",
    *("export openmetrics", "export table"),
)
DAYS = [date(2026, 3, 1) + timedelta(days=i) for i in range(4)]
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
# Of node_exporter, dbt and the clients of warehouses.
OF_OTHERS = "--collector", "--vars", "--select", "--param", "--parameter"
SHOWN_CALL = re.compile(
    r"calibration-monitor ((?:(?:map|export|store) )?[a-z-]+)((?: [^\s,;`\"']+)*)"
)
CONFIG = """\
store: store
models:
  ctr:
    predictions: {path: "predictions/{day}.parquet"}
    outcomes: {path: "outcomes/{day}.parquet"}
    segments: {column: country, values: [DE, FR]}
    windows: [1, 3]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write four days of logs, 200 predictions each, and a configuration."""
    path = tmp_path_factory.mktemp("cli")
    (path / "predictions").mkdir()
    (path / "outcomes").mkdir()
    (path / "monitor.yaml").write_text(CONFIG)
    for day in DAYS:
        rng = np.random.default_rng(day.toordinal())
        logits = rng.normal(-1, 1, 200)
        ids = [f"{day}-{i}" for i in range(200)]
        table = {"prediction_id": ids, "score": expit(logits), "country": ["DE", "FR"] * 100}
        pq.write_table(pa.table(table), path / f"predictions/{day}.parquet")
        outcomes = (rng.random(200) < expit(logits)).astype(np.int8)
        pq.write_table(
            pa.table({"prediction_id": ids, "outcome": outcomes}), path / f"outcomes/{day}.parquet"
        )
    return path


def call(folder: Path, *arguments: str) -> str:
    """Call a command with the configuration of the folder and return its output."""
    result = CliRunner().invoke(app, [*arguments, "--config", str(folder / "monitor.yaml")])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_commands_are_these() -> None:
    """The list that the tests below use is the list of the program."""
    registered = [
        info.callback.__name__.replace("_", "-")
        for info in app.registered_commands
        if info.callback
    ]
    for group in app.registered_groups:
        inner = group.typer_instance.registered_commands if group.typer_instance else []
        registered += [f"{group.name} {info.callback.__name__}" for info in inner if info.callback]

    assert tuple(registered) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_is_on_a_page(command: str) -> None:
    """Each command explains itself, and is shown to a new user."""
    result = CliRunner().invoke(app, [*command.split(), "--help"])
    pages = "".join((ROOT / page).read_text() for page in ("README.md", "docs/start.md"))

    assert result.exit_code == 0
    assert "Exit codes: 0 done" in result.stdout
    assert f"calibration-monitor {command}" in pages or f"make {command}" in pages


@pytest.mark.parametrize("group", ["", "map", "store", "export"])
def test_the_list_of_commands_cuts_no_sentence(group: str) -> None:
    """In 80 columns the list shows a whole sentence for each command."""
    result = CliRunner().invoke(app, [*group.split(), "--help"], env={"COLUMNS": "80"})

    listed = result.stdout.partition("Commands:")[2].splitlines()
    assert len([line for line in listed if line.startswith("  ")]) >= 1
    assert [line for line in listed if "..." in line] == []


def test_the_readme_is_true() -> None:
    """Its small configuration loads, its links lead somewhere, and its exit codes are ours.

    Other tests cover when each exit code is used.
    """
    readme = (ROOT / "README.md").read_text()
    blocks = re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL)
    links = re.findall(r"\]\(([^)#:]+)\)", readme)

    assert Config.model_validate(yaml.safe_load(blocks[0])).model("fraud").settled_after == 3
    said = re.search(r"Exit codes: .*? interrupted\.", readme, re.DOTALL)
    assert said is not None
    assert " ".join(said[0].split()) == EXIT_CODES
    assert (
        f"Exit codes: 0 done, 1 a bug, {CONFIG_ERROR} the configuration or the call is wrong, "
        f"{DATA_ERROR} the data are wrong, {FAILED} what show --fail-on names, "
        f"{INTERRUPTED} interrupted."
    ) == EXIT_CODES
    assert len(links) >= 6
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_decision_is_listed() -> None:
    """The index of decisions names every page, and every page it names exists."""
    folder = ROOT / "docs/decisions"
    listed = re.findall(r"\(([\w.-]+\.md)\)", (folder / "README.md").read_text())

    assert sorted(listed) == sorted(p.name for p in folder.glob("0*.md"))


def options_of(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """List the options of a command and of those below it, each with all its names."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from options_of(inner, (*words, name))
    for given in command.params:
        names = (*given.opts, *given.secondary_opts)
        if names[0].startswith("-") and "--help" not in names:
            yield (" ".join(words), *names)


def test_few_options() -> None:
    """At most 130; and an option that is gone is not one of them."""
    options = [*options_of(parser())]

    assert len(options) <= 130
    for command, gone in GONE.items():
        names = {name for words, *names in options for name in names if words == " ".join(command)}
        assert names.isdisjoint(gone), command


def test_the_code_names_options_that_exist() -> None:
    """No message, help or page asks for one that is gone; behind a command stands its own."""
    of_each = dict[str, set[str]]()
    for words, *names in options_of(parser()):
        of_each.setdefault(words, {"--help"}).update(names)
    every = {"--version", *OF_OTHERS}.union(*of_each.values())
    files = [*(ROOT / "monitor").rglob("*.py"), *(ROOT / "monitor").rglob("*.js")]
    sources = [file.read_text() for file in files if file.name != "gone.py"]
    shown = {call for source in sources for call in SHOWN_CALL.findall(source) if call[1]}
    given = {
        words: {*OPTION.findall(" ".join(o for w, o in shown if w == words))} for words in of_each
    }

    assert {option for source in sources for option in OPTION.findall(source)} <= every
    assert {"run", "backfill"} < {words for words, options in given.items() if options}
    assert {words: others for words in of_each if (others := given[words] - of_each[words])} == {}


@pytest.mark.parametrize(
    ("words", "option"), [(words, option) for words, gone in GONE.items() for option in gone]
)
def test_an_option_that_is_gone_says_what_to_write(words: tuple[str, ...], option: str) -> None:
    """Not that it is unknown, whether its value stands beside it or after a sign."""
    for written in (option, f"{option}=1"):
        with pytest.raises(
            ConfigError, match=f"option {option} is gone: {GONE[words][option][:9]}"
        ):
            check_options([*words, "--config", "x.yaml", written])
