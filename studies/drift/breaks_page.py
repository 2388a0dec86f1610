"""What is said of everyday breaks, on which day, beside what people run instead.

    python -m studies.drift.breaks_page [--streams 10]   # minutes; writes its section of the page

Streams of 2,000 rows a day: 28 days of reference, 10 sound days, 40 days of a break of
`studies/drift/everyday.py`. What was counted is kept in `breaks.json`, and the page is made of it.
"""

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from monitor.drift.curve.reference import fit_reference
from monitor.drift.fold.inputs import Limits, fit_model_reference
from monitor.drift.records.verdict import DRIFTING, Verdict
from monitor.drift.verdicts.judge import judge
from monitor.metrics.binned.binning import quantile_bins
from monitor.metrics.binned.hosmer_lemeshow import hosmer_lemeshow
from monitor.metrics.core.coarse import Coarse
from studies.drift.everyday import EVERYDAY, days_of
from studies.drift.layout import publish
from studies.drift.level_rivals import calibration_cusum
from studies.drift.rules import as_tally, usual_rules

RESULT = Path(__file__).parent / "breaks.json"
BEGIN, END = "<!-- everyday breaks: studies/drift/breaks_page.py -->", "<!-- end of breaks -->"
ROWS, REFERENCE, SOUND, FOLLOWED = 2_000, 28, 10, 40
FIRST_SEED, LEVEL, STEPS = 51_500, -3.0, (0.7, -0.7)
RULES = {
    "raw ECE > mean + 3 sd": "ECE",
    "Hosmer-Lemeshow": "Hosmer-Lemeshow",
    "KS of scores, p < .01": "two samples",
    "CalibrationCUSUM": "CalibrationCUSUM",
}
Counted = dict[str, Any]


def watched(name: str, seed: int) -> Counted:
    """Judge a stream; days count from 1, the first of the break, None if there is none."""
    rng = np.random.default_rng([seed, [*EVERYDAY].index(name)])
    days = [*days_of(EVERYDAY[name].told, rng, ROWS, REFERENCE + SOUND, FOLLOWED)]
    references = [fit_model_reference(days[:REFERENCE], Limits())]
    recall = {day.day: day for day in days}.get
    folded = judge("ctr", days[REFERENCE:], references=references, limits=Limits(), recall=recall)
    verdicts = [whole for whole, *_ in folded]
    before, since = verdicts[:SOUND], verdicts[SOUND:]
    return {
        "early": any(v.state in DRIFTING for v in before),
        "said": _first([bool(v.facts.one_day or v.facts.today) for v in since]),
        "found": _first([v.state in DRIFTING for v in since]),
        "pages": _first([_pages(v) for v in since]),
        "told": _told(since[-1]),
        "rules": _rules([part for day in days for part in day.parts.values()], seed),
    }


def _pages(v: Verdict) -> bool:
    incident = v.incident if v.state in DRIFTING else None
    return incident is not None and incident.urgent and not incident.improved


def _told(v: Verdict) -> str:
    """Name what the last day says: the kind of what is open, or the state."""
    if v.state not in DRIFTING or not v.incident:
        return v.state
    place = v.incident.place
    return f"place: {place.family}" if place else v.headline(v.incident).kind


def _first(flags: Sequence[bool]) -> int | None:
    return next((day for day, flag in enumerate(flags, 1) if flag), None)


def _rules(days: Sequence[Coarse], seed: int) -> dict[str, int | None]:
    """Give the first day of the break on which each of the usual rules alarms."""
    known, since = days[:REFERENCE], days[REFERENCE + SOUND :]
    usual = usual_rules(fit_reference([{"all": day} for day in known]), known)
    found = {name: _first([usual[name](day) for day in since]) for name in RULES if name in usual}
    cusum = calibration_cusum(since, STEPS, seed)
    found["Hosmer-Lemeshow"] = _first([_misfits(day) for day in since])
    return found | {"CalibrationCUSUM": cusum[0] + 1 if cusum else None}


def _misfits(day: Coarse) -> bool:
    """Say whether a Hosmer-Lemeshow test with ten bins rejects, at one in 1,000."""
    return hosmer_lemeshow(quantile_bins(as_tally(day), 10)).log10_p < LEVEL


def page(counted: Mapping[str, Sequence[Counted]]) -> str:
    """Write the section of what was counted."""
    streams = len(next(iter(counted.values())))
    rows = [_row(name, of) for name, of in counted.items()]
    return "\n".join([HEAD.format(streams=streams), *rows, "", TAIL])


def _row(name: str, of: Sequence[Counted]) -> str:
    told, number = Counter(each["told"] for each in of).most_common(1)[0]
    said = told.replace("_", " ") + ("" if number == len(of) else f" ({number} of {len(of)})")
    ours = [_median([each[key] for each in of]) for key in ("said", "found", "pages")]
    rivals = [_median([each["rules"][rule] for each in of]) for rule in RULES]
    return f"| {name} | {said} | {' | '.join([*ours, *rivals])} |"


def _median(days: Sequence[int | None]) -> str:
    """Give the median day of those that found it, and how many did where some did not."""
    known = [day for day in days if day is not None]
    if not known:
        return "never"
    of = "" if len(known) == len(days) else f" ({len(known)} of {len(days)})"
    return f"{median(known):g}{of}"


HEAD = """\
{streams} streams for each row: 2,000 rows a day, a quarter of the outcomes positive, 28 days of
reference, 10 sound days, 40 with the break. *Said of the day*: the verdict says that this day
alone contradicts the reference; *found*: an incident is open. Day 1 is the first of the break;
medians of the streams in which it happened, with their number where it did not happen in all.
The last columns are the first alarm of other rules.

| what happens | the verdict 40 days later | said of the day | found | pages | \
ECE over mean + 3 sd | Hosmer-Lemeshow, p < 0.001 | two samples of scores, p < 0.01 | \
CalibrationCUSUM, 0.7 |
|---|---|---|---|---|---|---|---|---|"""
TAIL = """\
The last rows are sound: `ok` or `prior_shift` is right, and an alarm of another rule is false.
"""


def main() -> None:
    """Count, keep what was counted, and write its section of the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=10)
    given = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + given.streams)
    counted = {name: [watched(name, seed) for seed in seeds] for name in EVERYDAY}
    RESULT.write_text(json.dumps(counted, indent=0) + "\n", encoding="utf-8")
    publish(page(counted), BEGIN, END, write=True)


if __name__ == "__main__":
    main()
