"""On which day breaks that come and go are found: on one weekday, every other day, or growing.

    python -m studies.drift.recurring [--streams 3]   # prints a table; seconds for each stream

Streams of 2,000 rows a day: 28 days of reference, 10 sound days, 90 days of the break. Day 1 is the
first of them, a Sunday.
"""

import argparse
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta

import numpy as np

from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.verdict import DRIFTING, Verdict
from monitor.drift.verdicts.judge import judge
from studies.drift.breaks import WEIGHTS, Change, rerouted, unchanged
from studies.drift.everyday import PRIORS, bent, moved, shuffled
from studies.drift.rules import FIRST
from studies.drift.worlds import draw_day

ROWS, REFERENCE, SOUND, FOLLOWED = 2_000, 28, 10, 90
WEEK, SATURDAY, SEED = 7, 5, 77
OfDay = Callable[[date, int], Change]  # of a day, and of its number since the first one


def on_mondays(change: Change) -> OfDay:
    """Break Mondays alone."""
    return lambda day, _: unchanged if day.weekday() else change


def slope(size: float) -> Change:
    """Draw outcomes whose log-odds have a slope on those of the scores."""
    return bent(lambda x: (size - 1.0) * (x + 1.5))


def growing(score: float) -> OfDay:
    """Give 1 % of the rows one score, and 1 % more every week."""
    return lambda _, t: rerouted(0.01 * (t // WEEK + 1), score)


BREAKS: Mapping[str, OfDay] = {
    "all scores shuffled each Monday": on_mondays(shuffled(1.0)),
    "5 % of the rows get the score 0 each Monday": on_mondays(rerouted(0.05, 0.0)),
    "5 % of the rows get the score 0.5 each Monday": on_mondays(rerouted(0.05, 0.5)),
    "log-odds + 1 each Monday": on_mondays(moved(lambda x: x + 1.0)),
    "slope 0.6 on weekends": lambda day, _: slope(0.6) if day.weekday() >= SATURDAY else unchanged,
    "slope 0.7 every other day": lambda _, t: unchanged if t % 2 else slope(0.7),
    "score 0 for 1 % of the rows more every week": growing(0.0),
    "score 0.5 for 1 % of the rows more every week": growing(0.5),
    "slopes 1.5 and 0.67 on alternate weeks": lambda _, t: slope(0.67 if t // WEEK % 2 else 1.5),
    "slopes 1.5 and 0.67 on alternate days": lambda _, t: slope(0.67 if t % 2 else 1.5),
}


def judged(of_day: OfDay, seed: int) -> list[Verdict]:
    """Give the verdicts of the days of a break."""
    rng, days = np.random.default_rng([seed, SEED]), list[Day]()
    for t in range(-REFERENCE - SOUND, FOLLOWED):
        day = FIRST + timedelta(t + REFERENCE + SOUND)
        part = draw_day(rng, WEIGHTS, ROWS, rng.normal(0.0, PRIORS), 0.0)
        part = of_day(day, t)(rng, part) if t >= 0 else part
        known = datetime(2027, 1, 1, tzinfo=UTC)
        days.append(Day(day, True, known, 1.0, {("all", "all"): part}))
    references = [fit_model_reference(days[:REFERENCE], Limits())]
    recall = {day.day: day for day in days}.get
    folded = judge("m", days[REFERENCE:], references=references, limits=Limits(), recall=recall)
    return [whole for whole, *_ in folded][SOUND:]


def first(verdicts: list[Verdict], holds: Callable[[Verdict], bool]) -> str:
    """Give the first day of which something holds."""
    return next((str(day) for day, v in enumerate(verdicts, 1) if holds(v)), "never")


def says_so(v: Verdict) -> bool:
    """Say whether a day says of itself that it contradicts the reference."""
    return bool(v.facts.one_day or v.facts.today)


def main() -> None:
    """Judge all streams and print a line for each break."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=3)
    given = parser.parse_args()
    print("| what happens | said of the day | found |\n|---|---|---|")
    for name, of_day in BREAKS.items():
        streams = [judged(of_day, seed) for seed in range(given.streams)]
        said = ", ".join(first(each, says_so) for each in streams)
        found = ", ".join(first(each, lambda v: v.state in DRIFTING) for each in streams)
        print(f"| {name} | {said} | {found} |", flush=True)


if __name__ == "__main__":
    main()
