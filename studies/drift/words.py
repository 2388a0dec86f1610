"""How often each word is said of the prior and the level, where each is right and where it is not.

    python -m studies.drift.words [--streams 20] [--write]

Folds whole streams with `monitor.drift.verdicts.judge.judge`, as the daily job does, and counts the
days of each state. A minute for 20 streams. With --write the table goes into
docs/drift-simulations.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from itertools import groupby, islice

from monitor.base.segment_names import WHOLE
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from studies.drift.estimates import print_rate
from studies.drift.layout import publish, read_options
from studies.drift.rules import FIRST
from studies.drift.scenario import START, Scenario
from studies.drift.scenarios import SCENARIOS
from studies.drift.tables import table
from studies.drift.watch import FIRST_SEED, Task, draw

BEGIN, END = "<!-- words: studies/drift/words.py -->", "<!-- end of words -->"
SIZES = ("5 %, 20k", "5 %, 1k", "50 %, 2k")
WORLDS = (
    *((f"sound ({size})", "sound") for size in SIZES),
    ("odds x5 from the first day on (5 %, 20k)", "sound"),
    ("scores wobble 0.3 (5 %, 20k)", "sound"),
    ("scores drift slowly (5 %, 20k)", "sound"),
    ("scores jump (5 %, 20k)", "sound"),
    *((f"sound ({size})", "intercept +0.3") for size in SIZES),
)
MEANINGS = {
    "sound": "only the prior moves",
    "odds x5 from the first day on": "only the prior moves",
    "scores wobble 0.3": "prior and inputs move",
    "scores drift slowly": "prior and inputs move",
    "scores jump": "prior and inputs move",
}


@dataclass(frozen=True)
class Said:
    """What the days of one stream were called, in their order."""

    words: tuple[str, ...]

    def share(self, word: str) -> float:
        """Give the share of days with a word."""
        return self.words.count(word) / len(self.words)

    def times(self, word: str) -> int:
        """Count the spells of consecutive days with a word."""
        return sum(1 for said, _ in groupby(self.words) if said == word)


def days_of(scenario: Scenario, drift: str, seed: int) -> Iterator[Day]:
    """Draw a stream as the daily job sees it."""
    for number, parts in enumerate(draw(scenario, Task(str(scenario), drift, seed))):
        day = FIRST + timedelta(days=number)
        known_at = datetime.combine(day + timedelta(days=1), time(), UTC)
        named = {(name, WHOLE): part for name, part in parts.items()}
        yield Day(day, final=True, known_at=known_at, coverage=1.0, parts=named)


def follow(scenario: Scenario, drift: str, seed: int) -> Said:
    """Judge a stream, and note the word of each day on which it can be said."""
    days, limits = days_of(scenario, drift, seed), Limits()
    reference = fit_model_reference(list(islice(days, scenario.eras[0][0])), limits)
    said = judge("model", days, references=[reference], limits=limits)
    words = [word_of(verdicts[0]) for verdicts in said]
    return Said(tuple(words[START:] if drift != "sound" else words))


def word_of(verdict: Verdict) -> str:
    """Give the state, or say that the verdict names two explanations."""
    undecided = verdict.state == "prior_shift" and verdict.facts.moved == "prior or inputs"
    return "undecided" if undecided else verdict.state


def row_of(name: str, drift: str, streams: int) -> list[str]:
    """Follow the streams of one world and lay out their words."""
    scenario = SCENARIOS[name]
    found = [follow(scenario, drift, FIRST_SEED + number) for number in range(streams)]
    years = len(found[0].words) / 365
    truth = "the curve is lifted by 0.3" if drift != "sound" else MEANINGS[scenario.name]
    shares = [
        f"{100 * sum(said.share(word) for said in found) / streams:.1f} %"
        for word in ("ok", "prior_shift", "undecided", "level_drift", "calibration_drift")
    ]
    spells = [
        print_rate([said.times(word) for said in found], years, None)
        for word in ("undecided", "level_drift")
    ]
    return [f"{scenario.name}, {scenario.world}", truth, *shares, *spells]


def main() -> None:
    """Print the table, and write it where it belongs."""
    chosen = read_options(__doc__, streams=20, of="streams of each world")
    heads = ("world", "truth", "`ok`", "`prior_shift`", "undecided", "`level_drift`")
    more = ("`calibration_drift`", "undecided, spells a year", "`level_drift`, spells a year")
    rows = []
    for name, drift in WORLDS:
        rows.append(row_of(name, drift, chosen.streams))
        print("; ".join(rows[-1]), flush=True)
    text = "\n".join(table([*heads, *more], rows))
    publish(text, BEGIN, END, write=chosen.write)


if __name__ == "__main__":
    main()
