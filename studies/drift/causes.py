"""What the monitor says of one incident whose cause is the model, the labels or the prior.

    python -m studies.drift.causes           # a minute: counts, and writes causes.json and the page
    python -m studies.drift.causes --write   # writes the page and the picture from causes.json

From one day on about a fifth fewer outcomes are positive: because a model that is too extreme meets
a lower base rate, because every fifth positive outcome is no longer recorded, or because of the
base rate alone. The draws are the same, those of a seed whose base rate would have stayed.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import logit

from monitor.base.segment_names import WHOLE
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.day_evidence import WrongLabels
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import Coarse
from monitor.words.trust import trust
from studies.drift.layout import publish
from studies.drift.noise import flip
from studies.drift.rules import FIRST, Segments, pool
from studies.drift.scenario import SOUND
from studies.drift.tables import table
from studies.drift.worlds import CENTRES, Truth, World, stream, tilted

RESULT = Path(__file__).with_suffix(".json")
PICTURE = Path(__file__).parents[2] / "docs" / "drift-causes.svg"
BEGIN, END = "<!-- causes: studies/drift/causes.py -->", "<!-- end of causes -->"
WORLD, SEED, REFERENCE, FOLLOWED, SHOWN, BINS = World(0.18, 20_000), 63_018, 28, 10, (1, 3, 10), 12
LOST = WrongLabels("lost", 0.2)
CASES: dict[str, tuple[Truth, WrongLabels | None]] = {
    "a bent model": (Truth(tilted(0.75), odds=0.76), None),
    "lost labels": (SOUND, LOST),
    "a prior shift": (Truth(odds=0.76), None),
}
Counted = dict[str, Any]


def drawn(case: str) -> Iterator[Segments]:
    """Draw the reference, which is sound, and the days of a case."""
    truth, wrong = CASES[case]
    days = stream(WORLD, truth, SEED, reference=REFERENCE, days=FOLLOWED)
    yield from islice(days, REFERENCE)
    yield from flip(days, wrong, SEED) if wrong else days


def as_seen(number: int, parts: Segments) -> Day:
    """Give a day as the daily job sees it."""
    day = FIRST + timedelta(days=number)
    known_at = datetime.combine(day + timedelta(days=1), time(), UTC)
    return Day(day, True, known_at, 1.0, {(name, WHOLE): part for name, part in parts.items()})


def counted(case: str) -> Counted:
    """Judge a case; keep what is said on each day, and the outcomes by score."""
    parts = [*drawn(case)]
    days = [as_seen(number, part) for number, part in enumerate(parts)]
    reference = fit_model_reference(days[:REFERENCE], Limits())
    folded = judge("ctr", days[REFERENCE:], references=[reference], limits=Limits())
    verdicts = [whole for whole, *_ in folded]
    return {
        "states": [v.state for v in verdicts],
        "said": [trust(v).answer for v in verdicts],
        "before": rates([pool(part) for part in parts[:REFERENCE]]),
        "since": rates([pool(part) for part in parts[REFERENCE:]]),
    }


def rates(days: Sequence[Coarse]) -> list[list[float]]:
    """Give log-odds of scores and of outcomes in bins, and their errors; shape (3, B)."""
    counts, positives = sum(d.counts for d in days), sum(d.positives for d in days)
    bins = np.minimum(BINS - 1, BINS * (np.cumsum(counts) - counts / 2) / counts.sum()).astype(int)
    rows, came = (np.bincount(bins, of, BINS) for of in (counts, positives))
    scores, errors = np.bincount(bins, counts * CENTRES, BINS) / rows, 1 / np.sqrt(came)
    return [np.round(of, 3).tolist() for of in (scores, logit(came / rows), errors)]


def section(found: Mapping[str, Counted]) -> str:
    """Lay out what is said on some of the days."""
    rows = [
        [case, *(f"`{of['states'][day - 1]}`: {of['said'][day - 1]}" for day in SHOWN)]
        for case, of in found.items()
    ]
    heads = ["cause", *(f"day {day}" for day in SHOWN)]
    return "\n".join(table(heads, rows))


def draw(found: Mapping[str, Counted]) -> None:
    """Draw by score how far the outcomes of the ten days lie from those of the reference."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams |= {"svg.hashsalt": "causes", "font.size": 9, "svg.fonttype": "none"}
    figure, panels = plt.subplots(1, len(found), figsize=(8, 3), layout="constrained", sharey=True)
    for panel, (case, of) in zip(panels, found.items(), strict=True):
        scores, outcomes, errors = map(np.array, of["since"])
        moved = outcomes - np.interp(scores, *of["before"][:2])
        panel.axhline(0, color="#999999", linewidth=0.8)
        panel.errorbar(scores, moved, 1.96 * errors, fmt="o", color="#0072b2", markersize=4)
        panel.set(title=case, xlabel="score, log-odds")
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("outcomes less reference, log-odds")
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> None:
    """Count unless that is done, and write the section and the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="from what was counted before")
    if not parser.parse_args().write:
        found = {case: counted(case) for case in CASES}
        RESULT.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
    found = json.loads(RESULT.read_text(encoding="utf-8"))
    draw(found)
    publish(section(found), BEGIN, END, write=True)


if __name__ == "__main__":
    main()
