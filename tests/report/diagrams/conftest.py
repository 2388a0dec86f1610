"""Results of forty days, with a drift that is found on the 21st, for the diagrams over time."""

from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from monitor.evaluation.evaluation import Causes, Evaluation, Expectation, Shares

FIRST, DAYS, FOUND, CLOSED = date(2026, 3, 1), 40, 20, 31


def day_of(place: int) -> date:
    """Give one of the days."""
    return FIRST + timedelta(days=place)


@pytest.fixture
def verdicts() -> list[Any]:
    """Make what a diagram looks at of verdicts; the first five are of the reference."""
    incident = SimpleNamespace(opened=day_of(FOUND), started=day_of(14), evidence=3.2)
    return [
        SimpleNamespace(
            model="ads",
            segment="all",
            day=day_of(i),
            limit=3.0,
            compared=i > 4,
            reached=(3.2 if i == FOUND else 0.13 * (i % FOUND)) if i > 4 else None,
            incident=incident if FOUND <= i < CLOSED else None,
        )
        for i in range(DAYS)
    ]


@pytest.fixture
def evaluations() -> list[Evaluation]:
    """Make evaluations of windows of a week; the last three await outcomes."""
    return [evaluation(i) for i in range(DAYS)]


def evaluation(place: int) -> Evaluation:
    """Make the evaluation of one day."""
    final = place < DAYS - 3
    errors = Shares(0.004, 0.002, 0.001, 0.001)
    shares = Shares(0.05 + 0.001 * place, 0.004 * (place > FOUND), 0.0, -0.0005)
    causes = Causes(shares, errors, shares, errors)
    return Evaluation(
        model="ads",
        segment="all",
        day=day_of(place),
        window_days=7,
        days_present=7,
        final=final,
        known_at=datetime(2026, 5, 1, tzinfo=UTC),
        predicted=1_000,
        matched=1_000 if final else 400,
        positives=(200 if final else 80) + place,
        rejected={},
        coverage=1.0 if final else 0.4,
        prevalence=0.2,
        mean_score=0.18,
        shift=None,
        raw=None,
        prior=None,
        null=None,
        causes=causes if final else None,
        expected=None if final else Expectation(0.25, 0.2, 0.31, -0.2, 0.21, 0.01),
    )
