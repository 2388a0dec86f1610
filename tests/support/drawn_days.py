"""Days that a test draws, counted and judged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from monitor.config import Config, Engine, load_config
from monitor.logs import open_databases, summarise_day
from monitor.pipeline.verdicts.judging import judge_days
from monitor.pipeline.verdicts.references import read_references
from monitor.store.store import Store

FIRST = date(2026, 1, 1)


def days_of(number: int) -> list[date]:
    """List so many days."""
    return [FIRST + timedelta(days=place) for place in range(number)]


def configured(models: Mapping[str, Sequence[str]], reference: int = 14) -> str:
    """Configure models with these segments, whose predictions hold their outcomes."""
    span = f"{{first: {FIRST}, last: {days_of(reference)[-1]}}}"
    return "store: store\nmodels:\n" + "".join(
        f"""\
  {name}:
    predictions: {{path: "predictions/{{day}}.parquet"}}
    outcomes: {{in_predictions: true}}
    windows: [1]
    verdicts: {{references: [{span}]}}
"""
        + (f"    segments: {segments[0]}\n" if len(segments) == 1 else "")
        + ("    segments:\n" + "".join(f"      - {s}\n" for s in segments) if segments[1:] else "")
        for name, segments in models.items()
    )


def write_rows(folder: Path, day: date, table: Mapping[str, Any]) -> None:
    """Write the rows of a day."""
    pq.write_table(pa.table(table), folder / f"predictions/{day}.parquet")


def judge_drawn_days(
    folder: Path, content: str, days: Sequence[date], write_day: Callable[[Path, date], None]
) -> Store:
    """Write configuration and days of `bids` into a folder; store their summaries and verdicts."""
    (folder / "predictions").mkdir()
    (folder / "monitor.yaml").write_text(content)
    config = load_config(folder / "monitor.yaml")
    for day in days:
        write_day(folder, day)
    store_days(config, "bids", days)
    judge_days(config, "bids", read_references(config, "bids"), days[0])
    return Store(config.store)


def store_days(config: Config, name: str, days: Sequence[date]) -> None:
    """Store the summaries of days as final ones, with one connection, which takes 25 ms to open."""
    store, model = Store(config.store), config.model(name)
    with open_databases(Engine(threads=1, memory_mb=300)) as databases:
        for day in days:
            as_of = day + timedelta(days=2)
            found = summarise_day(name, model, day, as_of=as_of, engine=databases)
            store.write_summary(replace(found, final=True))
