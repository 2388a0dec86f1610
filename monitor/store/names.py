"""The names of the files of a store: of which kind, model and day they are. Pure.

Rule: what is counted of logs is Parquet, which other programs read as it is. What is worked out of
that is a stream of Arrow, compressed with Zstandard: hundreds of columns of a few rows take a fifth
of the bytes there, and a tenth of the time.
"""

from datetime import date

OF_LOGS = "summaries", "columns", "entities"  # which are made of the logs of a day
BACKFILLED = *OF_LOGS, "mapped"  # what a run makes that reads logs, each with its summary
WORKED_OUT = "arrivals", "evaluations", "verdicts", "revisions"
DAILY = *BACKFILLED, *WORKED_OUT  # what rests on others comes after them
KINDS = *DAILY, "runs"  # whose files `compact` writes as months
PARQUET, ARROW, JSON = ".parquet", ".arrows.zst", ".json"
ENDINGS = {"runs": JSON, **dict.fromkeys(WORKED_OUT, ARROW)}


def day_file(kind: str, model: str, day: object) -> str:
    """Name the file of a day, or a record of runs.

    Examples
    --------
    >>> day_file("summaries", "ctr", date(2026, 3, 1))
    'summaries/ctr/2026-03-01.parquet'
    >>> day_file("verdicts", "ctr", "2026-03-01"), day_file("runs", "ctr", "last")
    ('verdicts/ctr/2026-03-01.arrows.zst', 'runs/ctr/last.json')
    """
    return f"{kind}/{model}/{day}{ENDINGS.get(kind, PARQUET)}"


def name_before(name: str) -> str | None:
    """Give the name that a file had when all tables were Parquet; None if it has it still.

    Examples
    --------
    >>> name_before("verdicts/ctr/2026-03-01.arrows.zst")
    'verdicts/ctr/2026-03-01.parquet'
    """
    return f"{stem(name)}{PARQUET}" if name.endswith(ARROW) else None


def stem(name: str) -> str:
    """Take the ending from the name of a file.

    Examples
    --------
    >>> stem("2026-03-01.arrows.zst"), stem("2026-03.01-31.parquet"), stem("last.json")
    ('2026-03-01', '2026-03.01-31', 'last')
    """
    for ending in (PARQUET, ARROW, JSON):
        if name.endswith(ending):
            return name.removesuffix(ending)
    return name


def day_of(name: str) -> date | None:
    """Take the day from the name of a file of results or of a record; None if it is another.

    Examples
    --------
    >>> print(day_of("verdicts/ctr/2026-03-01.arrows.zst"), day_of("runs/ctr/last.json"))
    2026-03-01 None
    """
    file = name.rpartition("/")[2]
    day = stem(file)
    if day == file or [len(part) for part in day.split("-")] != [4, 2, 2]:
        return None
    try:
        return date.fromisoformat(day)
    except ValueError:
        return None
