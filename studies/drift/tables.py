"""The results of `studies/drift/run.py` as tables in Markdown."""

from collections.abc import Mapping, Sequence
from math import inf, isinf, sqrt
from typing import Any

import numpy as np
from scipy.stats import binom, chi2

from studies.drift.watch import FOLLOWED, START, YEAR, Task
from studies.drift.worlds import DRIFTS, WORLDS, World

OURS = "**evidence detector, A = 1000**"
METER_NAMES = {
    "slope 0.9": "too_extreme",
    "slope 0.8": "too_extreme",
    "slope 1.25": "too_timid",
    "slow ramp to slope 0.8": "too_extreme",
    "top tenth -0.4": "top_overpredicted",
    "curvature 0.3": "ends_underpredicted",
}
Results = Mapping[Task, Mapping[str, Any]]


def chosen(
    results: Results, world: World, name: str, reference: int = 28
) -> list[Mapping[str, Any]]:
    """Pick the streams of one kind."""
    return [
        found
        for task, found in results.items()
        if (task.world, task.name, task.reference) == (world, name, reference)
    ]


def rules_of(results: Results) -> list[str]:
    """List the rules, ours last."""
    return [*next(found["alerts"] for found in results.values() if "alerts" in found), OURS]


def alerts(found: Mapping[str, Any], rule: str) -> list[int]:
    """List the days on which a rule alerted."""
    if rule == OURS:
        return [opening["day"] for opening in found["detector"]]
    return list(found["alerts"][rule])


def days_on(found: Mapping[str, Any], rule: str) -> int:
    """Count the days on alarm."""
    if rule == OURS:
        return sum(opening["lasted"] for opening in found["detector"])
    return int(found["days"][rule])


def rate(counts: Sequence[int]) -> str:
    """Print alerts a year; with fewer than ten in all, the 95 % upper limit of the true rate."""
    total, streams = sum(counts), len(counts)
    if total < 10:
        return f"{total / streams:.2f} (< {chi2.ppf(0.95, 2 * total + 2) / 2 / streams:.3f})"
    return f"{total / streams:.1f} ± {np.std(counts, ddof=1) / sqrt(streams):.1f}"


def delays(found: Sequence[Mapping[str, Any]], rule: str) -> list[float]:
    """Count the days from the drift's first to the alert; infinite where there was none."""
    return [
        min((day - START for day in alerts(f, rule) if day >= START), default=inf) for f in found
    ]


