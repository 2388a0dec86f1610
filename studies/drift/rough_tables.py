"""Tables of the rougher and the smaller worlds, of recoveries and of estimated starts."""

from collections.abc import Sequence

import numpy as np

from studies.drift.estimates import print_median, print_rate, print_share
from studies.drift.scenario import YEAR, Scenario
from studies.drift.scenarios import FOR_A_WHILE, STRONG
from studies.drift.tables import (
    OURS,
    Found,
    Results,
    chosen,
    delay,
    delays,
    first_openings,
    group,
    openings,
    table,
)
from studies.drift.worlds import LASTED

GAMES = 12  # predictions on an average day of a season


def worlds(results: Results, name: str, *, outside: bool = False) -> list[str]:
    """Lay out openings a stream-year beside the goal, and how fast drifts are found."""
    rows = [
        [
            s.name,
            s.world,
            s.tests,
            print_rate(openings(chosen(results, s, "sound")), s.years, s.goal),
            "-" if s.goal is None else f"{s.goal:g}",
            *(delay(chosen(results, s, drift), OURS, s) for drift in ("slope 0.8", "slope 0.9")),
        ]
        for s in group(results, name)
        if s.outside == outside
    ]
    heads = ("world", "size", "tests", "openings a stream-year", "goal", "slope 0.8", "slope 0.9")
    return table(heads, rows)


def small(results: Results) -> list[str]:
    """Lay out false alerts, and how long a drift takes, where outcomes are few."""
    rows = [
        [
            f"{s.world}; {s.eras[0][0]} days",
            print_rate(openings(chosen(results, s, "sound")), s.years, s.goal),
            *(time_to_find(results, s, drift) for drift in STRONG),
        ]
        for s in group(results, "small")
    ]
    return table(["world; reference", "openings a stream-year", *STRONG], rows)


def time_to_find(results: Results, scenario: Scenario, drift: str) -> str:
    """Print a median delay, and the shares found within 120 days and a year."""
    waits = delays(chosen(results, scenario, drift), OURS, scenario.start)
    if not waits:
        return "-"
    within = [f"{100 * np.mean(np.array(waits) < days):.0f} %" for days in (120, YEAR)]
    return f"{print_median(waits, scenario.followed)}; {within[0]}, {within[1]}"


def day_spreads(results: Results) -> list[str]:
    """Lay out the between-day standard deviation of the slope where outcomes are independent."""
    rows = []
    for scenario in group(results, "independent"):
        spreads = np.sqrt([f["day_variance"] for f in chosen(results, scenario, "sound")])
        if spreads.size:
            cuts = np.quantile(spreads, (0.1, 0.5, 0.9), method="inverted_cdf")
            low, middle, high = (f"{cut:.3f}" for cut in cuts)
            rows.append([scenario.world, scenario.name, middle, f"{low} to {high}"])
    return table(["world", "reference", "median", "10 to 90 %"], rows)


def for_good(results: Results) -> list[str]:
    """Lay out how many incidents close although the drift stays."""
    rows = []
    for scenario in group(results, "for good"):
        found = chosen(results, scenario, "slope 0.66")
        end = scenario.start + scenario.followed
        first = first_openings(found, scenario.start)
        closed = [opening["day"] + opening["lasted"] < end for opening in first]
        share = f"{sum(closed)} of {len(closed)}, {print_share(closed)} %" if closed else "-"
        rows.append([scenario.world, delay(found, OURS, scenario), share])
    return table(["slope 0.66 for good", "median delay, days", "incidents that close"], rows)


def season(results: Results) -> list[str]:
    """Lay out how many games are over when a changed slope is found."""
    rows = []
    for scenario in group(results, "season"):
        sound = openings(chosen(results, scenario, "sound"))
        row = [scenario.tests, print_rate(sound, scenario.years, scenario.goal)]
        for drift in scenario.drifts:
            waits = delays(chosen(results, scenario, drift), OURS, scenario.start)
            total = GAMES * scenario.followed
            share = f"{100 * np.mean(np.isfinite(waits)):.0f} % found" if waits else ""
            row.append(f"{print_median([GAMES * wait for wait in waits], total)}, {share}")
        rows.append(row)
    return table(["scores", "openings a stream-year", "slope 1.3", "slope 1/1.3"], rows)


def recoveries(results: Results) -> list[str]:
    """Lay out how long incidents stay open once a drift of 130 days is over."""
    rows = []
    for scenario in group(results, "clean"):
        for drift in set(scenario.drifts) & set(FOR_A_WHILE):
            found = chosen(results, scenario, drift)
            rows.append([scenario.world, drift, *recovery(scenario, found)])
    rows.sort(key=lambda row: row[1])
    return table(["world", "drift", "openings of a stream, mean", "days until closed"], rows)


def recovery(scenario: Scenario, found: Sequence[Found]) -> tuple[str, str]:
    """Give the mean number of openings since the start, and days from the end to the closing."""
    over = scenario.start + LASTED
    end = over + scenario.followed
    since = [[o for o in f["detector"] if o["day"] >= scenario.start] for f in found]
    closings = [o[-1]["day"] + o[-1]["lasted"] for o in since if o]
    waits = [float(day - over) if day < end else float("inf") for day in closings]
    mean = f"{np.mean([len(o) for o in since]):.2f}" if since else "-"
    return mean, print_median(waits, scenario.followed)


def starts(results: Results) -> list[str]:
    """Lay out how often the interval of the estimated start holds the true one."""
    rows = []
    for scenario in [*group(results, "clean"), *group(results, "small")]:
        for drift in ("slope 0.8", "slope 0.9"):
            seen = first_openings(chosen(results, scenario, drift), scenario.start)
            if not seen:
                continue
            off = [float(o["started"] - scenario.start) for o in seen]
            row = [scenario.world, drift, print_median(off, scenario.followed)]
            if "start_low" in seen[0]:
                held = [o["start_low"] <= scenario.start <= o["start_high"] for o in seen]
                widths = [float(o["start_high"] - o["start_low"]) for o in seen]
                row += [f"{print_share(held)} %", print_median(widths, scenario.followed)]
            rows.append([*row, *["-"] * (5 - len(row))])
    heads = ("estimated start", "drift", "days after the true one", "interval holds it", "width")
    return table(heads, rows)
