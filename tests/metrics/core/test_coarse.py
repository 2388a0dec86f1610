"""The drift meter's grid: nothing is lost, and the evidence is that of the fine grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from monitor.metrics.core.coarse import CENTRES, COARSE_COUNT, coarsen
from monitor.metrics.core.tally import Tally, tally, tally_on_grid
from monitor.metrics.logistic.conditional import conditional_log_ratio

scores = st.floats(0, 1)
rows = st.lists(st.tuples(scores, st.booleans()), max_size=40)


def of(pairs: list[tuple[float, bool]], *, exact: bool = True) -> Tally:
    """Tally pairs of score and outcome."""
    make = tally if exact else tally_on_grid
    return make([y for _, y in pairs], [s for s, _ in pairs])


def test_centres_are_the_middles_of_equal_cells() -> None:
    """There are 1024, 1/32 apart, and they mirror each other about 0."""
    assert CENTRES.shape == (COARSE_COUNT,) == (1024,)
    assert np.array_equal(np.diff(CENTRES), np.full(1023, 1 / 32))
    assert np.array_equal(CENTRES, -CENTRES[::-1])


@given(rows)
def test_every_row_is_in_the_cell_of_its_logit(pairs: list[tuple[float, bool]]) -> None:
    """Counting row by row gives the same; a score beyond the ends counts as the end."""
    found = coarsen(of(pairs, exact=False))

    counts, positives = np.zeros(1024, int), np.zeros(1024, int)
    for score, outcome in pairs:
        place = np.clip(logit(score) if 0 < score < 1 else (score - 0.5) * 100, -16, 16)
        cell = min(1023, int(np.floor((place + 16) * 32)))
        counts[cell] += 1
        positives[cell] += outcome
    assert np.array_equal(found.counts, counts)
    assert np.array_equal(found.positives, positives)


@pytest.mark.parametrize(
    ("middle", "rows"), [(-7.0, 50_000), (-3.5, 20_000), (-3.5, 100_000), (0.0, 2_000)]
)
def test_evidence_is_that_of_the_fine_grid(middle: float, rows: int) -> None:
    """Of a drifted day the evidence moves by what moving each positive inside its cell gives.

    Each of K positives moves by a uniform 1/32 in logit, so a slope distortion of 0.2 moves the
    evidence by 0.2 sqrt(K / 12) / 32 nats or less: 0.05 with 900 positives. Four times that.
    """
    rng = np.random.default_rng(5)
    logits = middle + 1.2 * rng.normal(size=rows)
    fine = tally_on_grid(rng.random(rows) < expit(0.8 * logits + 0.2 * middle), expit(logits))
    coarse = coarsen(fine)
    x = logit(fine.scores)

    expected = conditional_log_ratio(x, fine.counts, fine.positives, -0.2 * x)
    found = conditional_log_ratio(CENTRES, coarse.counts, coarse.positives, -0.2 * CENTRES)

    moved = 0.2 * np.sqrt(coarse.positives.sum() / 12) / 32
    assert found == pytest.approx(expected, abs=4 * moved)
