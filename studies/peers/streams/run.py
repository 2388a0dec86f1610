"""Compares PITMonitor with this monitor on PITMonitor's own streams, and writes the table.

    python studies/peers/streams/pitmonitor_worker.py PROGRAM pitmonitor.npz 40    # its environment
    python -m studies.peers.streams.run pitmonitor.npz

The program is github tristan-farran/pitmon at commit ad426c0, its environment has river, torch,
SciPy, matplotlib and sortedcontainers. The first command takes some minutes, the second one.
"""

import argparse
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import median

import numpy as np

from monitor.drift.inputs import Day, Limits, fit_model_reference
from monitor.drift.verdict import WEEK, judge
from monitor.metrics.core.coarse import CELLS_IN_ONE, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats, Ints, locate
from monitor.segment_names import WHOLE

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "comparison.md"
BEGIN = "<!-- own streams: studies/peers/streams/run.py -->"
END = "<!-- end of own streams -->"
FIRST, KNOWN_AT = date(2026, 1, 1), datetime(2027, 12, 31, tzinfo=UTC)
ROWS, REFERENCE = 50, 28  # in a day, days
LIMITS = Limits(false_alert_days=1000)
KINDS = {
    "gra": "global, abrupt",
    "gsg": "global, over 500 rows",
    "lea": "local, abrupt, wider in three steps",
}
WORDS = ("calibration_drift", "level_drift", "prior_shift")
HEADS = ("drift", "program", "alarm before it", "found in 2,500 rows", "median rows until then")


def day_of(number: int, scores: Floats, outcomes: Ints) -> Day:
    """Count the rows of a day."""
    cells = locate(scores)[0] // CELLS_IN_ONE
    counts = np.bincount(cells, minlength=COARSE_COUNT)
    positives = np.bincount(cells, outcomes, COARSE_COUNT).astype(np.int64)
    parts = {(WHOLE, WHOLE): Coarse(counts, positives)}
    return Day(FIRST + timedelta(number), True, KNOWN_AT, 1.0, parts)


def states(scores: Floats, outcomes: Ints) -> list[str]:
    """Judge a stream, whose first days are the reference, and give the word of each later day."""
    pairs = zip(scores.reshape(-1, ROWS), outcomes.reshape(-1, ROWS), strict=True)
    days = [day_of(number, *pair) for number, pair in enumerate(pairs)]
    verdicts = judge(
        *("study", days[REFERENCE:]),
        references=[fit_model_reference(days[:REFERENCE], LIMITS)],
        limits=LIMITS,
        recent=days[REFERENCE - WEEK : REFERENCE],
        recall={day.day: day for day in days}.get,
    )
    return [whole.state for whole, *_ in verdicts]


def first_alarm(words: Sequence[str], word: str) -> int:
    """Give the last row of the first day with a word, -1 without one."""
    return next(
        (ROWS * (REFERENCE + number + 1) - 1 for number, w in enumerate(words) if w == word), -1
    )


def row(kind: str, program: str, alarms: Ints, start: int) -> str:
    """Write a line of the table."""
    after = [int(alarm) - start + 1 for alarm in alarms if alarm >= start]
    before = int(((alarms >= 0) & (alarms < start)).sum())
    middle = f"{median(after):,.0f}" if after else "never"
    of = len(alarms)
    cells = (kind, program, f"{before} of {of}", f"{len(after)} of {of}", middle)
    return "| " + " | ".join(cells) + " |"


def table(path: Path) -> str:
    """Judge every stream, and write the table."""
    lines = ["| " + " | ".join(HEADS) + " |", "|---|---|---:|---:|---:|"]
    with np.load(path) as found:
        start = int(found["start"])
        for key, kind in KINDS.items():
            lines.append(row(kind, "PITMonitor", found[f"{key}_alarms"], start))
            scores, outcomes = found[f"{key}_scores"], found[f"{key}_outcomes"].astype(np.int64)
            words = [states(s, y) for s, y in zip(scores, outcomes, strict=True)]
            for word in WORDS:
                alarms = np.array([first_alarm(of_stream, word) for of_stream in words])
                lines.append(row(kind, f"verdict `{word}`", alarms, start))
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the table into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("answers", type=Path, help="what pitmonitor_worker.py wrote")
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    written = table(parser.parse_args().answers)
    PAGE.write_text(f"{before}{BEGIN}\n\n{written}\n{END}{after}")


if __name__ == "__main__":
    main()
