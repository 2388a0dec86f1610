"""Measures straight from rows: the same as those of the tally of the rows."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.binned.binning import quantile_bins, uniform_bins
from monitor.metrics.binned.ece import ace, ece, mce, root_mean_squared_gap
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


@few_examples
@given(samples, bin_numbers)
def test_measures_of_rows_are_those_of_the_tally(rows: list[tuple[float, bool]], n: int) -> None:
    """Binned errors agree to rounding, and so do the scores; infinite is infinite."""
    s, y = split(rows)
    t = tally(y, s)
    for cut in CUTS:
        expected, found = cut(t, n), cut((y, s), n)

        for measure in (ece, root_mean_squared_gap, lambda bins: mce(bins).value):
            # In units of probability, where a few roundings of 1 are 1e-14.
            assert measure(found) == pytest.approx(measure(expected), abs=1e-14)
    assert ece(quantile_bins((y, s), n)) == pytest.approx(ace(t, n), abs=1e-14)
    assert brier((y, s)) == pytest.approx(brier(t), rel=1e-13, abs=0.0)
    both = brier((y, s), convention="two_class")
    assert both == pytest.approx(brier(t, convention="two_class"), rel=1e-13, abs=0.0)
    assert log_score((y, s)) == pytest.approx(log_score(t), rel=1e-13, abs=0.0)


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


@pytest.mark.parametrize("name", OF_ROWS)
def test_no_rows_have_no_measure(name: str) -> None:
    """Nothing is refused, with the name of what was asked for."""
    with pytest.raises(ValueError, match=r"empty sample|among 0 predictions"):
        OF_ROWS[name](([], []))


def test_tce_rejects_bins_of_rows_with_ties() -> None:
    """Bins of rows count rows, so TCE would read the wrong groups of the tally."""
    rows = [0, 1, 1], [0.2, 0.2, 0.8]
    with pytest.raises(ValueError, match=r"^the bins are of 3 groups .* has 2"):
        tce(tally(*rows), uniform_bins(rows, 2))
