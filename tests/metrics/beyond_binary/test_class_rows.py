"""The road without a tally for three classes and more: the same numbers and the same refusals."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.beyond_binary.multiclass import (
    classwise_calibration_error,
    top_label_calibration_error,
    top_label_tally,
)
from monitor.metrics.binned.binning import uniform_bins
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.tally import tally
from tests.support.cases import few_examples

MEASURES = [classwise_calibration_error, top_label_calibration_error]


def draw(seed: int, rows: int, classes: int) -> tuple[Floats, Ints]:
    """Draw probabilities with two decimals, so that some are equal, and labels of any class."""
    rng = np.random.default_rng(seed)
    hundredths = rng.multinomial(100, rng.dirichlet(np.ones(classes), rows))
    return hundredths / 100.0, rng.integers(0, classes, rows)


samples = st.builds(draw, st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(2, 6))


@pytest.mark.parametrize("measure", MEASURES)
@few_examples
@given(sample=samples, n=st.integers(1, 20), order=st.sampled_from([1.0, 2.0, 3.5]))
def test_a_number_is_so_many_uniform_bins(
    measure: Any, sample: tuple[Floats, Ints], n: int, order: float
) -> None:
    """A number instead of a binning gives what uniform bins of the tallies give."""
    by_tally = measure(*sample[::-1], lambda t: uniform_bins(t, n), order=order)

    # Sums of scores differ by rounding.
    assert measure(*sample[::-1], n, order=order) == pytest.approx(by_tally, rel=1e-12, abs=1e-12)


@few_examples
@given(samples)
def test_top_label_is_numpys(sample: tuple[Floats, Ints]) -> None:
    """The largest score is that of `argmax`, whatever the type of scores, labels and memory."""
    scores, labels = sample
    first = scores.argmax(axis=1)
    expected = tally(first == labels, scores.max(axis=1))

    for rows, classes in (
        (scores, labels),
        (np.asfortranarray(scores), labels.astype(np.int8)),
        (scores.tolist(), labels.astype(np.float64)),
    ):
        found = top_label_tally(classes, rows)

        assert found.scores.tolist() == expected.scores.tolist()
        assert found.counts.tolist() == expected.counts.tolist()
        assert found.positives.tolist() == expected.positives.tolist()


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        ([[0.5, 0.5]], [2], "1 of 1 labels are not integers from 0 to 1, first 2 at row 0."),
        ([[0.5, 0.5]], [-1], "1 of 1 labels are not integers from 0 to 1, first -1 at row 0."),
        (
            [[np.nan, 1.0]],
            [0],
            "1 of 2 scores are not numbers in [0, 1], first nan of class 0 at row 0.",
        ),
        (
            [[1.5, -0.5]],
            [0],
            "2 of 2 scores are not numbers in [0, 1], first 1.5 of class 0 at row 0.",
        ),
        (
            [[0.5, 0.5], [0.5, 0.5002]],
            [0, 0],
            (
                "1 of 2 rows of scores do not sum to 1 within 0.0001, first 1.0002 at row 1: give "
                "probabilities of all classes."
            ),
        ),
        (
            [[1.0]],
            [0],
            (
                "y_prob must have one row for each label and two classes or more, got shapes "
                "(1,) of y_true and (1, 1) of y_prob."
            ),
        ),
    ],
)
@pytest.mark.parametrize("measure", MEASURES)
def test_both_roads_refuse_alike(measure: Any, scores: Any, labels: Any, message: str) -> None:
    """What is no sample is refused in the same words with and without a tally."""
    for binning in (3, lambda t: uniform_bins(t, 3)):
        with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole message is compared
            measure(np.array(labels), scores, binning)

        assert str(refused.value) == message


@pytest.mark.parametrize("measure", MEASURES)
def test_sums_at_the_tolerance_are_accepted(measure: Any) -> None:
    """A row whose sum is just inside the tolerance is a row."""
    assert measure([0], [[0.5, 0.49990005]], 1) > 0.4


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("n", [0, 2.5])
def test_number_of_bins_is_checked(measure: Any, n: Any) -> None:
    """Neither no bins nor parts of one."""
    with pytest.raises(ValueError, match=r"^the number of bins must be"):
        measure([0], [[0.5, 0.5]], n)
