"""The tables in which `init` keeps the rows that it looks at."""

from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from monitor.logs.discovery.samples.rows import add, has_table


def test_a_table_of_an_attached_database_is_another_one() -> None:
    """A table counts once it is in the database of the session, whatever else has its name."""
    with duckdb.connect() as connection:
        session: Any = SimpleNamespace(connection=connection)
        connection.execute("ATTACH ':memory:' AS drafts; CREATE TABLE drafts.seen AS SELECT 1 AS a")
        before = has_table(session, "seen")
        for number in (2, 3):
            add(session, f"SELECT {number} AS a", "seen")

        assert (before, has_table(session, "seen")) == (False, True)
        assert connection.table("seen").fetchall() == [(2,), (3,)]


def test_rows_of_other_columns_are_added() -> None:
    """A column that the table or the new rows lack is null; a query that is wrong adds nothing."""
    with duckdb.connect() as connection:
        session: Any = SimpleNamespace(connection=connection)
        for query in ("1 AS a, 2 AS b", "4 AS b, 3 AS a", "5 AS c, 6 AS b", "7 AS a"):
            add(session, f"SELECT {query}", "seen")
        with pytest.raises(duckdb.BinderException, match="nowhere"):
            add(session, "SELECT nowhere AS a", "seen")

        rows = connection.execute("SELECT a, b, c FROM seen").fetchall()

    assert sorted(rows, key=str) == sorted(
        [(1, 2, None), (3, 4, None), (None, 6, 5), (7, None, None)], key=str
    )
