"""A run of days that do not fit `engine.memory_mb` stays within it."""

import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pytest

from tests.support.cases import some

FIRST, DAYS, ROWS = date(2026, 3, 1), 8, 160_000
MEMORY_MB = 100
# Buffers of Parquet, tallies and evaluations, which DuckDB does not count. With 1,500 MB the same
# runs take 270 MB day by day, two at a time, and 190 MB as one batch.
BESIDE_MB = 65
CONFIG = """\
store: {store}
engine: {{threads: 2, memory_mb: {memory_mb}}}
models:
  ctr:
    predictions: {{path: "{logs}/predictions/{{day}}.parquet"}}
    outcomes: {{path: "{logs}/outcomes/{{day}}.parquet"}}
    settled_after: {wait}
    windows: [1]
"""
PROGRAM = """
import re, sys
from datetime import date, datetime, UTC
from pathlib import Path
from monitor.config import load_config
from monitor.pipeline.runs.run import run
from monitor.pipeline.days.task import Task

def status(key):
    return int(re.search(key + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024

def go(path):
    report = run(
        load_config(Path(path)),
        Task("ctr", date(2026, 3, 1), date(2026, 3, 8), date(2026, 3, 16)),
        clock=lambda: datetime.now(UTC), jobs=2,
    )
    assert len(report.summarised) == 8, report.failures

go(sys.argv[1])  # loads and compiles all that a run needs
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")  # the peak begins again
go(sys.argv[2])
print(status("VmHWM") - before)
"""


def write_logs(folder: Path, rows: int) -> None:
    """Write some days with texts as ids, whose outcomes come over as many days."""
    for kind in ("predictions", "outcomes"):
        (folder / kind).mkdir(parents=True)
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.execute(
            f"""
            create table rows as
            select md5(day::varchar || '-' || row::varchar) as prediction_id, day,
                   (hash(row * 31 + day) % 9973 + 0.5) / 9973 as score,
                   (hash(row * 17 + day) % 9973 < 9973 * score)::tinyint as outcome,
                   day + hash(row + day) % {DAYS} as seen
            from range({DAYS}) days(day), range({rows}) rows(row)
            """  # noqa: S608 - our own numbers
        )
        for place in range(2 * DAYS - 1):
            day = FIRST + timedelta(days=place)
            for kind, columns, dated in (
                ("predictions", "prediction_id, score", "day"),
                ("outcomes", "prediction_id, outcome", "seen"),
            )[place >= DAYS :]:
                connection.execute(
                    f"copy (select {columns} from rows where {dated} = {place}) "  # noqa: S608
                    f"to '{folder}/{kind}/{day}.parquet'"
                )


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write small logs, and large ones."""
    folder = tmp_path_factory.mktemp("logs")
    for name, rows in (("small", 1_000), ("large", ROWS)):
        write_logs(folder / name, rows)
    return folder


@pytest.mark.parametrize("wait", some([DAYS - 1, 0], 2))
def test_memory_stays_within_the_engine(wait: int, logs: Path, tmp_path: Path) -> None:
    """Days one by one, and a batch of days whose join takes more than twice the memory."""
    configs = [tmp_path / "small.yaml", tmp_path / "large.yaml"]
    for path in configs:
        text = CONFIG.format(
            store=tmp_path / path.stem, logs=logs / path.stem, memory_mb=MEMORY_MB, wait=wait
        )
        path.write_text(text)
    program = tmp_path / "program.py"  # with -c DuckDB would show a progress bar
    program.write_text(PROGRAM)

    ended = subprocess.run(
        [sys.executable, program, *configs], capture_output=True, text=True, check=False
    )

    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) <= MEMORY_MB + BESIDE_MB
