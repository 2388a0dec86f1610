"""The search for parts: its sums, what it proposes, and what other days confirm."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from scipy.special import expit

from monitor.base.segment_names import WHOLE
from monitor.days.summary import CodedRows, column_part
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.records.places import name_all
from monitor.drift.where.column_sums import sum_part
from monitor.drift.where.part_search import (
    WIDTH,
    Proposal,
    SearchColumn,
    confirm_parts,
    divide,
    propose,
    tables_of,
)
from monitor.metrics.core.coarse import CENTRES, COARSE_COUNT, Coarse
from monitor.metrics.core.samples import Bools

ROWS, SIZES = 4_000, [4, 3, 5]
COLUMNS = [
    SearchColumn("device", ("tv", "web", "car")),
    SearchColumn("country", ("DE", "FR")),
    SearchColumn("price", ("", "", "", ""), (1.0, 2.0, 3.0)),
]


def draw(seed: int, off: Proposal | None = None, slope: float = 1.0) -> CodedRows:
    """Draw a day with a prior of its own and of each device; rows of a part have another slope."""
    rng = np.random.default_rng(seed)
    places = np.clip(rng.normal(500, 90, ROWS), 0, COARSE_COUNT - 1).astype(np.int64)
    codes = np.stack([rng.integers(0, size, ROWS) for size in SIZES]).astype(np.uint8)
    rows = CodedRows(places, np.zeros(ROWS, bool), codes)
    slopes = np.where(np.logical_and.reduce(off.met(rows)), slope, 1.0) if off else np.ones(ROWS)
    priors = rng.normal(0.0, 0.3) + rng.normal(0.0, 0.2, SIZES[0])[codes[0]]
    hits = rng.random(ROWS) < expit(slopes * CENTRES[places] + priors)
    return CodedRows(places, hits, codes)


@cache
def reference() -> Reference:
    """Fit the reference of days without a drift."""
    days = [draw(1_000 + i) for i in range(14)]
    return fit_reference([{WHOLE: Coarse(*counts(day))} for day in days])


def counts(rows: CodedRows, kept: Bools | slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
    """Count rows and positive outcomes by coarse cell."""
    chosen = (
        rows.chosen(np.arange(ROWS)[kept] >= 0) if isinstance(kept, slice) else rows.chosen(kept)
    )
    both = chosen.cells, chosen.cells[chosen.hits]
    return tuple(np.bincount(of, minlength=COARSE_COUNT) for of in both)


def test_sums_are_those_of_plain_formulas_whatever_the_order_of_rows() -> None:
    """Of two columns: efficient scores of each cell, from the definition, row by row."""
    day = draw(1)
    shuffled = np.random.default_rng(2).permutation(ROWS)
    mixed = CodedRows(day.cells[shuffled], day.hits[shuffled], day.codes[:, shuffled])
    (tables, number), (again, _) = (tables_of(reference(), [rows], SIZES) for rows in (day, mixed))

    assert number == 1
    pairs = [*((i, 3) for i in range(3)), *combinations(range(3), 2)]
    assert [table.columns for table in tables] == pairs
    assert all(np.array_equal(a.sums, b.sums) for a, b in zip(tables, again, strict=True))

    known = reference().known
    inside = (day.cells >= known.start) & (day.cells < known.stop)
    low, high = -5.0, 5.0
    for _ in range(60):  # the intercept of the day
        shift = 0.5 * (low + high)
        p = expit(reference().curve[day.cells] + shift)
        low, high = (shift, high) if p[inside].sum() < day.hits[inside].sum() else (low, shift)
    kept = inside & (day.codes[0] == 2) & (day.codes[1] == 1)
    weights, directions = (p * (1 - p))[kept], reference().directions[:, day.cells[kept]]
    centred = directions - (directions @ weights / weights.sum())[:, None]
    cell = tables[3].sums[2, 1]
    # Sums are kept in steps of a millionth for each row, of which there are some hundreds.
    assert cell[:WIDTH] == pytest.approx(centred @ (day.hits - p)[kept], abs=1e-3)
    assert cell[WIDTH : 2 * WIDTH] == pytest.approx(centred**2 @ weights, abs=1e-3)
    assert cell[-2:].tolist() == [kept.sum(), day.hits[kept].sum()]


@pytest.mark.parametrize(
    "planted",
    [
        Proposal((0,), ((2,),), "too_extreme"),
        Proposal((0, 1), ((1,), (2,)), "too_extreme"),
        Proposal((1, 2), ((1,), (3, 4)), "too_extreme"),
        None,
    ],
)
def test_what_is_planted_is_proposed_and_confirmed(planted: Proposal | None) -> None:
    """A value, two together, or a value with a range of numbers; nothing where nothing is."""
    before = [draw(i) for i in range(12)]
    after = [draw(100 + i, planted, 0.3) for i in range(12)]
    found = propose(
        reference(), COLUMNS, *(tables_of(reference(), of[::2], SIZES) for of in (before, after))
    )
    if planted:
        assert (found.columns, found.codes) == (planted.columns, planted.codes)
    proposals = [found] if found else []
    halves = [[divide(reference(), day, proposals) for day in of[1::2]] for of in (before, after)]
    confirmed = confirm_parts(reference(), COLUMNS, proposals, *halves)

    assert len(confirmed) == (planted is not None)
    for part in confirmed:
        assert part.kind == "too_extreme"
        assert name_all(part.conditions) == name_all(planted.conditions(COLUMNS))
        assert part.slope.value < 0.4


def test_what_only_the_search_saw_is_not_confirmed() -> None:
    """Proposals that other days know nothing of, however many; and none of the wrong direction."""
    before, sound = ([draw(first + i) for i in range(8)] for first in (200, 300))
    timid = [draw(400 + i, Proposal((0,), ((1,),), ""), 1.8) for i in range(8)]
    proposals = [Proposal((0,), ((1,),), "too_extreme"), Proposal((1,), ((2,),), "too_extreme")]
    for after in (sound, timid):
        halves = [[divide(reference(), day, proposals) for day in of] for of in (before, after)]
        assert confirm_parts(reference(), COLUMNS, proposals, *halves) == ()


def test_every_row_is_counted_once() -> None:
    """In no part, in a part, or beside it; those of earlier parts in none that follows."""
    day = draw(5)
    proposals = [Proposal((0, 1), ((1,), (2,)), ""), Proposal((1,), ((2,),), "")]
    (rest,), (both, device, country), (second,) = divide(reference(), day, proposals)

    tv, fr = day.codes[0] == 1, day.codes[1] == 2
    expected = [~fr, tv & fr, tv & ~fr, fr & ~tv, fr & ~tv]
    for part, kept in zip([rest, both, device, country, second], expected, strict=True):
        right = sum_part(reference(), column_part(*counts(day, kept), int(kept.sum())))
        assert all(np.array_equal(of, vars(right)[name]) for name, of in vars(part).items())
