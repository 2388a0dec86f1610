"""Every documented command after `pip install .`: it works, or names its extra in one line."""

import json
import shutil
import signal
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
import yaml
from packaging.utils import canonicalize_name

from monitor.base.public_names import homes_of
from monitor.cli import app
from monitor.metrics.maps.calibration_map import IDENTITY
from monitor.metrics.maps.map_file import Level, MapFile, Training
from monitor.store.map_file import write_map
from tests.support.base_environment import BaseEnvironment, base_environment
from tests.support.cases import ALL
from tests.support.exporting import serving
from tests.support.servers import get, pushgateway
from tests.test_packaging import EXTRAS

NEEDS = {"report": "report", "demo": "demo"}  # commands that do nothing without their extra
OF_OTHER_PROGRAMS = {"airflow", "celery", "slack", "docs", "dev"}  # Airflow's, and of this checkout

Call = tuple[str, ...]
# What commands must be given in this world.
FIRST: dict[Call, Call] = {
    ("init",): ("logs", "--out", "-"),
    ("report",): ("--out", "pages"),
    ("sql",): ("fraud", "duckdb"),
    ("map", "show"): ("map.json",),
    ("map", "sql"): ("map.json",),
    ("map", "compose"): ("map.json", "second.json"),
}
MAPS = "map.json", "second.json", "old.json", "both.json"  # that the pages name
SAME = {"--json", "--wait", "--recompute"}  # flags with which a command loads the same packages


class Leaf(NamedTuple):
    """A command: its words, the options that it must be given, and its flags."""

    words: Call
    required: Call
    flags: tuple[Call, ...]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> BaseEnvironment:
    """Make the environment with the base dependencies."""
    return base_environment(tmp_path_factory.mktemp("base"))


@pytest.fixture
def folder(two_models: Path, tmp_path: Path) -> Path:
    """Copy logs and store of the model whose days are all valid, and configure it alone."""
    return world(two_models, tmp_path / "world")


def world(two_models: Path, folder: Path) -> Path:
    """Make the world of the commands."""
    shutil.copytree(two_models, folder, ignore=shutil.ignore_patterns("ads"))
    config = yaml.safe_load((folder / "monitor.yaml").read_text())
    del config["models"]["ads"]
    (folder / "monitor.yaml").write_text(yaml.safe_dump(config))
    return folder


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[str]:
    """Start a Pushgateway."""
    with pushgateway(tmp_path) as where:
        yield f"http://{where}"


def values(today: date, gateway: str) -> dict[str, str]:
    """Give what the options of all commands take in the world of two models."""
    return {
        "--model": "fraud",
        "--config": "monitor.yaml",
        "--from": f"{today - timedelta(days=4)}",
        "--until": f"{today + timedelta(days=9)}",
        "--to": f"{today - timedelta(days=3)}",
        "--day": f"{today - timedelta(days=3)}",
        "--as-of": f"{today - timedelta(days=1)}",
        "--segment": "DE",
        "--keep": "400d",
        "--on": f"{today}",
        "--out": "written.html",
        "--into": "",
        "--gateway": gateway,
        "--budget": "200",
    }


def leaves(given: dict[str, str]) -> list[Leaf]:
    """List the commands of the program, with their options, from its own tree."""

    def below(command: Any, words: Call) -> Iterator[Leaf]:
        if hasattr(command, "commands"):
            for name, inner in command.commands.items():
                yield from below(inner, (*words, name))
            return
        needed, flags = [*FIRST.get(words, ())], list[Call]()
        for option in command.params:
            name = max(option.opts, key=len)
            if option.required and name.startswith("--"):
                needed += [name, _value(words[-1], name, given)]
            elif name == "--model":  # some flags are of one model only
                needed += [name, given[name]]
            elif option.opts[0].startswith("-") and option.is_flag and name not in SAME:
                flags.append((name,))
        yield Leaf(words, tuple(needed), tuple(flags))

    return [*below(typer.main.get_command(app), ())]


