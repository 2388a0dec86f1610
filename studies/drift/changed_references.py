"""How often a reference that changed within is named, and how often a sound one is.

    python -m studies.drift.changed_references [--streams 40] [--workers 1] [--write]

With --write the tables go into docs/drift-simulations.md. A reference takes a hundredth of a
second; all of it some minutes.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import NamedTuple

from monitor.drift.curve.reference import what_a_reference_lacks
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.metrics.core.coarse import Coarse
from studies.drift.layout import in_processes, publish, read_options
from studies.drift.rules import FIRST
from studies.drift.scenarios import SCENARIOS
from studies.drift.tables import table
from studies.drift.watch import Task, draw
from studies.drift.worlds import DRIFTS, Truth, World, stream, tilted

BEGIN, END = "<!-- changed: studies/drift/changed_references.py -->", "<!-- end of changed -->"
FIRST_SEED, DAYS, BROKEN = 62_000, 28, (14, 20, 24)
MOMENT = datetime(2030, 1, 1, tzinfo=UTC)
SIZES = World(0.5, 500), World(0.5, 2_000), World(0.05, 5_000), World(0.05, 20_000)
CHANGES = {
    **{name: DRIFTS[name] for name in ("slope 0.8", "slope 0.66", "slope 1.3")},
    "scores reversed": Truth(tilted(-1.0)),
    **{name: DRIFTS[name] for name in ("curvature 0.3", "wave 0.3", "top tenth -0.4")},
}
INTRO = (
    "A reference of 28 days of which all from one on have another curve; {streams} of each kind. "
    "How many are named, and of these with the right day or one beside it.\n"
)
SOUND = (
    "And sound references of {worlds} worlds, {streams} of each. In {few} of them at most one is "
    "called changed, {named} of {all}. In the others campaigns, hidden "
    "groups or the slope itself move for days, which is such a change:\n"
)
HEADS = ("change", "size", *(f"from day {day + 1} on" for day in BROKEN))


class Reference(NamedTuple):
    """A reference: its change, its size and the day of its change, or its scenario; its seed."""

    name: str
    size: World | None
    broken: int
    seed: int


def changed_on(of: Reference) -> int | None:
    """Give the day on which a reference is said to change; -1 if on none, None without one."""
    parts = [*_days(of)]
    if what_a_reference_lacks(parts):
        return None
    days = [
        Day(FIRST + timedelta(t), True, MOMENT, 1.0, {(name, ""): of for name, of in day.items()})
        for t, day in enumerate(parts)
    ]
    changed = fit_model_reference(days, Limits()).changed
    return (changed.since - FIRST).days if changed else -1


def _days(of: Reference) -> Iterator[dict[str, Coarse]]:
    if of.size:
        of_break = {"reference": of.broken, "days": DAYS + 1 - of.broken}
        return islice(stream(of.size, CHANGES[of.name], of.seed, **of_break), DAYS)
    scenario = SCENARIOS[of.name]
    return islice(iter(draw(scenario, Task(of.name, "sound", of.seed))), scenario.eras[0][0])


def main() -> None:
    """Fit all references, print the tables, and write them where they belong."""
    options = read_options(__doc__, streams=40, of="of each kind")
    seeds, rows = range(FIRST_SEED, FIRST_SEED + options.streams), []
    with in_processes(changed_on, options.workers) as fitted:
        for name in CHANGES:
            for size in SIZES:
                found = {
                    day: fitted([Reference(name, size, day, s) for s in seeds]) for day in BROKEN
                }
                rows.append([name, str(size), *(_named(day, of) for day, of in found.items())])
                print(rows[-1], flush=True)
        sound = {name: fitted([Reference(name, None, 0, s) for s in seeds]) for name in SCENARIOS}
    text = [INTRO.format(streams=options.streams), *table(HEADS, rows), "", *_sound(sound)]
    publish("\n".join(text), BEGIN, END, write=options.write)


def _named(day: int, found: list[int | None]) -> str:
    """Say how many were named, and how many of these about the right day."""
    named = [on for on in found if on is not None and on >= 0]
    right = sum(abs(on - day) <= 1 for on in named)
    return f"{len(named)} ({right})"


def _sound(found: dict[str, list[int | None]]) -> list[str]:
    """Lay out how many sound references are called changed, and where more than one is."""
    fitted = {name: [on >= 0 for on in of if on is not None] for name, of in found.items()}
    few = [of for of in fitted.values() if sum(of) <= 1]
    rows = [[name, f"{sum(of)} of {len(of)}"] for name, of in fitted.items() if sum(of) > 1]
    streams, named, of_all = max(map(len, fitted.values())), sum(map(sum, few)), sum(map(len, few))
    begin = SOUND.format(
        worlds=len(fitted), streams=streams, few=len(few), named=named, all=f"{of_all:,}"
    )
    return [begin, *table(("world", "called changed"), rows)]


if __name__ == "__main__":
    main()
