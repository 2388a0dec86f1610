"""Which values of stored results make a file unreadable, and which may be missing."""

from dataclasses import replace
from datetime import timedelta
from math import nan
from pathlib import Path
from typing import Any

import pytest

from monitor.base.errors import DataError
from monitor.drift.records.detector import Ended
from monitor.drift.records.facts import Facts, ThirdChoices
from monitor.evaluation.evaluation import Evaluation
from monitor.metrics.core.estimate import Estimate
from monitor.read.incidents import incidents
from monitor.read.results import results_in
from monitor.store.ranges import check_evaluations
from monitor.store.store import Store
from tests.support.filled_store import DRIFT, FINAL, evaluation, verdict

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


LATER = FINAL + timedelta(days=1)


@pytest.mark.parametrize(
    ("watch", "said"),
    [
        ({"incident": replace(DRIFT, opened=LATER)}, "the opening of a drift"),
        ({"ended": Ended(FINAL, LATER, "recovered")}, "the end of a drift"),
    ],
    ids=["opened after its day", "closed after its day"],
)
@pytest.mark.parametrize("of", ["curve", "level", "third choices"])
def test_who_lists_drifts_never_goes_back_for_ever(
    tmp_path: Path, of: str, watch: dict[str, Any], said: str
) -> None:
    """A verdict that knows a later day is damage: its file is named, and what makes it again."""
    sound, store = verdict("all", None), Store(str(tmp_path))
    detector, third = sound.detector, ThirdChoices(None, None, withheld=False)
    wrong = {
        "curve": replace(sound, detector=replace(detector, **watch)),
        "level": replace(sound, detector=replace(detector, level=replace(detector.level, **watch))),
        "third choices": replace(sound, facts=Facts(third=replace(third, **watch))),
    }[of]
    store.write_verdicts("fraud", FINAL, [wrong], basis="")

    with pytest.raises(DataError, match=f"{said} is out of range") as error:
        incidents(results_in(str(tmp_path), "fraud"))
    again = f"run calibration-monitor evaluate --model fraud --from {FINAL} --to {FINAL}"
    assert f"verdicts/fraud/{FINAL}.arrows.zst" in str(error.value)
    assert again in str(error.value)
