"""The results of `studies/drift/run.py` as tables in Markdown: the detector beside usual rules."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from studies.drift.estimates import median, print_median, print_rate, print_share
from studies.drift.scenario import DELAYS, YEAR, Scenario
from studies.drift.scenarios import ALL, FOR_A_WHILE, SCENARIOS
from studies.drift.watch import Task

OURS = "**evidence detector, A = 1000**"
KINDS = {
    "slope 0.9": "too_extreme",
    "slope 0.8": "too_extreme",
    "slope 1.25": "too_timid",
    "slow ramp to slope 0.8": "too_extreme",
    "top tenth -0.4": "top_overpredicted",
    "curvature 0.3": "ends_underpredicted",
}
Found = Mapping[str, Any]
Results = Mapping[Task, Found]


def chosen(results: Results, scenario: Scenario, drift: str) -> list[Found]:
    """Pick the streams of one kind whose references were long enough."""
    return [
        found
        for task, found in results.items()
        if (task.scenario, task.drift) == (str(scenario), drift) and "refused" not in found
    ]


def group(results: Results, name: str) -> list[Scenario]:
    """List the scenarios of a table that any stream has been watched in."""
    known = {task.scenario for task in results}
    return [s for key, s in SCENARIOS.items() if s.group == name and key in known]


def rules_of(results: Results) -> list[str]:
    """List the rules, ours last."""
    compared = (found["alerts"] for found in results.values() if "alerts" in found)
    return [*next(compared, ()), OURS]


def alerts(found: Found, rule: str) -> list[int]:
    """List the days on which a rule alerted."""
    if rule == OURS:
        return [opening["day"] for opening in found["detector"]]
    return list(found["alerts"][rule])


def days_on(found: Found, rule: str) -> int:
    """Count the days on alarm."""
    if rule == OURS:
        return sum(opening["lasted"] for opening in found["detector"])
    return int(found["days"][rule])


def on_before(found: Found, rule: str, start: int) -> bool:
    """Say whether a rule was on alarm before anything drifted."""
    if rule == OURS:
        return any(o["day"] < start <= o["day"] + o["lasted"] for o in found["detector"])
    return bool(found["on"][rule])


def delays(found: Sequence[Found], rule: str, start: int) -> list[float]:
    """Count the days from the drift's first to the alert; infinite where there was none.

    Streams on alarm already are left out.
    """
    return [
        min((day - start for day in alerts(f, rule) if day >= start), default=inf)
        for f in found
        if not on_before(f, rule, start)
    ]


def delay(found: Sequence[Found], rule: str, scenario: Scenario) -> str:
    """Print the median delay of a rule, unless it was on alarm before anything drifted."""
    waits = delays(found, rule, scenario.start)
    if found and len(waits) < len(found) / 2:
        return "always on"
    share = float(np.mean(np.isfinite(waits))) if waits else 0.0
    missed = f", {100 * share:.0f} % found" if rule == OURS and 0 < share < 1 else ""
    return print_median(waits, scenario.followed) + missed


def openings(found: Sequence[Found]) -> list[int]:
    """Count the openings of each stream."""
    return [len(f["detector"]) for f in found]


def table(heads: Sequence[object], rows: Sequence[Sequence[object]]) -> list[str]:
    """Lay out a table; none if it has no rows, or no column beside their names."""
    if not rows or len(heads) == 1:
        return []
    lines = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(map(str, line)) + " |" for line in lines] + [""]


def false_alerts(results: Results) -> list[str]:
    """Lay out alerts a year on sound streams, and the share of days on alarm."""
    worlds = group(results, "clean")
    rows = []
    for rule in rules_of(results):
        row = [rule]
        for scenario in worlds:
            found = chosen(results, scenario, "sound")
            share = np.mean([days_on(f, rule) for f in found]) / YEAR if found else 0.0
            goal = scenario.goal if rule == OURS else None
            text = print_rate([len(alerts(f, rule)) for f in found], goal=goal)
            row.append(f"{text}, {100 * share:.1f} % of days")
        rows.append(row)
    return table(["false alerts a stream-year", *(s.world for s in worlds)], rows)


def rule_delays(results: Results) -> list[str]:
    """Lay out the median delay of every rule for two drifts."""
    worlds = group(results, "clean")
    rows = [
        [f"{rule}, {name}", *(delay(chosen(results, s, name), rule, s) for s in worlds)]
        for name in ("slope 0.8", "slope 0.9")
        for rule in rules_of(results)
    ]
    return table(["median delay, days", *(s.world for s in worlds)], rows)


def late(results: Results, drift: str, scenario: Scenario) -> bool:
    """Say whether the median delay of a drift is longer than its goal."""
    goal = DELAYS.get((drift, scenario.world))
    waits = delays(chosen(results, scenario, drift), OURS, scenario.start)
    return goal is not None and bool(waits) and median(waits)[0] > goal


def marked_delay(results: Results, drift: str, scenario: Scenario) -> str:
    """Print the median delay of the detector, in bold if it is longer than its goal."""
    text = delay(chosen(results, scenario, drift), OURS, scenario)
    return f"**{text}**" if late(results, drift, scenario) else text


def detector_delays(results: Results) -> list[str]:
    """Lay out the detector's delay for every drift, and how often it was found in time."""
    worlds = group(results, "clean")
    rows = [
        [name, *(marked_delay(results, name, s) for s in worlds)]
        for name in ALL
        if name not in FOR_A_WHILE
    ]
    return table(["median delay of the detector, days", *(s.world for s in worlds)], rows)


def names(results: Results) -> list[str]:
    """Lay out how often a found drift bears the right name, on the day of the alert and after."""
    worlds = group(results, "clean")
    rows = []
    for name, kind in KINDS.items():
        row = [f"{name}: `{kind}`"]
        for scenario in worlds:
            seen = first_openings(chosen(results, scenario, name), scenario.start)
            at, later = ([o[key] == kind for o in seen] for key in ("kind", "later"))
            row.append(f"{print_share(at)} → {print_share(later)}" if seen else "-")
        rows.append(row)
    return table(["named right at the alert → a week later, %", *(s.world for s in worlds)], rows)


def flipped_names(results: Results) -> list[str]:
    """Lay out which names flipped labels take a week after the alert."""
    rows = []
    for scenario in group(results, "clean"):
        found = chosen(results, scenario, "3 % of the labels flipped")
        seen = [o["later"] for o in first_openings(found, scenario.start)]
        counted = sorted({(-seen.count(kind), kind) for kind in seen})
        rows.append(
            [scenario.world, ", ".join(f"`{kind}` {-n}" for n, kind in counted) or "not found"]
        )
    return table(["3 % of the labels flipped", "names after a week, streams"], rows)


def first_openings(found: Sequence[Found], start: int) -> list[Found]:
    """Pick the first opening of each stream since its drift began."""
    first = (next((o for o in f["detector"] if o["day"] >= start), None) for f in found)
    return [opening for opening in first if opening]
