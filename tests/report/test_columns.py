"""Columns of tables: a heading is one number, and all tables take it from its measure."""

from dataclasses import replace
from math import nan

import pytest

from monitor.evaluation.evaluation import LEAST_RARER
from monitor.measures.verdicts import OF_VERDICTS
from monitor.report import tables, verdicts
from monitor.report.columns import (
    verdict_cells,
    window_cells,
)
from monitor.report.notebook.stored import _verdict
from monitor.report.page import words
from monitor.report.too_few import LEAST_FOR_ECE
from tests.support.filled_store import DRIFT, FINAL, evaluation, verdict


@pytest.mark.parametrize("rarer", [0, LEAST_FOR_ECE - 1, LEAST_FOR_ECE, LEAST_RARER])
def test_a_window_is_written_number_by_number(rarer: int) -> None:
    """Each cell is its field; ECE and TCE need outcomes enough, and a missing part is a dash."""
    full = replace(evaluation(1, FINAL), matched=1_000, positives=rarer)
    for e in (full, replace(full, prior=None), replace(full, shift=None, prevalence=nan)):
        ece, tce = rarer >= LEAST_FOR_ECE, rarer >= LEAST_RARER
        expected = (
            "1,000",
            "-" if e.prevalence != e.prevalence else f"{100 * e.prevalence:.1f} %",
            f"{100 * e.mean_score:.1f} %",
            f"{e.shift.value:+z.2f}" if e.shift else "-",
            f"{e.raw.ece:.3f}" if e.raw and ece else "-",
            f"{e.prior.ece:.3f}" if e.prior and ece else "-",
            f"{100 * e.prior.tce_published:.0f} %" if e.prior and tce else "-",
        )
        assert window_cells(e, tables.STYLES, "-") == expected
    assert window_cells(None, tables.STYLES, "-") == ("-",) * len(tables.STYLES)


def test_all_show_the_slope_of_what_explains_a_drift() -> None:
    """Where values explain an open drift, tables, frames and the gauge give their slope."""
    whole = verdict("all", DRIFT)
    assert whole.where
    assert whole.where.explanation
    assert whole.slope
    explained = replace(whole.slope, value=0.5)
    explanation = replace(whole.where.explanation, slope=explained)
    v = replace(whole, where=replace(whole.where, explanation=explanation))
    gauge = next(m for m in OF_VERDICTS if m.name == "drift_slope")

    assert gauge.read(v) == explained
    assert verdict_cells(v, verdicts.STYLES, "-")[0] == "0.50"
    assert verdict_cells(v, words.STYLES, "-")[0] == "0.50"
    assert _verdict(v)["slope"] == 0.5
    assert verdict_cells(replace(v, where=None), verdicts.STYLES, "-")[0] == "0.75"
