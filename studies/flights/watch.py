"""What our detector and the usual rules report about the models of flights, day by day."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from monitor.drift.curve.reference import Reference, fit_reference
from studies.drift.rules import first_alarms, follow_detector, follow_rules, usual_rules
from studies.flights.truth import Days, Flights, by_day, names, pooled

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
