"""Files of CSV without a header: which they are, and names for their columns."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from monitor.base.sql_text import text_in_sql
from monitor.logs.discovery.samples.rows import Source, ask, files_of, open_rows
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Layout, Session

NULL_TEXT = r"\N"  # of databases that unload a table
AS_LINES = (
    "header = false, all_varchar = true, quote = '\"', escape = '\"', hive_partitioning = false"
)
LOOKED_AT = 1000  # rows that show how no value is written
IS_VALUE = r"regexp_full_match(c, '-?\d*\.\d+') OR try_cast(c AS TIMESTAMP) IS NOT NULL"
IS_WHOLE = "try_cast(c AS BIGINT) IS NOT NULL"


def with_layout(session: Session, source: Source, days: Sequence[date]) -> Source:
    """Name the columns of files of CSV that have no header; others stay as they are.

    A header has neither fractions nor times. Where it has whole numbers, as of columns that have
    no names, the files of all days begin with the same.
    """
    day = days[0] if days else None
    names = files_of(source, day) if source.format == "csv" else []
    names += files_of(source, days[-1])[-1:] if names and days else []
    if not names:
        return source
    first = _first_line(session, names[0])
    cells = ", ".join(map(text_in_sql, first))
    tests = f"coalesce(bool_or({IS_VALUE}), false), coalesce(bool_or({IS_WHOLE}), false)"
    has_value, has_whole = ask(session, f"SELECT {tests} FROM (SELECT unnest([{cells}]) AS c)")
    differ = has_whole and _first_line(session, names[-1]) != first
    if not (has_value or differ):
        return source
    place = text_in_sql(names[0])
    (separator,) = ask(session, f"SELECT Delimiter FROM sniff_csv({place}, {AS_LINES})")
    columns = tuple(f"column_{number}" for number in range(1, len(first) + 1))
    laid_out = replace(source, layout=Layout(columns, separator))
    rows = open_rows(session, laid_out, day, most=LOOKED_AT, files=1)
    if rows is None:  # its only file of that day is damaged
        return source
    is_null = " OR ".join(f"{quoted(name)} = {text_in_sql(NULL_TEXT)}" for name in columns)
    ((found,),) = rows.aggregate(f"coalesce(bool_or({is_null}), false)").fetchall()
    return replace(source, layout=Layout(columns, separator, NULL_TEXT if found else None))


def _first_line(session: Session, name: str) -> list[str]:
    """Return the cells of the first line of a file."""
    query = f"SELECT * FROM read_csv({text_in_sql(name)}, {AS_LINES}) LIMIT 1"
    rows = session.connection.execute(query).fetchall()
    return [f"{cell}" for row in rows for cell in row if cell is not None]
