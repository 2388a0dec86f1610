"""Class-wise and top-label measures against plain loops, the binary case, permuted classes."""

from collections import Counter
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.beyond_binary.multiclass import (
    classwise,
    classwise_calibration_error,
    classwise_tallies,
    top_label_calibration_error,
    top_label_tally,
)
from monitor.metrics.binned.binning import Bins, quantile_bins, uniform_bins
from monitor.metrics.binned.ece import ece
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.tally import Tally, tally
from monitor.metrics.scores.brier import rbs
from monitor.metrics.test_based.tce import tce
from tests.support.cases import few_examples


def draw(seed: int, rows: int, classes: int) -> tuple[Floats, Ints]:
    """Draw probabilities, some of them equal, and labels that follow them only loosely."""
    rng = np.random.default_rng(seed)
    patterns = rng.dirichlet(np.ones(classes), max(1, rows // 2))
    return patterns[rng.integers(0, len(patterns), rows)], rng.integers(0, classes, rows)


samples = st.builds(draw, st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(2, 5))


def ten_bins(t: Tally) -> Bins:
    """Cut any tally into ten uniform bins."""
    return uniform_bins(t, 10)


def ece_of_ten(t: Tally) -> float:
    """Measure ECE over ten uniform bins."""
    return ece(ten_bins(t))


def tce_of_two(t: Tally) -> float:
    """Measure TCE over two quantile bins."""
    return tce(t, quantile_bins(t, 2)).value


def counted(rows: list[tuple[float, bool]]) -> dict[float, tuple[int, int]]:
    """Count predictions and positives by score, one row after the other."""
    counts = Counter(score for score, _ in rows)
    positives = Counter(score for score, positive in rows if positive)
    return {score: (n, positives[score]) for score, n in sorted(counts.items())}


def groups(t: Tally) -> dict[float, tuple[int, int]]:
    """Spell a tally in the same way."""
    columns = (t.scores.tolist(), t.counts.tolist(), t.positives.tolist())
    return {s: (n, k) for s, n, k in zip(*columns, strict=True)}


def gaps_by_loop(scores: Floats, positive: npt.NDArray[np.bool_]) -> list[tuple[int, float]]:
    """Give the size and the gap of every tenth of [0, 1] that has a row."""
    slices: list[list[float]] = [[] for _ in range(10)]
    for score, y in zip(scores, positive, strict=True):
        # The last cut that the score has reached; 10 * score could round across it.
        reached = sum(score >= cut for cut in (b / 10 for b in range(11))) - 1
        slices[min(reached, 9)].append(y - score)
    return [(len(part), abs(sum(part)) / len(part)) for part in slices if part]


class TestClasswise:
    """One class against the rest, and the mean over classes."""

    @given(samples)
    def test_tallies_equal_a_loop(self, sample: tuple[Floats, Ints]) -> None:
        """Tally k has the scores of class k, positive where the label is k."""
        scores, labels = sample

        tallies = classwise_tallies(labels, scores)

        assert len(tallies) == scores.shape[1]
        for k, one in enumerate(tallies):
            rows = [
                (float(row[k]), bool(label == k)) for row, label in zip(scores, labels, strict=True)
            ]
            assert groups(one) == counted(rows)
        assert sum(one.total_positives for one in tallies) == labels.size

    @given(samples, st.sampled_from([1.0, 1.5, 2.0, 3.0]))
    def test_calibration_error_equals_a_loop(
        self, sample: tuple[Floats, Ints], order: float
    ) -> None:
        """The class-wise error of [RBS, Definition C.1] in any norm, at most 2**(1/p)."""
        scores, labels = sample
        expected = 0.0
        for k in range(scores.shape[1]):
            for size, gap in gaps_by_loop(scores[:, k], labels == k):
                expected += gap**order * size / labels.size

        got = classwise_calibration_error(labels, scores, ten_bins, order=order)

        # The root of a gap of a rounding error is larger than the error.
        assert got**order == pytest.approx(expected, abs=1e-13)
        assert expected <= 2 + 1e-13

    @given(st.integers(0, 2**32 - 1), st.integers(1, 60))
    def test_two_classes_average_the_binary_measures(self, seed: int, rows: int) -> None:
        """With two classes it is the mean over the sample and its mirror image.

        A measure that does not care which outcome is called 1 is the binary measure itself.
        """
        scores, labels = draw(seed, rows, 2)
        sample, mirrored = tally(labels, scores[:, 1]), tally(1 - labels, scores[:, 0])

        for measure in (tce_of_two, ece_of_ten, rbs):
            expected = (measure(sample) + measure(mirrored)) / 2
            assert classwise(measure, labels, scores).value == pytest.approx(expected, rel=1e-14)
        assert classwise(rbs, labels, scores).value == pytest.approx(rbs(sample), rel=1e-13)


class TestTopLabel:
    """The predicted class and its probability."""

    @given(samples)
    def test_tally_equals_a_loop(self, sample: tuple[Floats, Ints]) -> None:
        """Every row counts once: with its largest score, positive where that class came true."""
        scores, labels = sample
        rows = []
        for row, label in zip(scores.tolist(), labels.tolist(), strict=True):
            rows.append((max(row), row.index(max(row)) == label))

        assert groups(top_label_tally(labels, scores)) == counted(rows)

    @given(samples, st.sampled_from([1.0, 1.5, 2.0, 3.0]))
    def test_calibration_error_equals_a_loop(
        self, sample: tuple[Floats, Ints], order: float
    ) -> None:
        """Gaps between accuracy and confidence by tenths, in any norm."""
        scores, labels = sample
        gaps = gaps_by_loop(scores.max(axis=1), scores.argmax(axis=1) == labels)
        total = sum(size * gap**order for size, gap in gaps) / labels.size

        got = top_label_calibration_error(labels, scores, ten_bins, order=order)

        # The root of a gap of a rounding error is larger than the error.
        assert got**order == pytest.approx(total, abs=1e-13)

    def test_first_of_equal_scores_is_predicted(self) -> None:
        """Of two classes with the largest score the first is taken."""
        t = top_label_tally([1, 2, 2], [[0.2, 0.4, 0.4]] * 3)

        assert (t.counts.tolist(), t.positives.tolist()) == ([3], [1])


SHAPES = "y_prob must have one row for each label and two classes or more, got shapes"


SCORES, LABELS = (
    "scores are not numbers in [0, 1], first",
    "labels are not integers from 0 to 1, first",
)
HALVES = [0.5, 0.5]
SUM = (
    "2 of 3 rows of scores do not sum to 1 within 0.0001, first 0.9998 at row 1: give "
    "probabilities of all classes."
)


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        ([0.2, 0.8], [0, 1], f"{SHAPES} (2,) of y_true and (2,) of y_prob."),
        ([[1.0], [1.0]], [0, 0], f"{SHAPES} (2,) of y_true and (2, 1) of y_prob."),
        ([[0.2, 0.8]], [0, 1], f"{SHAPES} (2,) of y_true and (1, 2) of y_prob."),
        ([HALVES, [-0.5, 1.5]], [0, 1], f"2 of 4 {SCORES} -0.5 of class 0 at row 1."),
        ([HALVES, [0.5, nan]], [0, 1], f"1 of 4 {SCORES} nan of class 1 at row 1."),
        ([HALVES, [0.5, 0.4998], [0.9, 0.9]], [0, 1, 0], SUM),
        ([HALVES] * 3, [0, 2, -1], f"2 of 3 {LABELS} 2 at row 1."),
        ([HALVES] * 2, [0.0, 0.5], f"1 of 2 {LABELS} 0.5 at row 1."),
        ([HALVES] * 2, ["0", "1"], f"2 of 2 {LABELS} '0' at row 0."),
    ],
)
def test_bad_samples_are_refused(scores: list[Any], labels: list[Any], message: str) -> None:
    """A sample that breaks a rule is refused by every function, with its first offender."""
    for refuse in (
        classwise_tallies,
        top_label_tally,
        lambda labels, scores: classwise(rbs, labels, scores),
        lambda labels, scores: classwise_calibration_error(labels, scores, ten_bins),
        lambda labels, scores: top_label_calibration_error(labels, scores, ten_bins),
        lambda labels, scores: classwise_calibration_error(labels, scores, 3),
        lambda labels, scores: top_label_calibration_error(labels, scores, 3),
    ):
        with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole message is compared
            refuse(labels, scores)

        assert str(refused.value) == message


