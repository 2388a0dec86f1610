"""What to do about an open drift, as commands to copy. Pure."""

from shlex import quote
from typing import NamedTuple

from monitor.base.segment_names import WHOLE, printable
from monitor.drift.records.verdict import Verdict
from monitor.words.acknowledging import how_to_acknowledge
from monitor.words.where import Maps, repair_commands, where_command

SECTION = "the section CalibrationDrift of the runbook"


class NextStep(NamedTuple):
    """What a command is for, and the command; or what to read, and its address."""

    purpose: str
    command: str
    address: str = ""


def next_steps(
    verdict: Verdict,
    maps: Maps = "parts",
    *,
    counted: bool = True,
    taken: bool = True,
    runbook: str = "",
) -> tuple[NextStep, ...]:
    """List the commands that take, explain, repair or supersede an open drift.

    Parameters
    ----------
    verdict : Verdict
        With the drift.
    maps : str
        What `recalibrate` can fit a map of.
    counted : bool
        Whether values of columns are counted every day, as for `where_command`.
    taken : bool
        Whether somebody has taken it already.
    runbook : str
        The address of the runbook, if people have it at one.

    Examples
    --------
    >>> read_runbook("https://wiki.example.org/runbook").address
    'https://wiki.example.org/runbook#calibrationdrift'
    """
    take = how_to_acknowledge(verdict.model, verdict.segment)
    model, commands = quote(verdict.model), repairs(verdict, maps)
    return (
        *(() if taken else (NextStep("Take it, so that others know", take),)),
        read_runbook(runbook),
        NextStep("Where it sits", where_command(verdict.model, counted=counted)),
        *(NextStep("Repair it with a map", f"{command} --out map.json") for command in commands),
        NextStep(
            "After a release: begin a new reference",
            f"calibration-monitor rebase {model} --from DAY --by NAME --why TEXT",
        ),
    )


def read_runbook(address: str) -> NextStep:
    """Point to the section on drifts, at the address or in the folder that a command writes."""
    if address:
        return NextStep("Read what to look at first", SECTION, f"{address}#calibrationdrift")
    command = "calibration-monitor assets --into monitoring"
    return NextStep(f"Read {SECTION}, monitoring/alerts/runbook.md", command)


def repairs(verdict: Verdict, maps: Maps) -> tuple[str, ...]:
    """Write the commands that fit a map of the rows that drift; none where no map can be fitted."""
    model = quote(verdict.model)
    if verdict.labels or verdict.missing_outcomes:  # right scores would be bent to wrong labels
        return ()
    if maps == "parts" and verdict.explanation:
        return repair_commands(model, verdict.explanation)
    alone = maps == "parts" and verdict.segment != WHOLE
    part = f" --segment {quote(printable(verdict.segment))}" if alone else ""
    return () if maps == "none" else (f"calibration-monitor recalibrate --model {model}{part}",)
