"""A search for parts of the rows that moved apart from all others: a tree of depth two. Pure.

Rule: parts are proposed on some days and confirmed on others, which took no part in the search,
with the test that `where` makes of a value. Only what is confirmed counts as found. A day's sums
are whole numbers until its rows are added up, so their order does not matter.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import log, nan, sqrt

import numpy as np

from monitor.days.summary import CodedRows, ColumnPart, column_part
from monitor.drift.curve.reference import Reference
from monitor.drift.records.day_evidence import DIRECTIONS, KINDS, direction_of, kind_of
from monitor.drift.records.places import Condition, name_all
from monitor.drift.where.column_sums import (
    AS_BEFORE,
    LEAST_OF_EACH,
    Sums,
    change_of,
    exceeding,
    is_enough,
    nothing,
    relative_slope,
    sum_part,
)
from monitor.metrics.core.coarse import COARSE_COUNT
from monitor.metrics.core.compiled import compiled
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.ratio import ratio
from monitor.metrics.core.samples import Bools
from monitor.metrics.core.special import expit
from monitor.metrics.logistic.intercept import solve_factor

ONE = 2.0**20  # sums are kept in steps of a millionth
WIDTH = len(DIRECTIONS)
# Sums of a cell on a day: residual, weight, both times each direction, weight times its square,
# rows and positive outcomes; and what is kept of them: score, information, rows and outcomes.
SUMMED, KEPT = 4 + 3 * WIDTH, 2 + 2 * WIDTH
MOST_VALUES = 5  # of a column of texts in one part
LARGEST_SHARE = 0.5  # of the outcomes: what is off in most rows is off in the whole
NEARLY = log(100.0)  # by which another part may be less likely and is still named beside
MOST_BESIDE = 3
Scored = tuple[float, tuple[int, ...], tuple[tuple[int, ...], ...], int]
Sets = Sequence[tuple[tuple[int, ...], int]]  # codes, and how many values it takes to name them
Divided = list[list[Sums]]  # what a day says of the rows of no part, and of those of each proposal
Both = tuple[Sums, Sums]  # before, and after


@dataclass(frozen=True, eq=False)
class Table:
    """What some days say of the values of two columns.

    Attributes
    ----------
    columns : (int, int)
        Places of the columns; the second one is k, the number of columns, in a table of one.
    sums : ndarray of shape (a, b, 10)
        Scores and informations along each direction, rows and positive outcomes, by both codes.
    """

    columns: tuple[int, int]
    sums: Floats


def tables_of(
    reference: Reference, days: Iterable[CodedRows], sizes: Sequence[int]
) -> tuple[list[Table], int]:
    """Add up days by the values of each column, and of every two columns.

    Parameters
    ----------
    reference : Reference
        Of the whole.
    days : iterable of CodedRows
        The days.
    sizes : sequence of int
        How many codes each column has, with 0.

    Returns
    -------
    list of Table, int
        And the number of days that have both outcomes.

    Notes
    -----
    With residuals ``r = y - p`` and weights ``w = p (1 - p)`` at the curve and the day's own
    intercept, the cell of two values has along a direction D the score ``sum r (D - c)`` and the
    information ``sum w (D - c)**2``, with c the mean of D in the cell under w: the efficient score
    with an intercept for each cell and day (Cox and Hinkley, Theoretical Statistics, 1974, 9.3). So
    neither a prior of the day nor one of a value is a distortion. With classes every pair of them
    has intercepts of its own, and what the pairs say is added up.
    """
    pairs = [*((i, len(sizes)) for i in range(len(sizes))), *combinations(range(len(sizes)), 2)]
    widths = np.array([*sizes, 1], np.int64)
    cells = [int(widths[i] * widths[j]) for i, j in pairs]
    starts = np.concatenate([[0], np.cumsum(cells)]).astype(np.int64)
    total, count = np.zeros((starts[-1], KEPT)), 0
    firsts, seconds = np.array(pairs, np.int64).reshape(-1, 2).T
    summed, seen = np.zeros((starts[-1], SUMMED), np.int64), np.zeros(starts[-1], bool)
    for day in days:
        known = False
        for rows in day.by_pair():
            units = _units(reference, rows)
            if units is None:
                continue
            known = True
            none = np.zeros((1, rows.cells.size), np.uint16)
            codes = np.vstack([rows.codes.astype(np.uint16, copy=False), none])
            ways = firsts, seconds, widths, starts
            _add_up(rows.cells, rows.hits, codes, ways, units, (summed, seen))
            there = np.flatnonzero(seen)
            total[there] += _efficient(summed[there])
            summed[there], seen[there] = 0, False
        count += known
    return [
        Table(pair, total[low:high].reshape(*widths[[*pair]], KEPT))
        for pair, low, high in zip(pairs, starts[:-1], starts[1:], strict=True)
    ], count


def _units(reference: Reference, rows: CodedRows) -> Ints | None:
    """Give what a row adds to each sum, by outcome and coarse cell, shape (2, 1024, 16)."""
    inside = np.zeros(COARSE_COUNT, bool)
    inside[reference.known] = True
    counts, hits = (
        np.bincount(of, minlength=COARSE_COUNT) * inside
        for of in (rows.cells, rows.cells[rows.hits])
    )
    there = np.flatnonzero(counts)
    if not 0 < hits.sum() < counts.sum():
        return None
    factor, _ = solve_factor(np.exp(reference.curve[there]), counts[there], int(hits.sum()))
    p = expit(reference.curve + np.log(factor))
    weights, directions = p * (1.0 - p), reference.directions
    units = np.zeros((2, COARSE_COUNT, SUMMED))
    for outcome in (0, 1):
        residuals = outcome - p
        each = [residuals, weights, *(residuals * directions), *(weights * directions)]
        each += [*(weights * directions**2), np.ones(COARSE_COUNT), np.full(COARSE_COUNT, outcome)]
        units[outcome] = np.array(each).T
    return np.asarray(np.rint(units * inside[:, None] * ONE).astype(np.int64))


def _efficient(summed: Ints) -> Floats:
    """Take an intercept for each cell out of its sums."""
    sums = summed / ONE
    residuals, weights = sums[:, 0], sums[:, 1]
    pulls, means, squares = (sums[:, 2 + i * WIDTH : 2 + (i + 1) * WIDTH] for i in range(3))
    means = ratio(means, weights[:, None])
    scores = pulls - means * residuals[:, None]
    informations = np.maximum(squares - means**2 * weights[:, None], 0.0)
    return np.hstack([scores, informations, sums[:, -2:]])


@compiled
def _add_up(
    cells: Ints,
    hits: Bools,
    codes: Ints,
    ways: tuple[Ints, Ints, Ints, Ints],
    units: Ints,
    into: tuple[Ints, Bools],
) -> None:
    """Add rows to the sums of every pair of columns, in place, and say which have any."""
    (firsts, seconds, widths, starts), (summed, seen) = ways, into
    for row in range(cells.size):
        unit = units[int(hits[row]), cells[row]]
        for pair in range(firsts.size):
            first, second = firsts[pair], seconds[pair]
            at = starts[pair] + codes[first, row] * widths[second] + codes[second, row]
            seen[at] = True
            for i in range(unit.size):
                summed[at, i] += unit[i]


@dataclass(frozen=True)
class SearchColumn:
    """A column that is searched.

    Attributes
    ----------
    name : str
        Its name.
    labels : tuple of str
        What the codes from 1 on are called.
    edges : tuple of float
        Where numbers are cut; empty for a column of texts.
    """

    name: str
    labels: tuple[str, ...]
    edges: tuple[float, ...] = ()

    def conditions(self, codes: Sequence[int]) -> tuple[Condition, ...]:
        """Name the values of some codes, neighbouring ranges as one.

        Examples
        --------
        >>> ranges = ("below 18", "18 to 40", "40 and more")
        >>> SearchColumn("age", ranges, (18.0, 40.0)).conditions((2, 3))
        (Condition(column='age', value='18 and more', first=None),)
        """
        if not self.edges:
            return tuple(Condition(self.name, self.labels[code - 1]) for code in codes)
        low, high = (None, *self.edges)[codes[0] - 1], (*self.edges, None)[codes[-1] - 1]
        if low is None:
            return (Condition(self.name, f"below {high:g}"),)
        named = f"{low:g} and more" if high is None else f"{low:g} to {high:g}"
        return (Condition(self.name, named),)


@dataclass(frozen=True)
class Proposal:
    """A part that the search found on its half of the days.

    Attributes
    ----------
    columns : tuple of int
        Places of one or two columns.
    codes : tuple of tuple of int
        For each of them the codes, any of which a row has.
    kind : str
        The distortion.
    instead : tuple of str
        Parts by other columns that would do nearly as well there.
    """

    columns: tuple[int, ...]
    codes: tuple[tuple[int, ...], ...]
    kind: str
    instead: tuple[str, ...] = ()

    def conditions(self, columns: Sequence[SearchColumn]) -> tuple[Condition, ...]:
        """Name the values."""
        pairs = zip(self.columns, self.codes, strict=True)
        return tuple(c for i, codes in pairs for c in columns[i].conditions(codes))

    def met(self, rows: CodedRows) -> list[Bools]:
        """Say of each row whether it has one of the values, for each column."""
        return [
            np.isin(rows.codes[i], codes) for i, codes in zip(self.columns, self.codes, strict=True)
        ]


@dataclass(frozen=True)
class PartFound:
    """A part that other days confirm.

    Attributes
    ----------
    conditions : tuple of Condition
        Rows are meant that have any of the values of each column.
    kind : str
        The distortion.
    slope : Estimate or None
        Of its outcomes against their own reference; 1 if that is unchanged.
    change : Estimate
        How far the curve moved along the direction of the kind, in logit.
    rows : float
        Share of the outcomes; a ratio in [0, 1].
    p_value : float
        That these rows did not move, or no further than all others, or no further than the rows
        that meet one condition only; the largest, times the number of parts not yet confirmed
        (Holm, Scand. J. Statist. 6, 1979).
    new : bool
        Whether the reference has too few of these rows, so that they were compared with its curve.
    instead : tuple of str
        Parts by other columns that would do nearly as well on the days of the search.
    """

    conditions: tuple[Condition, ...]
    kind: str
    slope: Estimate | None
    change: Estimate
    rows: float
    p_value: float
    new: bool
    instead: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Half:
    """The tables of both periods and what their days vary by themselves.

    Attributes
    ----------
    noise : ndarray of shape (2, 4)
        Variance of a change that does not become smaller with more rows, in each period.
    columns : sequence of SearchColumn
        What is searched.
    price : float
        Log of the number of comparisons, which each value of a part has to pay.
    """

    noise: Floats
    columns: Sequence[SearchColumn]
    price: float


def propose(
    reference: Reference,
    columns: Sequence[SearchColumn],
    before: tuple[Sequence[Table], int],
    after: tuple[Sequence[Table], int],
) -> Proposal | None:
    """Propose the part by one column or two that moved most clearly apart from all other rows.

    Parameters
    ----------
    reference : Reference
        Of the whole.
    columns : sequence of SearchColumn
        What was counted.
    before, after : tuple
        From `tables_of`, over days of the reference and over later days.

    Returns
    -------
    Proposal or None
        None if no part is clear enough.

    Notes
    -----
    With d the change of a part less that of all other rows, the part with the largest
    ``d**2 / (2 variance) - s log m`` is taken, if that is above 0: s values name the part, and m
    values were compared along every direction. Values of texts enter in the order of their own
    clarity, numbers as ranges between quantiles.
    """
    if not (before[1] and after[1]):
        return None
    noise = np.array([reference.day_variances / days for _, days in (before, after)])
    compared = WIDTH * sum(len(column.labels) for column in columns)
    half = _Half(noise, columns, log(max(2, compared)))
    scored = [
        best
        for old, new in zip(before[0], after[0], strict=True)
        for best in _best_of(half, old.columns, np.stack([old.sums, new.sums], axis=2))
    ]
    ranked = sorted(scored, key=lambda s: (-round(s[0], 6), len(s[1]), s[1], s[2]))
    if not ranked or ranked[0][0] <= 0.0:
        return None
    best = ranked[0]
    proposal = Proposal(best[1], best[2], KINDS[best[3]])
    apart = [s for s in ranked[1:] if s[0] > max(0.0, best[0] - NEARLY)]
    apart = [s for s in apart if not {*s[1]} & {*best[1]}][:MOST_BESIDE]
    beside = tuple(name_all(Proposal(s[1], s[2], "").conditions(columns)) for s in apart)
    return Proposal(proposal.columns, proposal.codes, proposal.kind, beside)


def _best_of(half: _Half, pair: tuple[int, int], sums: Floats) -> Iterator[Scored]:
    """Score the parts of one table, shape (a, b, 2, 10)."""
    total = sums.sum(axis=(0, 1))
    if pair[1] == len(half.columns):  # of one column
        yield from _scored(half, pair[:1], sums[:, 0], total, _sets(half, pair[0], sums[:, 0]))
        return
    for (i, j), of in ((pair, sums), (pair[::-1], sums.swapaxes(0, 1))):
        two = [
            (value - size * half.price, (i, j), (codes, other), kind)
            for codes, size in _sets(half, i, of.sum(axis=1), total)
            for inner in (of[[*codes]].sum(axis=0),)
            for value, _, (other,), kind in _scored(
                half, (j,), inner, total, _sets(half, j, inner, total)
            )
        ]
        if two:
            value, columns, codes, kind = max(two, key=lambda each: each[0])
            order = np.argsort(columns)
            yield value, tuple(columns[k] for k in order), tuple(codes[k] for k in order), kind


def _sets(half: _Half, column: int, sums: Floats, total: Floats | None = None) -> Sets:
    """List the sets of values of a column that may describe a part; sums of shape (c, 2, 10)."""
    of, codes = half.columns[column], range(1, len(sums))
    if of.edges:
        last = len(of.labels)
        spans = [(i, j) for i in codes for j in codes if i <= j and (i, j) != (1, last)]
        return [(tuple(range(i, j + 1)), 1 + (i > 1 and j < last)) for i, j in spans]
    signed = _signed(half, sums, sums.sum(axis=0) if total is None else total)
    sets: dict[tuple[int, ...], int] = {(code,): 1 for code in codes}
    for direction in range(WIDTH):
        for sign in (-1.0, 1.0):
            z = np.where(np.isfinite(signed[:, direction]), sign * signed[:, direction], -np.inf)
            z[0] = -np.inf  # values without a number are not named
            clear = [int(i) for i in np.argsort(-z, kind="stable")[:MOST_VALUES] if z[i] > 0.0]
            sets |= {tuple(sorted(clear[:n])): n for n in range(2, len(clear) + 1)}
    return [*sets.items()]


def _scored(
    half: _Half, at: tuple[int, ...], sums: Floats, total: Floats, sets: Sets
) -> Iterator[Scored]:
    """Give the best of some sets of values."""
    if not sets:
        return
    member = np.zeros((len(sets), len(sums)))
    for row, (codes, _) in zip(member, sets, strict=True):
        row[[*codes]] = 1.0
    parts = np.einsum("sc,cpk->spk", member, sums)
    signed = _signed(half, parts, total)
    sizes = np.array([size for _, size in sets])
    values = np.where(np.isfinite(signed), 0.5 * signed**2, -np.inf) - (sizes * half.price)[:, None]
    place, direction = np.unravel_index(int(values.argmax()), values.shape)
    if np.isfinite(values[place, direction]):
        kind = 2 * int(direction) + int(signed[place, direction] > 0.0)
        yield float(values[place, direction]), at, (sets[int(place)][0],), kind


def _signed(half: _Half, parts: Floats, total: Floats) -> Floats:
    """Give the changes of parts less those of the rest in standard errors; nan if not known.

    Shape (n, 2, 10) of parts, (2, 10) of the total and (n, 4) of what is returned.
    """
    own, variance = _change(half, parts)
    others, of_others = _change(half, total - parts)
    large = parts[:, 1, -2] > LARGEST_SHARE * total[1, -2]
    signed = (own - others) / np.sqrt(variance + of_others)
    return np.where(large[:, None], np.nan, signed)


def _change(half: _Half, sums: Floats) -> tuple[Floats, Floats]:
    """Give how far rows moved, and its variance; nan where too few outcomes say so."""
    scores, informations = sums[..., :WIDTH], sums[..., WIDTH : 2 * WIDTH]
    rows, hits = sums[..., -2], sums[..., -1]
    enough = (np.minimum(hits, rows - hits) >= LEAST_OF_EACH)[..., None] & (informations > 0.0)
    weights = np.where(enough, informations, 1.0)
    values, variances = scores / weights, 1.0 / weights + half.noise
    past = enough[:, 0]  # rows that the reference lacks are compared with its curve
    change = values[:, 1] - np.where(past, values[:, 0], 0.0)
    variance = variances[:, 1] + np.where(past, variances[:, 0], 0.0)
    now = enough[:, 1]
    return np.where(now, change, np.nan), np.where(now, variance, np.nan)


def divide(reference: Reference, rows: CodedRows, proposals: Sequence[Proposal]) -> Divided:
    """Sum up the rows of a day that each proposal needs: those of no part come first.

    Rows of an earlier part are left out of later ones. Of a part by two columns there follow the
    rows that meet the first condition only, and those that meet the second one only.
    """
    free, bare = np.ones(rows.cells.size, bool), replace(rows, codes=rows.codes[:0])
    summed = Divided()
    for proposal in proposals:
        met = proposal.met(rows)
        inside = np.logical_and.reduce(met)
        alone = [meets & ~inside for meets in met] if met[1:] else []
        summed.append([_summed(reference, bare.chosen(free & k)) for k in (inside, *alone)])
        free &= ~inside
    return [[_summed(reference, bare.chosen(free))], *summed]


def _summed(reference: Reference, rows: CodedRows) -> Sums:
    """Add up pairs of classes, each with an intercept; they vary from day to day in common."""
    together = sum((sum_part(reference, _count(of)) for of in rows.by_pair()), nothing())
    return replace(together, squares=together.informations**2)


def _count(rows: CodedRows) -> ColumnPart:
    counts, positives = (
        np.bincount(of, minlength=COARSE_COUNT) for of in (rows.cells, rows.cells[rows.hits])
    )
    return column_part(counts, positives, int(counts.sum()))


def confirm_parts(
    reference: Reference,
    columns: Sequence[SearchColumn],
    proposals: Sequence[Proposal],
    before: Sequence[Divided],
    after: Sequence[Divided],
) -> tuple[PartFound, ...]:
    """Test on other days what was proposed; keep what they confirm, with 5 % wrong ones together.

    Parameters
    ----------
    reference, columns
        As for `propose`.
    proposals : sequence of Proposal
        In the order in which they were made.
    before, after : sequence
        What `divide` says of days of the reference and of later days that were not searched.
    """
    if not (proposals and before and after):
        return ()

    def summed(days: Sequence[Divided], i: int, j: int) -> Sums:
        return sum((day[i][j] for day in days), nothing())

    (rest,), *parts = [
        [(summed(before, i, j), summed(after, i, j)) for j in range(len(counted))]
        for i, counted in enumerate(after[0])
    ]
    total = sum(of.rows for of in (rest[1], *(part[0][1] for part in parts)))
    tested = [
        _tested(reference, columns, proposal, part, rest, total)
        for proposal, part in zip(proposals, parts, strict=True)
    ]
    ordered = sorted(
        ((i, part) for i, part in enumerate(tested) if part),
        key=lambda numbered: numbered[1].p_value,
    )
    confirmed, largest = dict[int, PartFound](), 0.0
    for place, (i, part) in enumerate(ordered):
        largest = min(1.0, max(largest, part.p_value * (len(proposals) - place)))
        if largest >= AS_BEFORE:
            break
        confirmed[i] = replace(part, p_value=largest)
    named = {name_all(part.conditions) for part in confirmed.values()}
    return tuple(
        replace(part, instead=tuple(name for name in part.instead if name not in named))
        for _, part in sorted(confirmed.items())
    )


def _tested(
    reference: Reference,
    columns: Sequence[SearchColumn],
    proposal: Proposal,
    part: Sequence[Both],
    rest: Both,
    total: int,
) -> PartFound | None:
    """Test a part against the reference, the rest and the rows that meet one condition only."""
    direction = direction_of(proposal.kind)
    every = *part[:1], rest, *part[1:]
    changes = [change_of(reference, direction, *of, new=True) for of in every]
    own = changes[0]
    if own is None or kind_of(direction, own.value) != proposal.kind:
        return None
    tolerance = float(reference.tolerances[direction])
    p_values = [exceeding(own, tolerance), *(_apart(own, other) for other in changes[1:])]
    return PartFound(
        proposal.conditions(columns),
        proposal.kind,
        slope=relative_slope(*part[0]),
        change=own,
        rows=part[0][1].rows / total if total else nan,
        p_value=max(p_values),
        new=not is_enough(part[0][0]),
        instead=proposal.instead,
    )


def _apart(change: Estimate, other: Estimate | None) -> float:
    """Give the p-value that two changes are the same; 1 if one is not known."""
    if other is None:
        return 1.0
    error = sqrt(change.standard_error**2 + other.standard_error**2)
    return exceeding(Estimate.normal(change.value - other.value, error), 0.0)
