"""What to do about an open drift, as commands to copy. Pure."""

from shlex import quote
from typing import NamedTuple

from monitor.drift.verdict import Verdict
from monitor.segment_names import WHOLE, printable
from monitor.words.where import Maps, repair_commands


class NextStep(NamedTuple):
    """What a command is for, and the command."""

    purpose: str
    command: str


def next_steps(verdict: Verdict, maps: Maps = "parts") -> tuple[NextStep, ...]:
    """List the commands that find, repair or supersede an open drift.

    Parameters
    ----------
    verdict : Verdict
        With the drift.
    maps : str
        What `recalibrate` can fit a map of.
    """
    model, repairs = quote(verdict.model), _repairs(verdict, maps)
    return (
        NextStep("Where it sits", f"calibration-monitor where --model {model}"),
        *(NextStep("Repair it with a map", f"{command} --out map.json") for command in repairs),
        NextStep(
            "After a release: begin a new reference",
            f"calibration-monitor rebase {model} --from DAY --by NAME --why TEXT",
        ),
    )


def _repairs(verdict: Verdict, maps: Maps) -> tuple[str, ...]:
    model = quote(verdict.model)
    if maps == "parts" and verdict.explanation:
        return repair_commands(model, verdict.explanation)
    alone = maps == "parts" and verdict.segment != WHOLE
    part = f" --segment {quote(printable(verdict.segment))}" if alone else ""
    return () if maps == "none" else (f"calibration-monitor recalibrate --model {model}{part}",)