def median(values: Sequence[float]) -> str:
    """Print a median and a 95 % interval of the true one, which needs no distribution."""
    ordered, n = sorted(values), len(values)
    reach = int(binom.ppf(0.025, n, 0.5))
    low, mid, high = (
        ordered[max(0, reach - 1)],
        ordered[(n - 1) // 2],
        ordered[min(n - 1, n - reach)],
    )
    low, mid, high = (f"> {FOLLOWED}" if isinf(v) else f"{v:.0f}" for v in (low, mid, high))
    if mid == high == low:
        return mid
    return f"{mid} ({low} to {high})"


def delay(found: Sequence[Mapping[str, Any]], rule: str) -> str:
    """Print the median delay of a rule, unless it was on alarm before anything drifted."""
    if rule != OURS:
        on = float(np.mean([f["on"][rule] for f in found]))
        if on > 0.5:
            return "always on"
    return median(delays(found, rule))


def table(heads: Sequence[object], rows: Sequence[Sequence[object]]) -> list[str]:
    """Lay out a table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(map(str, line)) + " |" for line in lines] + [""]


def false_alerts(results: Results, rules: Sequence[str]) -> list[str]:
    """Lay out alerts a year on sound streams, and the share of days on alarm."""
    rows = []
    for rule in rules:
        row = [rule]
        for world in WORLDS:
            found = chosen(results, world, "sound")
            share = np.mean([days_on(f, rule) for f in found]) / YEAR
            counts = [len(alerts(f, rule)) for f in found]
            row.append(f"{rate(counts)}, {100 * share:.1f} % of days")
        rows.append(row)
    return table(["false alerts a model-year", *WORLDS], rows)


def rule_delays(results: Results, rules: Sequence[str]) -> list[str]:
    """Lay out the median delay of every rule for two drifts."""
    rows = [
        [f"{rule}, {name}"] + [delay(chosen(results, world, name), rule) for world in WORLDS]
        for name in ("slope 0.8", "slope 0.9")
        for rule in rules
    ]
    return table(["median delay, days", *WORLDS], rows)


def detector_delays(results: Results) -> list[str]:
    """Lay out the detector's delay for every drift, and how often it was found in time."""
    rows = []
    for name in DRIFTS:
        row = [name]
        for world in WORLDS:
            waits = delays(chosen(results, world, name), OURS)
            share = np.mean(np.isfinite(waits))
            row.append(median(waits) + (f", {100 * share:.0f} % found" if 0 < share < 1 else ""))
        rows.append(row)
    return table(["our median delay, days", *WORLDS], rows)


def names(results: Results) -> list[str]:
    """Lay out how often a found drift bears the right name, on the day of the alert and after."""
    rows = []
    for name, kind in METER_NAMES.items():
        row = [f"{name}: `{kind}`"]
        for world in WORLDS:
            found = chosen(results, world, name)
            first = [next((o for o in f["detector"] if o["day"] >= START), None) for f in found]
            seen = [o for o in first if o]
            at, later = ([o[key] == kind for o in seen] for key in ("kind", "later"))
            row.append(f"{share_of(at)} → {share_of(later)}" if seen else "-")
        rows.append(row)
    return table(["named right at the alert → a week later, %", *WORLDS], rows)


def share_of(right: Sequence[bool]) -> str:
    """Print a share in percent with its standard error, two tries of each kind added."""
    smooth = (sum(right) + 2) / (len(right) + 4)
    error = 100 * sqrt(smooth * (1 - smooth) / (len(right) + 4))
    return f"{100 * np.mean(right):.0f} ± {error:.0f}"


def special(results: Results) -> list[str]:
    """Lay out what else may happen to sound streams, and shorter references."""
    cases = (
        "odds x5 from the first day on",
        "odds x0.2 from the first day on",
        "scores wobble 0.3",
        "slope jitters 3 %",
        "slope jitters 5 %",
        "5 segments, summed",
        "5 segments, pooled",
    )
    worlds = (WORLDS[2], WORLDS[3])
    rows = [
        [name, *(rate([len(f["detector"]) for f in chosen(results, w, name)]) for w in worlds)]
        for name in cases
    ]
    short = [
        [
            f"{days} days",
            *(
                rate([len(f["detector"]) for f in chosen(results, w, "sound", days)])
                + f"; {delay(chosen(results, w, 'slope 0.8', days), OURS)} d"
                for w in WORLDS
            ),
        ]
        for days in (14, 28)
    ]
    refused = [["7 days", *["refused"] * len(WORLDS)]]
    return table(["our false alerts a model-year", *worlds], rows) + table(
        ["reference: false alerts; delay of slope 0.8", *WORLDS], refused + short
    )


def markdown(results: Results) -> str:
    """Lay out all tables."""
    rules = rules_of(results)
    streams, drifting = (len(chosen(results, WORLDS[0], name)) for name in ("sound", "slope 0.8"))
    others = len(chosen(results, WORLDS[3], "scores wobble 0.3"))
    intro = (
        f"{streams} sound streams of a year and {drifting} of each drift in each world, after a "
        "reference of 28 days. A world is its share of positive outcomes and its predictions on an "
        "ordinary day. ± is one Monte-Carlo standard error; (< …) the 95 % upper limit of a rate "
        "with fewer than ten alerts; medians have their 95 % interval. A delay of 0 is an alert "
        f"on the drift's first day; drifts are followed for {FOLLOWED} days. Sound worlds in which "
        f"something else moves, and references of 14 days, have {others} streams each. Errors of "
        "shares count two tries more of each kind, so none is 0.\n"
    )
    on_alarm = (
        "An alert needs a week without one before it, so a rule that never stops alarming counts "
        "once a year: read its share of days.\n"
    )
    level = (
        "The detector, drift by drift. It does not see an intercept, by design: the level does.\n"
    )
    parts = [
        *false_alerts(results, rules),
        on_alarm,
        *rule_delays(results, rules),
        level,
        *detector_delays(results),
        *names(results),
        *special(results),
        "![False alerts against delay](drift-characteristics.svg)\n",
    ]
    return "\n".join([intro, *parts])
