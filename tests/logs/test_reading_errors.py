from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.base.errors import DataError
from monitor.config import Config, Model
from monitor.logs import days_of, summarise_day
from tests.conftest import DAY, Ended, Project, run_command

NESTED, TOO_DEEP = 300, 1_000


def add_nested(project: Project, depth: int, *, of_lists: bool = False) -> Path:
    """Add to the predictions a column that no setting names: structs in structs, or lists."""
    kind = pa.int64()
    for _ in range(depth):
        kind = pa.list_(kind) if of_lists else pa.struct([("a", kind)])
    rows = pa.table(project.rows("predictions"))
    project.write("predictions", rows.append_column("deep", pa.nulls(rows.num_rows, kind)))
    return project.path("predictions")


def run(project: Project, *call: object) -> Ended:
    """Run a command on the day."""
    return run_command(*call, "--config", project.folder / "monitor.yaml")


@pytest.mark.parametrize("of_lists", [False, True])
def test_a_column_that_nobody_uses_may_be_nested(project: Project, *, of_lists: bool) -> None:
    """As deeply as people nest, and deeper; the day has the bytes that it has without it."""
    project.configure("models:", "engine: {memory_mb: 300}\nmodels:")
    before = project.results()
    add_nested(project, NESTED, of_lists=of_lists)
    assert run(project, "run", "--day", DAY, "--as-of", "2026-03-10").code == 0
    assert project.results().keys() == before.keys()
    summaries = [name for name in before if "summaries" in name]
    assert {n: project.results()[n] for n in summaries} == {n: before[n] for n in summaries}


@pytest.mark.parametrize("command", [("check",), ("run", "--as-of", "2026-03-10")])
def test_a_column_that_no_library_can_read_names_its_file(
    command: tuple[str, ...], project: Project
) -> None:
    """It is an error of the data, of one line: the file, what is wrong, and what to do."""
    file = add_nested(project, TOO_DEEP)

    ended = run(project, *command, "--day", DAY)

    assert ended.code == 3
    assert ended.err == (
        f"ctr {DAY}: {file} cannot be read as Parquet (a column is nested too deeply); write the "
        f"file again, then rerun this day.\n"
    )


@pytest.mark.parametrize("depth", [NESTED, TOO_DEEP])
def test_init_looks_at_logs_with_such_columns(depth: int, project: Project) -> None:
    """It leaves out nested columns, however deep."""
    add_nested(project, depth)

    ended = run_command("init", project.folder / "predictions", project.folder / "outcomes",
                        "--out", "-")  # fmt: skip

    assert ended.code == 0, ended.err
    assert "score" in ended.out


def dated_by(folder: Path, *moments: str) -> Model:
    """Write one table of predictions, one row for each text, and configure it."""
    rows = {"scored_at": [*moments], "score": [0.5] * len(moments), "outcome": [1] * len(moments)}
    pq.write_table(pa.table(rows), folder / "all.parquet")
    model = {
        "predictions": {"path": f"{folder}/all.parquet", "day": "scored_at"},
        "outcomes": {"in_predictions": True},
    }
    return Config.model_validate({"store": f"{folder}/store", "models": {"m": model}}).model("m")


@pytest.mark.parametrize("wrong", ["20000-01-01", "infinity", "0044-01-01 (BC)", "1899-12-31"])
def test_rows_of_no_possible_day_are_refused(wrong: str, tmp_path: Path) -> None:
    """A date that Python cannot hold, or that no log can have, is an error of the data."""
    model = dated_by(tmp_path, "2026-03-01", wrong)
    with pytest.raises(DataError) as refusal:
        days_of(model, "predictions")
    assert str(refusal.value) == (
        f"1 rows of the predictions at {tmp_path}/all.parquet have no day, because column "
        f"'scored_at' is null, cannot be read as a date or time, or lies outside the years 1900 "
        f"to 2999; correct the log, or predictions.day or predictions.where in the configuration, "
        f"then rerun this day."
    )


def test_the_other_days_of_a_possible_table_are_read(tmp_path: Path) -> None:
    """The first and the last year that logs may have."""
    model = dated_by(tmp_path, "1900-01-01", "2999-12-31")
    assert days_of(model, "predictions") == [date(1900, 1, 1), date(2999, 12, 31)]
    with pytest.raises(DataError, match="all 1 outcomes are 1"):
        summarise_day("m", model, date(1900, 1, 1), as_of=date(2026, 1, 1))
