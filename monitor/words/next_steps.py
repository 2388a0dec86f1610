"""What to do about an open drift, as commands to copy. Pure."""

from shlex import quote
from typing import NamedTuple

from monitor.drift.verdict import Verdict
from monitor.segment_names import WHOLE, printable
from monitor.words.where import repair_commands


class NextStep(NamedTuple):
    """What a command is for, and the command."""

    purpose: str
    command: str


def next_steps(verdict: Verdict) -> tuple[NextStep, ...]:
    """List the commands that find, repair or supersede an open drift."""
    model = quote(verdict.model)
    repairs = repair_commands(model, verdict.explanation) if verdict.explanation else ()
    if not repairs:
        part = "" if verdict.segment == WHOLE else f" --segment {quote(printable(verdict.segment))}"
        repairs = (f"calibration-monitor recalibrate --model {model}{part}",)
    return (
        NextStep("Where it sits", f"calibration-monitor where --model {model}"),
        *(NextStep("Repair it with a map", f"{command} --out map.json") for command in repairs),
        NextStep(
            "After a release: begin a new reference",
            f"calibration-monitor rebase {model} --from DAY --by NAME --why TEXT",
        ),
    )
