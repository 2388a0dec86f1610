"""Columns that are the probabilities of classes, and which class each of them is of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.optimize import linear_sum_assignment

from monitor.base.sql_text import text_in_sql
from monitor.logs.discovery.roles.arrivals import MET, matched
from monitor.logs.discovery.roles.candidates import Candidate, words
from monitor.logs.discovery.roles.ranking import SURE, Floats
from monitor.logs.discovery.samples.columns import Column, in_sql
from monitor.logs.discovery.samples.reading import Log
from monitor.logs.discovery.samples.rows import ask, has_table
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Session

LEAST_CLASSES, MOST_TRIED = 3, 12  # columns of which some may add up to 1
ROUNDED = 1e-3  # how far the sum of some rows may be from 1
EXACT = 1e-6  # further than this a row breaks the check score_sum
SURE_SHARE = 0.99  # of the rows that add up
MOST_LABELS = 30  # values of a column that may be the class that came true


@dataclass(frozen=True)
class Labels:
    """What says which class came true: the values of a column, or a column of 0 and 1 for each.

    Attributes
    ----------
    outcome : str
        The column; of several columns an expression in SQL.
    is_expression : bool
        Whether it is one.
    values : tuple of str
        The classes.
    are_one : tuple of str
        SQL of each class: whether it came true.
    """

    outcome: str
    is_expression: bool
    values: tuple[str, ...]
    are_one: tuple[str, ...]

    @property
    def candidate(self) -> Candidate:
        """The column, for settings."""
        return Candidate(self.outcome, 4.0, f"The classes {', '.join(self.values[:6])}")


@dataclass(frozen=True)
class Classes:
    """What `predictions.classes` says, and what is unsure of it."""

    setting: Mapping[str, object]
    doubts: tuple[str, ...]


def class_columns(session: Session, log: Log) -> list[str]:
    """List the columns of a log that add up to 1 in its rows, at least three; else none."""
    parts = [c for c in log.columns if c.kind == "real" and c.within == 1 and c.greatest > 0]
    lists = dict.fromkeys(c.name.partition("[")[0] for c in parts if c.name in log.inner)
    groups = [[c for c in parts if c.name.partition("[")[0] == name] for name in lists]
    if len(parts) <= MOST_TRIED:
        groups += [[*some] for n in range(len(parts), 2, -1) for some in combinations(parts, n)]
    for group in groups:
        if len(group) >= LEAST_CLASSES and abs(sum(c.mean for c in group) - 1) < ROUNDED:
            (share,) = ask(session, f"SELECT avg({_adds_up(group, ROUNDED)}) FROM {log.table}")
            if share is not None and share >= SURE_SHARE:
                return [c.name for c in group]
    return []


def _adds_up(group: Sequence[Column], most: float) -> str:
    total = " + ".join(f"try_cast({quoted(c.name)} AS DOUBLE)" for c in group)
    return f"(abs({total} - 1) <= {most})::INT"


def labels_in(session: Session, log: Log, count: int, taken: Sequence[str]) -> list[Labels]:
    """List what may say which of so many classes came true."""
    rest = [c for c in log.columns if c.name not in taken]
    listed = [
        Labels(c.name, False, values, tuple(_is(c.name, value) for value in values))
        for c in rest
        if c.kind in ("text", "integer") and c.first is None
        for values in [tuple(sorted(c.values))]
        if LEAST_CLASSES <= len(values) <= min(count, MOST_LABELS)
    ]
    flags = [c for c in rest if c.kind == "boolean" or {*c.values} in ({"0", "1"}, {"0.0", "1.0"})]
    if len(flags) <= MOST_TRIED:
        for group in combinations(flags, count):
            total = " + ".join(f"({_is_one(c.name)})::INT" for c in group)
            (share,) = ask(session, f"SELECT avg(({total} = 1)::INT) FROM {log.table}")
            if share is not None and share >= SURE_SHARE:
                listed.append(_in_columns(log, group))
    return listed


def _is(name: str, value: str) -> str:
    return f"({quoted(name)}::VARCHAR = {text_in_sql(value)})"


def _is_one(name: str) -> str:
    return f"lower({quoted(name)}::VARCHAR) IN ('1', '1.0', 'true')"


def _in_columns(log: Log, group: Sequence[Column]) -> Labels:
    spoken = [_telling(c.name, [other.name for other in group]) for c in group]
    cases = " ".join(
        f"WHEN {log.inner.get(c.name, in_sql(c.name))}{_truth(log, c)} THEN {text_in_sql(value)}"
        for c, value in zip(group, spoken, strict=True)
    )
    are_one = tuple(_is_one(c.name) for c in group)
    return Labels(f"CASE {cases} END", True, tuple(spoken), are_one)


def _truth(log: Log, column: Column) -> str:
    if column.type == "VARCHAR" or log.format == "json":
        true = next(v for v in column.values if v.lower() in ("1", "1.0", "true"))
        return f" = {text_in_sql(true)}"
    return "" if column.kind == "boolean" else " = 1"


def _telling(name: str, names: Sequence[str]) -> str:
    """Name a class after the words that only its column has.

    Examples
    --------
    >>> _telling("is_cat", ["is_cat", "is_dog"]), _telling("p1", ["p1", "p2"])
    ('cat', '1')
    """
    shared = set.intersection(*({*words(other)} for other in names))
    return "_".join(word for word in words(name) if word not in shared) or name


def name_classes(
    session: Session, log: Log, parts: Sequence[str], choices: Sequence[Labels]
) -> tuple[Labels, Classes] | None:
    """Find which outcome the probabilities fit best, and which class each of them is of.

    Parameters
    ----------
    session, log : Session, Log
        Has the matched rows.
    parts : sequence of str
        The columns of the probabilities.
    choices : sequence of Labels
        What may be the outcome, in the order of the columns `cm_one_…` of the matched rows.
    """
    if not has_table(session, MET):
        return None
    names = [f"{number} {value}" for number, of in enumerate(choices) for value in of.values]
    numbers = {part: f"try_cast({quoted(part)} AS DOUBLE)" for part in parts}
    probabilities, ones = matched(session, numbers, names)
    p = np.column_stack([probabilities[part] for part in parts])
    best, most = None, 0.0
    for number, of in enumerate(choices):
        happened = np.column_stack([ones[f"{number} {value}"] for value in of.values])
        positions, gained = _assign(p, happened)
        if gained > most:
            best, most = (of, positions), gained
    best = best or next((each for of in choices if (each := _by_name(parts, of))), None)
    if best is None:
        return None
    of, positions = best
    classes = _classes(session, log, parts, of, positions)
    if classes and not most:
        doubt = (
            f"the probabilities predict `{of.outcome}` worse than the shares of its classes do; "
            f"their names say which class each is of"
        )
        classes = replace(classes, doubts=(*classes.doubts, doubt))
    return (of, classes) if classes else None


def _by_name(parts: Sequence[str], of: Labels) -> tuple[Labels, list[int]] | None:
    """Give each class the column that has its name; None if some have none, or not one."""
    said = [{*words(part)} for part in parts]
    fits = [
        [j for j, spoken in enumerate(said) if {*words(value)} <= spoken] for value in of.values
    ]
    positions = [places[0] for places in fits if len(places) == 1]
    return (of, positions) if len({*positions}) == len(of.values) else None


def _assign(p: Floats, happened: Floats) -> tuple[list[int], float]:
    """Give each class the column with which the outcomes are likeliest, and what that gains.

    Returns
    -------
    positions : list of int
        The column of each class.
    gained : float
        Nats a row, over the shares of the classes; more is better.
    """
    complete = ~np.isnan(p).any(axis=1) & (np.nansum(happened, axis=1) == 1)
    if not complete.any():
        return [], 0.0
    log_p, y = np.log(np.clip(p[complete], SURE, 1.0)), np.nan_to_num(happened[complete])
    likelihood = y.T @ log_p
    _, positions = linear_sum_assignment(-likelihood)
    shares = y.mean(axis=0)
    entropy = -float(sum(s * np.log(s) for s in shares if s > 0))
    reached = sum(likelihood[i, j] for i, j in enumerate(positions)) / len(y)
    return [int(j) for j in positions], float(reached) + entropy


def _classes(
    session: Session, log: Log, parts: Sequence[str], of: Labels, positions: Sequence[int]
) -> Classes | None:
    """Write the setting; None if the probabilities are within a column, and are no vector of it."""
    named = {parts[j]: value for j, value in zip(positions, of.values, strict=True)}
    names = [named.get(part, _telling(part, parts)) for part in parts]
    group = [log.column(part) for part in parts]
    (exact,) = ask(session, f"SELECT min({_adds_up(group, EXACT)}) FROM {log.table}")
    probabilities: dict[str, object] = {"vector": [*parts]}
    if any(part in log.inner for part in parts):
        if (whole := _vector_of(log, parts, names)) is None:
            return None
        probabilities = {"vector": whole}
    setting = {"names": names, **probabilities} | ({} if exact else {"sums": "normalise"})
    agree = all({*words(name)} <= {*words(part)} for name, part in zip(names, parts, strict=True))
    doubt = (
        "which class each probability is of was measured, because their names do not say it: "
        + ", ".join(f"`{part}` of {name}" for name, part in zip(names, parts, strict=True))
    )
    return Classes(setting, () if agree else (doubt,))


def _vector_of(log: Log, parts: Sequence[str], names: Sequence[str]) -> str | None:
    """Name the list, the map or the object that has these probabilities and no others."""
    wholes = {part.partition("[")[0] for part in parts}
    if len(wholes) == 1 and wholes <= {name for name, _ in log.nested}:
        return wholes.pop()
    objects = {part.rpartition(".")[0] for part in parts}
    (whole, *others) = objects
    fields = {*(f"{whole}.{name}" for name in names)}
    inside = {name for name in log.inner if name.startswith(f"{whole}.")}
    return whole if not others and whole in log.inner and fields == {*parts} == inside else None
