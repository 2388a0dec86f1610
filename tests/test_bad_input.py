"""Input nobody expects: files that disagree, damage, nonsense. One error each, nothing lost.

The plain breaches of the contract, one test for each check, are in test_contract.py.
"""

import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from math import nan
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from monitor.metrics.tally import Tally, tally_on_grid
from monitor.store import Store

DAY, DAY_AFTER = date(2026, 3, 2), date(2026, 3, 3)
RUN = ("run", "--day", DAY)
PROGRAM = (sys.executable, "-c", "from monitor.cli import main; main()")
SCORED_AT = datetime(2026, 3, 2, tzinfo=UTC)

# Of the project of conftest.py, whose class cannot be imported from here.
Project = Any
Damage = Callable[[Project], object]
Command = Callable[..., Any]


def values(kind: str, column: str, rows: dict[int, Any]) -> Damage:
    """Write other values into some rows of a column."""

    def damage(project: Project) -> None:
        table = project.rows(kind)
        for row, value in rows.items():
            table[column][row] = value
        project.write(kind, table)

    return damage


def column(kind: str, name: str, content: Any) -> Damage:
    """Write a column anew, with a type of its own."""
    return lambda project: project.write(kind, project.rows(kind) | {name: content})


def more(kind: str, *rows: dict[str, Any]) -> Damage:
    """Add rows, which are like the first where nothing else is said."""

    def damage(project: Project) -> None:
        table = project.rows(kind)
        for row in rows:
            for name, content in table.items():
                content.append(row.get(name, content[0]))
        project.write(kind, table)

    return damage


def tomorrow(**columns: Any) -> Damage:
    """Write the outcomes that arrive a day later; the times are sound."""

    def damage(project: Project) -> None:
        rows = len(columns["prediction_id"])
        times = {"observed_at": [SCORED_AT + timedelta(days=1)] * rows}
        project.write("outcomes", times | columns, DAY_AFTER)

    return damage


def content(kind: str, change: Callable[[bytes], bytes], day: date = DAY) -> Damage:
    """Damage the bytes of a file."""

    def damage(project: Project) -> None:
        path = project.path(kind, day)
        path.write_bytes(change(path.read_bytes()))

    return damage


def setting(old: str, new: str) -> Damage:
    """Change the configuration."""
    return lambda project: project.configure(old, new)


def checks(**policies: str) -> Damage:
    """Set what broken rows or odd days do."""
    lines = ", ".join(f"{check}: {policy}" for check, policy in policies.items())
    return setting("windows: [1, 3]", f"windows: [1, 3]\n    checks: {{{lines}}}")


def all_of(*damages: Damage) -> Damage:
    """Do several kinds of damage."""
    return lambda project: [damage(project) for damage in damages]


def in_two_files(second: Callable[[dict[str, Any]], dict[str, Any]]) -> Damage:
    """Split the predictions into two files, the second of which is changed."""

    def damage(project: Project) -> None:
        project.configure("predictions/{day}", "predictions/{day}/*")
        rows = project.rows("predictions")
        project.write("predictions", {k: v[:20] for k, v in rows.items()}, f"{DAY}/0")
        project.write("predictions", second({k: v[20:] for k, v in rows.items()}), f"{DAY}/1")

    return damage


