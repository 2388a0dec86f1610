"""Bad input: the message says what, where, which value and what next, and nothing is lost."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor import cli
from monitor.config import Config, load_config
from monitor.days import all_scores
from monitor.store import Store

DAY, NEXT = date(2026, 3, 2), date(2026, 3, 3)
MIDNIGHT = datetime(2026, 3, 2, tzinfo=UTC)
CONFIG = """\
store: store
models:
  ctr:
    predictions: {path: "predictions/{day}.parquet", time: scored_at}
    outcomes: {path: "outcomes/{day}.parquet", time: observed_at}
    segments: {column: country, values: [DE, FR]}
    windows: [1, 3]
    checks: {outcome_orphan: fail}
"""
Table = dict[str, list[Any]]


def predictions(rows: int = 40) -> Table:
    """Make sound predictions."""
    return {
        "prediction_id": [f"p{i:02}" for i in range(rows)],
        "score": [(i + 1) / (rows + 2) for i in range(rows)],
        "country": ["DE", "FR"] * (rows // 2),
        "scored_at": [MIDNIGHT] * rows,
    }


def outcomes(rows: int = 40) -> Table:
    """Make their outcomes; every third is positive."""
    return {
        "prediction_id": [f"p{i:02}" for i in range(rows)],
        "outcome": [int(i % 3 == 0) for i in range(rows)],
        "observed_at": [MIDNIGHT + timedelta(hours=1)] * rows,
    }


def write(folder: Path, kind: str, day: date, table: Table | pa.Table) -> None:
    """Write a partition."""
    path = folder / kind / f"{day}.parquet"
    path.parent.mkdir(exist_ok=True)
    pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), path)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lay out one sound day, done before, and an empty partition of the day after."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "monitor.yaml").write_text(CONFIG)
    write(tmp_path, "predictions", DAY, predictions())
    write(tmp_path, "outcomes", DAY, outcomes())
    nothing = {k: pa.array(v).slice(0, 0) for k, v in outcomes().items()}
    write(tmp_path, "outcomes", NEXT, pa.table(nothing))
    assert command("run", "--day", str(DAY)) == 0
    return tmp_path


def command(*arguments: str) -> int:
    """Run the command in this process and give its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["calibration-monitor", *arguments])
        with pytest.raises(SystemExit) as stop:
            cli.main()
    return int(stop.value.code or 0)


def stored(folder: Path) -> dict[str, bytes]:
    """Read every result in the store."""
    return {
        str(path): path.read_bytes()
        for kind in ("summaries", "evaluations")
        for path in sorted((folder / "store" / kind).rglob("*"))
        if path.is_file()
    }


def changed(kind: str, column: str, rows: list[int], value: Any) -> Callable[[Path], None]:
    """Damage some values of one column."""

    def damage(folder: Path) -> None:
        table = predictions() if kind == "predictions" else outcomes()
        for row in rows:
            table[column][row] = value
        write(folder, kind, DAY, table)

    return damage


def replaced(kind: str, column: str, values: list[Any] | None) -> Callable[[Path], None]:
    """Give one column other values, or leave it out."""

    def damage(folder: Path) -> None:
        table = predictions() if kind == "predictions" else outcomes()
        table.pop(column)
        if values is not None:
            table[column] = values
        write(folder, kind, DAY, table)

    return damage


def added(kind: str, **row: Any) -> Callable[[Path], None]:
    """Add one row."""

    def damage(folder: Path) -> None:
        table = predictions() if kind == "predictions" else outcomes()
        for column, values in table.items():
            values.append(row.get(column, values[0]))
        write(folder, kind, DAY, table)

    return damage


def removed(kind: str, day: date = DAY) -> Callable[[Path], None]:
    """Remove a partition."""
    return lambda folder: (folder / kind / f"{day}.parquet").unlink()


