"""Calibration maps as an estimator of scikit-learn. This module needs scikit-learn."""

import warnings
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
import numpy.typing as npt

from monitor.base.errors import ConfigError, DataError
from monitor.base.segment_names import WHOLE
from monitor.metrics.core.option_check import check_option
from monitor.metrics.core.samples import at_ends, check_one_order, check_sums
from monitor.metrics.maps.calibration_map import (
    CalibrationMap,
    Kind,
    apply_calibration_map,
    log_odds,
)
from monitor.metrics.maps.map_file import Level, MapFile, Training
from monitor.words.maps import about_bound

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import (
        _safe_indexing,
        assert_all_finite,
        check_consistent_length,
        column_or_1d,
    )
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as missing:  # pragma: no cover - the tests have it
    needed = f"monitor.Recalibrator needs scikit-learn ({missing}); run: pip install scikit-learn"
    raise ConfigError(needed) from None

if TYPE_CHECKING:
    from os import PathLike

    from monitor.metrics.core.grid import Floats, Ints
    from monitor.metrics.maps.fitting import FittedMap
    from monitor.metrics.maps.map_file import Gains

AUTO = "auto"
Scores = Literal["probability", "log_odds"]
BOTH = 2  # columns of `predict_proba` of two classes
BLOCKS = 20  # of rows in their order, if no days are given


