"""What a run that did not finish has left: what is stored, and what is missing."""

from dataclasses import dataclass
from datetime import date

from monitor.days.summary import days_between
from monitor.store.store import Store

KINDS = ("summaries", "evaluations", "verdicts")


@dataclass(frozen=True)
class Unfinished:
    """A run that was stopped, or that is still going on.

    Attributes
    ----------
    model : str
        Its name.
    first, last : date
        The days of the run.
    summarised, evaluated, judged : int
        How many of them have a summary, an evaluation and a verdict.
    missing : sequence of date
        The days of the run without a summary.
    """

    model: str
    first: date
    last: date
    summarised: int
    evaluated: int
    judged: int
    missing: tuple[date, ...]

    def __str__(self) -> str:
        total = (self.last - self.first).days + 1
        missing = ""
        if self.missing:
            ends = f"first {self.missing[0]}, last {self.missing[-1]}"
            missing = f" Without a summary: {len(self.missing)} days, {ends}."
        return (
            f"{self.model}: a run of {self.first} to {self.last} was stopped, or is still going "
            f"on. Of these {total} days {self.summarised} have a summary, {self.evaluated} an "
            f"evaluation and {self.judged} a verdict.{missing} Verdicts from {self.first} on are "
            f"not up to date. The same command continues from there."
        )


def unfinished(store: Store, model: str) -> Unfinished | None:
    """Describe the run that did not finish; None if every run did."""
    span = store.unfinished(model)
    if not span:
        return None
    summarised, evaluated, judged = (set(store.days(kind, model)) for kind in KINDS)
    days_of_any = summarised | evaluated | judged
    first = span[0] if span[0] > date.min else min(days_of_any, default=date.max)
    last = span[1] or max(days_of_any, default=first)
    days = set(days_between(first, last))
    return Unfinished(
        model=model,
        first=first,
        last=last,
        summarised=len(days & summarised),
        evaluated=len(days & evaluated),
        judged=len(days & judged),
        missing=tuple(sorted(days - summarised)),
    )