def without(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Leave a column out."""
    return lambda rows: {k: v for k, v in rows.items() if k != name}


def middle_zeroed(whole_file: bytes) -> bytes:
    """Overwrite the data and leave the footer, as a bad disk or a lost block does."""
    return whole_file[:4] + bytes(300) + whole_file[304:]


def message_of(project: Project, printed: str) -> str:
    """Put a word for the folder, which differs from test to test."""
    return printed.strip().replace(str(project.folder), "{folder}")


MEND = (
    "; mend the log, then rerun this day, or set checks.{} to reject: such rows are then left out "
    "and counted."
)
WRITE_AGAIN = "; write the file again, then rerun this day."
SCORES, RESULTS = "{folder}/predictions/2026-03-02.parquet", "{folder}/outcomes/2026-03-02.parquet"
LATE_RESULTS = "{folder}/outcomes/2026-03-03.parquet"


def mistyped(name: str, kind: str, found: str, wanted: str, file: str, key: str) -> str:
    """Say that a column has the wrong type."""
    return (
        f"column '{name}' of the {kind} is {found}, must be {wanted} ({file}); "
        f"correct the log, or {key} in the configuration, then rerun this day."
    )


# What is done to the logs, and what is said after "ctr 2026-03-02: ". The engine's own words,
# which change with its version, stand as <...>.
BROKEN_LOGS: dict[str, tuple[Damage, str]] = {
    "a hole in the outcomes": (
        all_of(
            setting("windows:", "settled_after: 2\n    windows:"),
            lambda p: p.path("outcomes", DAY_AFTER).rename(p.path("outcomes", "2026-03-04")),
        ),
        (
            f"no outcomes of 2026-03-03 at {LATE_RESULTS}; wait for the log (a day without "
            "outcomes needs an empty file), or correct outcomes.path in the configuration."
        ),
    ),
    "a prediction without id": (
        values("predictions", "prediction_id", {3: None}),
        "1 of 40 predictions have no id, first 0.09523809523809523 (id null)"
        + MEND.format("prediction_id_missing"),
    ),
    "an outcome without id": (
        values("outcomes", "prediction_id", {3: None, 9: None}),
        "2 of 40 outcomes have no id, id null" + MEND.format("outcome_id_missing"),
    ),
    "an id twice, both without outcome, in two segments": (
        more("predictions", {"prediction_id": 299}, {"prediction_id": 299, "country": "FR"}),
        "2 of 42 predictions share their id with another, first id 299, 2 times"
        + MEND.format("prediction_repeated"),
    ),
    "an id twice, once without score": (
        all_of(
            checks(score_missing="reject"),
            more("predictions", {"prediction_id": 299}, {"prediction_id": 299, "score": None}),
        ),
        "2 of 42 predictions share their id with another, first id 299, 2 times"
        + MEND.format("prediction_repeated"),
    ),
    "an outcome today and another tomorrow": (
        tomorrow(prediction_id=[203, 204], outcome=[1, 1]),
        "2 of 42 outcomes contradict another, first id 204, which has 0 and 1"
        + MEND.format("outcome_conflicting"),
    ),
    "an outcome told twice, once as null": (
        more("outcomes", {"prediction_id": 203, "outcome": None}),
        "2 of 41 outcomes contradict another, first id 203, which has 1 and null"
        + MEND.format("outcome_conflicting"),
    ),
    "an outcome long before our era": (
        values("outcomes", "observed_at", {4: -200_000_000_000_000_000}),
        "1 of 40 outcomes precede their prediction, first 4369-04-02 (BC) 04:26:40+00 (id 204)"
        + MEND.format("outcome_early"),
    ),
    "fractions in a later partition than the integers": (
        all_of(
            more("predictions", {"prediction_id": 299}),
            tomorrow(prediction_id=[299], outcome=[0.4]),
        ),
        "1 of 41 outcomes are neither 0 nor 1, first 0.4 (id 299)" + MEND.format("outcome_invalid"),
    ),
    "a two in a later partition than the booleans": (
        all_of(
            column("outcomes", "outcome", [True, False] * 20),
            more("predictions", {"prediction_id": 299}),
            tomorrow(prediction_id=[299], outcome=[2]),
        ),
        "1 of 41 outcomes are neither 0 nor 1, first 2 (id 299)" + MEND.format("outcome_invalid"),
    ),
    "a column that the second file lacks": (
        in_two_files(without("score")),
        (
            "the predictions have no column 'score', only prediction_id, country, scored_at "
            "({folder}/predictions/2026-03-02/1.parquet); did you mean 'scored_at'? "
            "correct predictions.score in the configuration, or the log."
        ),
    ),
    "ids of two types in two files": (
        in_two_files(lambda rows: rows | {"prediction_id": list(map(str, rows["prediction_id"]))}),
        mistyped(
            "prediction_id",
            "predictions",
            "VARCHAR",
            "BIGINT, as in predictions",
            "{folder}/predictions/2026-03-02/1.parquet",
            "predictions.id",
        ),
    ),
    "ids of another type in a later partition": (
        tomorrow(prediction_id=["203"], outcome=[1]),
        mistyped(
            "prediction_id",
            "outcomes",
            "VARCHAR",
            "BIGINT, as in predictions",
            LATE_RESULTS,
            "outcomes.id",
        ),
    ),
    "ids that are fractions": (
        column("predictions", "prediction_id", np.arange(40.0)),
        mistyped(
            "prediction_id",
            "predictions",
            "DOUBLE",
            "integer, string or UUID",
            SCORES,
            "predictions.id",
        ),
    ),
    "scores that are integers": (
        column("predictions", "score", [0, 1] * 20),
        mistyped("score", "predictions", "BIGINT", "floating point", SCORES, "predictions.score"),
    ),
    "outcomes that are dates": (
        column("outcomes", "outcome", [DAY] * 40),
        mistyped(
            "outcome",
            "outcomes",
            "DATE",
            "integer, boolean or floating point",
            RESULTS,
            "outcomes.outcome",
        ),
    ),
    "times that are texts": (
        column("predictions", "scored_at", [str(SCORED_AT)] * 40),
        mistyped("scored_at", "predictions", "VARCHAR", "a timestamp", SCORES, "predictions.time"),
    ),
    "a zone in the outcomes only": (
        column("predictions", "scored_at", [SCORED_AT.replace(tzinfo=None)] * 40),
        mistyped(
            "observed_at",
            "outcomes",
            "TIMESTAMP WITH TIME ZONE",
            "a timestamp without time zone, as in predictions",
            RESULTS,
            "outcomes.time",
        ),
    ),
    "garbage": (
        content("predictions", lambda _: b"\x00 this is no Parquet \xff" * 9),
        f"{SCORES} cannot be read as Parquet (<...>)" + WRITE_AGAIN,
    ),
    "a page of zeros": (
        content("predictions", middle_zeroed),
        f"{SCORES} cannot be read as Parquet (<...>)" + WRITE_AGAIN,
    ),
    "a later partition that is cut off": (
        content("outcomes", lambda whole_file: whole_file[:-1], DAY_AFTER),
        f"{LATE_RESULTS} cannot be read as Parquet (<...>)" + WRITE_AGAIN,
    ),
    "a name of a column that is not UTF-8": (
        content("outcomes", lambda whole_file: whole_file.replace(b"outcome", b"outc\xffme")),
        f"{RESULTS} cannot be read as Parquet (<...>)" + WRITE_AGAIN,
    ),
    "nothing but ones": (
        column("outcomes", "outcome", [1] * 40),
        (
            "all 40 outcomes are 1; look at the logs and their ids, then rerun this day, or set "
            "checks.one_class to accept if such days are normal for this model."
        ),
    ),
    "three problems at once": (
        all_of(
            values("predictions", "score", {1: None, 2: 1.5}),
            values("outcomes", "outcome", {7: 7}),
        ),
        "1 of 40 predictions have no score (null or NaN), first null (id 201)"
        + MEND.format("score_missing")
        + "\nctr 2026-03-02: 1 of 40 scores lie outside [0, 1], first 1.5 (id 202)"
        + MEND.format("score_out_of_range")
        + "\nctr 2026-03-02: 1 of 40 outcomes are neither 0 nor 1, first 7 (id 207)"
        + MEND.format("outcome_invalid"),
    ),
}


def integers(t: Tally) -> list[list[int]]:
    """Give all that is stored of a tally."""
    assert t.cells is not None
    stored = t.cells.numbers, t.cells.offset_sums, t.counts, t.positives
    return [array.tolist() for array in stored]


def matches(message: str, expected: str) -> bool:
    """Compare whole messages, with <...> for any words on one line."""
    return re.fullmatch(re.escape(expected).replace("<\\.\\.\\.>", ".+"), message) is not None


@pytest.mark.parametrize("case", BROKEN_LOGS)
def test_broken_logs(case: str, project: Project, command: Command) -> None:
    """A broken day ends with code 3 and its whole message, and the store is as before."""
    damage, expected = BROKEN_LOGS[case]
    before = project.results()
    damage(project)

    ended = command(*RUN)

    message = message_of(project, ended.err)
    assert matches(message, f"ctr 2026-03-02: {expected}"), message
    assert ended.code == 3
    assert project.results() == before


def test_any_time_zone_of_the_machine_gives_the_same_message(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real program ends with code 3 and one line, with times in UTC wherever it runs."""
    values("outcomes", "observed_at", {4: SCORED_AT - timedelta(minutes=1)})(project)
    monkeypatch.setenv("TZ", "Asia/Tokyo")

    ended = subprocess.run([*PROGRAM, *map(str, RUN)], capture_output=True, text=True, check=False)

    assert ended.stderr == (
        "ctr 2026-03-02: 1 of 40 outcomes precede their prediction, "
        "first 2026-03-01 23:59:00+00 (id 204)" + MEND.format("outcome_early") + "\n"
    )
    assert ended.returncode == 3


def test_a_day_that_is_not_over_is_refused(project: Project, command: Command) -> None:
    """Outcomes that are still being written are not read, and the message says so."""
    before = project.results()

    ended = command(*RUN, "--as-of", DAY)

    assert ended.err == (
        "ctr 2026-03-02: as of 2026-03-02 the outcomes of 2026-03-02 are still being written; "
        "rerun this day once it is over, or give a later --as-of.\n"
    )
    assert ended.code == 3
    assert project.results() == before


ROW_CHECKS = (
    "prediction_id_missing",
    "prediction_repeated",
    "score_missing",
    "score_out_of_range",
    "outcome_id_missing",
    "outcome_invalid",
    "outcome_conflicting",
    "outcome_early",
    "outcome_orphan",
)


def test_all_that_can_be_rejected(project: Project, command: Command) -> None:
    """With `reject` broken rows are counted by check, and the clean rows alone are tallied."""
    checks(**dict.fromkeys(ROW_CHECKS, "reject"))(project)
    predictions, outcomes = project.rows("predictions"), project.rows("outcomes")
    scores, happened = np.array(predictions["score"]), np.array(outcomes["outcome"])
    segments = np.array([c if c in {"DE", "FR"} else "other" for c in predictions["country"]])
    predictions["prediction_id"][0] = None
    predictions["score"][1:5] = [nan, None, 1.7, -0.1]
    predictions["prediction_id"][5] = predictions["prediction_id"][6]
    outcomes["outcome"][7] = 2
    outcomes["observed_at"][8] = SCORED_AT - timedelta(days=1)
    for identity, outcome in ((209, 1), (209, 0), (None, 1), (999, 1)):
        outcomes["prediction_id"].append(identity)
        outcomes["outcome"].append(outcome)
        outcomes["observed_at"].append(SCORED_AT)
    project.write("predictions", predictions)
    project.write("outcomes", outcomes)

    ended = command(*RUN)

    assert ended.code == 0
    summary, _ = Store(str(project.folder / "store")).read_summary("ctr", DAY)
    assert summary.rejected == {
        "prediction_id_missing": 1,
        "prediction_repeated": 2,
        "score_missing": 2,
        "score_out_of_range": 2,
        "outcome_id_missing": 1,
        "outcome_invalid": 1,
        "outcome_conflicting": 3,
        "outcome_early": 1,
        "outcome_orphan": 3,  # 999, and those of 200 and 205, whose predictions lost these ids
    }
    for name, part in summary.segments.items():
        clean = (segments == name) & (np.arange(40) >= 10)
        assert part.predicted == np.sum((segments == name) & (np.arange(40) >= 7))
        assert integers(part.tally) == integers(tally_on_grid(scores[clean], happened[clean]))


def test_an_empty_day_can_be_accepted(project: Project, command: Command) -> None:
    """With `accept` a day without predictions is stored as such, and judged without numbers."""
    checks(empty_day="accept")(project)
    project.write("predictions", pq.read_table(project.path("predictions")).slice(0, 0))
    project.write("outcomes", pq.read_table(project.path("outcomes")).slice(0, 0))

    ended = command(*RUN)

    assert ended.code == 0
    evaluations, _ = Store(str(project.folder / "store")).read_evaluations("ctr", DAY)
    assert [(e.predicted, e.matched, e.raw) for e in evaluations if e.window_days == 1] == [
        (0, 0, None)
    ] * 4


# What is changed in the configuration, and what is said of it after "monitor.yaml".
BROKEN_CONFIGURATIONS: dict[str, tuple[Damage, str]] = {
    "no YAML": (
        setting("{column: country, values: [DE, FR]}", "{column: country, values: [DE, FR}"),
        ", line 6, column 48: is not YAML: <...>; mend it, then run again.",
    ),
    "one key twice": (
        setting("models:", "store: elsewhere\nmodels:"),
        ", line 2, column 1: is not YAML: the key 'store' stands twice; mend it, then run again.",
    ),
    "a day that does not exist": (
        setting("store: store", "store: 2026-02-30"),
        (
            ", line 1, column 8: is not YAML: cannot be read as timestamp: <...>; "
            "mend it, then run again."
        ),
    ),
    "an alias of nothing": (
        setting("store: store", "store: *store"),
        ", line 1, column 8: is not YAML: found undefined alias 'store'; mend it, then run again.",
    ),
    "no keys": (
        lambda p: (p.folder / "monitor.yaml").write_text("store, models"),
        ": must hold the keys store and models, got 'store, models'; see monitor.example.yaml.",
    ),
    "another encoding": (
        lambda p: (p.folder / "monitor.yaml").write_bytes("store: Läden".encode("latin-1")),
        ": is not UTF-8 text (<...>); save it as UTF-8, then run again.",
    ),
    "missing keys": (
        lambda p: (p.folder / "monitor.yaml").write_text("models: {ctr: {owner: me}}"),
        (
            ": store: is missing; add it (see monitor.example.yaml).\n"
            "monitor.yaml: models.ctr.predictions: is missing; add it (see monitor.example.yaml).\n"
            "monitor.yaml: models.ctr.outcomes: is missing; add it (see monitor.example.yaml)."
        ),
    ),
    "mistyped keys everywhere": (
        all_of(
            setting("store: store", "store: store\nengin: {threads: 2}"),
            setting("time: scored_at", "scored: score"),
            setting("windows", "owned: x\n    checks: {score_lost: fail, xyz: 1}\n    windows"),
        ),
        (
            ": models.ctr.predictions.scored: is not a known key; did you mean 'score'?\n"
            "monitor.yaml: models.ctr.checks.score_lost: is not a known key; "
            "did you mean 'score_missing'?\n"
            "monitor.yaml: models.ctr.checks.xyz: is not a known key; remove it.\n"
            "monitor.yaml: models.ctr.owned: is not a known key; did you mean 'owner'?\n"
            "monitor.yaml: engin: is not a known key; did you mean 'engine'?"
        ),
    ),
    "wrong values everywhere": (
        setting(
            "[1, 3]", "[]\n    time_zone: Mars/Olympus\n    settled_after: soon\n    alpha: .nan"
        ),
        (
            ": models.ctr.time_zone: must be a name of the time zone database, like UTC or "
            "America/New_York, got 'Mars/Olympus'; correct the value.\n"
            "monitor.yaml: models.ctr.settled_after: Input should be a valid integer, got 'soon'; "
            "correct the value.\n"
            "monitor.yaml: models.ctr.windows: must rise and begin with 1, like [1, 7, 28], got []"
            "; correct the value.\n"
            "monitor.yaml: models.ctr.alpha: Input should be less than 1, got nan; correct the "
            "value."
        ),
    ),
    "a name with a blank": (
        setting("[DE, FR]", "[DE, New York]"),
        (
            ": models.ctr.segments.values.1: must be a letter or digit, then at most 62 of these "
            "or _ . -, got 'New York'; correct the value."
        ),
    ),
    "no value listed": (
        setting("[DE, FR]", "[]"),
        ": models.ctr.segments.values: must not be empty, got []; correct the value.",
    ),
    "a value in place of keys": (
        setting("{column: country, values: [DE, FR]}", "country"),
        (
            ": models.ctr.segments: must hold keys of its own (see monitor.example.yaml), "
            "got 'country'; correct the value."
        ),
    ),
    "no store": (
        setting("store: store", "store: ''"),
        ": store: must be a path, or a URL like s3://bucket/prefix, got ''; correct the value.",
    ),
    "a template without the day": (
        setting("outcomes/{day}", "outcomes/{day:%Y-%m}"),
        (
            ": models.ctr.outcomes.path: must name year, month and day, as {day} (2001-02-03) or "
            "like {day:%Y/%m/%d}, got 'outcomes/{day:%Y-%m}.parquet'; correct the value."
        ),
    ),
    "a template with another placeholder": (
        setting("outcomes/{day}", "outcomes/{day}/{model}"),
        (
            ": models.ctr.outcomes.path: has a placeholder other than {day} or one like "
            "{day:%Y/%m/%d}, made of %Y, %y, %m, %d, %j, got 'outcomes/{day}/{model}.parquet'; "
            "correct the value."
        ),
    ),
    "a template of days without zeros": (
        setting("outcomes/{day}", "outcomes/{day:%Y-%-m-%-d}"),
        (
            ": models.ctr.outcomes.path: has a placeholder other than {day} or one like "
            "{day:%Y/%m/%d}, made of %Y, %y, %m, %d, %j, got 'outcomes/{day:%Y-%-m-%-d}.parquet'; "
            "correct the value."
        ),
    ),
    "a template with an open brace": (
        setting("outcomes/{day}", "outcomes/{day"),
        (
            ": models.ctr.outcomes.path: has a brace too many or too few (<...>); write a literal "
            "brace twice, got 'outcomes/{day.parquet'; correct the value."
        ),
    ),
}


@pytest.mark.parametrize("case", BROKEN_CONFIGURATIONS)
def test_broken_configurations(case: str, project: Project, command: Command) -> None:
    """A broken configuration ends with code 2 and a line for each mistake; nothing is written."""
    damage, expected = BROKEN_CONFIGURATIONS[case]
    before = project.results()
    damage(project)

    ended = command(*RUN)

    message = message_of(project, ended.err)
    assert matches(message, f"monitor.yaml{expected}"), message
    assert ended.code == 2
    assert project.results() == before


@pytest.mark.parametrize("place", ["store: store", '"predictions/', '"outcomes/'])
def test_an_unknown_kind_of_url_is_a_mistake_of_the_configuration(
    place: str, project: Project, command: Command
) -> None:
    """A URL scheme that nobody knows ends with code 2, and names the URL and what is possible."""
    before = project.results()
    project.configure(place, place.replace("store: ", "store: s9://").replace('"', '"s9://'))

    ended = command("run", "--day", DAY)

    assert re.fullmatch(
        r"s9://\S+: Protocol not known: s9; use a local path or s3://bucket/prefix\.\n", ended.err
    )
    assert ended.code == 2
    assert project.results() == before


def test_a_mistyped_key_in_a_real_program(project: Project) -> None:
    """A real program ends with code 2, prints its one line and no traceback."""
    project.configure("windows", "windoes")

    ended = subprocess.run([*PROGRAM, *map(str, RUN)], capture_output=True, text=True, check=False)

    assert ended.stdout == ""
    assert ended.stderr == (
        "monitor.yaml: models.ctr.windoes: is not a known key; did you mean 'windows'?\n"
    )
    assert ended.returncode == 2


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ("run", "--day", "yesterday"),
            "Error: Invalid value for '--day': <...>'yesterday' does not match<...>'%Y-%m-%d'.",
        ),
        (
            ("show", "--model", "ctr", "--window", 7),
            "--window 7 is not configured; choose one of 1, 3.",
        ),
        (
            ("run", "--config", "."),
            (
                ".: cannot be read ([Errno 21] Is a directory: '.'); name an existing file with "
                "--config."
            ),
        ),
    ],
)
def test_wrong_calls(
    arguments: tuple[object, ...], expected: str, project: Project, command: Command
) -> None:
    """A wrong call ends with code 2; the last line says what was given and what is possible."""
    before = project.results()

    ended = command(*arguments)

    last = ended.err.strip().splitlines()[-1]
    assert matches(last, expected), last
    assert ended.code == 2
    assert project.results() == before


