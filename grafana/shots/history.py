"""The past of the flights demo, and some mornings of it, as Prometheus would know them.

Of the past there is what ``export openmetrics`` writes. On the mornings the monitor runs once more:
the days that had not come yet are taken from the store, then each morning the daily job runs and
the exporter is scraped once. Nobody kept when earlier runs were, so gauges of runs begin there.
"""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from time import monotonic

from monitor.config import load_config
from monitor.export.http.app import Exporter
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.run import run

DAY = timedelta(days=1)
MORNING = datetime(2013, 7, 10, 12, tzinfo=UTC)  # 8 o'clock in New York
MORNINGS = [MORNING - days * DAY for days in range(13, -1, -1)]
SHOWN = 90 * DAY
SETTLED_AFTER = 1  # as the demo is configured


def fill(data: Path, folder: Path) -> None:
    """Make the demo in a folder, and blocks of Prometheus of what was known of it."""
    command("demo", "--into", folder)
    configuration, past, scrapes = (folder / n for n in ("monitor.yaml", "past.om", "scrapes.om"))
    first, last = (MORNING - SHOWN - 7 * DAY).date(), newest_settled(MORNINGS[0])
    command(
        *("export", "openmetrics", "--config", configuration, "--from", first, "--to", last),
        *("--until", f"{MORNINGS[0]:%Y-%m-%dT%H:%M}", "--into", past),
    )
    for path in (folder / "store").rglob("[0-9]*-*-*.*"):
        if path.name[: len("2013-07-10")] > str(last):
            path.unlink()
    answers = [line for morning in MORNINGS for line in scraped(configuration, morning)]
    scrapes.write_text("\n".join([*answers, "# EOF", ""]))
    for file in (past, scrapes):
        blocks = ["tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=8760h"]
        subprocess.run(["promtool", *blocks, file, data], check=True, capture_output=True)


def command(*arguments: object) -> None:
    """Run the monitor."""
    program = Path(sys.executable).with_name("calibration-monitor")
    subprocess.run([program, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def newest_settled(morning: datetime) -> date:
    """Find the newest day whose outcomes are complete on a morning."""
    return (morning - (1 + SETTLED_AFTER) * DAY).date()


def scraped(configuration: Path, morning: datetime) -> Iterator[str]:
    """Run the daily job of a morning, and give what the exporter answers then, with its time."""
    config, begun = load_config(configuration), monotonic()

    def clock() -> datetime:
        return morning - timedelta(hours=2) + timedelta(seconds=monotonic() - begun)

    for model in config.models:
        first, last = newest_settled(morning), (morning - DAY).date()
        run(config, Task(model, first, last, morning.date()), clock=clock)
    for line in Exporter(configuration).text().decode().splitlines():
        if not line.startswith("#"):
            yield f"{line} {morning.timestamp():.0f}"
