"""Strata: parts of a segment whose priors move on their own, from the logs to the evidence."""

from datetime import date, timedelta

import numpy as np
from scipy.special import expit

from monitor.base.segment_names import WHOLE
from monitor.days.summary import Segment, Summary, merge_summaries, stratified
from monitor.drift.evidence.directions import day_evidence
from monitor.drift.fold.inputs import Limits, fit_model_reference, inputs_of
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import coarsen
from monitor.metrics.core.tally import tally_on_grid

DAY = date(2026, 3, 2)
CENTRES = {"morning": -2.0, "evening": 0.0}  # of the scores' logits


def rows(day: date, *, number: int = 4_000) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Draw scores and outcomes of two parts of a day; the curve is sound, each prior its own."""
    rng = np.random.default_rng(day.toordinal())
    found = {}
    for part, centre in CENTRES.items():
        x = rng.normal(centre, 1.0, number)
        found[part] = expit(x), (rng.random(number) < expit(x + rng.normal(0.0, 0.7))).astype(int)
    return found


def summary(day: date) -> Summary:
    """Make the summary of a day of one segment with two strata."""
    strata = {
        name: Segment(tally_on_grid(*drawn[::-1]), 4_000) for name, drawn in rows(day).items()
    }
    moment = np.datetime64(day, "s").item()
    return Summary("ctr", (day,), {WHOLE: stratified(strata)}, {}, final=True, known_at=moment)


def test_strata_are_weighed_apart() -> None:
    """Mixed, two parts with priors of their own make every day's slope another; apart they do not.

    A day's evidence is that of its strata summed. A day knows its slope to 0.04 apart.
    """
    days = [inputs_of(summary(DAY + timedelta(days=i))) for i in range(48)]
    period = fit_model_reference(days[:28], Limits())
    reference = period.streams[WHOLE]

    apart = [
        whole.evidence.ratios
        for whole, *_ in judge("ctr", days[28:], references=[period], limits=Limits())
        if whole.evidence
    ]
    leaves = {
        (WHOLE, name): coarsen(leaf.tally)
        for name, leaf in summary(days[28].day).segments[WHOLE].strata.items()
    }
    assert np.array_equal(apart[0], day_evidence(reference, leaves).ratios)
    assert len(apart) == 20

    mixed = [inputs_of(merge_summaries([summary(day.day)])) for day in days]
    pooled = fit_model_reference(mixed[:28], Limits())
    day_variances = [found.streams[WHOLE].day_variances for found in (period, pooled)]
    assert np.sqrt(day_variances[0][0]) < 0.04
    assert np.sqrt(day_variances[1][0]) > 0.1
    assert np.sum(apart, axis=0).max() < 0.0
