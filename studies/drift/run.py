"""How often the verdict is wrong, and how fast it is right, beside the usual rules.

    python -m studies.drift.run [--list] [--only NAME ...] [--streams 40]
                                [--drift-streams 40] [--workers 1] [--write]

The worlds are those of `studies/drift/scenarios.py`; `--list` names them. A stream-year takes
0.2 s, a second where the usual rules watch too, and alerts are counted alike
(`studies/drift/rules.py`). Each result is appended to a file at once, under a key that changes with
the program, so a run may be interrupted and taken up again. With --write the tables go into
docs/drift-simulations.md.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from studies.drift.layout import PAGE, replace_section
from studies.drift.page import markdown, missed
from studies.drift.scenarios import SCENARIOS
from studies.drift.watch import Task, tasks, watch

ROOT = Path(__file__).parents[2]
BEGIN, END = "<!-- operating characteristics: studies/drift/run.py -->", "<!-- end -->"
DECISIVE = (
    "studies/drift/watch.py",
    "studies/drift/rules.py",
    "studies/drift/worlds.py",
    "studies/drift/shapes.py",
    "studies/drift/parts.py",
    "studies/drift/rough.py",
    "studies/drift/scenario.py",
    "studies/drift/scenarios.py",
    "monitor/drift/curve/fitting.py",
    "monitor/drift/records/day_evidence.py",
    "monitor/drift/incidents/detecting.py",
    "monitor/drift/records/detector.py",
    "monitor/drift/evidence/directions.py",
    "monitor/drift/evidence/history.py",
    "monitor/drift/curve/reference.py",
    "monitor/drift/curve/variance.py",
    "monitor/metrics/core/coarse.py",
    "monitor/metrics/logistic/conditional.py",
)


def fingerprint() -> str:
    """Tell this state of the method from others."""
    return sha256(b"".join((ROOT / name).read_bytes() for name in DECISIVE)).hexdigest()[:12]


def remembered(path: Path, state: str) -> dict[Task, dict[str, Any]]:
    """Read the results that this state of the method has given so far."""
    lines = path.read_text().splitlines() if path.exists() else []
    entries = [json.loads(line) for line in lines]
    return {Task(**e["task"]): e["result"] for e in entries if e["state"] == state}


def run(wanted: Sequence[Task], path: Path, state: str, workers: int) -> None:
    """Watch the streams that are missing, appending each result to the file."""
    results = remembered(path, state)
    missing = [task for task in wanted if task not in results]
    print(f"{len(wanted) - len(missing)} of {len(wanted)} streams are known in {path}", flush=True)
    with path.open("a", buffering=1) as file, ProcessPoolExecutor(workers) as processes:
        for done, (task, result) in enumerate(
            zip(missing, processes.map(watch, missing, chunksize=4), strict=True), 1
        ):
            entry = {"state": state, "task": asdict(task), "result": result}
            file.write(json.dumps(entry) + "\n")
            if done % 50 == 0 or done == len(missing):
                print(f"{done} of {len(missing)}: {task.scenario}, {task.drift}", flush=True)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = sorted({*SCENARIOS, *(scenario.name for scenario in SCENARIOS.values())})
    parser.add_argument("--only", nargs="+", choices=names, default=[], metavar="NAME")
    parser.add_argument("--list", action="store_true", help="list the names and stop")
    parser.add_argument("--streams", type=int, default=40, help="sound streams of each world")
    parser.add_argument("--drift-streams", type=int, default=40, help="of each world and drift")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument(
        "--results",
        type=Path,
        default=Path(tempfile.gettempdir()) / "calibration-monitor-drift.jsonl",
        help="file of partial results",
    )
    parser.add_argument("--known", action="store_true", help="print what is known, watch no more")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name} and its picture")
    return parser.parse_args()


def main() -> None:
    """Watch, print the tables, and write them where they belong."""
    chosen = options()
    if chosen.list:
        print("\n".join(SCENARIOS))
        return
    state = fingerprint()  # of the program that watches, whatever is edited meanwhile
    wanted = list(tasks(chosen.streams, chosen.drift_streams, chosen.only))
    if not chosen.known:
        run(wanted, chosen.results, state, max(1, chosen.workers))
    known = remembered(chosen.results, state)
    results = {task: known[task] for task in wanted if task in known}
    text = markdown(results)
    print(text)
    print("\n".join(f"goal not reached: {what}" for what in missed(results)))
    if chosen.write and not chosen.only:
        PAGE.write_text(replace_section(PAGE.read_text(), text, BEGIN, END))


if __name__ == "__main__":
    main()
