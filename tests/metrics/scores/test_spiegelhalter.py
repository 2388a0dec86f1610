"""Spiegelhalter's z and its p-value against other programs, 60 digits and plain formulas."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import norm

from monitor.metrics.core.tally import Tally, tally
from monitor.metrics.scores.spiegelhalter import spiegelhalter, two_sided_log10_p
from tests.support.paths import GOLDEN

SMALL = json.loads((GOLDEN / "score_measures.json").read_text())["datasets"]

rows = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def naive_z(pairs: list[tuple[float, bool]]) -> float:
    """Add up row by row; nan where nothing varies."""
    above = math.fsum((y - s) * (1 - 2 * s) for s, y in pairs)
    variance = math.fsum((1 - 2 * s) ** 2 * s * (1 - s) for s, _ in pairs)
    return above / math.sqrt(variance) if variance else math.nan


@pytest.mark.parametrize("name", SMALL)
def test_z_equals_60_digits(name: str) -> None:
    """Statistic and logarithm of p to 1e-12 relative; the sums cancel little."""
    data = SMALL[name]
    found = spiegelhalter(Tally(*(np.array(data[k]) for k in ("scores", "counts", "positives"))))

    assert found.z == pytest.approx(data["exact"]["spiegelhalter_z"], rel=1e-12)
    assert found.log10_p == pytest.approx(data["exact"]["spiegelhalter_log10_p"], rel=1e-12)


@given(rows, st.integers(2, 4), st.randoms())
def test_z_equals_its_formula(pairs: list[tuple[float, bool]], times: int, random: Any) -> None:
    """Row by row; order changes no bit, and r times the rows give sqrt(r) times z."""
    t = tally([y for _, y in pairs], [s for s, _ in pairs])
    expected = naive_z(pairs)
    assume(math.isfinite(expected) and abs(expected) < 1e100)
    shuffled = random.sample(pairs, len(pairs))
    more = tally([y for _, y in pairs * times], [s for s, _ in pairs * times])

    found = spiegelhalter(t)

    assert found.z == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert found == spiegelhalter(tally([y for _, y in shuffled], [s for s, _ in shuffled]))
    assert spiegelhalter(more).z == pytest.approx(math.sqrt(times) * found.z, rel=1e-12, abs=1e-12)


@given(st.floats(-37, 37))
def test_log10_p_equals_the_tail(z: float) -> None:
    """Where p itself is a normal number its logarithm is ours; beyond, ours goes on."""
    assert two_sided_log10_p(z) == pytest.approx(math.log10(2 * norm.sf(abs(z))), rel=1e-11)
    assert two_sided_log10_p(z) == two_sided_log10_p(-z) <= 0.0


@pytest.mark.parametrize(
    ("z", "expected"),
    [  # log10 erfc(z / sqrt 2) of mpmath 1.4.1 at 60 digits
        (40.0, -349.13597646368186),
        (100.0, -2173.5705128733703),
        (1e4, -21714728.193222534),
        (1e8, -2171472409516267.2),
    ],
)
def test_log10_p_does_not_underflow(z: float, expected: float) -> None:
    """Far tails are finite and right to 1e-14 relative."""
    assert two_sided_log10_p(z) == pytest.approx(expected, rel=1e-14)
