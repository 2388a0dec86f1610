"""Tallies: what is counted, how tallies add up, and where grid cells lie."""

from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.core.grid import (
    CELL_COUNT,
    CELLS_PER_LOGIT,
    HIGHEST_SCORE,
    LOWEST_SCORE,
    OFFSETS_PER_CELL,
    locate,
    representative_scores,
)
from monitor.metrics.core.tally import Tally, merge, shift, tally, tally_on_grid
from tests.support.cases import few_examples

unit = st.floats(0.0, 1.0)
samples = st.lists(
    st.tuples(st.one_of(unit, st.sampled_from([0.0, 0.25, 0.5, 1.0])), st.booleans()), max_size=60
)


def split(rows: list[tuple[float, bool]]) -> tuple[list[float], list[bool]]:
    """Give scores and outcomes apart."""
    return [score for score, _ in rows], [outcome for _, outcome in rows]


def content(t: Tally) -> tuple[list[float], list[int], list[int]]:
    """Give what a tally holds in a form that compares."""
    return t.scores.tolist(), t.counts.tolist(), t.positives.tolist()


@few_examples
@given(samples)
def test_tally_equals_a_dictionary_of_counts(rows: list[tuple[float, bool]]) -> None:
    """Each distinct score is one group with the right counts, in rising order."""
    counted: dict[float, list[int]] = {}
    for score, outcome in rows:
        group = counted.setdefault(score, [0, 0])
        group[0] += 1
        group[1] += outcome

    found = tally(*split(rows)[::-1])

    assert content(found) == (
        sorted(counted),
        [counted[score][0] for score in sorted(counted)],
        [counted[score][1] for score in sorted(counted)],
    )


@few_examples
@given(st.lists(samples, min_size=1, max_size=5), st.randoms())
def test_merging_equals_tallying_at_once(
    parts: list[list[tuple[float, bool]]], chance: object
) -> None:
    """The merge of parts, in any order and grouping, is the tally of all their rows."""
    rows = [row for part in parts for row in part]
    chance.shuffle(parts)

    for make in (tally, tally_on_grid):
        tallies = [make(*split(part)[::-1]) for part in parts]
        nested = merge([merge(tallies[:1]), merge(tallies)] if len(tallies) > 1 else tallies)
        at_once = make(*split([*parts[0], *rows] if len(tallies) > 1 else rows)[::-1])

        assert content(merge(tallies)) == content(make(*split(rows)[::-1]))
        assert content(nested) == content(at_once)


@few_examples
@given(samples)
def test_grid_groups_by_cell(rows: list[tuple[float, bool]]) -> None:
    """The grid keeps every count, and its scores rise strictly and lie in their own cells."""
    t = tally_on_grid(*split(rows)[::-1])

    assert t.total == len(rows)
    assert t.total_positives == sum(outcome for _, outcome in rows)
    assert (np.diff(t.scores) > 0).all()
    assert locate(t.scores)[0].tolist() == pytest.approx(t.cells.numbers.tolist(), abs=1)


@few_examples
@given(st.floats(LOWEST_SCORE, HIGHEST_SCORE))
def test_grid_remembers_a_score(score: float) -> None:
    """A lone score comes back within 2**-20 of a cell of 1/512 in logit."""
    t = tally_on_grid([1], [score])

    step = 1.0 / (CELLS_PER_LOGIT * OFFSETS_PER_CELL)
    # One step down for the floor, and as much again for rounding near the ends of the grid.
    assert abs(t.scores[0] - score) <= 2 * step * score * (1 - score) + 1e-16


def test_every_cell_has_its_own_score() -> None:
    """Full cells pushed to their upper ends still stay below the next cell's lower end."""
    cells = np.arange(CELL_COUNT)
    lower = representative_scores(cells, np.zeros(CELL_COUNT, np.int64), np.ones_like(cells))
    upper = representative_scores(cells, np.full(CELL_COUNT, OFFSETS_PER_CELL - 1), cells * 0 + 1)

    assert (lower < upper).all()
    assert (upper[:-1] < lower[1:]).all()


LENGTHS = "y_true and y_prob must be two lists of one length, got shapes (2,) and (1,)."
SCORES = "scores are not numbers in [0, 1], first"


@pytest.mark.parametrize(
    ("scores", "outcomes", "message"),
    [
        ([0.1, nan], [0, 1], f"1 of 2 {SCORES} nan at row 1."),
        ([1.5, -1.0], [0, 1], f"2 of 2 {SCORES} 1.5 at row 0."),
        ([0.1, 0.2], [0, 2], "1 of 2 outcomes are neither 0 nor 1, first 2 at row 1."),
        ([0.1], [0, 1], LENGTHS),
    ],
)
def test_bad_samples_are_refused(scores: list[float], outcomes: list[int], message: str) -> None:
    """A sample that breaks a rule is refused with its first offender."""
    for make in (tally, tally_on_grid):
        with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole message is compared
            make(outcomes, scores)

        assert str(refused.value) == message


@few_examples
@given(samples, st.floats(-30, 30))
def test_shift_keeps_counts_and_order(rows: list[tuple[float, bool]], delta: float) -> None:
    """A shifted tally has the same rows in the same order, however many scores it makes equal."""
    t = tally(*split(rows)[::-1])

    moved = shift(t, delta)

    assert (moved.total, moved.total_positives) == (t.total, t.total_positives)
    assert (np.diff(moved.scores) > 0).all()
    assert ((moved.scores >= 0) & (moved.scores <= 1)).all()


def test_shift_is_a_change_of_odds() -> None:
    """A shift by log 3 makes odds of 1 into odds of 3, and 0 and 1 stay."""
    moved = shift(tally([0, 0, 1, 1], [0.0, 0.2, 0.5, 1.0]), np.log(3.0))

    # 0.2 has odds of 1/4, so 3/4 and 3/7 as a probability; one rounding each.
    assert moved.scores == pytest.approx([0.0, 3 / 7, 0.75, 1.0], rel=1e-15)
