"""Unexpected input: configurations, calls, stores and bytes. One error each, nothing lost.

Logs that break a rule are in test_contract.py.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from monitor.store.names import day_file
from monitor.store.sealing import open_table, sealed
from tests.support.damages import (
    DAY,
    RUN,
    Command,
    Damage,
    Project,
    all_of,
    check_refusal,
    checks,
    matches,
    message_of,
    setting,
)

# A change of the configuration, and the message after "monitor.yaml".
BROKEN_CONFIGURATIONS: dict[str, tuple[Damage, str]] = {
    "no YAML": (
        setting("{column: country, values: [DE, FR]}", "{column: country, values: [DE, FR}"),
        ", line 6, column 48: is not valid YAML: <...>; correct it, then run again.",
    ),
    "an alias of nothing": (
        setting("store: store", "store: *store"),
        (
            ", line 1, column 8: is not valid YAML: found undefined alias 'store'; correct it, "
            "then run again."
        ),
    ),
    "no keys": (
        lambda p: (p.folder / "monitor.yaml").write_text("store, models"),
        ": must contain the keys store and models, got 'store, models'; see monitor.example.yaml.",
    ),
    "another encoding": (
        lambda p: (p.folder / "monitor.yaml").write_bytes("store: Läden".encode("latin-1")),
        ": is not UTF-8 text (<...>); save it as UTF-8, then run again.",
    ),
    "mistyped keys everywhere": (
        all_of(
            setting("store: store", "store: store\nengin: {threads: 2}"),
            setting("time: scored_at", "scored: score"),
            setting(
                "windows",
                "owned: x\n    checks: {rejct: [], xyz: 1, score_missing: reject, one_class: 1}\n"
                "    windows",
            ),
        ),
        (
            ": engin: is not a known key; did you mean 'engine'?\n"
            "monitor.yaml: models.ctr.predictions.scored: is not a known key; "
            "did you mean 'score'?\n"
            "monitor.yaml: models.ctr.checks.rejct: is not a known key; did you mean 'reject'?\n"
            "monitor.yaml: models.ctr.checks.xyz: is not a known key; remove it.\n"
            "monitor.yaml: models.ctr.checks.score_missing: is not a key any more; write checks: "
            "{reject: [score_missing]}.\n"
            "monitor.yaml: models.ctr.checks.one_class: is not a key any more; write checks: "
            "{accept: [one_class]}.\n"
            "monitor.yaml: models.ctr.owned: is not a known key; did you mean 'owner'?"
        ),
    ),
    "wrong values everywhere": (
        setting(
            "[1, 3]", "[]\n    time_zone: Mars/Olympus\n    settled_after: soon\n    alpha: 0.1"
        ),
        (
            ": models.ctr.time_zone: must be a name from the time zone database, such as UTC or "
            "America/New_York, got 'Mars/Olympus'; correct the value.\n"
            "monitor.yaml: models.ctr.settled_after: Input should be a valid integer, got 'soon'; "
            "correct the value.\n"
            "monitor.yaml: models.ctr.windows: must increase and start with 1, such as [1, 7, 28], "
            "got []"
            "; correct the value.\n"
            "monitor.yaml: models.ctr.alpha: is gone, and is 0.05 for every model; remove it. A "
            "notebook takes another level."
        ),
    ),
    "a template without the day": (
        setting("outcomes/{day}", "outcomes/{day:%Y-%m}"),
        (
            ": models.ctr.outcomes.path: must name year, month and day, as {day} (2001-02-03) or a "
            "form such as {day:%Y/%m/%d}; or set the key day to the column that dates the rows, "
            "got 'outcomes/{day:%Y-%m}.parquet'; correct the value."
        ),
    ),
    "a template with another placeholder": (
        setting("outcomes/{day}", "outcomes/{day}/{model}"),
        (
            ": models.ctr.outcomes.path: has a placeholder other than {day} or one like "
            "{day:%Y/%m/%d}, made of %Y, %y, %m, %d, %j, %-m, %-d, %-j, got "
            "'outcomes/{day}/{model}.parquet'; correct the value."
        ),
    ),
    "a table without a column that dates its rows": (
        setting('outcomes: {path: "outcomes/{day}.parquet"', "outcomes: {path: t, format: delta"),
        (
            ": models.ctr.outcomes.path: is a table; set the key day to the column that dates its "
            "rows, got 't'; correct the value."
        ),
    ),
    "outcomes without a place": (
        setting('outcomes: {path: "outcomes/{day}.parquet"', "outcomes: {outcome: clicked"),
        (
            ": models.ctr.outcomes.path: must be a path, or a URL such as s3://bucket/prefix; or "
            "set in_predictions: true if predictions have a column of outcomes, got ''; correct "
            "the value."
        ),
    ),
    "an unknown policy": (
        checks(outcome_orphan="accept"),
        (
            ": models.ctr.checks: accept must not list outcome_orphan; list it under reject or "
            "fail, got {'accept': ['outcome_orphan']}; correct the value."
        ),
    ),
    "a reserved segment": (
        setting("[DE, FR]", "[DE, all]"),
        (
            ": models.ctr.segments: values must differ and must not be all, other or "
            "third choices, got {'column': 'country', 'values': ['DE', 'all']}; correct the value."
        ),
    ),
}


@pytest.mark.parametrize("case", BROKEN_CONFIGURATIONS)
def test_broken_configurations(case: str, project: Project, command: Command) -> None:
    """A broken configuration ends with code 2 and a line for each mistake; nothing is written."""
    damage, expected = BROKEN_CONFIGURATIONS[case]
    check_refusal(damage, RUN, 2, f"monitor.yaml{expected}", project, command)


@pytest.mark.parametrize("place", ["store: ", '"outcomes/'])
def test_an_unknown_kind_of_url_is_a_mistake_of_the_configuration(
    place: str, project: Project, command: Command
) -> None:
    """An unknown URL scheme ends with code 2 and a message with the URL and the alternatives."""
    damage = setting(place, re.sub('(store: |")', r"\1s9://", place))
    expected = "s9://<...>: Protocol not known: s9; use a local path or s3://bucket/prefix."
    check_refusal(damage, RUN, 2, expected, project, command)


ON_ALL_MODELS: dict[str, tuple[object, ...]] = {
    "run": ("run", "--day", DAY, "--json"),
    "openmetrics": ("export", "openmetrics", "--from", DAY, "--to", DAY, "--into", "past.om"),
}


@pytest.mark.parametrize("name", ON_ALL_MODELS)
def test_an_invalid_model_does_not_stop_the_others(
    name: str, project: Project, command: Command
) -> None:
    """A command on all models does what it does without the invalid one, and ends with code 2."""
    call = ON_ALL_MODELS[name]
    sound = command(*call)
    before = project.results()
    project.configure("models:", "models:\n  bad: {owner: me}")

    ended = command(*call)

    assert sound.code == 0, sound.err
    assert ended.code == 2
    assert ended.out == sound.out
    assert project.results() == before
    as_json = "--json" in call
    said = "\n".join(json.loads(ended.err)["error"]["messages"]) if as_json else ended.err
    assert message_of(project, said).rstrip() == (
        "monitor.yaml: models.bad.predictions: is missing; add it (see monitor.example.yaml).\n"
        "monitor.yaml: models.bad.outcomes: is missing; add it (see monitor.example.yaml)."
    )


@pytest.mark.parametrize("call", [RUN, ("show",)])
def test_an_invalid_model_is_refused(
    call: tuple[object, ...], project: Project, command: Command
) -> None:
    """A command on the invalid model alone ends with code 2 and its message; nothing is written."""
    before = project.results()
    project.configure("models:", "models:\n  bad: {owner: me}")

    ended = command(*call, "--model", "bad")

    assert ended.code == 2
    assert "models.bad.predictions: is missing" in ended.err
    assert project.results() == before
    assert command(*RUN, "--model", "ctr").code == 0


# The call, its exit code, and the last line of the message.
WRONG_CALLS: dict[str, tuple[tuple[object, ...], int, str]] = {
    "no date": (
        ("run", "--day", "yesterday"),
        2,
        "Error: Invalid value for '--day': <...>yesterday' does not match<...>'%Y-%m-%d'.",
    ),
    "an unknown window": (
        ("show", "--model", "ctr", "--windows", 7),
        2,
        "--windows 7 is not configured; choose one of 1, 3.",
    ),
    "an unknown segment": (
        ("show", "--model", "ctr", "--segment", "IT"),
        2,
        "--segment IT is not configured; choose one of all, DE, FR, other.",
    ),
    "an unknown model": (
        ("run", "--model", "cvr"),
        2,
        "there is no model 'cvr'; choose one of: ctr.",
    ),
    "days exchanged": (
        ("backfill", "--model", "ctr", "--from", "2026-03-02", "--to", "2026-03-01"),
        2,
        "--from 2026-03-02 is after --to 2026-03-01; swap them.",
    ),
    "a folder without a configuration": (
        ("run", "--config", "store"),
        2,
        (
            "store/monitor.yaml: does not exist; write one with calibration-monitor init LOGS, or "
            "name an existing file with --config."
        ),
    ),
    "a configuration that is not there": (
        ("run", "--config", "nowhere.yaml"),
        2,
        (
            "nowhere.yaml: does not exist; write one with calibration-monitor init LOGS, or "
            "name an existing file with --config."
        ),
    ),
}


@pytest.mark.parametrize("case", WRONG_CALLS)
def test_wrong_calls(case: str, project: Project, command: Command) -> None:
    """The message of a wrong call has the given and the possible values; nothing is written."""
    arguments, code, expected = WRONG_CALLS[case]
    before = project.results()

    ended = command(*arguments)

    last = message_of(project, ended.err).splitlines()[-1]
    assert matches(last, expected), last
    assert ended.code == code
    assert project.results() == before


def cut_short(path: Path) -> None:
    """Leave the first half of a file."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def of_an_older_version(path: Path) -> None:
    """Take a column away that no file of this version lacks."""
    table, _ = open_table(path.read_bytes())
    kept = {k: v for k, v in table.schema.metadata.items() if k not in {b"digest", b"sha256"}}
    older = table.drop_columns([table.column_names[1]]).replace_schema_metadata(kept)
    path.write_bytes(sealed(path.name, older))


