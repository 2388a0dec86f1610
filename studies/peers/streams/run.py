"""Compares PITMonitor and WATCH with this monitor on their own streams, and writes the tables.

    python studies/peers/streams/pitmonitor_worker.py PROGRAM pitmonitor.npz 40    # its environment
    python studies/peers/streams/watch_worker.py PROGRAM watch.npz 20              # its environment
    python -m studies.peers.streams.run --pitmonitor pitmonitor.npz --watch watch.npz

PITMonitor is github tristan-farran/pitmon at commit ad426c0, its environment has river, torch,
SciPy, matplotlib and sortedcontainers. WATCH is github aaronhan223/watch at commit 3b10510, its
environment has pandas, scikit-learn and SciPy. The workers take minutes, the last command one.
"""

import argparse
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import median

import numpy as np

from monitor.base.segment_names import WHOLE
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.verdict import WEEK
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import CELLS_IN_ONE, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats, Ints, locate

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "comparison.md"
MARKS = {
    "pitmonitor": (
        "<!-- own streams: studies/peers/streams/run.py -->",
        "<!-- end of own streams -->",
    ),
    "watch": ("<!-- streams of WATCH: studies/peers/streams/run.py -->", "<!-- end of WATCH -->"),
}
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
CHANGES = {  # their name, the rows that are watched, the last ones, and the first changed of them
    "own": ("its own: the outcomes given the features", 9_999, 499),
    "slope": ("scores: the outcomes follow a slope of 0.6", 5_000, 2_500),
    "prior": ("scores: **only the prior moved**, from 20 to 35 %", 5_000, 2_500),
}
RULES = {  # of WATCH, and their place among the alarms of its worker
    "WATCH, martingale of 100": 3,
    "WATCH, Shiryaev-Roberts of 10,000": 4,
}
CHANGE_HEADS = (
    "what changed",
    "program",
    "alarm before it",
    "alarm since",
    "median rows until then",
)


def day_of(number: int, scores: Floats, outcomes: Ints) -> Day:
    """Count the rows of a day."""
    cells = locate(scores)[0] // CELLS_IN_ONE
    counts = np.bincount(cells, minlength=COARSE_COUNT)
    positives = np.bincount(cells, outcomes, COARSE_COUNT).astype(np.int64)
    parts = {(WHOLE, WHOLE): Coarse(counts, positives)}
    return Day(FIRST + timedelta(number), True, KNOWN_AT, 1.0, parts)


def states(scores: Floats, outcomes: Ints, reference: int = REFERENCE) -> list[str]:
    """Judge a stream, whose first days are the reference, and give the word of each later day."""
    pairs = zip(scores.reshape(-1, ROWS), outcomes.reshape(-1, ROWS), strict=True)
    days = [day_of(number, *pair) for number, pair in enumerate(pairs)]
    verdicts = judge(
        *("study", days[reference:]),
        references=[fit_model_reference(days[:reference], LIMITS)],
        limits=LIMITS,
        recent=days[reference - WEEK : reference],
        recall={day.day: day for day in days}.get,
    )
    return [whole.state for whole, *_ in verdicts]


def first_alarm(words: Sequence[str], word: str, first_row: int) -> int:
    """Give the last row of the first day with a word, -1 without one."""
    return next(
        (first_row + ROWS * (number + 1) - 1 for number, w in enumerate(words) if w == word), -1
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
                alarms = np.array([first_alarm(w, word, ROWS * REFERENCE) for w in words])
                lines.append(row(kind, f"verdict `{word}`", alarms, start))
    return "\n".join(lines) + "\n"


def table_of_changes(path: Path) -> str:
    """Judge the streams on which WATCH was run, and write the table."""
    lines = ["| " + " | ".join(CHANGE_HEADS) + " |", "|---|---|---:|---:|---:|"]
    with np.load(path) as found:
        for key, (kind, watched, start) in CHANGES.items():
            for rule, place in RULES.items():
                lines.append(row(kind, rule, found[f"{key}_alarms"][:, place], start))
            scores, outcomes = found[f"{key}_scores"], found[f"{key}_outcomes"].astype(np.int64)
            learned = scores.shape[1] - watched
            whole = scores.shape[1] // ROWS * ROWS  # the last day is not full
            words = [
                states(s[:whole], y[:whole], learned // ROWS)
                for s, y in zip(scores, outcomes, strict=True)
            ]
            for word in WORDS:
                alarms = np.array([first_alarm(w, word, 0) for w in words])
                lines.append(row(kind, f"verdict `{word}`", alarms, start))
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the tables into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pitmonitor", type=Path, help="what pitmonitor_worker.py wrote")
    parser.add_argument("--watch", type=Path, help="what watch_worker.py wrote")
    given = vars(parser.parse_args())
    for name, write in {"pitmonitor": table, "watch": table_of_changes}.items():
        if given[name] is None:
            continue
        begin, end = MARKS[name]
        before, _, rest = PAGE.read_text().partition(begin)
        _, _, after = rest.partition(end)
        PAGE.write_text(f"{before}{begin}\n\n{write(given[name])}\n{end}{after}")


if __name__ == "__main__":
    main()
