"""Values of logs, of lists and names of files in statements: whatever they are, they are values."""

import re
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import monitor
from monitor.base.sql_text import text_in_sql
from monitor.config import load_config
from monitor.logs import summarise_day
from tests.conftest import DAY, DAY_AFTER, ROWS, Project

# What ends a text, a comment or a statement somewhere, and a few letters beyond one byte.
STRANGE = [
    "\0", "a\0b", "'", "''", "\\", "\\'", "\\0", "--", "/*", ";", '"', "`", "$$", "{0}", "%s",
    "\n", "\r", "\t", "\x1a", "\x7f", "\u2028", "\ufeff", "\U0010ffff", "é", "e\u0301", " ", "",
]  # fmt: skip


def test_every_code_point_is_itself() -> None:
    """DuckDB reads back each of them between letters and a quote."""
    with duckdb.connect() as connection:
        for begin in range(0, sys.maxunicode + 1, 0x4000):
            points = [p for p in range(begin, begin + 0x4000) if not 0xD800 <= p < 0xE000]
            text = "".join(f"a{chr(point)}'b" for point in points)
            ((found,),) = connection.execute(f"SELECT {text_in_sql(text)}").fetchall()
            assert found == text


@pytest.mark.parametrize("settings", [
    "segments: [{column: country, top: 40}]",
    "segments: {column: country, values: [DE]}",
    "segments: [{column: country, top: 40}, {column: place, top: 40}, {cross: [country, place]}]",
    "segments: {column: country, values: [DE]}\n    strata: {column: place, values: [DE, FR]}",
], ids=["top", "values", "cross", "strata"])  # fmt: skip
def test_a_day_with_every_strange_value_is_read(project: Project, settings: str) -> None:
    """A day that is read alone counts each of them."""
    values = [*STRANGE, *["DE"] * (ROWS - len(STRANGE))]
    project.configure("segments: {column: country, values: [DE, FR]}", settings)
    rows = project.rows("predictions")
    project.write("predictions", {**rows, "country": values, "place": values[::-1]})
    config = load_config(project.folder / "monitor.yaml")

    summary = summarise_day("ctr", config.model("ctr"), DAY, as_of=DAY_AFTER, engine=config.engine)

    assert summary.rejected == {}
    for counted in (summary.columns or {}).values():
        assert sum(part.predicted for part in counted.values()) == ROWS
    if "top" in settings:  # an empty text is no value
        assert summary.columns
        assert {*filter(None, STRANGE)} <= {*summary.columns["country"]}


def test_classes_with_every_strange_name_are_read(project: Project) -> None:
    """The labels of a model with classes are values of a log too."""
    names = [name for name in STRANGE if name.strip() and "\0" not in name and name.isprintable()]
    rows, chosen = project.rows("predictions"), [names[i % len(names)] for i in range(ROWS)]
    vectors = [[0.5 if name == own else 0.5 / (len(names) - 1) for name in names] for own in chosen]
    project.write("predictions", {"prediction_id": rows["prediction_id"], "p": vectors})
    outcomes = {"prediction_id": rows["prediction_id"], "outcome": [*chosen[:-1], "a\0b"]}
    project.write("outcomes", pa.table(outcomes))
    listed = ", ".join('"' + n.replace("\\", "\\\\").replace('"', '\\"') + '"' for n in names)
    (project.folder / "monitor.yaml").write_text(
        'store: store\nmodels:\n  ctr:\n    predictions: {path: "predictions/{day}.parquet", '
        f"classes: {{vector: p, names: [{listed}]}}}}\n"
        '    outcomes: {path: "outcomes/{day}.parquet"}\n    checks: {reject: [outcome_invalid]}\n'
    )
    config = load_config(project.folder / "monitor.yaml")

    summary = summarise_day("ctr", config.model("ctr"), DAY, as_of=DAY_AFTER, engine=config.engine)

    assert summary.rejected == {"outcome_invalid": 1}


def test_one_function_quotes() -> None:
    """Nothing else doubles the quotes of a text."""
    doubled = re.compile(r"""replace\(("'"|'\\''), ("''"|'\\'\\'')\)""")
    root = Path(next(iter(monitor.__path__)))
    found = [path.name for path in sorted(root.rglob("*.py")) if doubled.search(path.read_text())]
    assert found == ["sql_text.py"]
