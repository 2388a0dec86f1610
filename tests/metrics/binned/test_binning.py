"""Bins: PAVA, PAVA-BC, quantile and uniform bins against naive rules and SciPy."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from monitor.metrics.binned.binning import (
    Bins,
    monitor_sizes,
    paper_sizes,
    pava,
    pava_bc,
    quantile_bins,
    uniform_bins,
)
from monitor.metrics.core.tally import Tally, tally

rows = st.lists(
    st.tuples(st.integers(0, 40).map(lambda i: i / 40), st.booleans()), min_size=1, max_size=80
)
untied = st.lists(st.booleans(), min_size=1, max_size=80).map(
    lambda outcomes: tally(outcomes, np.linspace(0.01, 0.99, len(outcomes)))
)
tallies = st.one_of(rows.map(lambda r: tally([y for _, y in r], [s for s, _ in r])), untied)
# Mostly small ones: lists are short, and limits above their length limit nothing.
sizes = st.tuples(
    st.integers(0, 5) | st.integers(0, 30), st.integers(0, 5) | st.integers(0, 40)
).map(lambda pair: (pair[0], sum(pair)))


def naive_pava_bc(t: Tally, min_size: int, max_size: int, tail: str) -> list[int]:
    """[TCE, Algorithm 2] on groups, with lists and fractions instead of a compiled pass."""
    groups = list(zip(t.counts.tolist(), t.positives.tolist(), strict=True))
    cut = len(groups)
    while cut > 0 and sum(n for n, _ in groups[cut:]) < min_size:
        cut -= 1
    blocks: list[list[int]] = []  # first group, size, positives
    for i, (n, k) in enumerate(groups[:cut]):
        blocks.append([i, n, k])
        while len(blocks) > 1:
            (_, w0, y0), (_, w1, y1) = blocks[-2:]
            small = w0 < min_size or w0 + w1 <= min_size
            if not (small or (w0 + w1 <= max_size and y0 * w1 >= y1 * w0)):
                break
            blocks[-2:] = [[blocks[-2][0], w0 + w1, y0 + y1]]
    left = sum(n for n, _ in groups[cut:])
    if cut < len(groups):
        last = blocks[-1][1] if blocks else 0
        joins = (
            2 * min_size <= max_size
            if tail == "reference"
            else last + left <= max_size or last < min_size
        )
        if not blocks or not joins:
            blocks.append([cut, 0, 0])
    return [block[0] for block in blocks] + [len(groups)]


def check_partition(t: Tally, bins: Bins) -> None:
    """Bins cover every group once and add up."""
    assert bins.starts[0] == 0
    assert bins.starts[-1] == t.scores.size
    assert (np.diff(bins.starts) > 0).all()
    for b, (first, last) in enumerate(zip(bins.starts[:-1], bins.starts[1:], strict=True)):
        assert bins.counts[b] == t.counts[first:last].sum()
        assert bins.positives[b] == t.positives[first:last].sum()
        expected = (t.counts * t.scores)[first:last].sum()
        # Sums of at most 80 numbers: a few roundings.
        assert bins.score_sums[b] == pytest.approx(expected, rel=1e-14)


@given(tallies, sizes, st.sampled_from(["paper", "reference"]))
def test_pava_bc_equals_the_naive_rule(t: Tally, limits: tuple[int, int], tail: str) -> None:
    """The compiled pass finds the blocks of the rule written out."""
    bins = pava_bc(t, min_size=limits[0], max_size=limits[1], tail=tail)

    assert bins.starts.tolist() == naive_pava_bc(t, *limits, tail)
    check_partition(t, bins)


def scipy_blocks(t: Tally) -> list[int]:
    """Give the starts of SciPy's isotonic blocks."""
    return isotonic_regression(t.positives / t.counts, weights=t.counts).blocks.tolist()


def joined(t: Tally, starts: list[int]) -> list[int]:
    """Join neighbours whose rates are the same, which rounded quotients may not be."""
    kept = starts[:1]
    for start, end in pairwise(starts[1:]):
        k0, n0 = t.positives[kept[-1] : start].sum(), t.counts[kept[-1] : start].sum()
        k1, n1 = t.positives[start:end].sum(), t.counts[start:end].sum()
        if k0 * n1 != k1 * n0:
            kept.append(start)
    return [*kept, starts[-1]]


@given(tallies)
def test_pava_equals_isotonic_regression(t: Tally) -> None:
    """Without limits the bins are SciPy's isotonic blocks, those of the same rate joined."""
    assert pava(t).starts.tolist() == joined(t, scipy_blocks(t))
    assert pava(t).inversions == 0


def test_equal_rates_are_one_bin() -> None:
    """14 of 28 and 31 of 62 are the same rate, though SciPy's quotients of them are not."""
    t = Tally(np.array([0.2, 0.4, 0.6, 0.8]), np.array([6, 22, 44, 18]), np.array([5, 9, 25, 6]))

    assert pava(t).starts.tolist() == [0, 4]
    assert scipy_blocks(t) == [0, 2, 4]


@given(tallies, st.integers(1, 50))
def test_quantile_bins_cut_at_the_nearest_border(t: Tally, n: int) -> None:
    """Every cut lies at a group border, none of which is nearer to i N // n."""
    bins = quantile_bins(t, n)

    borders = [0, *np.cumsum(t.counts).tolist()]
    nearest = [
        min(range(len(borders)), key=lambda j, cut=i * t.total // n: (abs(borders[j] - cut), -j))
        for i in range(1, n)
    ]
    assert bins.starts.tolist() == sorted({0, t.scores.size, *nearest})
    check_partition(t, bins)


@given(tallies, st.integers(1, 50))
def test_uniform_bins_are_closed_on_the_left(t: Tally, n: int) -> None:
    """A score belongs to the slice whose left border it has reached; the last holds 1 too."""
    bins = uniform_bins(t, n)

    edges = [b / n for b in range(n + 1)]  # np.linspace puts 0.3 below the fourth of ten
    slices = [max(b for b in range(n) if edges[b] <= s) for s in t.scores]
    starts = [0, *(i for i in range(1, len(slices)) if slices[i] != slices[i - 1]), len(slices)]
    assert bins.starts.tolist() == starts
    check_partition(t, bins)


@pytest.mark.parametrize("n", [5, 10, 20, 50])
def test_borders_of_uniform_bins_are_decimals(n: int) -> None:
    """A score that is written like a border is in the bin that begins there, from rows too."""
    scores = np.array([float(f"{b / n:.2f}") for b in range(n)])
    outcomes = np.zeros(n, int)

    for bins in (uniform_bins(tally(outcomes, scores), n), uniform_bins((outcomes, scores), n)):
        assert bins.counts.tolist() == [1] * n


@pytest.mark.parametrize(("total", "expected"), [(7, (30, 120)), (6_000, (166, 664))])
def test_monitor_sizes(total: int, expected: tuple[int, int]) -> None:
    """The monitor's sizes are at least 30 and grow like the 2/3 power."""
    assert monitor_sizes(total) == expected


def test_paper_sizes() -> None:
    """The paper's sizes are a twentieth and a fifth, rounded down."""
    assert paper_sizes(6_019) == (300, 1203)
