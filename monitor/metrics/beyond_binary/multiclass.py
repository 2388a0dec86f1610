"""More than two classes, reduced to tallies: every class against the rest, or the top label alone.

Two questions. Is every class's probability right by itself (*class-wise*)? And does the
probability of the predicted class say how often the prediction is right (*top-label*)? Both
are weaker than whole vectors of probabilities being right [RBS, Definition 2.1], which no
tally can show.

Names: [RBS, Definition C.1] abbreviates the top-label calibration error as "TCE". In this
project TCE is the *test-based* calibration error only, and the other is always written out.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from monitor.base.short_text import shown_shortly
from monitor.metrics.binned.binning import Bins, uniform_bins
from monitor.metrics.core.compiled import compiled
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.samples import (
    SUM_TOLERANCE,
    SWAPPED,
    Bools,
    at_ends,
    check_one_order,
    check_sums,
    numbers_of,
    unmasked,
)
from monitor.metrics.core.tally import Tally, tally

Binning = (
    Callable[[Tally], Bins] | int
)  # a number of uniform bins needs no tally, and so no sorting


@shown_shortly
@dataclass(frozen=True, eq=False)
class Classwise:
    """A measure averaged over classes, and what each class adds to it.

    Attributes
    ----------
    value : float
        Plain mean over the classes, in the units of the measure.
    by_class : ndarray of shape (c,)
        The measure of each class against the rest.
    """

    value: float
    by_class: Floats


def classwise_tallies(y_true: npt.ArrayLike, y_prob: npt.ArrayLike) -> list[Tally]:
    """Count each class against the rest.

    For analysis, not used by the daily job.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class that came true, an integer in [0, c).
    y_prob : array-like of shape (n, c)
        Predicted probabilities in [0, 1] of c >= 2 classes; every row sums to 1 within 1e-4.

    Returns
    -------
    list of c Tally
        Tally k holds the scores of class k; an outcome is positive where the label is k. All of
        them are exact and have n predictions.

    Raises
    ------
    ValueError
        If a score is not a number in [0, 1], a row does not sum to 1, a label is no integer
        in [0, c), or shapes do not fit.

    Notes
    -----
    Scores ``f_k(X)`` and outcomes ``Y = k``: one-vs-rest classification of [TCE, Remark 2].
    All c tallies together take up to 24 n c bytes; `classwise` makes them one at a time.

    Examples
    --------
    >>> rest = classwise_tallies([0, 1], [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])
    >>> rest[1].scores, rest[1].counts, rest[1].positives
    (array([0.2]), array([2]), array([1]))
    """
    return list(_one_vs_rest(*check_class_scores(y_true, y_prob)))


def classwise(
    measure: Callable[[Tally], float], y_true: npt.ArrayLike, y_prob: npt.ArrayLike
) -> Classwise:
    """Average any measure of a tally over the classes.

    For analysis, not used by the daily job.

    Parameters
    ----------
    measure : callable
        From a Tally to a number: TCE, ECE, RBS, ... with its bins chosen inside, because every
        class has scores of its own.
    y_true : array-like of shape (n,)
        The classes that came true, integers in [0, c).
    y_prob : array-like of shape (n, c)
        Predicted probabilities, as for `classwise_tallies`.

    Returns
    -------
    Classwise
        The mean over classes and the values behind it, in the units of the measure and inside its
        range: in [0, 1] for TCE and ECE.

    Raises
    ------
    ValueError
        As `classwise_tallies` does, and whatever the measure raises: some need a positive
        outcome, and a rare class may have none.

    Notes
    -----
    ``(1/c) sum_k measure(class k vs rest)``, for the test-based calibration error the
    multi-class TCE of [TCE, Remark 2]. The class-wise calibration error of [RBS, Definition
    C.1], which has no factor 1/c, is `classwise_calibration_error`. With two classes the tallies
    mirror each other, and the mean is the binary measure if its bins mirror too.

    Interval: each class has that of the measure, of its tally from `classwise_tallies`. For the
    mean take those of the classes at level ``1 - (1 - level)/c`` and average their ends:
    whenever all of them hold, so does the mean (Bonferroni), however the classes share their
    rows. It is wide by design; how often it holds is measured in docs/coverage.md.

    Examples
    --------
    >>> from monitor.metrics.binned.binning import uniform_bins
    >>> from monitor.metrics.binned.ece import ece
    >>> scores = [[0.75, 0.25, 0.0]] * 2 + [[0.0, 0.25, 0.75]] * 2
    >>> result = classwise(lambda t: ece(uniform_bins(t, 2)), [0, 1, 2, 2], scores)
    >>> result.value, result.by_class
    (0.08333333333333333, array([0.125, 0.   , 0.125]))
    """
    tallies = _one_vs_rest(*check_class_scores(y_true, y_prob))
    by_class = np.array([measure(tally) for tally in tallies], np.float64)
    return Classwise(float(by_class.mean()), by_class)


def top_label_tally(y_true: npt.ArrayLike, y_prob: npt.ArrayLike) -> Tally:
    """Count how often the predicted class came true, by the probability it was given.

    For analysis, not used by the daily job.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The classes that came true, integers in [0, c).
    y_prob : array-like of shape (n, c)
        Predicted probabilities, as for `classwise_tallies`.

    Returns
    -------
    Tally
        Exact: the scores are the largest of each row, in [1/c, 1] up to the tolerance of
        the sums, and an outcome is positive where the label is the class that has it. Its
        prevalence is the accuracy.

    Raises
    ------
    ValueError
        As `classwise_tallies` does.

    Notes
    -----
    ``C = argmax_k f_k(X)`` with confidence ``f_C(X)`` and outcome ``Y = C`` [RBS, Definition
    C.1]; the first of equal largest scores is taken. Any measure of a tally may follow;
    the test-based calibration error of this tally is *not* the top-label calibration
    error.

    Examples
    --------
    >>> t = top_label_tally([0, 1], [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])
    >>> t.scores, t.counts, t.positives
    (array([0.7]), array([2]), array([1]))
    """
    return tally(*_top_label(y_true, y_prob))


def top_label_calibration_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    binning: Binning,
    *,
    order: float = 1.0,
) -> float:
    """Measure how far the top label's probability is from how often that label is right.

    For analysis, not used by the daily job.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The classes that came true, integers in [0, c).
    y_prob : array-like of shape (n, c)
        Predicted probabilities, as for `classwise_tallies`; at least one row.
    binning : callable or int
        From the top-label tally to its bins, such as ``lambda t: quantile_bins(t, 15)``; or a
        number of uniform bins, which are filled in one pass over the rows.
    order : float
        The p of the norm, at least 1: 1 is the usual ECE of confidences, 2 weighs wide gaps
        more.

    Returns
    -------
    float
        Ratio in [0, 1], in units of probability.

    Raises
    ------
    ValueError
        As `classwise_tallies` does, if there is no row, or if the order is below 1.

    Notes
    -----
    ``(E |f_C(X) - P(Y = C | f_C(X))|**p)**(1/p)`` [RBS, Definition C.1], estimated over b bins
    as ``(sum_b n_b/N g_b**p)**(1/p)`` with g_b the gap between the bin's accuracy and its mean
    confidence. That paper abbreviates it; here it keeps its full name, see above.

    Interval: `bootstrap_interval` by inversion of the `top_label_tally`, whose coverage is that of
    the same bins of any tally (docs/coverage.md).

    Examples
    --------
    >>> from monitor.metrics.binned.binning import quantile_bins
    >>> scores, labels = [[0.75, 0.25], [0.25, 0.75]], [0, 1]
    >>> top_label_calibration_error(labels, scores, lambda t: quantile_bins(t, 1))
    0.25
    >>> top_label_calibration_error(labels, scores, 10)
    0.25
    """
    _check_order(order)
    bins = _cut(*_top_label(y_true, y_prob), binning)
    return float(_mean_power(bins, order) ** (1.0 / order))


def classwise_calibration_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    binning: Binning,
    *,
    order: float = 1.0,
) -> float:
    """Measure how far the probability of each class by itself is from how often it comes true.

    For analysis, not used by the daily job.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The classes that came true, integers in [0, c).
    y_prob : array-like of shape (n, c)
        Predicted probabilities, as for `classwise_tallies`; at least one row.
    binning : callable or int
        From the tally of a class against the rest to its bins, such as
        ``lambda t: quantile_bins(t, 15)``; or a number of uniform bins, which are filled in one
        pass over the rows.
    order : float
        The p of the norm, at least 1.

    Returns
    -------
    float
        In [0, ``2**(1/p)``], in units of probability: a *sum* over classes, so that every
        class adds what is wrong with it, however rare it is.

    Raises
    ------
    ValueError
        As `classwise_tallies` does, if there is no row, or if the order is below 1.

    Notes
    -----
    ``(sum_k E |f_k(X) - P(Y = k | f_k(X))|**p)**(1/p)`` [RBS, Definition C.1], estimated over the
    b bins of each class as ``(sum_k sum_b n_b/N g_b**p)**(1/p)``. Kumar, Liang and Ma (2019)
    weigh the classes; that definition does not, and for p = 1 it is c times the mean that
    `classwise` gives of ECE.

    Interval: that of the same bins of each class's tally at level ``1 - (1 - level)/c``, by
    inversion, and this formula of their ends, as for the mean of `classwise`.

    Examples
    --------
    >>> scores = [[0.75, 0.25, 0.0]] * 2 + [[0.0, 0.25, 0.75]] * 2
    >>> classwise_calibration_error([0, 1, 2, 2], scores, 2)
    0.25
    """
    _check_order(order)
    classes, rows = check_class_scores(y_true, y_prob)
    each = [
        _mean_power(_cut(classes == k, rows[:, k], binning), order) for k in range(rows.shape[1])
    ]
    return float(np.sum(each) ** (1.0 / order))


def _mean_power(bins: Bins, order: float) -> float:
    gaps = np.abs(bins.rates - bins.mean_scores)
    return float((bins.counts * gaps**order).sum() / bins.counts.sum())


def _check_order(order: float) -> None:
    if not order >= 1.0:
        msg = f"the order of a calibration error must be at least 1, got {order}."
        raise ValueError(msg)


def _cut(positive: Bools, scores: Floats, binning: Binning) -> Bins:
    if callable(binning):
        return binning(tally(positive, scores))
    return uniform_bins((positive, scores), binning)


def _top_label(y_true: npt.ArrayLike, y_prob: npt.ArrayLike) -> tuple[Bools, Floats]:
    """Give whether the class of the largest score of each row came true, and that score."""
    check_one_order(y_true=y_true, y_prob=y_prob)
    classes, rows = unmasked("y_true", y_true), numbers_of(y_prob)
    if rows.ndim != 2 or classes.shape != rows.shape[:1] or classes.dtype != np.int64:  # noqa: PLR2004
        classes, rows = check_class_scores(y_true, y_prob)
    sound, top, right = _take_top(np.ascontiguousarray(rows), np.ascontiguousarray(classes))
    if sound:
        return right, top
    # Raises with the reason, or finds nothing wrong.
    classes, rows = check_class_scores(y_true, y_prob)
    predicted = rows.argmax(axis=1)
    return np.asarray(predicted == classes), rows[np.arange(classes.size), predicted]


@compiled
def _take_top(rows: Floats, labels: Ints) -> tuple[bool, Floats, Bools]:
    """Take the largest score of each row, and whether it is the label's; False if one is odd."""
    top, right = np.empty(labels.size), np.empty(labels.size, np.bool_)
    sound = rows.shape[1] > 1
    for i in range(labels.size):
        largest, predicted, total = -1.0, -1, 0.0
        for k in range(rows.shape[1]):
            score = rows[i, k]
            sound &= score >= 0.0  # written so that nan is not
            total += score
            if score > largest:  # so the first of equal ones
                largest, predicted = score, k
        # Sums in another order differ by rounding, so what is nearly off is left to the check.
        sound &= abs(total - 1.0) < 0.999 * SUM_TOLERANCE
        sound &= (largest <= 1.0) & (labels[i] >= 0) & (labels[i] < rows.shape[1])
        top[i], right[i] = largest, predicted == labels[i]
    return sound, top, right


