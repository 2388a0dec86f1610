"""The diagram of a sample or a classifier in one call, with the names that scikit-learn uses."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from monitor.base.errors import ConfigError
from monitor.report.notebook.columns import Column
from monitor.report.notebook.evaluating import SampleEvaluation, Scale, evaluate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationDisplay:
    """A test-based reliability diagram and the evaluation that it shows.

    In a notebook it shows the diagram. Make it with `from_predictions` or `from_estimator`.

    Attributes
    ----------
    evaluation : SampleEvaluation
        Its numbers.
    ax_ : matplotlib.axes.Axes
        The main panel.
    """

    evaluation: SampleEvaluation
    ax_: "Axes"

    def __repr__(self) -> str:
        """Name what is shown on one line."""
        tallies = getattr(self.evaluation, "tallies", {})
        shown = f"{tallies['all'].total:,} rows" if "all" in tallies else "..."
        return f"{type(self).__name__}({shown})"

    @property
    def figure_(self) -> "Figure":
        """The whole figure."""
        from monitor.report.diagrams.canvas import figure_of

        return figure_of(self.ax_)

    @classmethod
    def from_predictions(
        cls,
        y_true: Column,
        y_prob: Column,
        *,
        ax: "Axes | None" = None,
        scale: Scale = "probability",
        **options: Any,
    ) -> "CalibrationDisplay":
        """Draw the diagram of outcomes and scores.

        Parameters
        ----------
        y_true, y_prob : column
            As `evaluate` takes them.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default in a new figure.
        scale : {"probability", "logit"}
            Log-odds show rare events.
        **options
            Those of `evaluate`, such as `pos_label` or `alpha`.

        Returns
        -------
        CalibrationDisplay

        Examples
        --------
        >>> import monitor
        >>> shown = monitor.CalibrationDisplay.from_predictions([0, 1] * 50, [0.2, 0.8] * 50)
        >>> shown.ax_.get_title(loc="left")
        'TCE 100 %: share of scores that their bin rejects'
        """
        evaluation = evaluate(y_true, y_prob, **options)
        return cls(evaluation, evaluation.plot(ax, scale=scale))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803 - scikit-learn's name
        y: Column,
        **options: Any,
    ) -> "CalibrationDisplay":
        """Draw the diagram of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            With `predict_proba` and `classes_`; a pipeline too.
        X : matrix
            What it takes, of rows that it was not trained on.
        y : column of shape (n,)
            Their labels.
        **options
            Those of `from_predictions`. Of two classes the second is the positive one, as in
            scikit-learn, unless `pos_label` says so.

        Returns
        -------
        CalibrationDisplay

        Raises
        ------
        ConfigError
            If the estimator gives no probabilities or is not fitted.
        """
        if not hasattr(estimator, "predict_proba") or not hasattr(estimator, "classes_"):
            msg = (
                f"{type(estimator).__name__} has no predict_proba or is not fitted; fit a "
                "classifier that gives probabilities, or use from_predictions."
            )
            raise ConfigError(msg)
        classes, y_prob = list(estimator.classes_), estimator.predict_proba(X)
        if len(classes) > 2:  # noqa: PLR2004 - more than two are a matrix
            return cls.from_predictions(y, y_prob, labels=classes, **options)
        positive = options.pop("pos_label", classes[-1])
        if positive not in classes:
            msg = (
                f"pos_label is {positive!r}, but the classifier has the classes {classes}; choose "
                f"one of them."
            )
            raise ConfigError(msg)
        column = _column_of(np.asarray(y_prob), classes.index(positive), len(classes))
        return cls.from_predictions(y, column, pos_label=positive, **options)

    def _repr_png_(self) -> bytes:
        """Show the diagram."""
        shown: bytes = self.ax_._repr_png_()  # type: ignore[attr-defined]
        return shown


def _column_of(y_prob: npt.NDArray[Any], place: int, count: int) -> npt.NDArray[Any]:
    """Give the column of one of two classes; a single one is that of the last, as of a score."""
    if y_prob.ndim == 1 or y_prob.shape[1] == 1:
        last = y_prob.reshape(-1)
        return last if place == count - 1 else 1.0 - last
    column: npt.NDArray[Any] = y_prob[:, place]
    return column