def test_a_store_that_is_a_file(project: Project, command: Command) -> None:
    """A file in the place of the store ends with code 2, names the path, and stays as it is."""
    (project.folder / "store").rename(project.folder / "kept")
    (project.folder / "store").write_text("in the way")

    ended = command(*RUN)

    message = message_of(project, ended.err)
    assert matches(
        message,
        "store: {folder}/store is a file; name a folder for the store in the configuration.",
    ), message
    assert ended.code == 2
    assert (project.folder / "store").read_text() == "in the way"


def test_a_damaged_summary_of_another_day(project: Project, command: Command) -> None:
    """A window that needs a damaged summary is not judged; its evaluation is as before."""
    before = project.results()
    damaged = project.folder / "store/summaries/ctr/2026-03-01.parquet"
    damaged.write_bytes(damaged.read_bytes()[:100])
    damage_done = project.results()

    ended = command(*RUN)

    message = message_of(project, ended.err)
    assert matches(
        message,
        "{folder}/store/summaries/ctr/2026-03-01.parquet: is not a readable file of this store "
        "(<...>); delete it, then run its day again.",
    ), message
    assert ended.code == 3
    assert project.results() == damage_done
    assert command("run", "--day", "2026-03-01").code == 0
    assert project.results() == before


# The project is written anew for each example, so that one may serve them all.
FUZZ = settings(
    deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
FILES = (("predictions", DAY), ("outcomes", DAY), ("outcomes", DAY_AFTER))
EDITS = st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=9)


