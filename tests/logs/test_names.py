"""Names of columns are names: no sign in them is read as SQL, and none may be there twice."""

import json
from itertools import product
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from tests.conftest import DAY, Command, Project
from tests.support.cases import some

NAMED = ["score", "Score", "SCORE", "score_1", "Score_1"]
RUN = ("run", "--day", DAY)
ODD = ["a.b", 'a"b', "a b", "select", "a'; drop table x; --", "*", "a.b.c", "é", "filename"]


def rename(project: Project, name: str, **more: pa.Array) -> None:
    """Give the score another name, beside columns that could be mistaken for it."""
    table = pa.table(project.rows("predictions"))
    wrong = pa.array([{"b": 0.5, "c": 0.5}] * len(table))
    names = [name if column == "score" else column for column in table.column_names]
    table = table.rename_columns(names).append_column("a", wrong)
    for other, values in more.items():
        table = table.append_column(other, values)
    project.write("predictions", table)
    quoted = "'" + name.replace("'", "''") + "'"
    project.configure("time: scored_at}", f"time: scored_at, score: {quoted}}}")


@pytest.mark.parametrize("name", ODD)
def test_any_name_is_that_column(project: Project, command: Command, name: str) -> None:
    """The result is that of the plain name; the column `a` with a field `b` is another."""
    before = project.results()
    rename(project, name)

    ended = command(*RUN)

    assert ended.code == 0, ended.err
    assert project.results() == before


@pytest.mark.parametrize("twin", ["score", "Score"])
def test_two_columns_of_one_name_are_refused(project: Project, command: Command, twin: str) -> None:
    """Neither is chosen: the message names both, and nothing is stored."""
    before = project.results()
    table = pa.table(project.rows("predictions"))
    other = pa.array([0.5] * len(table))
    names = [*table.column_names, twin]
    pq.write_table(pa.table([*table.columns, other], names=names), project.path("predictions"))

    ended = command(*RUN)

    assert ended.code == 3
    assert f"the predictions have 2 columns of one name, score, {twin} (" in ended.err
    assert project.results() == before


@pytest.mark.parametrize(
    ("first", "ending", "named"),
    some(product(["score", "Score"], ["parquet", "csv", "jsonl"], NAMED), 7),
)
def test_names_that_only_case_tells_apart_are_refused(
    first: str, ending: str, named: str, project: Project, command: Command
) -> None:
    """Whatever their order and the format, also by a name that no file has."""
    other = {"score": "Score", "Score": "score"}[first]
    table = pa.table(project.rows("predictions"))
    names = [first if name == "score" else name for name in table.column_names]
    twins = pa.table([*table.columns, pa.array([0.5] * len(table))], names=[*names, other])
    path = project.folder / f"twins.{ending}"
    if ending == "parquet":
        pq.write_table(twins, path)
    elif ending == "csv":
        pyarrow.csv.write_csv(twins, path)
    else:
        path.write_text("".join(f"{json.dumps(r, default=str)}\n" for r in twins.to_pylist()))
    project.configure("predictions/{day}.parquet", f"twins.{ending}")
    project.configure("time: scored_at}", f"time: scored_at, day: scored_at, score: {named}}}")

    ended = command(*RUN)

    assert ended.code == 3
    assert "the predictions have 2 columns of one name, " in ended.err
    assert "upper and lower case do not differ; rename one in the log" in ended.err


def test_a_column_with_a_number_is_no_twin(project: Project, command: Command) -> None:
    """`score_1` beside `score` is a name that the file has."""
    before = project.results()
    table = pa.table(project.rows("predictions"))
    wrong = pa.array([0.5] * len(table))
    names = ["score_1" if name == "score" else name for name in table.column_names]
    both = pa.table([*table.columns, wrong], names=[*names, "score"])
    pq.write_table(both, project.path("predictions"))
    project.configure("time: scored_at}", "time: scored_at, score: score_1}")

    assert command(*RUN).code == 0
    assert project.results() == before


@pytest.mark.parametrize("field", ["b", "b.c", 'b"c', "b'c"])
def test_a_field_has_its_own_spelling(project: Project, command: Command, field: str) -> None:
    """{column: NAME, field: NAME} reads the field of a struct, for ids, values, times and parts."""
    before = project.results()
    table = pa.table(project.rows("predictions"))
    inner = [dict(zip((field, "x"), row, strict=True)) for row in _pairs(table, "score")]
    parts = [dict(zip((field, "x"), row, strict=True)) for row in _pairs(table, "country")]
    known = [dict(zip((field, "x"), row, strict=True)) for row in _pairs(table, "prediction_id")]
    table = table.drop_columns(["score", "country", "prediction_id"])
    for name, rows in (("a", inner), ("of", parts), ("key", known)):
        table = table.append_column(name, pa.array(rows))
    project.write("predictions", table)
    spelled = f"field: {json.dumps(field)}}}"
    project.configure(
        "time: scored_at}",
        f"time: scored_at, score: {{column: a, {spelled}, id: {{column: key, {spelled}}}",
    )
    project.configure("column: country", f"column: {{column: of, {spelled}")

    ended = command(*RUN)

    assert ended.code == 0, ended.err
    assert project.results() == before


def _pairs(table: pa.Table, column: str) -> list[tuple[Any, Any]]:
    return [(value, 0.1) for value in table[column].to_pylist()]


@pytest.mark.parametrize(
    ("spelled", "said"),
    [
        ("{column: country, field: b}", "the predictions have no column 'country (field b)', only"),
        ("{column: a, field: z}", "the predictions have no column 'a (field z)', only"),
        ("{column: a}", "must be the name of a column or, for a field of a struct, {column: NAME"),
    ],
)
def test_a_field_that_is_not_there_is_named(
    project: Project, command: Command, spelled: str, said: str
) -> None:
    """The message says which column has no such field."""
    rename(project, "score")
    project.configure("score: 'score'", f"score: {spelled}")

    ended = command(*RUN)

    assert ended.code in {2, 3}
    assert said in ended.err


@pytest.mark.parametrize(
    ("file", "row", "said"),
    [
        ("p.csv", "prediction_id,country\n1,DE\n", "(field b)', only prediction_id, country ("),
        ("p.jsonl", '{"country": "DE"}\n', "the predictions have no column 'a (field b)', only "),
        (
            "p.jsonl",
            '{"prediction_id": "1", "country": "DE", "a": 5}\n',
            "Expected OBJECT, but got",
        ),
    ],
)
def test_a_field_needs_an_object(
    project: Project, command: Command, file: str, row: str, said: str
) -> None:
    """CSV has no structs, and a value in JSON lines need not be an object: the message says so."""
    folder = project.folder / f"{DAY:%Y%m%d}"
    folder.mkdir()
    (folder / file).write_text(row)
    project.configure("predictions/{day}.parquet", f"{{day:%Y%m%d}}/{file}")
    project.configure("time: scored_at}", "score: {column: a, field: b}}")

    ended = command(*RUN)

    assert ended.code == 3
    assert said in ended.err
    assert ("CSV has no structs" in ended.err) == file.endswith("csv")
