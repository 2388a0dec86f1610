"""A sample as an evaluation: the measures of the daily job for two columns."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, get_args

from monitor.base.errors import ConfigError, DataError, needing
from monitor.base.short_text import shown_shortly
from monitor.report.notebook.arrays import binary_columns, buckets_by, repeated, tallies_by
from monitor.report.notebook.class_columns import ClassRows, class_days, class_rows, is_matrix
from monitor.report.notebook.columns import Column, check_one_order
from monitor.report.notebook.frames import Row, frame, rows_of, scores_of
from monitor.report.notebook.html import evaluation_html, evaluation_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from monitor.days.summary import Summary
    from monitor.evaluation.evaluation import Evaluation
    from monitor.metrics.core.buckets import BucketCounts
    from monitor.metrics.core.tally import Tally

NULL_REPLICATES = 100
FIGURE = (4.8, 4.6)  # inches
Scale = Literal["probability", "logit"]


@shown_shortly
@dataclass(frozen=True, eq=False)
class SampleEvaluation:
    """The calibration of one sample, as `evaluate` returns it.

    In a notebook it shows itself as a table.

    Attributes
    ----------
    whole : Evaluation
        The measures of all rows.
    segments : mapping of str to Evaluation
        The measures of each segment; empty if none were named.
    tallies : mapping of str to Tally
        The rows behind them, by segment; `all` is the whole. Every measure of `monitor.metrics`
        takes one.
    alpha : float
        Level of the tests inside TCE.
    """

    whole: "Evaluation"
    segments: "Mapping[str, Evaluation]"
    tallies: "Mapping[str, Tally]"
    alpha: float

    def to_frame(self) -> "pd.DataFrame":
        """Give all numbers as a pandas frame, one number a row.

        Returns
        -------
        pandas.DataFrame
            With the columns `segment`, `measure`, `adjusted` (`raw` scores, or `prior`: after the
            intercept was added to every log-odds), `value`, `low` and `high` (of 95 %; nan if the
            number has no interval). Brier score and AUC are the last rows of a segment. `tce` is
            TCE@N*, at a fixed size; the table and the diagram show `tce_published`.

        Raises
        ------
        ConfigError
            If pandas is not installed.

        Examples
        --------
        >>> import monitor
        >>> frame = monitor.evaluate([0, 1, 1, 0] * 50, [0.2, 0.8, 0.6, 0.4] * 50).to_frame()
        >>> frame.query("measure == 'prevalence'").value.item()
        0.5
        """
        rows = [
            (name, *row)
            for name, e in {self.whole.segment: self.whole, **self.segments}.items()
            for row in (*rows_of(e), *scores_of(e, self.tallies[name]))
        ]
        return frame(rows, ("segment", *Row._fields))

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        segment: str = "all",
        scale: Scale = "probability",
    ) -> "Axes":
        """Draw the test-based reliability diagram: which scores the outcomes reject.

        Its TCE is the column `TCE raw` of the table, and the raw `tce_published` of the frame.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw, or a figure to draw in; by default in a new figure of pyplot, which
            notebooks show.
        segment : str
            Which rows.
        scale : {"probability", "logit"}
            Log-odds show rare events.

        Returns
        -------
        matplotlib.axes.Axes
            The main panel.

        Raises
        ------
        ConfigError
            If there is no such segment or scale, or matplotlib is not installed
            (`pip install 'calibration-monitor[report]'`).
        """
        from monitor.report.diagrams.tce import draw_test_based

        if segment not in self.tallies:
            msg = f"there is no segment {segment!r}; choose one of {', '.join(self.tallies)}."
            raise ConfigError(msg)
        place = place_for(ax, scale)
        return draw_test_based(
            self.tallies[segment], alpha=self.alpha, scale=scale, scores="raw", axes=place
        )

    def __str__(self) -> str:
        """Write the main numbers as lines of text, at most ten."""
        return evaluation_text([self.whole, *self.segments.values()])

    def _repr_html_(self) -> str:
        """Show the main numbers as a table."""
        return evaluation_html([self.whole, *self.segments.values()], "sample")


def evaluate(
    y_true: Column,
    y_prob: Column,
    *,
    pos_label: object = None,
    labels: "Sequence[Any] | None" = None,
    segments: Column | None = None,
    groups: Column | None = None,
    entity: Column | None = None,
    sample_weight: Column | None = None,
    alpha: float = 0.05,
) -> SampleEvaluation:
    """Evaluate the calibration of a sample with the measures of the daily job.

    Parameters
    ----------
    y_true : column of shape (n,)
        Outcomes, 0 or 1: a list, a NumPy array, a column of pandas, Polars or Arrow, or a frame of
        one column. Other labels, such as texts, with `pos_label`; or the class that came true.
    y_prob : column of shape (n,), or matrix of shape (n, c)
        Scores in [0, 1]: the probability of outcome 1. As in scikit-learn, outcomes come first, and
        rows are taken by their position. Of a matrix with two columns the one of the positive
        label is taken; one with more is of classes, and its measures are those of a model with
        classes.
    pos_label : label, optional
        The label of which `y_prob` is the probability; needed unless labels are 0 and 1.
    labels : sequence of length c, optional
        The labels in the order of the columns of a matrix; by default the names of the columns of
        a frame, 0 to c - 1, or the sorted labels, whichever fits first.
    segments : column of shape (n,), optional
        The part of the traffic of each row, such as a country; each part is evaluated too. Rows
        without a value are the segment `other`, as in the daily job.
    groups : column of shape (n,), optional
        Rows with the same label share a prior: a day, for example. The slope and the causes are
        computed within groups, so priors that differ do not look like a slope.
    entity : column of shape (n,), optional
        Whom or what each row is about, such as a customer. Rows of one entity may hang together:
        intervals and TCE by chance then count entities, not rows. Rows without a value count as
        independent.
    sample_weight : column of shape (n,), optional
        How many rows each row stands for: whole numbers, as in a table of counts. Other weights
        are refused, because tests and intervals count outcomes, and weighted ones do not say how
        many there are.
    alpha : float
        Level of the tests inside TCE, in (0, 1).

    Returns
    -------
    SampleEvaluation
        The same for the same rows, in any order.

    Raises
    ------
    DataError
        If a score is not in [0, 1], an outcome is not 0 or 1, a value is missing or masked, labels
        and columns do not fit, a weight is no whole number, there are no rows, or columns of
        pandas have one index in different orders.
    ConfigError
        If `alpha` is not in (0, 1), classes are asked for by segment or entity, or an argument is
        of the other kind of scores.

    Notes
    -----
    Scores are put on the grid of the daily job, so the numbers are those that it would store. Those
    that need random numbers (TCE@N*, TCE by chance, the interval of ECE) agree within the error of
    their simulation; the same rows always give the same.

    Examples
    --------
    >>> import monitor
    >>> evaluation = monitor.evaluate([0, 1, 1, 0] * 50, [0.2, 0.8, 0.6, 0.4] * 50)
    >>> round(evaluation.whole.raw.ece, 2)
    0.3
    """
    check_alpha(alpha)
    check_one_order(
        y_true=y_true,
        y_prob=y_prob,
        segments=segments,
        groups=groups,
        entity=entity,
        sample_weight=sample_weight,
    )
    if is_matrix(y_prob):
        rows = class_rows(y_true, y_prob, labels)
        _check_whole(segments, entity, pos_label)
        if sample_weight is not None:
            classes, vectors, groups = repeated(sample_weight, rows.classes, rows.vectors, groups)
            rows = ClassRows(rows.names, classes, vectors)
        return _of_classes(rows, groups, alpha)
    sample: list[Column] = [*binary_columns(y_true, y_prob, pos_label, labels)]
    if sample_weight is not None:
        *sample, segments, groups, entity = repeated(
            sample_weight, *sample, segments, groups, entity
        )
    return _of_scores(*sample, segments=segments, groups=groups, entity=entity, alpha=alpha)


def _of_scores(
    outcomes: Column,
    scores: Column,
    *,
    segments: Column | None,
    groups: Column | None,
    entity: Column | None,
    alpha: float,
) -> SampleEvaluation:
    """Evaluate checked outcomes and scores."""
    from monitor.base.segment_names import WHOLE
    from monitor.metrics.core.tally import merge

    tallies = tallies_by(outcomes, scores, groups, segments)
    if segments is not None and any(name == WHOLE for _, name in tallies):
        msg = f"a segment is called {WHOLE!r}, the name of all rows together; rename it."
        raise DataError(msg)
    everything = merge(tallies.values())
    _check_rows(everything.total)
    held = {} if entity is None else buckets_by(outcomes, scores, entity, groups, segments)
    whole, *parts = _measured(_days(tallies, held), everything, alpha)
    if segments is None:
        return SampleEvaluation(whole, {}, {WHOLE: everything}, alpha)
    by_segment = {
        e.segment: merge(t for (_, segment), t in tallies.items() if segment == e.segment)
        for e in parts
    }
    return SampleEvaluation(
        whole, {e.segment: e for e in parts}, {WHOLE: everything, **by_segment}, alpha
    )


def _of_classes(rows: ClassRows, groups: Column | None, alpha: float) -> SampleEvaluation:
    """Evaluate vectors of class probabilities; the tally is that of the first choices."""
    from monitor.base.segment_names import WHOLE
    from monitor.metrics.core.tally import merge

    _check_rows(len(rows.classes))
    days = class_days(rows, groups)
    everything = merge(day.segments[WHOLE].tally for day in days)
    (whole,) = _measured(days, everything, alpha)
    return SampleEvaluation(whole, {}, {WHOLE: everything}, alpha)


def _check_whole(segments: Column | None, entity: Column | None, pos_label: object) -> None:
    """Refuse what a matrix of classes cannot have."""
    for name, column in (("segments", segments), ("entity", entity)):
        if column is not None:
            msg = (
                f"a matrix of classes cannot be divided by {name}; evaluate the rows of each "
                "segment by itself, or choose one class: its column, and pos_label."
            )
            raise ConfigError(msg)
    if pos_label is not None:
        msg = (
            "pos_label is for scores of one label, but y_prob has a column for each class; leave "
            "it out, or give the column of that class."
        )
        raise ConfigError(msg)


def _check_rows(count: int) -> None:
    if not count:
        msg = "y_true and y_prob have no rows; give at least one prediction with its outcome."
        raise DataError(msg)


def _measured(days: "Sequence[Summary]", t: "Tally", alpha: float) -> "list[Evaluation]":
    """Evaluate days as one window, with TCE at the size for the prevalence of all rows."""
    from monitor.evaluation.evaluate import evaluate as evaluate_days
    from monitor.evaluation.score_errors import Settings
    from monitor.metrics.test_based.tce_at_size import standard_size

    size = standard_size(t.prevalence) if 0.0 < t.prevalence < 1.0 else None
    settings = Settings(alpha, NULL_REPLICATES, tce_size=size, interval_days=1)
    return evaluate_days(days, window_days=len(days), settings=settings)


def place_for(axes: "Axes | Figure | None", scale: str) -> "Axes":
    """Give the axes to draw in: those given, or those of a figure that a notebook shows.

    Raises
    ------
    ConfigError
        If they are none, or there is no such scale.
    """
    if scale not in get_args(Scale):
        msg = f"scale is {scale!r}, but must be one of {', '.join(get_args(Scale))}."
        raise ConfigError(msg)
    if axes is not None:
        if hasattr(axes, "add_subplot"):  # a figure
            return axes.add_subplot()
        if not hasattr(axes, "get_figure"):
            msg = (
                f"ax is {axes!r}, but must be axes of matplotlib, such as plt.gca(); a segment "
                "is named by segment=."
            )
            raise ConfigError(msg)
        return axes
    with needing("diagrams", "matplotlib", "report"):
        from matplotlib import pyplot as plt
    figure = plt.figure(figsize=FIGURE, layout="constrained")
    made: Axes = figure.add_subplot()
    return made


def check_alpha(alpha: Any) -> None:
    """Raise ConfigError for a level that is none."""
    if not isinstance(alpha, Real) or not 0.0 < float(alpha) < 1.0:
        msg = f"alpha is {alpha!r}, but must be above 0 and below 1: a number such as 0.05."
        raise ConfigError(msg)


def _days(
    tallies: "Mapping[tuple[str, ...], Tally]", held: "Mapping[tuple[str, ...], BucketCounts]"
) -> "list[Summary]":
    """Give each group a day of its own, as the daily job has it; the dates mean nothing."""
    from monitor.base.segment_names import WHOLE
    from monitor.days.summary import Segment, Summary

    known_at = datetime.min.replace(tzinfo=UTC)
    days = []
    for number, group in enumerate(dict.fromkeys(group for group, _ in tallies), 1):
        parts = {segment: t for (of, segment), t in tallies.items() if of == group}
        segments = {name or WHOLE: Segment(t, t.total) for name, t in parts.items()}
        entities = {
            (name or WHOLE, WHOLE): counts for (of, name), counts in held.items() if of == group
        }
        day = (date.fromordinal(number),)
        days.append(Summary("", day, segments, {}, True, known_at, entities=entities))
    return days
