"""Smooth ECE against exact integrals of the kernel sum, and against the authors' program."""

import json
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit, ndtr

from monitor.metrics.core.tally import Tally, tally
from monitor.metrics.smooth.smooth_ece import (
    NARROWEST,
    smooth_ece,
    smooth_ece_at,
)
from tests.support.cases import few_examples
from tests.support.paths import GOLDEN
from tests.support.recorded import Recorded

RECORDED_VALUES = json.loads((GOLDEN / "kernel_measures.json").read_text())
STEP = 2.0**-10  # of the authors' search

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


def relplot_value(p: np.ndarray, y: np.ndarray, width: float) -> float:
    """Discretise as relplot 1.0.3 does, written as plain sums.

    Rows are shared linearly between two of n nodes and mirrored at the end nodes, which
    themselves are not doubled; the kernel ends at a distance of 1/2; values are read off at
    10/width points, ends included, and divided by the sum of the smoothed number of rows.
    """
    n = max(2_000, round(20 / width)) // 2 + 1
    left = np.minimum((p * (n - 1)).astype(int), n - 2)
    share = p * (n - 1) - left
    offsets = np.arange(-((n - 1) // 2), (n - 1) // 2 + 1)
    kernel = np.exp(-0.5 * (offsets / (n - 1) / width) ** 2) / (np.sqrt(2 * np.pi) * width)

    def smooth(weights: np.ndarray) -> np.ndarray:
        mass = np.bincount(left, (1 - share) * weights, n)
        mass += np.bincount(left + 1, share * weights, n)
        mirrored = np.pad(mass, n - 1, mode="reflect")
        half = offsets[-1]
        values = [mirrored[n - 1 + j - half : n + j + half] @ kernel for j in range(n)]
        points = np.linspace(0.0, 1.0, max(round(10 / width), 200))
        return np.interp(points, np.linspace(0.0, 1.0, n), values)

    density = smooth(np.ones(p.size)) + 1e-4
    return float(np.abs(smooth(p - y)).sum() / density.sum())


def check_against_relplot(p: np.ndarray, y: np.ndarray, value: float, width: float) -> None:
    """Its number is our integral on its mesh; on the exact line ours, 3 % apart at most."""
    t = tally(y, p)

    assert relplot_value(p, y, width) == pytest.approx(value, rel=1e-12)
    # Half the mass at 0 and 1 weighs most where scores pile up there (2.7 % on ties and bounds).
    assert smooth_ece_at(t, bandwidth=width) == pytest.approx(value, rel=0.03)
    # Its width is the end of the step that holds the fixed point.
    assert width - STEP - 0.03 * value < smooth_ece(t) < width + 0.03 * value


def test_relplot_differs_by_its_mesh_only(reference: list[Recorded]) -> None:
    """The golden value of relplot to 1e-12 with its conventions, the definition within 3 %."""
    for data in reference:
        expected = data.values["smece"]
        outcomes = data.outcomes.astype(float)
        check_against_relplot(data.scores, outcomes, expected["relplot"], expected["width"])


def test_relplot_differs_by_its_mesh_only_on_ties() -> None:
    """The same on 21 tied scores with both bounds among them."""
    data = RECORDED_VALUES["ties"]
    p = np.repeat(data["scores"], data["counts"])
    y = np.concatenate(
        [
            [1.0] * k + [0.0] * (n - k)
            for n, k in zip(data["counts"], data["positives"], strict=True)
        ]
    )
    check_against_relplot(p, y, **data["relplot"])


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


def test_a_perfect_tally_has_none() -> None:
    """No residual at any score is no error at any width."""
    assert smooth_ece(tally([0, 1, 1, 0], [0.5, 0.5, 1.0, 0.0])) == 0.0


def test_a_fixed_point_too_narrow_to_resolve_is_bounded() -> None:
    """A gap of 1e-7 lies below the narrowest width and is given as it is."""
    t = Tally(np.array([0.5]), np.array([10**7]), np.array([5 * 10**6 + 1]))

    assert smooth_ece(t) == pytest.approx(1e-7, rel=1e-6)


@pytest.mark.parametrize("width", [0.0, 1e-6, 1.1, float("nan")])
def test_a_senseless_bandwidth_is_refused(width: float) -> None:
    """Widths from 2**-17 to 1 are resolved."""
    with pytest.raises(ValueError, match=r"^the bandwidth must lie in \[7\.63e-06, 1\]"):
        smooth_ece_at(tally([0], [0.1]), bandwidth=width)


def test_an_empty_tally_is_refused() -> None:
    """Nothing has no smooth ECE."""
    with pytest.raises(ValueError, match=r"^the smooth ECE of an empty tally is undefined"):
        smooth_ece(tally([], []))