def _one_vs_rest(labels: Ints, scores: Floats) -> Iterator[Tally]:
    for k in range(scores.shape[1]):
        yield tally(labels == k, scores[:, k])


def check_class_scores(y_true: npt.ArrayLike, y_prob: npt.ArrayLike) -> tuple[Ints, Floats]:
    """Check labels and probabilities of classes; raise ValueError with the first fault.

    Examples
    --------
    >>> labels, rows = check_class_scores([True], [[0.25, 0.75]])
    >>> labels
    array([1])
    """
    check_one_order(y_true=y_true, y_prob=y_prob)
    classes, rows = unmasked("y_true", y_true), numbers_of(y_prob)
    # A vector of scores of one class is a binary problem written down wrongly, not c = 1.
    if rows.ndim != 2 or rows.shape[1] < 2 or classes.shape != rows.shape[:1]:  # noqa: PLR2004
        swapped = SWAPPED if classes.ndim > rows.ndim else ""
        msg = (
            f"y_prob must have one row for each label and two classes or more, got shapes "
            f"{classes.shape} of y_true and {rows.shape} of y_prob.{swapped}"
        )
        raise ValueError(msg)
    # The usual case in few passes; whatever fails it is checked again, for the message.
    if not (rows.size and rows.min() >= 0.0 and rows.max() <= 1.0):
        rows = _checked_scores(rows)
    check_sums(rows, "rows of scores", "give probabilities of all classes.")
    integers = classes.dtype.kind in "biu"
    if not (integers and classes.size and 0 <= classes.min() <= classes.max() < rows.shape[1]):
        _check_labels(classes, rows.shape[1])
    return classes.astype(np.int64), rows


def _checked_scores(rows: Floats) -> Floats:
    rows, outside = at_ends(rows)
    if outside.any():
        row, k = map(int, np.argwhere(outside)[0])
        msg = (
            f"{int(outside.sum())} of {rows.size} scores are not numbers in [0, 1], "
            f"first {rows[row, k]} of class {k} at row {row}."
        )
        raise ValueError(msg)
    return rows


def _check_labels(labels: npt.NDArray[np.generic], classes: int) -> None:
    valid = np.isin(labels, np.arange(classes)) & (labels.dtype.kind in "biuf")  # "1" is no 1
    if not valid.all():
        row = int(np.flatnonzero(~valid)[0])
        msg = (
            f"{int((~valid).sum())} of {valid.size} labels are not integers from 0 to "
            f"{classes - 1}, first {labels[row : row + 1].tolist()[0]!r} at row {row}."
        )
        raise ValueError(msg)