@few_examples
@given(samples, st.integers(1, 20), st.sampled_from([1.0, 3.5]))
def test_a_number_is_so_many_uniform_bins(
    sample: tuple[Floats, Ints], n: int, order: float
) -> None:
    """A number instead of a binning, which needs no tally, gives what uniform bins of it give."""
    for measure in (classwise_calibration_error, top_label_calibration_error):
        by_tally = measure(*sample[::-1], lambda t: uniform_bins(t, n), order=order)
        found = measure(*sample[::-1], n, order=order)
        # Sums of scores differ by rounding.
        assert found == pytest.approx(by_tally, rel=1e-12, abs=1e-12)
        with pytest.raises(ValueError, match=r"^the number of bins must be"):
            measure([0], [[0.5, 0.5]], 0)


def test_rounded_scores_are_accepted() -> None:
    """Single precision over a thousand classes and six decimals over a hundred are near enough."""
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(50, 1000)).astype(np.float32)
    powers = np.exp(logits)
    single = powers / powers.sum(axis=1, keepdims=True)
    rounded = np.round(rng.dirichlet(np.ones(100), 50), 6)

    for scores in (single, rounded):
        assert top_label_tally(np.zeros(50, int), scores).total == 50


def test_labels_of_any_number_type() -> None:
    """Booleans name two classes, and whole floats are integers."""
    scores = [[0.2, 0.8], [0.7, 0.3]]

    for labels in ([True, False], [1.0, 0.0], np.array([1, 0], np.uint8)):
        assert top_label_tally(labels, scores).total_positives == 2