@pytest.mark.parametrize(
    ("kind", "arguments", "damage"),
    [
        ("summaries", ("evaluate", "--from", DAY, "--to", DAY), of_an_older_version),
        ("evaluations", ("show", "--model", "ctr"), cut_short),
        ("verdicts", ("show", "--model", "ctr"), of_an_older_version),
    ],
)
def test_an_unreadable_store_names_the_file_and_the_command(
    kind: str,
    arguments: tuple[object, ...],
    damage: Callable[[Path], None],
    project: Project,
    command: Command,
) -> None:
    """The message names the file, and the command that it gives writes the same bytes again."""
    path = project.folder / "store" / day_file(kind, "ctr", DAY)
    whole = path.read_bytes()
    damage(path)

    ended = command(*arguments)
    message = " ".join(ended.err.split())
    remedy = re.findall(r"run calibration-monitor ((?:backfill|evaluate) [^.]+)\.", message)
    repaired = command(*remedy[-1].split())

    assert ended.code == 3
    # A whole table is compared with the record of its digest first, by commands that hold the lock.
    is_compared = kind == "summaries" and damage is of_an_older_version
    what = "is sound, but older or newer" if is_compared else "is not a readable file of this store"
    assert f"store/{day_file(kind, 'ctr', DAY)}: {what}" in message
    assert repaired.code == 0, repaired.err
    assert path.read_bytes() == whole
