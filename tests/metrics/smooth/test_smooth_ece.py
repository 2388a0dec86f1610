"""Smooth ECE against exact integrals of the kernel sum, and against the authors' program."""

from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit, ndtr

from monitor.metrics.core.tally import Tally, tally
from monitor.metrics.smooth.smooth_ece import NARROWEST, smooth_ece, smooth_ece_at
from tests.support.cases import few_examples

scores = st.one_of(st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.9, 1.0]), st.floats(1e-200, 1.0))
rows = st.lists(st.tuples(scores, st.booleans()), min_size=1, max_size=30)
widths = st.floats(-2, 0).map(lambda x: 10.0**x)


def columns(pairs: list[tuple[float, bool]]) -> tuple[np.ndarray, np.ndarray]:
    """Split rows into scores and outcomes."""
    return np.array([s for s, _ in pairs]), np.array([float(y) for _, y in pairs])


def exact(t: Tally, width: float) -> float:
    """Integrate between zeros found one by one, by differences of the normal distribution."""
    centres = np.concatenate([e * t.scores + 2 * m for e in (-1, 1) for m in range(-7, 8)])
    masses = np.tile((t.positives - t.counts * t.scores) / t.total, 30)
    near = (centres > -10 * width) & (centres < 1 + 10 * width)
    centres, masses = centres[near], masses[near]

    def smoothed(u: float) -> float:
        return float(np.exp(-0.5 * ((u - centres) / width) ** 2) @ masses)

    nodes = np.linspace(0.0, 1.0, ceil(30 / width))
    values = np.array([smoothed(u) for u in nodes])
    nodes, values = nodes[values != 0.0], values[values != 0.0]
    turns = np.flatnonzero(values[:-1] * np.sign(values[1:]) < 0)
    zeros = [brentq(smoothed, nodes[i], nodes[i + 1], xtol=1e-14) for i in turns]
    integrals = [ndtr((u - centres) / width) @ masses for u in [0.0, *zeros, 1.0]]
    return float(np.abs(np.diff(integrals)).sum())


@few_examples
@given(rows, widths)
def test_integral_equals_the_exact_one(pairs: list[tuple[float, bool]], width: float) -> None:
    """To 2e-6 of the mean absolute residual: what the mesh leaves is largest for few nodes."""
    s, y = columns(pairs)
    t = tally(y, s)

    assert smooth_ece_at(t, bandwidth=width) == pytest.approx(
        exact(t, width), rel=2e-6, abs=2e-6 * np.abs(y - s).mean()
    )


@pytest.mark.parametrize("width", [0.005, 0.02, 0.1, 0.3])
def test_integral_of_many_rows_equals_the_exact_one(width: float) -> None:
    """On 2,000 rows with dozens of changes of sign the relative error is below 1e-6."""
    rng = np.random.default_rng(3)
    logits = rng.normal(-1.0, 2.0, 2_000)
    t = tally(rng.random(2_000) < expit(logits), expit(logits).round(3))

    assert smooth_ece_at(t, bandwidth=width) == pytest.approx(exact(t, width), rel=1e-6)


@few_examples
@given(rows)
def test_the_value_is_its_own_width(pairs: list[tuple[float, bool]]) -> None:
    """Smoothed by itself the error is itself, to the precision of the mesh."""
    t = tally(*columns(pairs)[::-1])
    value = smooth_ece(t)

    assert 0.0 <= value <= 1.0
    if value >= NARROWEST:
        assert smooth_ece_at(t, bandwidth=value) == pytest.approx(value, rel=2e-6)


@pytest.mark.parametrize("score", [0.0, 0.2, 0.5, 1.0])
def test_one_score_gives_its_gap(score: float) -> None:
    """Residuals of one sign keep their integral however they are smoothed, also at the ends."""
    t = tally([1] * 4 + [0] * 6, [score] * 10)

    assert smooth_ece(t) == pytest.approx(abs(0.4 - score), rel=1e-9)


def test_a_fixed_point_too_narrow_to_resolve_is_bounded() -> None:
    """A gap of 1e-7 lies below the narrowest width and is given as it is."""
    t = Tally(np.array([0.5]), np.array([10**7]), np.array([5 * 10**6 + 1]))

    assert smooth_ece(t) == pytest.approx(1e-7, rel=1e-6)