@FUZZ
@given(
    file=st.sampled_from(FILES), edits=EDITS, at_the_end=st.booleans(), cut=st.integers(0, 1 << 16)
)
def test_damaged_files_are_read_or_refused(
    file: tuple[str, date],
    edits: list[tuple[int, int]],
    at_the_end: bool,  # noqa: FBT001 - hypothesis passes it by name
    cut: int,
    project: Project,
    command: Command,
) -> None:
    """Whatever bytes a log loses or gets, it is accepted or ends with code 3, never otherwise."""
    path = project.path(*file)
    sound = path.read_bytes()
    damaged = bytearray(sound)
    first = len(sound) - 700 if at_the_end else 0  # the footer is where most can go wrong
    for place, byte in edits:
        damaged[first + place % (len(sound) - first)] = byte
    path.write_bytes(damaged[: cut % 64 * len(sound) // 32 + 1])

    ended = command("check", "--day", DAY)

    path.write_bytes(sound)
    refused = all(line.startswith("ctr 2026-03-02: ") for line in ended.err.splitlines())
    assert (ended.code, bool(ended.err)) in {(0, False), (3, True)}
    assert refused, ended.err


@FUZZ
@given(file=st.sampled_from(FILES), noise=st.binary(max_size=300))
@example(file=FILES[0], noise=b"PAR1PAR1")
def test_noise_is_refused(
    file: tuple[str, date], noise: bytes, project: Project, command: Command
) -> None:
    """A file of random bytes ends with code 3 and one line that names it."""
    path = project.path(*file)
    sound = path.read_bytes()
    path.write_bytes(noise)

    ended = command("check", "--day", DAY)

    path.write_bytes(sound)
    assert matches(
        ended.err, f"ctr 2026-03-02: {path} cannot be read as Parquet (<...>){WRITE_AGAIN}\n"
    )
    assert ended.code == 3


KEYS = st.sampled_from(
    ["store", "engine", "threads", "memory_mb", "models", "ctr", "predictions", "outcomes", "path",
     "id", "score", "time", "segments", "column", "values", "severity", "time_zone", "<<",
     "settled_after", "windows", "alpha", "null_replicates", "checks", "empty_day"]
)  # fmt: skip
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.dates(),
    st.text(max_size=6),
    st.sampled_from(
        ["{day}", "{day", "{day:%Q}", "{day.year}", "{0}", "a::b{day}", "~/{day}", "s9://{day}",
         "memory://{day}", "*{day}[", "UTC", "..", "reject", "accept", "\0", "DE", "{day:%Y/%j}"]
    ),
)  # fmt: skip
TREES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(KEYS, SCALARS), inner, max_size=4)
    ),
    max_leaves=8,
)


