"""Measures straight from rows: the same as those of the tally of the rows."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.binned.binning import Bins, quantile_bins, uniform_bins
from monitor.metrics.binned.ece import ace, ece
from monitor.metrics.binned.hosmer_lemeshow import hosmer_lemeshow
from monitor.metrics.core.grid import END_TOLERANCE
from monitor.metrics.core.tally import tally
from monitor.metrics.scores.brier import brier, rbs
from monitor.metrics.scores.log_score import log_score
from monitor.metrics.scores.spiegelhalter import spiegelhalter
from monitor.metrics.test_based.tce import tce
from tests.support.cases import few_examples

CUTS = [uniform_bins, quantile_bins]
OF_ROWS = {
    "uniform bins": lambda rows: uniform_bins(rows, 5),
    "quantile bins": lambda rows: quantile_bins(rows, 5),
    "ACE": lambda rows: ace(rows, 5),
    "Brier score": brier,
    "RBS": rbs,
    "log score": log_score,
    "Spiegelhalter's z": spiegelhalter,
}

bin_numbers = st.integers(1, 40)
# Multiples of 1/n of all kinds, each a hair below, at and above: where edges are.
near_edges = st.builds(
    lambda i, n, way: float(np.clip(np.nextafter(min(i, n) / n, way), 0.0, 1.0)),
    st.integers(0, 40),
    bin_numbers,
    st.sampled_from([-1.0, 0.5, 2.0]),
)
ends = st.sampled_from([0.0, -0.0, 5e-324, 1e-300, 2.0**-32, np.nextafter(2.0**-32, 0.0), 1.0])
scores = st.one_of(st.floats(0.0, 1.0), near_edges, ends, st.sampled_from([0.25, 0.5, 0.75]))
samples = st.lists(st.tuples(scores, st.booleans()), min_size=1, max_size=80)


def split(rows: list[tuple[float, bool]]) -> tuple[np.ndarray, np.ndarray]:
    """Give scores and outcomes apart."""
    return np.array([s for s, _ in rows]), np.array([int(y) for _, y in rows])


@few_examples
@given(samples, bin_numbers)
def test_bins_of_rows_are_those_of_the_tally(rows: list[tuple[float, bool]], n: int) -> None:
    """Counts and positives are the same, ties, edges and empty bins included; so are the scores."""
    s, y = split(rows)
    t = tally(y, s)
    for cut in CUTS:
        expected, found = cut(t, n), cut((y, s), n)

        assert found.counts.tolist() == expected.counts.tolist()
        assert found.positives.tolist() == expected.positives.tolist()
        # Sums of 80 numbers that are not negative, in two orders: a few roundings.
        assert found.score_sums == pytest.approx(expected.score_sums, rel=2e-14, abs=0.0)
        reached = np.cumsum(np.append(0, t.counts))
        assert found.starts.tolist() == reached[expected.starts].tolist()


@pytest.mark.parametrize("cut", CUTS)
def test_many_rows_add_up(cut: Callable[..., Bins]) -> None:
    """200,000 distinct scores have the same bins throughout, the same scores and tests."""
    rng = np.random.default_rng(3)
    s = 1.0 / (1.0 + np.exp(-rng.normal(-4.0, 2.0, 200_000)))
    y = rng.random(s.size) < s
    t = tally(y, s)
    expected, found = cut(t, 15), cut((y, s), 15)

    assert found.starts.tolist() == expected.starts.tolist()
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.positives.tolist() == expected.positives.tolist()
    # 1e-12 is promised; what is found is some 1e-15.
    assert found.score_sums == pytest.approx(expected.score_sums, rel=1e-13)
    assert ece(found) == pytest.approx(ece(expected), rel=1e-12)
    statistic = hosmer_lemeshow(expected).statistic
    assert hosmer_lemeshow(found).statistic == pytest.approx(statistic, rel=1e-10)
    assert brier((y, s)) == pytest.approx(brier(t), rel=1e-13)
    assert log_score((y, s)) == pytest.approx(log_score(t), rel=1e-13)
    # Its terms cancel: of a sum of 1e4 about 1e2 is left.
    assert spiegelhalter((y, s)).z == pytest.approx(spiegelhalter(t).z, rel=1e-10)


def test_sums_lose_nothing_by_their_order() -> None:
    """Many small scores after large ones add up as exactly as fractions do, to 1e-12."""
    s = np.concatenate([np.ones(5_000), np.full(3_000_000, 1.0 / 3.0 * 2.0**-20)])
    y = np.zeros(s.size, np.int64)
    exact = 5_000 + 3_000_000 * Fraction(float(s[-1]))

    assert uniform_bins((y, s), 1).score_sums[0] == pytest.approx(float(exact), rel=1e-12)
    squares = 5_000 + 3_000_000 * Fraction(float(s[-1])) ** 2
    assert brier((y, s)) * s.size == pytest.approx(float(squares), rel=1e-12)


@pytest.mark.parametrize("name", OF_ROWS)
@pytest.mark.parametrize(
    ("scores", "outcomes"),
    [
        ([0.1, float("nan")], [0, 1]),
        ([1.5, -1.0], [0, 1]),
        ([np.nextafter(1.0 + END_TOLERANCE, 2.0)], [0]),
        ([np.nextafter(-END_TOLERANCE, -1.0)], [0]),
        ([float("inf"), 0.2], [True, False]),
        ([0.1, 0.2], [0, 2]),
        ([0.1, 0.2], [-1, 0]),
        ([0.1, 0.2], [0.5, 0]),
        ([0.1, 0.2], [256, 0]),
        ([0.1], [0, 1]),
        ([[0.1]], [[1]]),
    ],
)
def test_what_a_tally_refuses_is_refused(name: str, scores: list, outcomes: list) -> None:
    """Bad samples are refused word for word as `tally` does, wherever they stand."""
    with pytest.raises(ValueError) as expected:  # noqa: PT011 - the whole message is compared
        tally(outcomes, scores)

    with pytest.raises(ValueError) as refused:  # noqa: PT011 - as above
        OF_ROWS[name]((outcomes, scores))

    assert str(refused.value) == str(expected.value)


@pytest.mark.parametrize("row", [0, 2_047, 2_048, 4_999])
@pytest.mark.parametrize("name", OF_ROWS)
def test_one_bad_row_of_many_is_found(name: str, row: int) -> None:
    """A single nan, or outcome of 2, is refused at the beginning, in the middle and at the end."""
    s, y = np.full(5_000, 0.3), np.zeros(5_000, np.int64)
    s[row] = np.nan
    with pytest.raises(ValueError, match=rf"^1 of 5000 scores .* first nan at row {row}\.$"):
        OF_ROWS[name]((y, s))
    s[row], y[row] = 0.3, 2
    with pytest.raises(ValueError, match=rf"^1 of 5000 outcomes .* at row {row}\.$"):
        OF_ROWS[name]((y, s))


def test_tce_rejects_bins_of_rows_with_ties() -> None:
    """Bins of rows count rows, so TCE would read the wrong groups of the tally."""
    rows = [0, 1, 1], [0.2, 0.2, 0.8]
    with pytest.raises(ValueError, match=r"^the bins are of 3 groups .* has 2"):
        tce(tally(*rows), uniform_bins(rows, 2))
