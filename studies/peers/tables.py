"""The tables of docs/comparison.md: on how many days of each kind a rule alarmed. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from studies.peers.world import CHANGES, LATE, RESCALED, Log, day_of

LOGS = (CHANGES, RESCALED, LATE)
MARK = "<!-- `python -m studies.peers.run` writes everything below this line. -->\n"
NAMES = {
    "calibration-monitor": "calibration-monitor",
    "nannyml": "NannyML",
    "evidently": "Evidently",
    "popmon": "popmon",
    "netcal": "netcal",
    "mcgrad": "MCGrad",
}
HEADS = (
    "tool",
    "rule",
    "sound",
    "prior shift",
    "drift",
    "found on",
    "rescaled",
    "found on",
    "late: sound",
    "late: immature",
)


def days_that_are(log: Log, truth: str) -> list[str]:
    """List the days of a kind after the reference."""
    return [str(day_of(n)) for n in range(1, log.days + 1) if log.truth(n) == truth]


def count(alarms: Sequence[str], log: Log, truth: str) -> str:
    """Say on how many days of a kind there was an alarm."""
    days = days_that_are(log, truth)
    return f"{len(set(days) & set(alarms))} of {len(days)}"


def found_on(alarms: Sequence[str], log: Log, truth: str) -> str:
    """Say on which day of a drift the first alarm was."""
    days = days_that_are(log, truth)
    return next((f"day {n}" for n, day in enumerate(days, 1) if day in alarms), "never")


def tables(kept: Mapping[str, Mapping[str, Any]]) -> str:
    """Write a line for every rule of every tool, and the versions."""
    lines = ["| " + " | ".join(HEADS) + " |", "|---|---|" + "---:|" * (len(HEADS) - 2)]
    names = {tool: name for tool, name in NAMES.items() if tool in kept}
    for tool, name in names.items():
        changes, rescaled, late = (kept[tool][log.name]["rules"] for log in LOGS)
        for rule, alarms in changes.items():
            cells = [
                *(count(alarms, CHANGES, truth) for truth in ("sound", "prior shift", "drift")),
                found_on(alarms, CHANGES, "drift"),
                count(rescaled[rule], RESCALED, "rescaled"),
                found_on(rescaled[rule], RESCALED, "rescaled"),
                *(count(late[rule], LATE, truth) for truth in ("sound", "immature")),
            ]
            lines.append(f"| {name} | {rule} | " + " | ".join(cells) + " |")
    versions = [
        f"{name} {kept[tool]['changes']['version']}"
        for tool, name in names.items()
        if tool != "calibration-monitor"
    ]
    times = [f"{name} {kept[tool]['changes']['seconds']:.0f}" for tool, name in names.items()]
    lines += ["", f"Versions: {', '.join(versions)}."]
    lines += ["Seconds for the 80 days of the first log, on two cores with much other work:"]
    lines += [f"{', '.join(times)}."]
    return "\n".join(lines) + "\n"
