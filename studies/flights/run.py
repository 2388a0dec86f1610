"""Every rule on real outcomes: the flights of the demo, compared with the true drift.

    python -m studies.flights.run [--into FOLDER] [--write]

Writes the demo's logs into the folder (a temporary one by default), fits the truth of each month
(`studies/flights/truth.py`), and runs our detector and the usual rules (`studies/drift/rules.py`)
over the days. With --write the tables go into docs/drift-simulations.md and the picture into docs.
"""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from monitor.drift.curve.reference import Reference, fit_reference
from studies.drift.rules import first_alarms, follow_detector, follow_rules, usual_rules
from studies.flights.page import draw, markdown
from studies.flights.truth import Days, Flights, by_day, names, pooled, truth, write_and_read

ROOT = Path(__file__).parents[2]
PAGE, PICTURE = ROOT / "docs/drift-simulations.md", ROOT / "docs/drift-flights.svg"
BEGIN, END = "<!-- flights -->", "<!-- end of flights -->"
USUAL, LONG = 28, 61  # days of a reference: the default, and March with April


@dataclass(frozen=True)
class Watched:
    """What a rule reported about a model: its alerts, their names, and the days on alarm."""

    rule: str
    first: date
    alerts: dict[date, str]
    alarms: tuple[date, ...]


def our_rules(flights: Flights) -> Iterator[tuple[str, Days, int]]:
    """Name the ways to run our detector: by what has an intercept of its own, and the reference."""
    origins = by_day(flights, flights.origin)
    yield f"**detector**, reference of {USUAL} days", origins, USUAL
    yield "**detector**, reference March and April", origins, LONG
    parts = by_day(flights, names(flights.origin, flights.part))
    yield f"**detector**, {USUAL} days, parts of the day apart", parts, USUAL


def watch_ours(rule: str, days: Days, size: int) -> Watched:
    """Run the detector."""
    calendar, parts = sorted(days), [days[day] for day in sorted(days)]
    start = calendar[size]
    openings = follow_detector(fit_reference(parts[:size]), parts[size:])
    on = {o.day + later for o in openings for later in range(o.lasted)}
    return Watched(
        rule,
        start,
        {start + timedelta(o.day): o.later for o in openings},
        tuple(start + timedelta(day) for day in sorted(on)),
    )


def watch_usual(days: Days, reference: Reference) -> Iterator[Watched]:
    """Run the usual rules on the origins pooled."""
    whole = pooled(days)
    calendar = sorted(whole)
    rules = usual_rules(reference, [whole[day] for day in calendar[:USUAL]])
    after = calendar[USUAL:]
    for rule, found in follow_rules(rules, (whole[day] for day in after)).items():
        alarms = tuple(day for day, alarm in zip(after, found, strict=True) if alarm)
        yield Watched(rule, after[0], {after[i]: "" for i in first_alarms(found)}, alarms)


def watch(flights: Flights) -> list[Watched]:
    """Run every rule, ours first."""
    ours = list(our_rules(flights))
    origins = ours[0][1]
    reference = fit_reference([origins[day] for day in sorted(origins)[:USUAL]])
    return [*(watch_ours(*each) for each in ours), *watch_usual(origins, reference)]


def main() -> None:
    """Compute and print the tables, and write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, help="folder of the logs; a temporary one by default")
    parser.add_argument("--write", action="store_true", help="write the page and its picture")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        flights = write_and_read(chosen.into or Path(folder))
    plain = flights["flights"]
    origins = by_day(plain, plain.origin)
    reference = fit_reference([origins[day] for day in sorted(origins)[:USUAL]])
    months = truth(flights, reference)
    watched = {model: watch(found) for model, found in flights.items()}
    text = markdown(months, watched)
    print(text)
    if chosen.write:
        before, begun, rest = PAGE.read_text().partition(BEGIN)
        _, ended, after = rest.partition(END)
        if not begun or not ended:
            msg = f"{PAGE} lacks the markers {BEGIN} and {END}: put them where the tables belong."
            raise SystemExit(msg)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")
        draw(months, watched, PICTURE)


if __name__ == "__main__":
    main()
