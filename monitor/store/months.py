"""The files of the days of a month as one file: its name says which days, its table has them. Pure.

The content of each day is kept as it was, with its own digest, so what is read is what was written.
"""

import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import pairwise

import pyarrow as pa

MONTH = re.compile(r"(\d{4})-(\d\d)\.(\d\d(?:[-,]\d\d)*)\.parquet")


def month_name(days: Sequence[date]) -> str:
    """Name the file of some days of a month, which are given rising.

    Examples
    --------
    >>> month_name([date(2026, 3, 1), date(2026, 3, 2), date(2026, 3, 4)])
    '2026-03.01-02,04.parquet'
    """
    spans = [
        f"{first:%d}" if first == last else f"{first:%d}-{last:%d}"
        for first, last in spans_of(days)
    ]
    return f"{days[0]:%Y-%m}.{','.join(spans)}.parquet"


def spans_of(days: Sequence[date]) -> list[tuple[date, date]]:
    """Give first and last day of each run of days without a gap; days are given rising.

    Examples
    --------
    >>> [(f"{a}", f"{b}") for a, b in spans_of([date(2026, 3, 1), date(2026, 3, 2)])]
    [('2026-03-01', '2026-03-02')]
    """
    gaps = [(before, after) for before, after in pairwise(days) if (after - before).days > 1]
    begins = [days[0], *(after for _, after in gaps)]
    return list(zip(begins, [*(before for before, _ in gaps), days[-1]], strict=True))


def days_of_month(name: str) -> list[date]:
    """Give the days that the name of a file says it holds, rising; none if it is no such name.

    Examples
    --------
    >>> [f"{day}" for day in days_of_month("2026-03.01-02,04.parquet")]
    ['2026-03-01', '2026-03-02', '2026-03-04']
    >>> days_of_month("2026-03-01.parquet")
    []
    """
    match = MONTH.fullmatch(name)
    if not match:
        return []
    year, month = int(match[1]), int(match[2])
    if not (year and 1 <= month <= 12):  # noqa: PLR2004 - of a year
        return []
    spans = [[int(end) for end in span.split("-")] for span in match[3].split(",")]
    numbers = [day for span in spans for day in range(span[0], span[-1] + 1)]
    if not numbers or min(numbers) < 1 or max(numbers) > monthrange(year, month)[1]:
        return []
    days = sorted({date(year, month, day) for day in numbers})
    return days if month_name(days) == name else []


def month_table(contents: Mapping[date, bytes]) -> pa.Table:
    """Lay the contents of the files of some days out, a row for each."""
    days = sorted(contents)
    columns = {
        "day": pa.array(days, pa.date32()),
        "content": pa.array([contents[day] for day in days], pa.binary()),
    }
    return pa.table(columns)


def contents_of(days: Sequence[date], table: pa.Table) -> dict[date, bytes]:
    """Read the contents back.

    Raises
    ------
    ValueError, LookupError
        If the table is not that of these days.
    """
    if table["day"].to_pylist() != [*days]:
        msg = "it is of other days than its name"
        raise ValueError(msg)
    return {row["day"]: row["content"] for row in table.to_pylist()}
