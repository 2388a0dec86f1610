"""The page of the simulations: which table comes where, and the words between them."""

from collections.abc import Sequence

from studies.drift import rough_tables as rough
from studies.drift import tables as compared
from studies.drift.estimates import rate
from studies.drift.scenario import FOLLOWED, SHOWN, START
from studies.drift.scenarios import SCENARIOS
from studies.drift.tables import Results

INTRO = (
    "{streams} sound streams of a year in each world, {drifting} of each drift. The size "
    "of a world is its share of positive outcomes and its predictions a day; a reference has "
    "28 days.\n\nIn parentheses: 95 % limits. 0.365 openings a stream-year are promised; "
    "what is above its goal is in bold ([why](drift.md#when-the-promise-does-not-hold)). A "
    f"drift begins on day {START} and is followed for {FOLLOWED} days; delays are medians, 0 "
    "an alert on the first.\n"
)
ON_ALARM = "A rule that never stops alarming counts once a year: read its share of days.\n"
UNSEEN = "The detector does not see an intercept, by design: the level does.\n"
SMALL = "Median delay in days, and the shares found within 120 days and within a year.\n"
GAMES = (
    "12 predictions a day, prevalence one half, a reference of 700 days. The slope changes on the "
    "first day of a season of 8,400 predictions: how many are over when that is found (median).\n"
)
INDEPENDENT = (
    "Between-day standard deviation of the slope that references estimate; the truth is 0.\n"
)


def markdown(results: Results) -> str:
    """Lay out all tables that have results."""
    drifts = {task.seed for task in results if task.drift != "sound"}
    streams = {task.seed for task in results if task.drift == "sound"}
    sections = (
        ("Beside the usual rules", "", compared.false_alerts(results)),
        ("", ON_ALARM, compared.rule_delays(results)),
        ("", UNSEEN, compared.detector_delays(results)),
        ("", "", compared.names(results)),
        ("", "", compared.flipped_names(results)),
        ("Something else moves", "", rough.worlds(results, "moving")),
        ("Rougher worlds", "", rough.worlds(results, "rough")),
        ("Outside the null", "", outside(results)),
        ("Short references", "", rough.worlds(results, "short")),
        ("Many segments", "", rough.worlds(results, "segments")),
        ("Few outcomes", SMALL, rough.small(results)),
        ("", INDEPENDENT, rough.day_spreads(results)),
        ("Drifts that stay", "", rough.for_good(results)),
        ("A season of games", GAMES, rough.season(results)),
        ("Recovery", "", rough.recoveries(results)),
        ("The estimated start", "", rough.starts(results)),
    )
    intro = INTRO.format(streams=len(streams), drifting=len(drifts))
    return "\n".join([intro, *(part for section in sections for part in lay_out(*section))])


def outside(results: Results) -> list[str]:
    """Lay out the worlds in which the promise does not hold."""
    lines = rough.worlds(results, "rough", outside=True)
    more = rough.worlds(results, "moving", outside=True)
    return [*lines[:-1], *more[2:]] if lines else more


def lay_out(head: str, words: str, lines: Sequence[str]) -> list[str]:
    """Put a heading and words before a table; nothing if there is no table."""
    if not lines:
        return []
    return [*([f"## {head}\n"] if head else []), *([words] if words else []), *lines]


def missed(results: Results) -> list[str]:
    """List the goals that are not reached, or not shown to be."""
    found = []
    for name, scenario in SCENARIOS.items():
        counts = compared.openings(compared.chosen(results, scenario, "sound"))
        if counts and scenario.goal is not None:
            value, _, high = rate(counts, scenario.years)
            if value > scenario.goal:
                found.append(f"{name}: {value:.2f} openings a stream-year")
            elif high >= SHOWN and not scenario.outside:
                found.append(f"{name}: up to {high:.2f} openings a stream-year, watch more streams")
        if scenario.group in {"clean", "small"}:
            found += [
                f"{name}: delay of {drift}"
                for drift in scenario.drifts
                if compared.late(results, drift, scenario)
            ]
    return found