def cut(kind: str, size: int) -> Callable[[Path], None]:
    """Cut a file off."""

    def damage(folder: Path) -> None:
        path = folder / kind / f"{DAY}.parquet"
        path.write_bytes(path.read_bytes()[:size])

    return damage


def emptied(kind: str) -> Callable[[Path], None]:
    """Leave no row in a partition."""

    def damage(folder: Path) -> None:
        table = pq.read_table(folder / kind / f"{DAY}.parquet").slice(0, 0)
        write(folder, kind, DAY, table)

    return damage


def together(*damages: Callable[[Path], None]) -> Callable[[Path], None]:
    """Do more than one damage."""

    def damage(folder: Path) -> None:
        for one in damages:
            one(folder)

    return damage


def retyped(text: str, replacement: str) -> Callable[[Path], None]:
    """Change the configuration."""

    def damage(folder: Path) -> None:
        path = folder / "monitor.yaml"
        assert text in path.read_text()
        path.write_text(path.read_text().replace(text, replacement))

    return damage


MEND = (
    "; mend the log, then rerun this day, or set checks.{} to reject: such rows are then left out "
    "and counted."
)
LOOK = (
    "; look at the logs and their ids, then rerun this day, or set checks.{} to accept if such "
    "days are normal for this model."
)
AGAIN = "; write the file again, then rerun this day."
SCORES, RESULTS = "{folder}/predictions/2026-03-02.parquet", "{folder}/outcomes/2026-03-02.parquet"


def mistyped(kind: str, column: str, setting: str, found: str, wanted: str) -> str:
    """Say that a column has the wrong type."""
    place = SCORES if kind == "predictions" else RESULTS
    return (
        f"column '{column}' of the {kind} is {found}, must be {wanted} ({place}); "
        f"correct the log, or {kind}.{setting} in the configuration, then rerun this day."
    )


