"""No screen contradicts itself: an error that the prior does not explain is no `ok`."""

from math import hypot

import numpy as np
import pytest

from monitor.drift.fold.inputs import Limits, fit_model_reference
from monitor.drift.verdicts.judge import judge
from monitor.evaluation.attribution import causes_of, mean_causes
from monitor.metrics.binned.binning import paper_sizes, pava_bc
from monitor.metrics.core.buckets import NO_BUCKETS
from monitor.metrics.core.coarse import Coarse, sum_of, tally_of
from monitor.metrics.core.tally import shift
from monitor.metrics.logistic.intercept import fit_intercept, has_intercept
from monitor.metrics.test_based.null_reference import tce_null_reference
from monitor.metrics.test_based.tce import count_rejected
from monitor.words.verdict import sentences
from studies.drift.everyday import EVERYDAY, days_of
from tests.support.cases import ALL, some

REFERENCE, SOUND, BROKEN = 28, 4, 14
MATTERS, CERTAIN = 0.01, 3.0  # nats; standard errors
MARKED, SHARE = 10, 0.05  # days of the newest, and of the reference
SILENT = ("ok", "prior_shift")


def left_by_the_prior(days: list[Coarse]) -> tuple[float, float]:
    """Give slope, shape and rest of the calibration error of some days in nats, and its error."""
    merged = tally_of(sum_of(days)), NO_BUCKETS
    causes = mean_causes([(tally_of(day), NO_BUCKETS) for day in days], merged, causes_of)
    if causes is None:
        return 0.0, 0.0
    parts = [(getattr(causes.log_loss, n), getattr(causes.log_loss_errors, n)) for n in LEFT]
    known = [(value, error) for value, error in parts if np.isfinite(value + error)]
    return sum(value for value, _ in known), hypot(*(error for _, error in known))


LEFT = ("slope", "shape", "rest")


def exceeds_chance(day: Coarse, rng: np.random.Generator) -> bool:
    """Say whether TCE without the prior is above what chance gives to scores that are right."""
    t = tally_of(day)
    if not has_intercept(t):
        return False
    t = shift(t, fit_intercept(t).delta)
    smallest, largest = paper_sizes(t.total)
    null = tce_null_reference(t, min_size=smallest, max_size=largest, replicates=40, rng=rng)
    starts = pava_bc(t, min_size=smallest, max_size=largest).starts
    rejected = count_rejected(t.scores, t.counts, t.positives, starts, 0.05).sum()
    return bool(rejected / t.total > null.quantiles[2])


@pytest.mark.parametrize("name", some(EVERYDAY, 4))
@pytest.mark.parametrize("seed", range(5 if ALL else 1))
def test_an_error_that_no_prior_explains_is_told(name: str, seed: int) -> None:
    """Over the newest 14 days, at a random place, size, share and volume; sound ones are silent."""
    rng = np.random.default_rng([seed, [*EVERYDAY].index(name)])
    kind, rows = EVERYDAY[name], int(rng.choice([300, 2_000, 6_000]))
    days = [*days_of(kind.drawn(rng), rng, rows, REFERENCE + SOUND, BROKEN)]
    references = [fit_model_reference(days[:REFERENCE], Limits())]
    recall = {day.day: day for day in days}.get
    folded = judge("ctr", days[REFERENCE:], references=references, limits=Limits(), recall=recall)
    *_, (last, *_) = folded

    counts = [part for day in days for part in day.parts.values()]
    own, _ = left_by_the_prior(counts[:REFERENCE])
    value, error = left_by_the_prior(counts[-BROKEN:])

    if value - CERTAIN * error > MATTERS and own < MATTERS:
        assert last.state not in SILENT, (value, error, rows)
    own_days, newest = (
        sum(exceeds_chance(day, rng) for day in some_days)
        for some_days in (counts[:REFERENCE], counts[-BROKEN:])
    )
    if newest >= MARKED and own_days <= SHARE * REFERENCE:
        said = last.state not in SILENT or "Not enough evidence" in " ".join(sentences(last))
        assert said, (newest, own_days, rows)
    if kind.sound:
        assert last.state in SILENT