def _value(command: str, option: str, given: dict[str, str]) -> str:
    """Give a value of an option.

    The node exporter reads only files of one kind, and a map takes more days than the others need.
    """
    if (command, option) == ("recalibrate", "--from"):
        return f"{date.fromisoformat(given['--to']) - timedelta(days=4)}"
    return f"{command}.prom" if option == "--into" else given[option]


def test_only_the_base_dependencies_can_be_imported(base: BaseEnvironment) -> None:
    """The environment has what the program requires without extras, and no other package."""
    tops = {
        top: {canonicalize_name(name) for name in names}
        for top, names in packages_distributions().items()
        if top.isidentifier()
    }
    code = (
        "import importlib.util as u, json, sys\n"
        "print(json.dumps([n for n in json.load(sys.stdin) if u.find_spec(n)]))"
    )
    found = base.python_ended(base.python.parent, "-c", code, given=json.dumps([*tops]))
    importable = set(json.loads(found.stdout))

    assert {top for top in importable if not tops[top] & base.distributions} == set()
    assert {"monitor", "numpy", "duckdb", "typer"} <= importable
    assert not {"jinja2", "markupsafe", "matplotlib", "pandas", "sklearn", "bcrypt"} & importable


DECIDED = ("fraud", "--by", "Ana", "--why", "new model")
ALWAYS = {
    ("ack",): ("--list",),  # else it asks for a model with an open drift
    ("rebase",): (*DECIDED, "--from", f"{date.today()}", "--wait"),  # noqa: DTZ011 - any late day
    ("rebase", "--end"): DECIDED,
    ("plan-labels",): ("fraud",),
}


def test_commands_work_or_name_their_extra(
    base: BaseEnvironment, folder: Path, today: date, gateway: str
) -> None:
    """Each command; `make test-all` tries each of its flags too."""
    given = values(today, gateway)
    tree = leaves(given)
    calls = [
        (*leaf.words, *leaf.required, *ALWAYS.get((*leaf.words, *more), always), *more)
        for leaf in tree
        for always in [ALWAYS.get(leaf.words, ())]
        for more in ((), *(leaf.flags if ALL else ()))
    ]
    calls = [call for call in with_new_options(calls) if call[0] != "serve"]
    training, level = Training(today, today, 1, 9, 3), Level("outcomes", today, today, 0.1)
    for name in MAPS:
        one = MapFile("fraud", "all", IDENTITY, training, level, None, None, "0.1.0")
        write_map(str(folder / name), one)
    (folder / "owners.yml").write_text("owners: {risk: {slack: '#risk'}}\n")
    ended = base.commands_ended(folder, calls)

    for call, (code, _, err) in zip(calls, ended, strict=True):
        if call[0] in NEEDS:
            assert_names_extra(NEEDS[call[0]], code, err)
        elif call[:2] == ("map", "retire"):  # no model of this world has a map
            assert (code, "no map is deployed" in err) == (2, True), (call, err)
        elif call[0] == "sql":  # the logs of this world are files with the day in their names
            assert (code, "name the column that dates the rows" in err) == (2, True), (call, err)
        else:
            ends = {0, 4} if "--fail-on" in call else {0}
            assert code in ends, (call, err)
            assert "Traceback" not in err, (call, err)


def with_new_options(calls: Sequence[Call]) -> Iterator[Call]:
    """Choose the calls that are the first with their command, or with one of its options."""
    seen = set[Call]()
    for call in calls:
        words = call[: 2 if call[0] in ("map", "store", "export") else 1]
        options = {(*words, word) for word in call if word.startswith("-")} | {words}
        if not options <= seen:
            yield call
        seen |= options


def assert_names_extra(extra: str, code: int, err: str) -> None:
    """Check that a command ended with one line, which says what to install."""
    assert code == 2, err
    assert err.count("\n") == 1, err
    assert f"pip install 'calibration-monitor[{extra}]'" in err


def test_serve_works(base: BaseEnvironment, folder: Path) -> None:
    """It needs no extra to serve gauges."""
    script = base.python.with_name("calibration-monitor")
    with serving(folder, command=script) as (program, where):
        assert 'calibration_drift_evidence_log10{model="fraud"' in get(where)[1]
        assert program.stop(signal.SIGINT) == 0


