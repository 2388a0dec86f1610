"""What maps of class vectors are fitted to: rows by day."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.log_scores import log_scores


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Vectors and the classes that came true, the days in their order.

    Attributes
    ----------
    classes : tuple of str
        The c classes.
    vectors : ndarray of shape (n, c)
        Probabilities.
    labels : ndarray of shape (n,)
        Positions of classes.
    sizes : ndarray of shape (days,)
        Rows of each day, at least 1.
    """

    classes: tuple[str, ...]
    vectors: Floats
    labels: Ints
    sizes: Ints

    @cached_property
    def logs(self) -> Floats:
        """Logarithms of the probabilities."""
        return log_scores(self.vectors)

    @property
    def days(self) -> int:
        """Number of days."""
        return int(self.sizes.size)

    @property
    def rarer(self) -> int:
        """Rows whose class is not the most frequent one."""
        return int(self.labels.size - np.bincount(self.labels).max())

    @property
    def outcomes(self) -> Ints:
        """Rows by day and class, shape (days, c)."""
        place = np.repeat(np.arange(self.days), self.sizes) * len(self.classes) + self.labels
        counted = np.bincount(place, minlength=self.days * len(self.classes))
        return counted.reshape(self.days, -1)

    def take(self, days: Sequence[int] | Ints) -> "ClassRows":
        """Keep some days."""
        kept = np.isin(np.arange(self.days), days)
        rows = np.repeat(kept, self.sizes)
        return ClassRows(self.classes, self.vectors[rows], self.labels[rows], self.sizes[kept])


def rows_of_days(
    classes: Sequence[str], days: Sequence[tuple[Floats, Ints]], most: int
) -> ClassRows:
    """Bring the rows of days together, and of too many draw as many from each day.

    Parameters
    ----------
    classes : sequence of str
        The c classes.
    days : sequence of (ndarray of shape (n, c), ndarray of shape (n,))
        Vectors and labels of each day, with at least one row.
    most : int
        Of the probabilities that are kept.

    Returns
    -------
    ClassRows
        The same whatever the order of the rows of a day.

    Examples
    --------
    >>> rows_of_days("ab", [(np.array([[0.2, 0.8], [0.4, 0.6]]), np.array([1, 0]))], 2).labels
    array([0])
    """
    each = max(1, most // (len(classes) * len(days)))
    drawn = [_draw(vectors, labels, each) for vectors, labels in days]
    return ClassRows(
        tuple(classes),
        np.concatenate([vectors for vectors, _ in drawn]),
        np.concatenate([labels for _, labels in drawn]),
        np.array([labels.size for _, labels in drawn]),
    )


def _draw(vectors: Floats, labels: Ints, most: int) -> tuple[Floats, Ints]:
    """Sort rows by their values, and draw some of too many."""
    order = np.lexsort([labels, *vectors.T])
    if labels.size > most:
        order = np.random.default_rng(labels.size).permutation(order)[:most]
    return vectors[order], labels[order]
