"""Days of the model `bids` that a test draws, counted and judged."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

from monitor.config import load_config
from monitor.logs import summarise_day
from monitor.pipeline.references import read_references
from monitor.pipeline.verdicts import judge_days
from monitor.store.store import Store


def judge_drawn_days(
    folder: Path, content: str, days: Sequence[date], write_day: Callable[[Path, date], None]
) -> Store:
    """Write configuration and days into a folder, and store their summaries and verdicts."""
    (folder / "predictions").mkdir()
    (folder / "monitor.yaml").write_text(content)
    config = load_config(folder / "monitor.yaml")
    store = Store(config.store)
    for day in days:
        write_day(folder, day)
        summary = summarise_day("bids", config.model("bids"), day, as_of=day + timedelta(days=2))
        store.write_summary(replace(summary, final=True))
    judge_days(config, "bids", read_references(config, "bids"), days[0])
    return store
