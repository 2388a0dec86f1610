"""Compares detectors of insurance-monitoring with this monitor on the same days; writes a table.

    python studies/peers/streams/insurance_worker.py insurance.json 10    # in its environment
    python -m studies.peers.streams.insurance insurance.json

The worker takes two minutes, this command seconds.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from monitor.drift.fold.inputs import fit_model_reference
from monitor.drift.verdicts.judge import judge
from studies.drift.layout import replace_section
from studies.peers.streams.insurance_worker import REFERENCE, SLOPE, START, WORLDS, days_of
from studies.peers.streams.run import LIMITS, PAGE, day_of

MARKS = (
    "<!-- insurance-monitoring: studies/peers/streams/insurance.py -->",
    "<!-- end of insurance-monitoring -->",
)
OURS = "verdict `calibration_drift`"
HEADS = ("the prior", "program", f"alarm in {START} sound days", f"slope {SLOPE} found", "days")


def drifting(moves: float, seed: int) -> list[int]:
    """List the days on which this monitor calls the stream a drift."""
    days = [day_of(number, *of) for number, of in enumerate(days_of(moves, seed))]
    known = {day.day: day for day in days}
    references = [fit_model_reference(days[:REFERENCE], LIMITS)]
    found = judge("study", days, references=references, limits=LIMITS, recall=known.get)
    states = [whole.state for whole, *_ in found]
    return [day for day, state in enumerate(states, -REFERENCE) if state == "calibration_drift"]


def row(world: str, program: str, streams: Sequence[Sequence[int]]) -> str:
    """Write a line of the table."""
    before = sum(any(day < START for day in days) for days in streams)
    later = [[day - START + 1 for day in days if day >= START] for days in streams]
    since = [min(days) for days in later if days]
    middle = f"{median(since):g}" if since else "never"
    of = len(streams)
    cells = (world, program, f"{before} of {of}", f"{len(since)} of {of}", middle)
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Read the alarms of the others, judge the same days, and write the table."""
    alarms = json.loads(Path(sys.argv[1]).read_text())
    lines = [f"| {' | '.join(HEADS)} |", "|---|---|---:|---:|---:|"]
    for world, moves in WORLDS.items():
        others = alarms[world]
        by_program = {of: [stream[of] for stream in others] for of in others[0]}
        by_program[OURS] = [drifting(moves, seed) for seed in range(len(others))]
        lines += [row(world, program, streams) for program, streams in by_program.items()]
    text = "\n".join(lines)
    print(text)
    PAGE.write_text(replace_section(PAGE.read_text(), text, *MARKS))


if __name__ == "__main__":
    main()