def test_every_extra_is_named_by_what_needs_it(
    base: BaseEnvironment, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store in S3, tables, Spark and passwords say what to install; so do frames and pictures."""
    config = yaml.safe_load((folder / "monitor.yaml").read_text())
    fraud = config["models"]["fraud"]
    changes: dict[str, dict[str, object]] = {
        "s3": config | {"store": "s3://bucket/store"},
        "spark": config | {"engine": {"kind": "spark", "conf": {"spark.master": "local[1]"}}},
    }
    for extra in ("delta", "iceberg"):
        table = {"path": "lake", "format": extra, "day": "scored_at"}
        changes[extra] = config | {"models": {"fraud": fraud | {"predictions": table}}}
    query = {"sql": "SELECT 1", "connection": "WAREHOUSE_URL", "format": "sql", "day": "scored_at"}
    for extra, begins in (
        ("postgres", "postgresql"),
        ("snowflake", "snowflake"),
        ("flightsql", "grpc"),
    ):
        monkeypatch.setenv(f"URL_OF_{extra}", f"{begins}://127.0.0.1:1/name")
        log = query | {"connection": f"URL_OF_{extra}"}
        changes[extra] = config | {"models": {"fraud": fraud | {"predictions": log}}}
    both = {"predictions": {**query, "where": "amount > 5"}, "outcomes": query}
    changes["sql"] = config | {"models": {"fraud": {**both, "settled_after": 1}}}
    for extra, content in changes.items():
        (folder / f"{extra}.yaml").write_text(yaml.safe_dump(content))
    hashed = f"$2y$10${53 * 'a'}"
    (folder / "web.yaml").write_text(f"basic_auth_users: {{me: {hashed}}}\n")
    calls: dict[str, Call] = {e: ("check", "--config", f"{e}.yaml") for e in changes}
    calls["sql"] = "sql", "fraud", "snowflake", "--config", "sql.yaml"
    calls |= {"web": ("serve", "--port", "0", "--web-config", "web.yaml"), "demo": ("demo",)}
    calls["report"] = ("report", "--out", "pages")
    ended = base.commands_ended(folder, calls.values())

    for extra, (code, _, err) in zip(calls, ended, strict=True):
        assert_names_extra(extra, code, err)
    assert {*calls, "notebook"} == EXTRAS.keys() - OF_OTHER_PROGRAMS


PUBLIC = """
import json
import monitor
import numpy as np
from monitor.base.public_names import homes_of

def said(do):
    try:
        do()
    except monitor.ConfigError as error:
        return str(error)

scores, outcomes = [0.2, 0.8, 0.6, 0.4] * 200, [0, 1, 1, 0, 0, 1, 0, 1] * 100
evaluation = monitor.evaluate(outcomes, scores)
store = monitor.open_store("store")
comparison = monitor.compare((2 * outcomes, 2 * scores), (outcomes, scores))
monitor.apply_map(np.array(scores), monitor.read_map("map.json"))
print(json.dumps({
    "names": {name: said(lambda: getattr(monitor, name)) for name in homes_of("monitor")},
    "frames": [said(found.to_frame) for found in (evaluation, comparison)],
    "diagrams": [said(found.plot) for found in (evaluation, comparison)],
}))
"""


def test_public_names_work_or_say_what_they_need(base: BaseEnvironment, folder: Path) -> None:
    """All functions of `import monitor` work; frames, pictures and the estimator name packages."""
    fitted = base.commands_ended(
        folder, [("recalibrate", "--model", "fraud", "--kind", "platt", "--out", "map.json")]
    )
    ended = base.python_ended(folder, "-c", PUBLIC)

    assert fitted[0][0] == 0, fitted
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert {name for name, said in told["names"].items() if said} == {"Recalibrator"}
    assert "pip install scikit-learn" in told["names"]["Recalibrator"]
    for said in told["frames"]:
        assert "pip install 'calibration-monitor[notebook]'" in said
    for said in told["diagrams"]:
        assert "pip install 'calibration-monitor[report]'" in said
    assert len(told["names"]) == len(homes_of("monitor"))
