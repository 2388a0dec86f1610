"""Which numbers of a stored evaluation make its file unreadable, and which may be missing."""

from dataclasses import replace
from math import nan
from typing import Any

import pytest

from monitor.evaluation.evaluation import Evaluation
from monitor.metrics.core.estimate import Estimate
from monitor.store.ranges import check_evaluations
from tests.support.filled_store import FINAL, evaluation

FILLED = evaluation(1, FINAL)
CROSSED = Estimate(0.2, 0.3, 0.1)


def with_errors(**values: Any) -> Evaluation:
    """Change the errors of the prior-adjusted scores."""
    assert FILLED.prior
    return replace(FILLED, prior=replace(FILLED.prior, **values))


@pytest.mark.parametrize(
    "possible",
    [
        FILLED,
        replace(FILLED, coverage=nan, prevalence=nan, mean_score=nan),
        replace(FILLED, raw=None, prior=None, map=None, shift=None, slope=None),
        with_errors(tce=None, ece_interval=None),
    ],
    ids=["full", "without outcomes", "without errors", "without intervals"],
)
def test_what_can_be_is_read(possible: Evaluation) -> None:
    """A number in its range is accepted, and so is one that says itself when it is absent."""
    check_evaluations("fraud", FINAL, [possible])


@pytest.mark.parametrize(
    ("impossible", "said"),
    [
        (replace(FILLED, prevalence=1.5), "prevalence"),
        (replace(FILLED, coverage=-0.1), "coverage"),
        (replace(FILLED, predicted=-1), "predicted"),
        (replace(FILLED, positives=-1), "positives"),
        (replace(FILLED, rejected={"outcome_orphan": -1}), "rejected"),
        (replace(FILLED, slope=CROSSED), "slope"),
        (replace(FILLED, shift=CROSSED), "shift"),
        (with_errors(ece=nan), "ece"),
        (with_errors(rbs=1.5), "rbs"),
        (with_errors(tce_published=-0.5), "tce_published"),
        (with_errors(tce=CROSSED), "tce"),
        (with_errors(ece_interval=CROSSED), "ece"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_what_cannot_be_is_refused(impossible: Evaluation, said: str) -> None:
    """A number out of range, or an interval whose ends are crossed, is named."""
    with pytest.raises(ValueError, match=f"^{said}.* is out of range$"):
        check_evaluations("fraud", FINAL, [impossible])
