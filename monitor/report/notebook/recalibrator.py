"""Calibration maps as an estimator of scikit-learn. This module needs scikit-learn."""

from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np

from monitor.errors import ConfigError
from monitor.metrics.core.option_check import check_option
from monitor.metrics.maps.calibration_map import (
    CalibrationMap,
    Kind,
    apply_calibration_map,
    log_odds,
)

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as missing:  # pragma: no cover - the tests have it
    needed = f"monitor.Recalibrator needs scikit-learn ({missing}); run: pip install scikit-learn"
    raise ConfigError(needed) from None

if TYPE_CHECKING:
    from monitor.metrics.core.grid import Floats, Ints

AUTO = "auto"
Scores = Literal["probability", "log_odds"]
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

    def fit(self, X: Any, y: Any, days: Any = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Fit the map.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, 1)
            Scores of the second class.
        y : array-like of shape (n,)
            Labels of two classes.
        days : array-like of shape (n,), optional
            The day of each row: the shape gets an intercept for each, and "auto" leaves days out.
            By default all rows are of one day, and "auto" leaves out blocks of rows.
        """
        check_option("scores", self.scores, Scores)
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
        self.map_ = self._fit_map(logits, outcomes.astype(np.float64), days)
        return self

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
        if not ((values >= 0.0) & (values <= 1.0)).all():
            msg = (
                f"scores must lie in [0, 1], got {values.min()} to {values.max()}; of decision "
                'values say so: scores="log_odds".'
            )
            raise ValueError(msg)
        return log_odds(values)

    def _score_of(self, columns: "Floats") -> "Floats":
        if columns.shape[1] != 1:
            msg = (
                f"X has the shape {columns.shape}, but must be one column of scores; of "
                "model.predict_proba(X) take [:, 1]."
            )
            raise ValueError(msg)
        return columns[:, 0]

    def _fit_map(self, logits: "Floats", outcomes: "Floats", days: Any) -> CalibrationMap:
        from monitor.metrics.maps.choosing import choose_map
        from monitor.metrics.maps.daily_counts import counts_of_rows
        from monitor.metrics.maps.fitting import fit_calibration_map

        if self.kind != AUTO:
            check_option("kind", self.kind, Kind)
            data = counts_of_rows(logits, outcomes, _numbers(days, logits.size, blocks=1))
            return fit_calibration_map(data, cast("Kind", self.kind)).map
        data = counts_of_rows(logits, outcomes, _numbers(days, logits.size, blocks=BLOCKS))
        try:
            choice = choose_map(data)
        except ValueError:  # too few outcomes: no map is worth it
            return CalibrationMap("identity")
        return choice.chosen.fitted.map if choice.worth_it else choice.candidates[0].fitted.map


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