def grafted(tree: Any, place: int, graft: Any) -> Any:
    """Replace one branch of a configuration, counted from the root."""
    branches = [(tree, key) for key in tree]
    for node, key in branches:
        if isinstance(node[key], dict):
            branches += [(node[key], inner) for inner in node[key]]
    node, key = branches[place % len(branches)]
    node[key] = graft
    return tree


@FUZZ
@given(place=st.integers(0, 99), graft=TREES)
@example(place=0, graft="{folder}")
def test_grafted_configurations_are_accepted_or_refused(
    place: int, graft: Any, project: Project, command: Command
) -> None:
    """Whatever stands in any place of the configuration, the exit code is 0, 2 or 3, never 1."""
    config = project.folder / "monitor.yaml"
    sound = config.read_text()
    config.write_text(yaml.safe_dump(grafted(yaml.safe_load(sound), place, graft)))

    ended = command("check", "--day", DAY)

    config.write_text(sound)
    assert (ended.code, bool(ended.err)) in {(0, False), (2, True), (3, True)}, ended.err


@FUZZ
@given(noise=st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)))
@example(noise=b"a: !!bool perhaps")
@example(noise=b"a: !!map b")
@example(noise=b"a: !!set [b]")
@example(noise=b"a: !!timestamp b")
@example(noise=b"a: 0x_")
@example(noise=b"a: " + 5_000 * b"9")
@example(noise=5_000 * b"[")
@example(noise=5_000 * b"a: {")
@example(noise=b"&a {store: *a, models: *a}")
@example(noise=b"? [a]\n: b")
@example(noise=b'a: "\\UFFFFFFFF"')
@example(noise=b"%YAML 9.9\n---\n")
def test_noise_is_no_configuration(noise: bytes, project: Project, command: Command) -> None:
    """Whatever text stands in place of the configuration, the exit code is 2."""
    (project.folder / "monitor.yaml").write_bytes(noise)

    ended = command("check", "--day", DAY)

    assert ended.code == 2
    assert ended.err.startswith("monitor.yaml")
