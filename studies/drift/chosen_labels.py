"""What the verdict says where only chosen predictions get an outcome, by what chooses them.

    python -m studies.drift.chosen_labels [--streams 20]

20,000 predictions a day, 28 days of reference, 60 days, and 60 more after something changes. Beside
its score each prediction has something that only reviewers see, and that moves its odds. The table
goes into docs/chosen-labels.md.
"""

import argparse
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from monitor.base.segment_names import WHOLE
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.verdict import WEEK
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import CELLS_IN_ONE, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats, locate

PAGE = Path("docs/chosen-labels.md")
BEGIN, END = "<!-- verdicts: begin -->", "<!-- verdicts: end -->"
ROWS, REFERENCE, SOUND, AFTER, SEEN = 20_000, 28, 60, 60, 14
FIRST, KNOWN_AT = date(2026, 1, 1), datetime(2027, 1, 1, tzinfo=UTC)
HIDDEN = 0.8  # by how much what reviewers see moves the log-odds, for each standard deviation
LIMITS = Limits(false_alert_days=1000)
# Of log-odds of the score, what only reviewers see, and the outcome: probability of an outcome.
Rule = Callable[[Floats, Floats, Floats], Floats]


class Case(NamedTuple):
    """What chooses before and after the change, and the slope of the outcomes after it.

    `explored` is the share of the predictions that are labelled at random instead; only those are
    judged then, as a model with a filter or a segment of their own is.
    """

    before: Rule
    after: Rule
    slope: float = 1.0
    explored: float = 0.0


def highest(x: Floats, _: Floats, __: Floats) -> Floats:
    """Review 2 %, and half of the highest scores."""
    return np.where(x > 0.0, 0.5, 0.02)


def riskier(x: Floats, _: Floats, __: Floats) -> Floats:
    """Review the more the riskier."""
    return np.maximum(expit(x) ** 1.5, 0.01)


def reviewers(x: Floats, z: Floats, _: Floats) -> Floats:
    """Review what looks bad, whatever the score."""
    return 0.5 * expit(0.5 * x + 1.5 * z - 1.0)


def fewer_reviewers(x: Floats, z: Floats, _: Floats) -> Floats:
    """Do the same, of half as many."""
    return 0.5 * reviewers(x, z, _)


def without_looking(x: Floats, _: Floats, __: Floats) -> Floats:
    """Review by the score only."""
    return 0.5 * expit(0.5 * x - 1.0)


def complaints(_: Floats, __: Floats, y: Floats) -> Floats:
    """Know half of the positives, and a fifth of the negatives."""
    return np.where(y, 0.5, 0.2)


def more_complaints(_: Floats, __: Floats, y: Floats) -> Floats:
    """Know three quarters of the positives."""
    return np.where(y, 0.75, 0.2)


def found_if_high(x: Floats, _: Floats, y: Floats) -> Floats:
    """Find most positives of high scores and few of low ones; know a fifth of the negatives."""
    return np.where(y, expit(x), 0.2)


def found_better(x: Floats, _: Floats, y: Floats) -> Floats:
    """Find more of those of low scores."""
    return np.where(y, expit(0.3 * x), 0.2)


CASES = {
    "the score": Case(highest, highest),
    "the score, by another rule": Case(highest, riskier),
    "the score, and the slope becomes 0.8": Case(highest, highest, 0.8),
    "reviewers who see more": Case(reviewers, reviewers),
    "reviewers who see more, then half as many": Case(reviewers, fewer_reviewers),
    "reviewers who see more, then the score only": Case(reviewers, without_looking),
    "reviewers who see more, and the slope becomes 0.8": Case(reviewers, reviewers, 0.8),
    "the outcome: complaints": Case(complaints, complaints),
    "the outcome: complaints, then half as many again": Case(complaints, more_complaints),
    "the outcome and the score: found if high": Case(found_if_high, found_if_high),
    "the outcome and the score, then found better": Case(found_if_high, found_better),
    "reviewers, then the score only; judged: 3 % at random": Case(
        reviewers, without_looking, explored=0.03
    ),
    "the outcome and the score, then found better; judged: 3 % at random": Case(
        found_if_high, found_better, explored=0.03
    ),
    "the slope becomes 0.8; judged: 3 % at random": Case(
        found_if_high, found_if_high, 0.8, explored=0.03
    ),
    "the slope becomes 0.8; judged: 5 % at random": Case(
        found_if_high, found_if_high, 0.8, explored=0.05
    ),
}


def day_of(number: int, case: Case, rng: np.random.Generator) -> Day:
    """Draw a day and choose what gets an outcome."""
    changed = number >= REFERENCE + SOUND
    x, z = rng.normal(-1.5, 1.3, ROWS), rng.normal(size=ROWS)
    slope = case.slope if changed else 1.0
    y = rng.random(ROWS) < expit(-1.5 + slope * (x + 1.5) + HIDDEN * z)
    has = rng.random(ROWS) < (case.after if changed else case.before)(x, z, y)
    if case.explored:
        has = rng.random(ROWS) < case.explored
    cells = locate(expit(x[has]))[0] // CELLS_IN_ONE
    counts = np.bincount(cells, minlength=COARSE_COUNT)
    positives = np.bincount(cells[y[has]], minlength=COARSE_COUNT)
    share = float(has.mean())
    parts = {(WHOLE, WHOLE): Coarse(counts, positives)}
    return Day(FIRST + timedelta(number), True, KNOWN_AT, share, parts)


class Stream(NamedTuple):
    """Days with a drift before the change, days until one, and the state two weeks after."""

    false: int
    wait: int | None
    state: str
    labelled: float


def watch(case: Case, seed: int) -> Stream:
    """Judge a stream."""
    rng = np.random.default_rng([29, seed])
    days = [day_of(number, case, rng) for number in range(REFERENCE + SOUND + AFTER)]
    verdicts = judge(
        *("study", days[REFERENCE:]),
        references=[fit_model_reference(days[:REFERENCE], LIMITS)],
        limits=LIMITS,
        recent=days[REFERENCE - WEEK : REFERENCE],
        recall={day.day: day for day in days}.get,
    )
    states = [whole.state for whole, *_ in verdicts]
    drifting = [state == "calibration_drift" for state in states]
    opened = [t for t, on in enumerate(drifting[SOUND:]) if on]
    wait = opened[0] + 1 if opened else None
    return Stream(sum(drifting[:SOUND]), wait, states[SOUND + SEEN - 1], days[0].coverage)


def row(name: str, streams: list[Stream]) -> list[str]:
    """Give a row of the table."""
    waits = [stream.wait for stream in streams if stream.wait is not None]
    delay = f"; median {median(waits):.0f} days" if waits else ""
    said = Counter(stream.state for stream in streams).most_common()
    labelled = f"{np.mean([stream.labelled for stream in streams]):.0%}"
    false = sum(stream.false > 0 for stream in streams)
    return [
        name,
        labelled,
        f"{false} of {len(streams)}",
        f"{len(waits)} of {len(streams)}{delay}",
        ", ".join(f"`{state}` {count}" for state, count in said),
    ]


def main() -> None:
    """Watch all streams and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=20)
    streams = parser.parse_args().streams
    head = ["what chooses", "labelled", "a drift before", "a drift after", f"verdict on day {SEEN}"]
    rows = [head, ["---"] * len(head)]
    for name, case in CASES.items():
        rows.append(row(name, [watch(case, seed) for seed in range(streams)]))
        print(*rows[-1], sep=" | ", flush=True)
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
