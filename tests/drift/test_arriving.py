"""Which drifts late outcomes could explain: few cannot explain a strong one, many can."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest

from monitor.days.arrivals import Late
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.fold.gate import could_explain, released, withheld
from monitor.drift.incidents.detecting import new_detector
from monitor.drift.records.day_evidence import KINDS
from monitor.drift.records.detector import WITHHELD, Incident, is_withheld
from studies.drift.worlds import Truth, World, stream

DAY = date(2026, 3, 1)


@pytest.fixture(scope="module")
def reference() -> Reference:
    """Fit 28 days of 20,000 predictions, 5 % of them positive."""
    return fit_reference(list(stream(World(0.05, 20_000), Truth(), 1, days=28)))


def incident(kind: str, size: float) -> Incident:
    """Make an incident of a known size."""
    signed = size if KINDS.index(kind) % 2 else -size
    nothing = np.zeros(4)
    return Incident(
        *(DAY, DAY, DAY - timedelta(days=1), DAY + timedelta(days=1), kind),
        *(3.0, 0.0, signed, 0.0, nothing, nothing, np.zeros(6)),
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("size", "late", "explained"),
    [
        (0.5, Late(3, 0.66, 0.1, 14), True),
        (1.5, Late(3, 0.06, 0.0, 5), False),
        (0.0, Late(3, 0.06, 0.0, 5), True),  # nothing is left to explain
    ],
)
def test_it_takes_late_outcomes_enough(
    reference: Reference, kind: str, size: float, late: Late, *, explained: bool
) -> None:
    """Two thirds of the positives can bend a curve by 0.5 logit; 6 % cannot bend it by 1.5."""
    assert could_explain(late, reference, incident(kind, size)) is explained


def test_withheld_evidence_is_dropped_once_outcomes_are_complete() -> None:
    """It begins again from zero, and evidence of complete outcomes stays."""
    known = replace(new_detector(), sums=np.full(8, 50.0), counted=3)

    assert is_withheld(withheld(known))
    assert (withheld(known).sums == WITHHELD).all()
    assert released(withheld(known)).evidence == 0.0
    assert released(known) is known