# What is done to the logs, and what is said of it after "ctr 2026-03-02: ".
BROKEN_LOGS: dict[str, tuple[Callable[[Path], None], str]] = {
    "no predictions": (
        removed("predictions"),
        (
            f"no predictions of 2026-03-02 at {SCORES}; there is no day at all. "
            "Wait for the log, or correct predictions.path in the configuration."
        ),
    ),
    "no outcomes": (
        removed("outcomes"),
        (
            f"no outcomes of 2026-03-02 at {RESULTS}; wait for the log (a day without outcomes needs "  # noqa: E501
            "an empty file), or correct outcomes.path in the configuration."
        ),
    ),
    "no score column": (
        replaced("predictions", "score", None),
        (
            f"the predictions have no column 'score', only prediction_id, country, scored_at "
            f"({SCORES}); did you mean 'scored_at'? correct predictions.score in the configuration, "  # noqa: E501
            "or the log."
        ),
    ),
    "no outcome column": (
        replaced("outcomes", "outcome", None),
        (
            f"the outcomes have no column 'outcome', only prediction_id, observed_at ({RESULTS}); "
            "correct outcomes.outcome in the configuration, or the log."
        ),
    ),
    "no segment column": (
        replaced("predictions", "country", None),
        (
            f"the predictions have no column 'country', only prediction_id, score, scored_at "
            f"({SCORES}); correct segments.column in the configuration, or the log."
        ),
    ),
    "score is text": (
        replaced("predictions", "score", ["0.5"] * 40),
        mistyped("predictions", "score", "score", "VARCHAR", "floating point"),
    ),
    "outcome is text": (
        replaced("outcomes", "outcome", ["1"] * 40),
        mistyped("outcomes", "outcome", "outcome", "VARCHAR", "integer, boolean or floating point"),
    ),
    "ids of two types": (
        replaced("outcomes", "prediction_id", list(range(40))),
        mistyped("outcomes", "prediction_id", "id", "BIGINT", "VARCHAR, as in predictions"),
    ),
    "time without zone": (
        replaced("outcomes", "observed_at", [MIDNIGHT.replace(tzinfo=None)] * 40),
        mistyped(
            "outcomes",
            "observed_at",
            "time",
            "TIMESTAMP",
            "a timestamp with time zone, as in predictions",
        ),
    ),
    "score is nan": (
        changed("predictions", "score", [3, 5], float("nan")),
        "2 of 40 predictions have no score (null or NaN), first nan (id p03)"
        + MEND.format("score_missing"),
    ),
    "score is null": (
        changed("predictions", "score", [3], None),
        "1 of 40 predictions have no score (null or NaN), first null (id p03)"
        + MEND.format("score_missing"),
    ),
    "score above 1": (
        changed("predictions", "score", [3, 4], 1.7),
        "2 of 40 scores lie outside [0, 1], first 1.7 (id p03)" + MEND.format("score_out_of_range"),
    ),
    "score below 0": (
        changed("predictions", "score", [3], -0.1),
        "1 of 40 scores lie outside [0, 1], first -0.1 (id p03)"
        + MEND.format("score_out_of_range"),
    ),
    "outcome is 2": (
        changed("outcomes", "outcome", [6, 9], 2),
        "2 of 40 outcomes are neither 0 nor 1, first 2 (id p06)" + MEND.format("outcome_invalid"),
    ),
    "outcome is a half": (
        replaced("outcomes", "outcome", [0.5] + [0.0, 1.0, 1.0] * 13),
        "1 of 40 outcomes are neither 0 nor 1, first 0.5 (id p00)" + MEND.format("outcome_invalid"),
    ),
    "outcome is null": (
        changed("outcomes", "outcome", [6], None),
        "1 of 40 outcomes are neither 0 nor 1, first null (id p06)"
        + MEND.format("outcome_invalid"),
    ),
    "two predictions with one id": (
        added("predictions", prediction_id="p07"),
        "2 of 41 predictions share their id with another, first id p07, 2 times"
        + MEND.format("prediction_repeated"),
    ),
    "two outcomes contradict": (
        added("outcomes", prediction_id="p01", outcome=1),
        "2 of 41 outcomes contradict another, first id p01, which has 0 and 1"
        + MEND.format("outcome_conflicting"),
    ),
    "outcome without prediction": (
        added("outcomes", prediction_id="q99", outcome=1),
        "1 of 41 outcomes have no prediction, first id q99" + MEND.format("outcome_orphan"),
    ),
    "outcome before its prediction": (
        changed("outcomes", "observed_at", [8], MIDNIGHT - timedelta(hours=2)),
        "1 of 40 outcomes precede their prediction, first 2026-03-01 22:00:00+00 (id p08)"
        + MEND.format("outcome_early"),
    ),
    "empty day": (
        together(emptied("predictions"), emptied("outcomes")),
        "the log holds no valid prediction" + LOOK.format("empty_day"),
    ),
    "no outcome matches": (
        emptied("outcomes"),
        "none of 40 predictions has an outcome" + LOOK.format("no_outcomes"),
    ),
    "one class only": (
        replaced("outcomes", "outcome", [0] * 40),
        "all 40 outcomes are 0" + LOOK.format("one_class"),
    ),
    "truncated predictions": (
        cut("predictions", 500),
        f"{SCORES} cannot be read as Parquet (Invalid Input Error: "
        f"No magic bytes found at end of file '{SCORES}')" + AGAIN,
    ),
    "truncated outcomes": (
        cut("outcomes", 500),
        f"{RESULTS} cannot be read as Parquet (Invalid Input Error: "
        f"No magic bytes found at end of file '{RESULTS}')" + AGAIN,
    ),
    "file without a byte": (
        cut("outcomes", 0),
        f"{RESULTS} cannot be read as Parquet (Invalid Input Error: "
        f"File '{RESULTS}' too small to be a Parquet file)" + AGAIN,
    ),
}


