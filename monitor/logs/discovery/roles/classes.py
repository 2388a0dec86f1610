"""Columns that are the probabilities of classes, and which class each of them is of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.optimize import linear_sum_assignment

from monitor.base.sql_text import text_in_sql
from monitor.logs.discovery.roles.arrivals import matched
from monitor.logs.discovery.roles.evidence import SURE, Floats
from monitor.logs.discovery.roles.rules import words
from monitor.logs.discovery.samples.profile import Column, in_sql
from monitor.logs.discovery.samples.reading import TEXTUAL, Log, ask
from monitor.logs.discovery.samples.within import vector_of
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Session

LEAST_CLASSES, MOST_TRIED = 3, 12  # columns of which some may add up to 1
ROUNDED = 1e-3  # how far the sum of some rows may be from 1
EXACT = 1e-6  # further than this a row breaks the check score_sum
SURE_SHARE = 0.99  # of the rows that add up
MOST_LABELS = 30  # values of a column that may be the class that came true
TRUE = ("1", "1.0", "true")


@dataclass(frozen=True)
class Labels:
    """What says which class came true: the values of a column, or a column of 0 and 1 for each.

    Attributes
    ----------
    outcome : str or dict
        How the configuration names it.
    are_one : mapping of str to str
        SQL of each class: whether it came true.
    """

    outcome: str | dict[str, str]
    are_one: Mapping[str, str]


@dataclass(frozen=True)
class Classes:
    """What `predictions.classes` says, which outcome it has, and what is unsure of it."""

    setting: Mapping[str, object]
    labels: Labels
    doubts: tuple[str, ...] = ()


def class_columns(session: Session, log: Log) -> list[Column]:
    """List the columns of a log that add up to 1 in its rows, at least three; else none."""
    parts = [c for c in log.columns if c.kind == "real" and c.within == 1 and c.greatest > 0]
    vectors = {c.name: vector_of([c.sql]) for c in parts if c.sql}
    groups = [
        [c for c in parts if vectors.get(c.name) == v] for v in dict.fromkeys(vectors.values())
    ]
    if len(parts) <= MOST_TRIED:
        groups += [[*some] for n in range(len(parts), 2, -1) for some in combinations(parts, n)]
    for group in groups:
        if len(group) >= LEAST_CLASSES and abs(sum(c.mean for c in group) - 1) < ROUNDED:
            (share,) = ask(session, f"SELECT avg({_adds_up(group, ROUNDED)}) FROM {log.table}")
            if share is not None and share >= SURE_SHARE:
                return group
    return []


def _adds_up(group: Sequence[Column], most: float) -> str:
    total = " + ".join(f"try_cast({quoted(c.name)} AS DOUBLE)" for c in group)
    return f"(abs({total} - 1) <= {most})::INT"


def labels_in(session: Session, log: Log, count: int, taken: Sequence[Column]) -> Iterator[Labels]:
    """List what may say which of so many classes came true."""
    rest = [c for c in log.columns if c not in taken]
    for c in rest:
        fits = LEAST_CLASSES <= len(c.values) <= min(count, MOST_LABELS)
        if fits and c.kind in ("text", "integer") and c.first is None:
            text = f"{quoted(c.name)}::VARCHAR"
            ones = {v: f"({text} = {text_in_sql(v)})" for v in sorted(c.values)}
            yield Labels(c.setting, ones)
    flags = [c for c in rest if c.kind == "boolean" or {*c.values} in ({"0", "1"}, {"0.0", "1.0"})]
    for group in combinations(flags, count) if len(flags) <= MOST_TRIED else ():
        total = " + ".join(f"({_is_one(c.name)})::INT" for c in group)
        (share,) = ask(session, f"SELECT avg(({total} = 1)::INT) FROM {log.table}")
        if share is not None and share >= SURE_SHARE:
            spoken = [_telling(c.name, [other.name for other in group]) for c in group]
            cases = " ".join(
                f"WHEN {c.written}{_truth(log, c)} THEN {text_in_sql(value)}"
                for c, value in zip(group, spoken, strict=True)
            )
            ones = {v: _is_one(c.name) for c, v in zip(group, spoken, strict=True)}
            yield Labels({"sql": f"CASE {cases} END"}, ones)


def _is_one(name: str) -> str:
    return f"lower({quoted(name)}::VARCHAR) IN ({', '.join(map(text_in_sql, TRUE))})"


def _truth(log: Log, column: Column) -> str:
    if column.type == "VARCHAR" or log.format in TEXTUAL:
        return f" = {text_in_sql(next(v for v in column.values if v.lower() in TRUE))}"
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
    session: Session, log: Log, parts: Sequence[Column], choices: Sequence[Labels]
) -> Classes | None:
    """Find which outcome the probabilities fit best, and which class each of them is of.

    Parameters
    ----------
    session, log : Session, Log
        Has the matched rows.
    parts : sequence of Column
        The columns of the probabilities.
    choices : sequence of Labels
        What may be the outcome, in the order of the columns `cm_one_…` of the matched rows.
    """
    names = [f"{number} {value}" for number, of in enumerate(choices) for value in of.are_one]
    numbers = {part.name: f"try_cast({quoted(part.name)} AS DOUBLE)" for part in parts}
    probabilities, ones = matched(session, numbers, names)
    if not ones:
        return None
    p = np.column_stack([probabilities[part.name] for part in parts])
    best, most = None, 0.0
    for number, of in enumerate(choices):
        happened = np.column_stack([ones[f"{number} {value}"] for value in of.are_one])
        positions, gained = _assign(p, happened)
        if gained > most:
            best, most = (of, positions), gained
    best = best or next((each for of in choices if (each := _by_name(parts, of))), None)
    classes = _classes(session, log, parts, *best) if best else None
    if classes and not most:
        said = classes.labels.outcome
        doubt = (
            f"the probabilities predict `{said['sql'] if isinstance(said, dict) else said}` worse "
            f"than the shares of its classes do; their names say which class each is of"
        )
        classes = replace(classes, doubts=(*classes.doubts, doubt))
    return classes


def _by_name(parts: Sequence[Column], of: Labels) -> tuple[Labels, list[int]] | None:
    """Give each class the column that has its name; None if some have none, or not one."""
    said = [{*words(part.name)} for part in parts]
    fits = [[j for j, spoken in enumerate(said) if {*words(v)} <= spoken] for v in of.are_one]
    positions = [places[0] for places in fits if len(places) == 1]
    return (of, positions) if len({*positions}) == len(of.are_one) else None


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
    session: Session, log: Log, parts: Sequence[Column], of: Labels, positions: Sequence[int]
) -> Classes | None:
    """Write the setting; None if the probabilities are within a column, and are no vector of it."""
    named = {parts[j].name: value for j, value in zip(positions, of.are_one, strict=True)}
    listed = [part.name for part in parts]
    names = [named.get(name, _telling(name, listed)) for name in listed]
    (exact,) = ask(session, f"SELECT min({_adds_up(parts, EXACT)}) FROM {log.table}")
    vector: object = listed
    if any(part.sql for part in parts):
        whole = vector_of([part.sql for part in parts])
        inside = [c for c in log.columns if c.sql and vector_of([c.sql]) == whole]
        keyed = {part.name.rpartition(".")[2] for part in parts} == {*names}
        if whole is None or [*inside] != [*parts] or not (keyed or parts[0].name.endswith("]")):
            return None
        plain = next((leaf.whole for leaf in log.leaves if in_sql(leaf.whole) == whole), None)
        vector = plain or {"sql": whole}
    setting = {"names": names, "vector": vector} | ({} if exact else {"sums": "normalise"})
    agree = all({*words(name)} <= {*words(part)} for name, part in zip(names, listed, strict=True))
    doubt = (
        "which class each probability is of was measured, because their names do not say it: "
        + ", ".join(f"`{part}` of {name}" for name, part in zip(names, listed, strict=True))
    )
    return Classes(setting, of, () if agree else (doubt,))
