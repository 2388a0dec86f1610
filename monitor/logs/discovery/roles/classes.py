"""Columns that are the probabilities of classes, and which class each of them is of."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from scipy.optimize import linear_sum_assignment

from monitor.base.sql_text import text_in_sql
from monitor.logs.discovery.roles.evidence import SURE, Floats
from monitor.logs.discovery.roles.rules import words
from monitor.logs.discovery.samples.profile import Column, in_sql
from monitor.logs.discovery.samples.reading import Log, ask
from monitor.logs.discovery.samples.within import vector_of
from monitor.logs.engines.conversions import quoted
from monitor.logs.engines.session import Session
from monitor.words.guesses import say

LEAST_CLASSES, MOST_TRIED = 3, 12  # columns of which some may add up to 1
ROUNDED = 1e-3  # how far the sum of some rows may be from 1
EXACT = 1e-6  # further than this a row breaks the check score_sum
SURE_SHARE = 0.99  # of the rows that add up
MOST_LABELS = 30  # values of a column that may be the class that came true


# What `predictions.classes` says, which column has the class, and what is unsure.
Classes = tuple[Mapping[str, object], Column, tuple[str, ...]]


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


def labels_in(log: Log, parts: Sequence[Column]) -> list[Column]:
    """List the columns that may say which of some classes came true."""
    least, most = LEAST_CLASSES, min(len(parts), MOST_LABELS)
    return [
        c
        for c in log.columns
        if c not in parts and least <= len(c.values) <= most
        if c.kind in ("text", "integer") and c.first is None
    ]


def are_one(labels: Sequence[Column]) -> dict[str, str]:
    """Write of each value of some columns, in SQL, whether it is that of a row."""
    return {
        f"{n} {value}": f"({quoted(c.name)}::VARCHAR = {text_in_sql(value)})"
        for n, c in enumerate(labels)
        for value in sorted(c.values)
    }


def name_classes(
    session: Session,
    log: Log,
    parts: Sequence[Column],
    labels: Sequence[Column],
    matched: Sequence[Floats],
    ones: Mapping[str, Floats],
) -> Classes | None:
    """Find which column the probabilities fit best, and which class each of them is of.

    Parameters
    ----------
    session, log : Session, Log
        Has the sample.
    parts, labels : sequence of Column
        The probabilities, and what may be the class.
    matched : sequence of ndarray of shape (n,)
        The probabilities of the matched rows, a column each.
    ones : mapping of str to ndarray of shape (n,)
        What is 1 of these rows, as `are_one` names it.
    """
    best, most = None, 0.0
    for n, label in enumerate(labels if ones else ()):
        p = np.column_stack(matched)
        values = sorted(label.values)
        positions, gained = _assign(p, np.column_stack([ones[f"{n} {v}"] for v in values]))
        if gained > most:
            named = {parts[j].name: v for j, v in zip(positions, values, strict=True)}
            best, most = (label, named), gained
    if best:
        return _classes(session, log, parts, *best)
    for label in labels:
        named = _by_name(parts, label)
        if named and (found := _classes(session, log, parts, label, named)):
            setting, _, doubts = found
            return setting, label, (*doubts, say("unpredicted classes", label=label.name))
    return None


def _by_name(parts: Sequence[Column], label: Column) -> dict[str, str]:
    """Give each class the column that has its name; none if some have none, or not one."""
    said = {part.name: {*words(part.name)} for part in parts}
    fits = {v: [name for name, of in said.items() if {*words(v)} <= of] for v in label.values}
    named = {names[0]: v for v, names in fits.items() if len(names) == 1}
    return named if len(named) == len(label.values) else {}


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
    session: Session, log: Log, parts: Sequence[Column], label: Column, named: Mapping[str, str]
) -> Classes | None:
    """Write the setting; None if the probabilities are within a column, and are no vector of it."""
    listed = [part.name for part in parts]
    shared = set.intersection(*({*words(name)} for name in listed))
    rest = {n: "_".join(w for w in words(n) if w not in shared) or n for n in listed}
    names = [named.get(name, rest[name]) for name in listed]
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
    pairs = ", ".join(f"`{part}` of {name}" for name, part in zip(names, listed, strict=True))
    return setting, label, (() if agree else (say("measured classes", pairs=pairs),))