@pytest.mark.parametrize("case", BROKEN_LOGS)
def test_broken_logs(case: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A broken day ends with code 3 and its message, and the store is as before."""
    damage, message = BROKEN_LOGS[case]
    before = stored(folder)
    damage(folder)
    capsys.readouterr()

    code = command("run", "--day", str(DAY))

    assert capsys.readouterr().err.strip().replace(str(folder), "{folder}") == (
        f"ctr 2026-03-02: {message}"
    )
    assert code == 3
    assert stored(folder) == before


def test_problems_are_told_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each broken check has a line of its own, so that one look at the log mends all."""
    changed("predictions", "score", [3], 1.7)(folder)
    table = outcomes()
    table["outcome"][9] = 7
    write(folder, "outcomes", DAY, table)
    capsys.readouterr()

    assert command("run", "--day", str(DAY)) == 3
    assert [line.split(",")[0] for line in capsys.readouterr().err.splitlines()] == [
        "ctr 2026-03-02: 1 of 40 scores lie outside [0",
        "ctr 2026-03-02: 1 of 40 outcomes are neither 0 nor 1",
    ]


REJECTED: dict[str, tuple[Callable[[Path], None], int, int, int]] = {
    # check: (damage, rows rejected, predictions left, outcomes left)
    "score_missing": (changed("predictions", "score", [3, 5], float("nan")), 2, 38, 38),
    "score_out_of_range": (changed("predictions", "score", [3], 1.7), 1, 39, 39),
    "outcome_invalid": (changed("outcomes", "outcome", [6, 9], 2), 2, 40, 38),
    "outcome_early": (
        changed("outcomes", "observed_at", [8], MIDNIGHT - timedelta(hours=2)),
        1,
        40,
        39,
    ),
    "prediction_repeated": (added("predictions", prediction_id="p07"), 2, 39, 39),
    "outcome_conflicting": (added("outcomes", prediction_id="p01", outcome=1), 2, 40, 39),
    "outcome_orphan": (added("outcomes", prediction_id="q99", outcome=1), 1, 40, 40),
}


@pytest.mark.parametrize("check", REJECTED)
def test_rejected_rows_are_left_out_and_counted(check: str, folder: Path) -> None:
    """With `reject` the day is done without the broken rows, and the store says how many.

    A repeated prediction takes its outcome along, which then has no prediction any more.
    """
    damage, rejected, predicted, matched = REJECTED[check]
    retyped("{outcome_orphan: fail}", f"{{{check}: reject}}")(folder)
    damage(folder)

    code = command("run", "--day", str(DAY))

    store = Store(config(folder).store)
    evaluation = store.read_evaluations("ctr", DAY)[0][0]
    assert code == 0
    assert evaluation.rejected[check] == rejected
    assert (evaluation.predicted, evaluation.matched) == (predicted, matched)


@pytest.mark.parametrize(
    ("check", "damage", "positives"),
    [
        ("one_class", replaced("outcomes", "outcome", [0] * 40), 0),
        ("no_outcomes", emptied("outcomes"), 0),
    ],
)
def test_odd_days_can_be_accepted(
    check: str, damage: Callable[[Path], None], positives: int, folder: Path
) -> None:
    """With `accept` the day is done, without the numbers that do not exist."""
    retyped("{outcome_orphan: fail}", f"{{{check}: accept}}")(folder)
    damage(folder)

    code = command("run", "--day", str(DAY))

    evaluation = Store(config(folder).store).read_evaluations("ctr", DAY)[0][0]
    assert code == 0
    assert (evaluation.positives, evaluation.shift, evaluation.null) == (positives, None, None)
    # Without a single outcome the day stays provisional, and its scores are kept.
    assert evaluation.final == (check != "no_outcomes")
    part = Store(config(folder).store).read_summary("ctr", DAY)[0].segments["DE"]
    assert part.awaited.counts.sum() == part.predicted - part.tally.total
    assert all_scores(part)[1].sum() == part.predicted > 0


def config(folder: Path) -> Config:
    """Load the configuration."""
    return load_config(folder / "monitor.yaml")


# What is changed in the configuration, and what is said of it after "{folder}/monitor.yaml: ".
BROKEN_CONFIGURATIONS = {
    "mistyped key": (
        "windows:",
        "windoes:",
        "models.ctr.windoes: is not a known key; did you mean 'windows'?",
    ),
    "wrong value": (
        "[1, 3]",
        "[3, 1]",
        (
            "models.ctr.windows: must rise and begin with 1, like [1, 7, 28], got [3, 1]; "
            "correct the value."
        ),
    ),
    "unknown policy": (
        "orphan: fail",
        "orphan: ignore",
        (
            "models.ctr.checks.outcome_orphan: Input should be 'fail' or 'reject', got 'ignore'; "
            "correct the value."
        ),
    ),
    "reserved segment": (
        "[DE, FR]",
        "[DE, all]",
        (
            "models.ctr.segments: values must differ and must not be all or other, "
            "got {'column': 'country', 'values': ['DE', 'all']}; correct the value."
        ),
    ),
}


@pytest.mark.parametrize("case", BROKEN_CONFIGURATIONS)
def test_broken_configurations(case: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A broken configuration ends with code 2, file, key, value and rule; nothing is written."""
    text, replacement, message = BROKEN_CONFIGURATIONS[case]
    before = stored(folder)
    retyped(text, replacement)(folder)
    capsys.readouterr()

    code = command("run", "--day", str(DAY))

    assert capsys.readouterr().err.strip() == f"monitor.yaml: {message}"
    assert code == 2
    assert stored(folder) == before


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["run", "--model", "cvr"],
            2,
            "there is no model 'cvr'; the configuration has: ctr.",
        ),
        (
            ["show", "--model", "ctr", "--segment", "IT"],
            2,
            "--segment IT is not configured; choose one of all, DE, FR, other.",
        ),
        (
            ["backfill", "--model", "ctr", "--from", "2026-03-02", "--to", "2026-03-01"],
            2,
            "--from 2026-03-02 is after --to 2026-03-01; exchange them.",
        ),
        (
            ["run", "--config", "nowhere.yaml"],
            2,
            (
                "nowhere.yaml: cannot be read ([Errno 2] No such file or directory: 'nowhere.yaml'); "  # noqa: E501
                "name an existing file with --config."
            ),
        ),
        (
            ["run", "--as-of", "2026-03-02"],
            3,
            (
                "ctr: no day before 2026-03-02 has predictions at {folder}/predictions/{day}.parquet "  # noqa: E501
                "and outcomes 1 days later at {folder}/outcomes/{day}.parquet; wait for the logs, "
                "correct the paths, or name an unsettled day with --day."
            ),
        ),
    ],
)
def test_wrong_calls(
    arguments: list[str],
    code: int,
    message: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A wrong call is told what is wrong and what is possible."""
    capsys.readouterr()

    assert command(*arguments) == code
    assert capsys.readouterr().err.strip().replace(str(folder), "{folder}") == message


@pytest.mark.parametrize("kind", ["summaries", "evaluations"])
def test_a_damaged_store_names_the_file(
    kind: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A damaged result is named, with what to do about it; doing that mends it."""
    path = folder / "store" / kind / "ctr" / f"{DAY}.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    arguments = {
        "summaries": ("evaluate", "--from", str(DAY), "--to", str(DAY)),
        "evaluations": ("show", "--model", "ctr"),
    }[kind]
    capsys.readouterr()

    code = command(*arguments)
    message = capsys.readouterr().err.splitlines()[-1].replace(str(folder), "{folder}")
    path.unlink()
    command("run", "--day", str(DAY))

    assert code == 3
    assert message.startswith(f"{{folder}}/store/{kind}/ctr/{DAY}.parquet: is not a readable file")
    assert message.endswith("; delete it, then run its day again.")
    assert path.read_bytes() == whole
