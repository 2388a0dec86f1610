"""AUC and Tjur's R2 against scikit-learn, DeLong's variance elsewhere and pair counts."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.core.tally import Tally, tally
from monitor.metrics.scores.discrimination import auc, tjur_r2
from tests.support.cases import few_examples
from tests.support.paths import GOLDEN

SMALL = json.loads((GOLDEN / "score_measures.json").read_text())["datasets"]

rows = st.lists(
    st.tuples(st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans()),
    min_size=2,
    max_size=40,
).filter(lambda pairs: len({y for _, y in pairs}) == 2)


def of(pairs: list[tuple[float, bool]]) -> Tally:
    """Tally pairs of score and outcome."""
    return tally([y for _, y in pairs], [s for s, _ in pairs])


def pair_matrix(pairs: list[tuple[float, bool]]) -> np.ndarray:
    """Give 1, 1/2 or 0 for every pair of a positive (row) and a negative (column)."""
    positives = np.array([s for s, y in pairs if y])
    negatives = np.array([s for s, y in pairs if not y])
    return np.heaviside(positives[:, None] - negatives[None, :], 0.5)


@pytest.mark.parametrize("name", SMALL)
def test_discrimination_equals_other_programs(name: str) -> None:
    """Scikit-learn's area, DeLong's error from all pairs and R2 at 60 digits, to 1e-12.

    The program confidenceinterval ranks in single precision, so it confirms the error to 1e-7.
    """
    data = SMALL[name]
    t = Tally(*(np.array(data[key]) for key in ("scores", "counts", "positives")))
    found = auc(t)

    assert found.value == pytest.approx(data["peers"]["auc"], rel=1e-12)
    assert found.standard_error == pytest.approx(data["peers"]["auc_standard_error"], rel=1e-7)
    assert found.standard_error == pytest.approx(data["exact"]["auc_standard_error"], rel=1e-12)
    assert tjur_r2(t) == pytest.approx(data["exact"]["tjur_r2"], rel=1e-12)


@few_examples
@given(rows)
def test_auc_equals_a_pair_count(pairs: list[tuple[float, bool]]) -> None:
    """Area and DeLong's error from all pairs, one by one."""
    found, matrix = auc(of(pairs)), pair_matrix(pairs)

    assert found.value == pytest.approx(matrix.mean(), rel=1e-14)
    if min(matrix.shape) == 1:
        assert math.isnan(found.standard_error)
        return
    variance = sum(np.var(matrix.mean(1 - i), ddof=1) / matrix.shape[i] for i in (0, 1))
    # Equal placements leave a variance of pure rounding.
    assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-9, abs=1e-15)


@few_examples
@given(rows)
def test_tjur_equals_its_formula(pairs: list[tuple[float, bool]]) -> None:
    """A difference of two means of rows."""
    means = [np.mean([s for s, y in pairs if y == outcome]) for outcome in (True, False)]

    assert tjur_r2(of(pairs)) == pytest.approx(means[0] - means[1], abs=1e-14)
