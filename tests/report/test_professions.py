"""The tables of numbers that professions ask for, read back and compared with plain counts."""

import numpy as np
import pytest

from monitor.metrics.core.tally import Tally, tally, tally_on_grid
from monitor.report.page.content import Table
from monitor.report.page.professions import LEAST_OUTCOMES, MOST_GRADES, professions


def drawn(distinct: int, rows: int = 4_000) -> tuple[Tally, np.ndarray, np.ndarray]:
    """Draw rows whose scores take so many values, on the grid of the store."""
    rng = np.random.default_rng(distinct)
    values = np.linspace(0.02, 0.6, distinct)
    scores = values[rng.integers(0, distinct, rows)]
    outcomes = rng.random(rows) < 1.3 * scores
    return tally_on_grid(outcomes, scores), scores, outcomes


def numbers(table: Table, column: str) -> list[float]:
    """Read a column back; the minus sign of people is not that of programs."""
    at = table.columns.index(column)
    return [float(row[at].replace(",", "").replace("\u2212", "-")) for row in table.rows]


def test_tenths_add_up_to_all_rows() -> None:
    """Counts exactly, expected sums to the digit shown; each ratio is actual over expected."""
    t, scores, outcomes = drawn(997)
    tenths = professions(t)["Expected against actual, by tenth of the scores"]
    actual, expected = numbers(tenths, "actual"), numbers(tenths, "expected")

    assert len(tenths.rows) == 10
    assert sum(numbers(tenths, "predictions")) == scores.size
    assert sum(actual) == outcomes.sum()
    assert sum(expected) == pytest.approx(
        scores.sum(), abs=10 * 0.05 + 0.2
    )  # the grid moves 0.01 %
    for ratio, a, e in zip(numbers(tenths, "actual over expected"), actual, expected, strict=True):
        assert ratio == pytest.approx(a / e, abs=0.005 + a / e**2 * 0.05)


def test_ratios_are_those_of_rows() -> None:
    """To the two digits shown."""
    t, scores, outcomes = drawn(997)
    ratio, skill = numbers(professions(t)["Ratios"], "value")
    spread = np.var(outcomes)

    assert ratio == pytest.approx(outcomes.sum() / scores.sum(), abs=0.0051)
    assert skill == pytest.approx(1 - np.mean((scores - outcomes) ** 2) / spread, abs=0.0051)


@pytest.mark.parametrize("distinct", [MOST_GRADES, MOST_GRADES + 1])
def test_few_scores_are_grades(distinct: int) -> None:
    """Each with its light; more distinct scores are no grades."""
    t, _, outcomes = drawn(distinct)
    tables = professions(t)

    assert ("Tests of grades" in tables) == (distinct == MOST_GRADES)
    if distinct == MOST_GRADES:
        grades = tables["Tests of grades"]
        assert sum(numbers(grades, "actual")) == outcomes.sum()
        # Three in ten more than promised: the fullest grades must notice.
        assert {row[-1] for row in grades.rows} >= {"yellow", "red"}


@pytest.mark.parametrize("positives", [0, LEAST_OUTCOMES - 1, LEAST_OUTCOMES])
def test_too_few_outcomes_have_no_table(positives: int) -> None:
    """Of either kind; nothing fails, and nothing is shown that says nothing."""
    for outcomes in ([1] * positives + [0] * 100, [0] * positives + [1] * 100):
        scores = [0.0, *[0.4] * (len(outcomes) - 1)]
        assert bool(professions(tally(outcomes, scores))) == (positives == LEAST_OUTCOMES)
