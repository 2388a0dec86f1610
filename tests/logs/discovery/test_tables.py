"""The tables in which `init` keeps the rows that it looks at."""

from types import SimpleNamespace
from typing import Any

import duckdb

from monitor.logs.discovery.rows import add, has_table


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
