"""Covering arrays: few rows in which every allowed combination of a few factors occurs."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

Factors = Mapping[str, Sequence[str]]
Row = dict[str, str]
Choice = tuple[str, str]  # a factor and its value
Chosen = frozenset[Choice]
Domains = dict[str, list[str]]  # the values that each factor can still have

CANDIDATES = 6  # rows that are tried before the best of them is taken


class Rules:
    """Which values of factors never stand beside each other."""

    def __init__(self, factors: Factors, apart: Iterable[tuple[Choice, Choice]] = ()) -> None:
        self.factors = factors
        self.apart: dict[Choice, set[Choice]] = {}
        for one, other in apart:
            self.apart.setdefault(one, set()).add(other)
            self.apart.setdefault(other, set()).add(one)

    def domains(self) -> Domains:
        """Give every factor all of its values."""
        return {name: [*values] for name, values in self.factors.items()}

    def chosen(self, domains: Domains, choice: Choice) -> Domains | None:
        """Choose a value; None if it leaves another factor without any."""
        name, value = choice
        if value not in domains[name]:
            return None
        found = {**domains, name: [value]}
        for other, banned in self.apart.get(choice, ()):
            if banned in found[other]:
                found[other] = [v for v in found[other] if v != banned]
                if not found[other]:
                    return None
        return found

    def completed(self, domains: Domains, order: Iterable[str] = ()) -> Row | None:
        """Choose a value of every factor: the first that fits, in some order of the factors.

        A value that stands beside all others leaves them what they have.
        """
        for name in (*order, *domains):
            if (name, domains[name][0]) in self.apart:
                options = (self.chosen(domains, (name, value)) for value in domains[name])
                fitting = next((one for one in options if one is not None), None)
                if fitting is None:
                    return None
                domains = fitting
        return {name: values[0] for name, values in domains.items()}

    def around(self, choices: Iterable[Choice]) -> Domains | None:
        """Choose some values; None if they are never together."""
        found: Domains | None = self.domains()
        for choice in choices:
            found = self.chosen(found, choice) if found is not None else None
        return found


@dataclass(frozen=True)
class Goal:
    """So many factors at a time, among some of them."""

    strength: int
    among: Sequence[str]

    def of(self, row: Row) -> Iterator[Chosen]:
        """List the combinations in a row."""
        return map(
            frozenset, combinations([(name, row[name]) for name in self.among], self.strength)
        )

    def possible(self, rules: Rules) -> set[Chosen]:
        """List the combinations that occur in some row."""
        found = set[Chosen]()
        for names in combinations(self.among, self.strength):
            for values in product(*(rules.factors[name] for name in names)):
                choices = [*zip(names, values, strict=True)]
                domains = rules.around(choices)
                if domains and rules.completed(domains):
                    found.add(frozenset(choices))
        return found


def covering(rules: Rules, goals: Sequence[Goal], seed: int) -> Iterator[Row]:
    """Yield rows until every possible combination has occurred; the same ones for the same seed."""
    rng = random.Random(seed)  # noqa: S311 - tests need no secrets
    left = set[Chosen]().union(*(goal.possible(rules) for goal in goals))
    queue = sorted(left, key=lambda one: (-len(one), sorted(one)))
    while queue:
        start = queue.pop()
        if start not in left:
            continue
        rows = [_candidate(rules, start, left, rng) for _ in range(CANDIDATES)]
        covered = [left.intersection(*[_all_of(row, goals)]) for row in rows]
        best = max(range(CANDIDATES), key=lambda i: len(covered[i]))
        left -= covered[best]
        yield rows[best]


def _all_of(row: Row, goals: Sequence[Goal]) -> set[Chosen]:
    return set[Chosen]().union(*(goal.of(row) for goal in goals))


def _candidate(rules: Rules, start: Chosen, left: set[Chosen], rng: random.Random) -> Row:
    """Fill a row around one combination, in a random order, with values that are waited for."""
    domains = rules.around(start) or rules.domains()
    names = [name for name in rules.factors if name not in dict(start)]
    rng.shuffle(names)
    row = dict(start)
    for name in names:
        waiting = {
            value: sum(frozenset({(name, value), one}) in left for one in row.items())
            for value in rng.sample(domains[name], len(domains[name]))
        }
        domains = {**domains, name: sorted(waiting, key=lambda v: -waiting[v])}
        options = ((v, rules.chosen(domains, (name, v))) for v in domains[name])
        row[name], domains = next(
            (v, found) for v, found in options if found is not None and rules.completed(found)
        )
    return {name: row[name] for name in rules.factors}
