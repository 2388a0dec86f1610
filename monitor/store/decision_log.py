"""What people have decided about a model, one file for each decision, which are only ever added.

::

    <root>/decisions/<model>/1.json     the first decision
    <root>/decisions/<model>/2.json     the next one, with the digest of the first

Rule 1: a file is created whole if there is none of its number, so of several processes one gets the
next number and the others try again. That needs no lock: a decision need not wait for a run.
Rule 2: each names the digest of the one before, so one that was exchanged or put back is noticed.
Rule 3: nothing removes or compacts them.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from datetime import date, datetime
from typing import Any, TypeVar

from monitor.base.errors import DataError
from monitor.base.files import create, reaching, writing
from monitor.days.decisions import Acknowledgement, Decision, End, Rebase
from monitor.store.chain import Chain
from monitor.store.day_files import damage_of, parsing
from monitor.store.sealing import FORMAT, must_be_of, open_record, owner_of, sealed_record

WHAT: dict[str, type[Decision]] = {"acknowledgement": Acknowledgement, "end": End, "rebase": Rebase}
NAME = re.compile(r"([1-9]\d{0,8})\.json")
OF_DAYS = "found_by", "until", "first"
AFTER = "after"  # the digest of the decision before
ANOTHER = "the decision before it is not the one that was there when this one was made"
UNKNOWN = "this version does not know such a decision"
Made = TypeVar("Made", bound=Decision)


class DecisionLog(Chain):
    """The decisions in a store, beside what runs have written."""

    def decisions(self, model: str) -> list[Decision]:
        """Read every decision about a model, the oldest first.

        Raises
        ------
        DataError
            If one cannot be read, or is not the one that the next rests on.
        """
        return self._read_decisions(model)[0]

    def decision_names(self, model: str) -> list[str]:
        """List the files of decisions about a model by their names in the store, in order."""
        return [_name(model, number) for number in self._numbers(model)]

    def decision_damage(self, model: str) -> tuple[DataError | None, list[str]]:
        """Read all decisions, and give what is wrong with them, and the names of missing ones."""
        numbers = self._numbers(model)
        missing = {*range(1, max(numbers, default=0))}.difference(numbers)
        damage = damage_of(lambda: self._read_decisions(model))
        return damage, [_name(model, number) for number in sorted(missing)]

    def decide(self, model: str, decision: Callable[[int, Sequence[Decision]], Made]) -> Made:
        """Add a decision.

        Parameters
        ----------
        model : str
            About which model.
        decision : callable
            Makes it of its number and all before it, or raises an error. It is called again if
            another process was faster.

        Returns
        -------
        Decision
            What is stored.
        """
        filesystem, root = self._location
        while True:
            before, digest = self._read_decisions(model)
            made = decision(max((decided.number for decided in before), default=0) + 1, before)
            name = _name(model, made.number)
            said = {"decision": _what(made), **_written(made), AFTER: digest, "format": FORMAT}
            content = sealed_record({**said, **owner_of(name)})
            with writing(f"store: {self.root}"):
                created = create(filesystem, f"{root}/{name}", content)
            if created:
                return made

    def _read_decisions(self, model: str) -> tuple[list[Decision], str]:
        """Read the decisions, and the digest of the last one."""
        decisions, digest, last = list[Decision](), "", 0
        for number in self._numbers(model):
            name = _name(model, number)
            with reaching(f"{self.root}/{name}"):
                content = self._read_file(name)
            if content is None:
                continue  # removed since the folder was listed, by nothing of this program
            with parsing(self.root, name):
                record = open_record(content)
                must_be_of(name, record)
                if number == last + 1 and record[AFTER] != digest:
                    raise ValueError(ANOTHER)
                decisions.append(_decision_of(record))
            digest, last = hashlib.sha256(content).hexdigest(), number
        return decisions, digest

    def _numbers(self, model: str) -> list[int]:
        names = self._listing("decisions", model) or {}
        return sorted(int(match[1]) for name in names if (match := NAME.fullmatch(name)))


def _name(model: str, number: int) -> str:
    return f"decisions/{model}/{number}.json"


def _what(decision: Decision) -> str:
    return next(name for name, kind in WHAT.items() if isinstance(decision, kind))


def _written(decision: Decision) -> dict[str, Any]:
    """Write a decision as JSON has it."""
    return {
        name: value.isoformat() if isinstance(value, date) else value
        for name, value in asdict(decision).items()
    }


def _decision_of(record: dict[str, Any]) -> Decision:
    """Read a decision back."""
    if record["decision"] not in WHAT:
        raise ValueError(UNKNOWN)
    kind = WHAT[record["decision"]]
    values = {field.name: record[field.name] for field in fields(kind)}
    days = {name: date.fromisoformat(values[name]) for name in OF_DAYS if name in values}
    read: dict[str, Any] = {**values, **days, "at": datetime.fromisoformat(values["at"])}
    return kind(**read)
