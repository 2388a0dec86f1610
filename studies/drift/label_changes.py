"""How often a change of labels is distinguished from a drift of the scores after ten days.

    python -m studies.drift.label_changes [--streams 40] [--workers 1] [--write]

From a day on positive outcomes are lost, or negative ones recorded as positive; or the scores
drift, or the prior moves. Counted is what an open incident is called ten days later, of lost ones
also forty days later, and, of priors that move, whether any day of a year is called one of labels.
With --write the table goes into docs/drift-simulations.md. It takes six minutes.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from monitor.drift.curve.reference import fit_reference
from monitor.drift.incidents.label_change import label_change
from monitor.drift.records.day_evidence import WrongLabels
from monitor.drift.records.detector import Incident
from studies.drift.layout import in_processes, publish, read_options
from studies.drift.noise import flip
from studies.drift.rules import Segments, incidents
from studies.drift.scenario import SOUND, YEAR
from studies.drift.tables import table
from studies.drift.worlds import Truth, World, lowered_top, stream, tilted

BEGIN, END = (
    "<!-- label changes: studies/drift/label_changes.py -->",
    "<!-- end of label changes -->",
)
REFERENCE, START, LATER, MUCH_LATER = 28, 10, 10, 40
FIRST_SEED = 62_000
WORLDS = (World(0.5, 2_000), World(0.18, 2_000), World(0.18, 20_000), World(0.05, 20_000))
LOST, ADDED = WrongLabels("lost", 0.2), WrongLabels("added", 0.05)
SLOPE, TOP = Truth(tilted(0.75)), Truth(lowered_top)
# What happens, the labels that change, and for how many days it is followed.
CASES = {
    "20 % of the positives lost": (SOUND, LOST, LATER),
    f"the same, after {MUCH_LATER} days": (SOUND, LOST, MUCH_LATER),
    "5 % of the negatives added": (SOUND, ADDED, LATER),
    "slope 0.75": (SLOPE, None, LATER),
    "top tenth lower by 0.4": (TOP, None, LATER),
    "prior moved by 1.5": (Truth(odds=4.48), None, YEAR),
    "prior moved by -1.5": (Truth(odds=0.223), None, YEAR),
}
CALLED = ("lost", "added", "both", "scores", "nothing")
INTRO = (
    f"What an incident that is open {LATER} days after the change is called: labels *lost* or "
    "*added*, *both* labels and scores, *scores*, or *nothing* because none is open. Of priors "
    f"that move, the worst of a year. {{streams}} streams of each kind.\n"
)


class Task(NamedTuple):
    """A stream: its world, what happens in it, and a seed."""

    world: World
    case: str
    seed: int


def changed(task: Task) -> Iterator[Segments]:
    """Draw a stream whose labels change on a day after the reference."""
    truth, wrong, followed = CASES[task.case]
    days = stream(task.world, truth, task.seed, days=START + followed + 1, start=START)
    yield from islice(days, REFERENCE + START)
    yield from flip(days, wrong, task.seed)


def called(incident: Incident | None) -> str:
    """Name what an incident is called."""
    if incident is None:
        return "nothing"
    labels = label_change(incident)
    if not labels:
        return "scores"
    return labels.family if labels.told else "both"


def watch(task: Task) -> str:
    """Judge a stream, and name what it is called at the end, or in the worst case of a year."""
    days = changed(task)
    reference = fit_reference(list(islice(days, REFERENCE)))
    names = [called(incident) for incident in incidents(reference, days)]
    following = CASES[task.case][2]
    return min(names, key=CALLED.index) if following == YEAR else names[-1]


def main() -> None:
    """Watch all streams, print the table, and write it where it belongs."""
    options = read_options(__doc__, streams=40)
    rows = []
    with in_processes(watch, options.workers) as watched:
        for world in WORLDS:
            for case in CASES:
                seeds = range(FIRST_SEED, FIRST_SEED + options.streams)
                found = Counter(watched([Task(world, case, seed) for seed in seeds]))
                rows.append([str(world), case, *(str(found[name]) for name in CALLED)])
                print(rows[-1], flush=True)
    text = "\n".join(
        [INTRO.format(streams=options.streams), *table(["world", "change", *CALLED], rows)]
    )
    publish(text, BEGIN, END, write=options.write)


if __name__ == "__main__":
    main()