class Recalibrator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A calibration map as a scikit-learn estimator.

    Parameters
    ----------
    kind : str
        "identity", "intercept", "platt", "beta", "spline", "isotonic", or "auto": the simplest
        that is worth it on days left out, else the identity.
    scores : {"probability", "log_odds"}
        What `X` holds: probabilities in [0, 1], or any decision values, taken as log-odds.

    Attributes
    ----------
    map_ : CalibrationMap
        The fitted map, for `apply_map`.
    classes_ : ndarray of shape (2,)
        The labels; scores are those of the second.
    n_features_in_ : int
        1.
    gains_ : Gains or None
        What an "auto" map that is worth it gained on days or blocks of rows left out; else None.

    Examples
    --------
    >>> X, y = [0.1] * 20 + [0.9] * 20, [0] * 14 + [1] * 6 + [1] * 14 + [0] * 6
    >>> Recalibrator("platt").fit(X, y).predict_proba([0.1, 0.9]).round(2)
    array([[0.7, 0.3],
           [0.3, 0.7]])
    """

    def __init__(self, kind: str = AUTO, *, scores: Scores = "probability") -> None:
        self.kind = kind
        self.scores = scores

    def fit(
        self,
        X: Any,  # noqa: N803 - scikit-learn's name
        y: Any,
        days: Any = None,
        *,
        sample_weight: Any = None,
    ) -> Self:
        """Fit the map.

        Parameters
        ----------
        X : array-like of shape (n,), (n, 1) or (n, 2)
            Scores of the second class; of both columns of `predict_proba` the second is taken.
        y : array-like of shape (n,)
            Labels of two classes.
        days : array-like of shape (n,), optional
            The day of each row: the shape gets an intercept for each, and "auto" leaves days out.
            By default all rows are of one day, and "auto" leaves out blocks of rows.
        sample_weight : array-like of shape (n,), optional
            How many rows each row stands for: whole numbers, as `monitor.evaluate` takes them.
        """
        if sample_weight is not None:
            X = X if hasattr(X, "iloc") else np.asarray(X)  # noqa: N806
            rows = _rows_of(sample_weight, len(X))
            X, y = _safe_indexing(X, rows), np.asarray(y)[rows]  # noqa: N806
            days = days if days is None else np.asarray(days)[rows]
        check_option("scores", self.scores, Scores)
        check_one_order(X=X, y=y)
        logits = self._log_odds(X, reset=True)
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_consistent_length(X, labels)
        check_classification_targets(labels)
        target = type_of_target(labels, input_name="y", raise_unknown=True)
        if target != "binary":
            msg = f"Only binary classification is supported. The type of the target is {target}."
            raise ValueError(msg)
        self.classes_, outcomes = np.unique(labels, return_inverse=True)
        if self.classes_.size == 1:
            msg = f"Recalibrator needs 2 classes, got 1 class: {self.classes_[0]!r}."
            raise ValueError(msg)
        fitted, self.gains_ = self._fit_map(logits, outcomes.astype(np.float64), days)
        for sentence in about_bound(fitted.map):
            warnings.warn(f"Recalibrator: {sentence}", UserWarning, stacklevel=2)
        self.map_, self._level_error = fitted.map, fitted.level_standard_error
        self._counted = labels.size, int(outcomes.sum())
        self._days = None if days is None else np.unique(np.asarray(days))
        return self

    def save(
        self,
        path: "str | PathLike[str]",
        *,
        model: str,
        segment: str = WHOLE,
        first: date | None = None,
        last: date | None = None,
    ) -> None:
        """Write the map file that `calibration-monitor recalibrate --out` would write.

        Parameters
        ----------
        path : str or path
            A local path or a URL such as ``s3://bucket/map.json``.
        model, segment : str
            Whose scores it maps.
        first, last : date, optional
            The first and the last day of the rows; by default those of the `days` of `fit`, if
            these were dates.

        Raises
        ------
        ValueError
            If the days are not known.
        DataError
            If the file cannot be written.
        """
        from monitor.base import program
        from monitor.store.map_file import write_map

        check_is_fitted(self)
        first, last = self._span(first, last)
        content = MapFile(
            model=model,
            segment=segment,
            map=self.map_,
            training=Training(first, last, self._number_of_days(first, last), *self._counted),
            level=Level("outcomes", first, last, self._level_error),
            replaces=None,
            gains=self.gains_,
            version=program.version(),
        )
        write_map(str(path), content)

    @classmethod
    def from_file(cls, path: "str | PathLike[str]") -> Self:
        """Read a map file: an estimator that is fitted, of the labels 0 and 1.

        Parameters
        ----------
        path : str or path
            A local path or a URL.

        Raises
        ------
        DataError
            If it cannot be read, is no map file, was changed after it was written, or holds several
            maps or a map of vectors; `monitor.apply_map` takes those.
        """
        from monitor.store.map_file import read_map

        content = read_map(str(path))
        if not isinstance(content, MapFile) or content.before:
            msg = f"{path}: is not one map of one score; monitor.apply_map(scores, path) takes it."
            raise DataError(msg)
        training, recalibrator = content.training, cls(content.map.kind)
        recalibrator.map_, recalibrator.gains_, recalibrator.n_features_in_ = (
            content.map,
            content.gains,
            1,
        )
        recalibrator.classes_ = np.array([0, 1])
        recalibrator._level_error = content.level.standard_error
        recalibrator._counted = training.outcomes, training.positives
        recalibrator._days = np.array([training.first, training.last], "datetime64[D]")
        return recalibrator

    def predict_proba(self, X: Any) -> "Floats":  # noqa: N803 - scikit-learn's name
        """Give the calibrated probabilities of both classes, shape (n, 2)."""
        check_is_fitted(self)
        p = apply_calibration_map(_probabilities(self._log_odds(X, reset=False)), self.map_)
        return np.column_stack([1.0 - p, p])

    def predict(self, X: Any) -> Any:  # noqa: N803 - scikit-learn's name
        """Give the label that is more probable."""
        second = self.predict_proba(X)[:, 1] > 0.5  # noqa: PLR2004
        return self.classes_[second.astype(int)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # the labels of a map of noise are noise
        return tags

    def _log_odds(self, X: Any, *, reset: bool) -> "Floats":  # noqa: N803 - scikit-learn's name
        given = np.asarray(X).reshape(-1, 1) if np.asarray(X).ndim == 1 else X
        values = self._score_of(validate_data(self, given, reset=reset, dtype=np.float64))
        if self.scores == "log_odds":
            return np.asarray(values, np.float64)
        values, outside = at_ends(np.asarray(values, np.float64))
        if outside.any():
            msg = (
                f"scores must lie in [0, 1], got {values.min()} to {values.max()}; of decision "
                'values say so: scores="log_odds".'
            )
            raise ValueError(msg)
        return log_odds(values)

    def _score_of(self, columns: "Floats") -> "Floats":
        if columns.shape[1] == BOTH and self.scores == "probability":
            check_sums(columns, "rows of the two columns of X", "give that of the second class.")
            return columns[:, 1]
        if columns.shape[1] != 1:
            msg = (
                f"X has the shape {columns.shape}, but must be one column of scores, or the two of "
                "model.predict_proba(X)."
            )
            raise ValueError(msg)
        return columns[:, 0]

    def _span(self, first: date | None, last: date | None) -> tuple[date, date]:
        """Give the first and the last day of the rows."""
        if self._days is not None and self._days.dtype.kind in "MOU":  # numbers are no dates
            with suppress(TypeError, ValueError):
                ends = self._days[[0, -1]].astype("datetime64[D]").tolist()
                first, last = first or ends[0], last or ends[1]
        if first is None or last is None:
            msg = (
                "a map file says of which days its map is: give first= and last= as dates, or fit "
                "with days= that are dates."
            )
            raise ValueError(msg)
        return first, last

    def _number_of_days(self, first: date, last: date) -> int:
        return (last - first).days + 1 if self._days is None else len(self._days)

    def _fit_map(
        self, logits: "Floats", outcomes: "Floats", days: Any
    ) -> "tuple[FittedMap, Gains | None]":
        from monitor.metrics.maps.choosing import choose_map, gains_of
        from monitor.metrics.maps.daily_counts import counts_of_rows
        from monitor.metrics.maps.fitting import FittedMap, fit_calibration_map

        if self.kind != AUTO:
            check_option("kind", self.kind, Kind)
            data = counts_of_rows(logits, outcomes, _numbers(days, logits.size, blocks=1))
            return fit_calibration_map(data, cast("Kind", self.kind)), None
        data = counts_of_rows(logits, outcomes, _numbers(days, logits.size, blocks=BLOCKS))
        try:
            choice = choose_map(data)
        except ValueError:  # too few outcomes: no map is worth it
            return FittedMap(CalibrationMap("identity"), 0.0), None
        if choice.worth_it:
            return choice.chosen.fitted, gains_of(choice.chosen)
        return choice.candidates[0].fitted, None


def _probabilities(logits: "Floats") -> "Floats":
    with np.errstate(over="ignore"):  # far below any score, 0
        return np.asarray(1.0 / (1.0 + np.exp(-logits)))


def _numbers(days: Any, rows: int, *, blocks: int) -> "Ints":
    if days is None:
        return np.arange(rows) * blocks // rows
    given = np.asarray(days)
    if given.shape != (rows,):
        msg = f"days must have one value a row, {rows} in all, got the shape {given.shape}."
        raise ValueError(msg)
    return np.unique(given, return_inverse=True)[1].astype(np.int64)


def _rows_of(sample_weight: Any, size: int) -> npt.NDArray[np.int64]:
    """List the row of each row that the weights stand for."""
    from monitor.report.notebook.arrays import repeated

    weights = np.asarray(sample_weight)
    if weights.ndim != 1:
        msg = f"sample_weight must have one dimension, got {weights.ndim}."
        raise ValueError(msg)
    try:
        (rows,) = repeated(weights, np.arange(size))
    except DataError as error:
        raise ValueError(str(error)) from None
    if not len(rows):
        msg = "each sample_weight is zero, so there are no rows."
        raise ValueError(msg)
    return np.asarray(rows, np.int64)
