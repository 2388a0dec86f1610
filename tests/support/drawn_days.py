"""Days that a test draws, counted and judged."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

from monitor.config import Config, Engine, load_config
from monitor.logs import open_databases, summarise_day
from monitor.pipeline.verdicts.judging import judge_days
from monitor.pipeline.verdicts.references import read_references
from monitor.store.store import Store


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
