"""How often a change of labels is distinguished from a drift of the scores after ten days.

    python -m studies.drift.label_changes [--streams 40] [--workers 1] [--write]

From a day on positive outcomes are lost, or negative ones recorded as positive; or the scores
drift, or the prior moves. Counted is what an open incident is called ten days later, of lost ones
also forty days later, and, of priors that move, whether any day of a year is called one of labels.
Of lost ones also whether a hundred to one could be reached: by somebody who knows the curve, the
share and the first day. With --write the table goes into docs/drift-simulations.md. It takes six
minutes.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import log
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.evidence.directions import LOST as SHARES
from monitor.drift.evidence.directions import day_profiles, no_profiles, rows_of_day
from monitor.drift.incidents.detecting import gain_of_best
from monitor.drift.incidents.label_change import label_change
from monitor.drift.records.day_evidence import DIRECTIONS, TOLD, WrongLabels
from monitor.drift.records.detector import Incident
from monitor.metrics.core.coarse import CENTRES
from studies.drift.layout import in_processes, publish, read_options
from studies.drift.noise import flip
from studies.drift.rules import Segments, incidents
from studies.drift.scenario import SOUND, YEAR
from studies.drift.tables import table
from studies.drift.worlds import Truth, World, stream, tilted

BEGIN, END = (
    "<!-- label changes: studies/drift/label_changes.py -->",
    "<!-- end of label changes -->",
)
REFERENCE, START, LATER, MUCH_LATER = 28, 10, 10, 40
FIRST_SEED = 62_500
SIZES = ((0.5, 2_000), (0.18, 2_000), (0.18, 20_000), (0.05, 20_000))
WIDE = 1.5  # standard deviation of the logits
WORLDS = [World(*size, spread=WIDE) for size in SIZES]
NARROW = [World(*size) for size in SIZES]  # with fewer high scores
LOST, ADDED = WrongLabels("lost", 0.2), WrongLabels("added", 0.05)


def lowered_top(prevalence: float) -> np.ndarray:
    """Lower the log-odds of the top tenth of wide scores by 0.4."""
    top = World(prevalence, 1, WIDE).middle + WIDE * norm.ppf(0.9)
    return np.where(top <= CENTRES, -0.4, 0.0)


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
LOST_CASES = [case for case, (_, wrong, _) in CASES.items() if wrong == LOST]
CALLED = ("lost", "added", "both", "scores", "nothing")
INTRO = (
    f"What an incident that is open {LATER} days after the change is called: labels *lost* or "
    "*added*, *both* labels and scores, *scores*, or *nothing* because none is open. Of priors "
    f"that move, the worst of a year. *Possible*: in how many streams lost labels are a hundred "
    "times likelier than the best distortion to somebody who knows the curve, the share and the "
    "day. {streams} streams of each kind; the logits of the scores have a standard deviation of "
    f"{WIDE:g}, and where none is given of 1.2, with fewer high scores.\n"
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


def watch(task: Task) -> tuple[str, bool]:
    """Judge a stream: what it is called at the end, or in the worst case of a year; if possible."""
    days = changed(task)
    reference = fit_reference(list(islice(days, REFERENCE)))
    rest = list(days)
    names = [called(incident) for incident in incidents(reference, rest)]
    if CASES[task.case][2] == YEAR:
        return min(names, key=CALLED.index), False
    lost = task.case in LOST_CASES
    return names[-1], lost and known_evidence(reference, rest[START:]) >= TOLD


def known_evidence(reference: Reference, days: Sequence[Segments]) -> float:
    """Weigh the lost share against the best distortion of the true curve, log10."""
    true = replace(reference, curve=CENTRES.astype(np.float64))
    none = np.zeros(len(DIRECTIONS))
    rows = [rows_of_day(true, day) for day in days]
    profiles = sum((day_profiles(of, none) for of in rows), no_profiles())
    lost = float(np.interp(LOST.share, SHARES, profiles[len(DIRECTIONS)]))
    return (lost - gain_of_best(profiles)) / log(10.0)


def main() -> None:
    """Watch all streams, print the table, and write it where it belongs."""
    options = read_options(__doc__, streams=40)
    rows = []
    with in_processes(watch, options.workers) as watched:
        kinds = [(world, case) for world in WORLDS for case in CASES]
        kinds += [(world, case) for world in NARROW for case in LOST_CASES]
        for world, case in kinds:
            seeds = range(FIRST_SEED, FIRST_SEED + options.streams)
            found = watched([Task(world, case, seed) for seed in seeds])
            names = Counter(name for name, _ in found)
            possible = str(sum(told for _, told in found)) if case in LOST_CASES else ""
            rows.append([str(world), case, *(str(names[name]) for name in CALLED), possible])
            print(rows[-1], flush=True)
    text = "\n".join(
        [
            INTRO.format(streams=options.streams),
            *table(["world", "change", *CALLED, "possible"], rows),
        ]
    )
    publish(text, BEGIN, END, write=options.write)


if __name__ == "__main__":
    main()
