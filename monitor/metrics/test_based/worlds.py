"""Outcomes of many worlds in which the scores are true, drawn together.

Rule: a group of equal scores is drawn for all worlds at once. Then its binomial distribution is
tabulated once, and a draw is a random number and a look into the table.
"""

from math import exp, log1p, sqrt

import numpy as np

from monitor.metrics.binomial.pmf import log_pmf
from monitor.metrics.core.compiled import inner
from monitor.metrics.core.grid import Floats, Ints

REACH = 4.0  # standard deviations on both sides of the mean, and one more: about 6e-5 lie beyond
ENTRIES_PER_WORLD = 8  # a table with more takes longer than drawing without
NOTHING = 1e-18  # of [0, 1): less than its numbers can tell apart
FEW = 16  # counts in a table: up to here comparing with all is faster than a guide


@inner
def draw_worlds(rng: np.random.Generator, scores: Floats, counts: Ints, worlds: int) -> Ints:
    """Draw each group's positives from its binomial distribution: a row for each world."""
    positives = np.empty((worlds, counts.size), np.int64)
    most = ENTRIES_PER_WORLD * worlds + FEW
    ends, guide, draws = np.empty(most), np.empty(2 * most, np.int64), np.empty(worlds)
    for i in range(counts.size):
        n, rarer = counts[i], min(scores[i], 1.0 - scores[i])
        first, last = _span(n, rarer, REACH)
        if last - first >= most:
            for world in range(worlds):
                positives[world, i] = rng.binomial(n, scores[i])
            continue
        for world in range(worlds):
            draws[world] = rng.random()
        table = ends[: last - first + 1]
        tabulate(first, n, rarer, table)
        look_up(draws, first, n, rarer, table, guide)
        for world in range(worlds):
            rare = int(draws[world])
            positives[world, i] = rare if rarer == scores[i] else n - rare
    return positives


@inner
def _span(n: int, q: float, reach: float) -> tuple[int, int]:
    """Give the first and last count within the reach of the mean."""
    mean = n * q
    away = reach * (sqrt(mean * (1.0 - q)) + 1.0)
    return max(0, int(mean - away)), min(n, int(mean + away) + 1)


@inner
def tabulate(first: int, n: int, q: float, ends: Floats) -> None:
    """Cut [0, 1) into a slice for each binomial count from the first on: fill in where they end."""
    width = exp(log_pmf(first, n, q, 1.0 - q)) if first else exp(n * log1p(-q))
    end, odds = 0.0, q / (1.0 - q)
    for place in range(ends.size):
        count = first + place
        end += width
        ends[place] = end
        width *= (n - count) * odds / (count + 1)


@inner
def look_up(draws: Floats, first: int, n: int, q: float, ends: Floats, guide: Ints) -> None:
    """Replace places in [0, 1) by the counts in whose slices they lie."""
    size = ends.size
    if size <= FEW:
        for i in range(draws.size):
            before = 0
            for j in range(size):  # to the end: a branch at the right slice takes longer
                before += draws[i] >= ends[j]
            draws[i] = first + before if before < size else _beyond(draws[i], first, n, q, ends)
        return
    steps = _fill_guide(ends, guide)
    for i in range(draws.size):
        j = guide[int(draws[i] * steps)]
        while j < size and draws[i] >= ends[j]:
            j += 1
        draws[i] = first + j if j < size else _beyond(draws[i], first, n, q, ends)


@inner
def _fill_guide(ends: Floats, guide: Ints) -> int:
    """For each of equal steps through [0, 1) note the first slice that ends within or after it."""
    steps = 1
    while steps < ends.size:
        steps *= 2
    j = 0
    for step in range(steps):
        while j < ends.size and ends[j] * steps <= step:
            j += 1
        guide[step] = j
    return steps


@inner
def _beyond(place: float, first: int, n: int, q: float, ends: Floats) -> int:
    """Find the count of a place that is in no slice: first above the table, then below it."""
    left, last = place - ends[-1], first + ends.size - 1
    for begin, end, step in ((last + 1, n + 1, 1), (first - 1, -1, -1)):
        for count in range(begin, end, step):
            width = exp(log_pmf(count, n, q, 1.0 - q))
            if left < width:
                return count
            left -= width
            if width < NOTHING:
                break
    return last  # all of it is rounding
