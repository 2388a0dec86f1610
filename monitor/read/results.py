"""The stored results of a model: who shows any of them reads them here, and nowhere else."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from typing import Any, Literal

from monitor.config import Config
from monitor.days.decisions import Plan
from monitor.days.summary import Summary
from monitor.drift.records.verdict import Brief, Verdict
from monitor.evaluation.evaluation import Evaluation
from monitor.read.plans import may_cover, plans_of, with_plans
from monitor.store.store import Store

Evaluations = list[Evaluation]
Kind = Literal["verdicts", "evaluations"]
What = Kind | Literal["briefs"]  # briefs are of verdicts
Read = Callable[[What, date], list[Any]]
Files = dict[tuple[Kind, date], tuple[bytes, list[Any]]]  # by kind and day: bytes, parsed


@dataclass(frozen=True)
class Results:
    """The verdicts and evaluations of the days of one model.

    Attributes
    ----------
    store, model : Store, str
        Where they are, and of which model.
    read : callable
        Reads what is stored of a kind and a day, or the briefs of its verdicts.
    named : mapping of str to sequence of date
        The newest days of a kind, where a record names them: to find these needs no listing.
    plans : sequence of Plan
        The changes that are planned of the model.
    """

    store: Store
    model: str
    read: Read
    named: Mapping[str, Sequence[date]] = field(default_factory=dict)
    plans: Sequence[Plan] = ()

    def verdicts(self, day: date) -> list[Verdict]:
        """Read the verdicts of a stored day as they stand, given what is planned."""
        stored = self.stored(day)
        return with_plans(stored, self.plans) if may_cover(day, self.plans) else stored

    def stored(self, day: date) -> list[Verdict]:
        """Read the verdicts of a stored day, which know of no plan."""
        return self.read("verdicts", day)

    def briefs(self, day: date) -> list[Brief]:
        """Read what a line over many days draws of the verdicts of a stored day."""
        if may_cover(day, self.plans):
            return [verdict.brief for verdict in self.verdicts(day)]
        return self.read("briefs", day)

    def evaluations(self, day: date) -> Evaluations:
        """Read the evaluations of a stored day."""
        return self.read("evaluations", day)

    def summary(self, day: date) -> Summary:
        """Read the summary of a stored day."""
        return self.store.read_summary(self.model, day)[0]

    def days(self, kind: str, last: date | None = None) -> list[date]:
        """List the stored days of a kind up to the last one, rising."""
        return [day for day in self.store.days(kind, self.model) if last is None or day <= last]

    def newest_first(self, kind: Kind, last: date | None = None) -> Iterator[date]:
        """Give the same days, falling."""
        named = () if last else self.named.get(kind, ())
        yield from reversed(named)
        yield from (day for day in reversed(self.days(kind, last)) if not named or day < min(named))

    def of_segment(self, segment: str, days: Sequence[date]) -> list[Verdict]:
        """Read the verdicts of one segment on some days, which know of no plan."""
        return [v for day in days for v in self.stored(day) if v.segment == segment]


def models_of(root: str) -> list[str]:
    """List the models of a store that have results."""
    return Store(root).models()


def results_of(config: Config, model: str, *, kept: bool = False) -> Results:
    """Open the results of a configured model, with what is planned of it.

    Parameters
    ----------
    config, model : Config, str
        Which model.
    kept : bool
        Whether to keep what was read.
    """
    results = results_in(config.store, model, kept=kept)
    return replace(results, plans=plans_of(config.shown(model)))


def results_in(root: str, model: str, *, kept: bool = False) -> Results:
    """Open the results of a model in a store, without its configuration: no plan is known.

    Parameters
    ----------
    root, model : str
        The store, and of which model.
    kept : bool
        Whether to keep what was read, for a reader of few days that looks at them several times.
    """
    store = Store(root)

    def read(kind: What, day: date) -> list[Any]:
        if kind == "briefs":
            return store.read_briefs(model, day)
        if kind == "verdicts":
            return store.read_verdicts(model, day)[0]
        return store.read_evaluations(model, day)[0]

    return Results(store, model, cache(read) if kept else read)


def results_read_before(
    root: str, model: str, before: Files, now: Files, plans: Sequence[Plan] = ()
) -> Results:
    """Open the results of a model, of which only files that have changed are parsed.

    Parameters
    ----------
    root, model : str
        The store, and of which model.
    before, now : dict
        What was read the last time, and where to note what is read now: the bytes of every file.
    plans : sequence of Plan
        What is planned of it.
    """
    store = Store(root)

    def read(kind: What, day: date) -> list[Any]:
        if kind == "briefs":
            return [verdict.brief for verdict in read("verdicts", day)]
        content = store.content(kind, model, day)
        read_before = before.get((kind, day))
        if not read_before or read_before[0] != content:
            parse = store.parse_verdicts if kind == "verdicts" else store.parse_evaluations
            read_before = content, list[Any](parse(model, day, content)[0])
        now[kind, day] = read_before
        return read_before[1]

    return Results(store, model, read, plans=plans)
