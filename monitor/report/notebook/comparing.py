"""Two samples compared: whether the curve changed, apart from the prior."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from monitor.base.errors import ConfigError, DataError
from monitor.base.segment_names import printable
from monitor.base.short_text import MOST_LINES, shown_shortly
from monitor.report.notebook.arrays import binary_columns, buckets_by, tallies_by
from monitor.report.notebook.columns import Column, check_one_order
from monitor.report.notebook.evaluating import Scale, check_alpha, place_for
from monitor.report.notebook.frames import frame
from monitor.report.notebook.html import paragraphs_html

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes

    from monitor.drift.curve.reference import Reference
    from monitor.metrics.core.buckets import BucketCounts
    from monitor.metrics.core.estimate import Estimate
    from monitor.metrics.core.tally import Tally

# y_true, y_prob, groups, entity
Sample = (
    tuple[Column, Column]
    | tuple[Column, Column, Column]
    | tuple[Column, Column, Column | None, Column]
)


WITH_ENTITY = 4  # columns


@shown_shortly
@dataclass(frozen=True, eq=False)
class Comparison:
    """Whether the curve changed between two samples, as `compare` returns it.

    In a notebook it shows its sentences.

    Attributes
    ----------
    verdict : str
        `ok`, `prior_shift`, `level_drift`, `calibration_drift` or `insufficient_data`: the words
        of the daily verdict.
    reasons : tuple of str
        Sentences: what changed, how certain that is, and what the prior did.
    kind : str or None
        The distortion that fits best, such as `too_extreme`; None unless the curve changed.
    evidence, limit : float
        log10 of the evidence for a changed curve, and the limit at which it counts as changed.
        A negative evidence speaks for an unchanged curve.
    slope : Estimate or None
        Of the outcomes of `after` on the curve of `before`, with its 95 % interval: 1 is
        unchanged, below 1 the scores became too extreme, above 1 too timid.
    shift : Estimate or None
        How far the log-odds of all scores moved, in logit.
    level_change : Estimate or None
        The part of it that did not come with the prevalence, in logit.
    prevalences : tuple of float
        Of `before` and of `after`, ratios in [0, 1].
    tallies : tuple of Tally
        The rows of `before` and of `after`.
    reference : Reference or None
        The curve of `before`; None if it has too few outcomes.
    """

    verdict: str
    reasons: tuple[str, ...]
    kind: str | None
    evidence: float
    limit: float
    slope: "Estimate | None"
    shift: "Estimate | None"
    level_change: "Estimate | None"
    prevalences: tuple[float, float]
    tallies: "tuple[Tally, Tally]"
    reference: "Reference | None"

    @property
    def changed(self) -> bool:
        """Whether the curve changed, apart from the prior."""
        return self.verdict == "calibration_drift"

    def to_frame(self) -> "pd.DataFrame":
        """Give the numbers as a pandas frame: `measure`, `value`, `low` and `high`.

        Raises
        ------
        ConfigError
            If pandas is not installed.
        """
        nan = float("nan")
        rows: list[tuple[Any, ...]] = [
            ("evidence", self.evidence, nan, nan),
            ("limit", self.limit, nan, nan),
            ("prevalence_before", self.prevalences[0], nan, nan),
            ("prevalence_after", self.prevalences[1], nan, nan),
        ]
        for name in ("slope", "shift", "level_change"):
            e: Estimate | None = getattr(self, name)
            rows.append((name, e.value, e.low, e.high) if e else (name, nan, nan, nan))
        return frame(rows, ("measure", "value", "low", "high"))

    def plot(self, ax: "Axes | None" = None, *, scale: Scale = "logit") -> "Axes":
        """Draw the curve of `before` with its band, and the outcomes of `after`.

        The prior shift is taken out: points off the band mean that the curve changed.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default in a new figure of pyplot, which notebooks show.
        scale : {"probability", "logit"}
            Log-odds show rare events.

        Returns
        -------
        matplotlib.axes.Axes
            The main panel.

        Raises
        ------
        ConfigError
            If `before` has too few outcomes for a curve, there is no such scale, or matplotlib is
            not installed
            (`pip install 'calibration-monitor[report]'`).
        """
        from monitor.report.diagrams.reference import draw_reference

        if self.reference is None:
            msg = f"there is no curve to draw; take more rows. {' '.join(self.reasons)}"
            raise ConfigError(msg)
        place = place_for(ax, scale)
        return draw_reference(self.reference, self.tallies[1], scale=scale, axes=place)

    def __str__(self) -> str:
        """Write the verdict and its sentences, at most ten lines."""
        lines = [self.verdict, *self.reasons]
        return "\n".join(printable(line) for line in lines[:MOST_LINES])

    def _repr_html_(self) -> str:
        """Show the verdict and its sentences."""
        return paragraphs_html(self.verdict, self.reasons)


def compare(
    before: Sample, after: Sample, *, pos_label: object = None, alpha: float = 0.001
) -> Comparison:
    """Say whether the calibration curve changed between two samples, apart from the prior.

    Parameters
    ----------
    before, after : tuple of (y_true, y_prob), (y_true, y_prob, groups) or with entity as fourth
        The columns of each sample, as `evaluate` takes them. `before` needs at least 300 outcomes
        of each kind. Rows of one group share a prior. Give the groups, such as days, where priors
        vary: how much the curve varies between groups of `before` is then expected of `after`.
        Give the entity of each row, such as a customer, where rows of one entity hang together;
        groups may then be None.
    pos_label : label, optional
        The label of which `y_prob` is the probability; needed unless labels are 0 and 1.
    alpha : float
        If the curve did not change, at most this share of comparisons reports a drift.

    Returns
    -------
    Comparison
        The verdict with its reasons, slope, evidence and the move of the prior.

    Raises
    ------
    DataError
        If the columns of a sample are not what `evaluate` takes, it has no rows, or only one of
        them has entities.
    ConfigError
        If `alpha` is not in (0, 1).

    Notes
    -----
    `before` is the reference of the daily verdict, and `after` is weighed as a day is: by how much
    better the outcomes fit one of eight distortions than a curve within the tolerance, given the
    number of positive outcomes of each group, so no shift of the prior can change it. The curve
    counts as changed if this evidence reaches ``1 / alpha``. In simulations with 3,000 to 20,000
    rows, the 95 % interval of the slope contained the truth in 92 to 95 % of the samples if the
    scores were spread as before, and in 86 to 93 % if they spread beyond those of `before`.

    Examples
    --------
    >>> import monitor
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> score = 1 / (1 + np.exp(-rng.normal(-1, 1.5, size=20_000)))
    >>> before = (rng.random(20_000) < score, score)
    >>> too_extreme = 1 / (1 + np.exp(-0.6 * np.log(score / (1 - score))))
    >>> after = (rng.random(20_000) < too_extreme, score)
    >>> change = monitor.compare(before, after)
    >>> change.verdict, change.kind, round(change.slope.value, 1)
    ('calibration_drift', 'too_extreme', 0.6)
    """
    from monitor.drift.verdicts.two_samples import find_change
    from monitor.metrics.core.coarse import coarsen
    from monitor.metrics.core.tally import merge
    from monitor.words.change import sentences

    check_alpha(alpha)
    before, after = (
        _checked_sample(name, sample, pos_label)
        for name, sample in {"before": before, "after": after}.items()
    )
    parts = {"before": _groups("before", before), "after": _groups("after", after)}
    change = find_change(
        *([coarsen(t) for t in tallies.values()] for tallies in parts.values()),
        alpha=alpha,
        held=_entities(before, after),
    )
    first, second = (merge(tallies.values()) for tallies in parts.values())
    drifted = change.state == "calibration_drift"
    return Comparison(
        verdict=change.state,
        reasons=sentences(change),
        kind=change.kind if drifted else None,
        evidence=change.evidence,
        limit=change.limit,
        slope=change.slope,
        shift=change.shift,
        level_change=change.level_change,
        prevalences=change.prevalences,
        tallies=(first, second),
        reference=change.reference,
    )


def _checked_sample(name: str, sample: Sample, pos_label: object) -> Sample:
    """Read the outcomes and scores of a sample."""
    if not isinstance(sample, tuple) or len(sample) not in {2, 3, 4}:
        msg = (
            f"{name} must be a tuple (y_true, y_prob), (y_true, y_prob, groups) or "
            "(y_true, y_prob, groups, entity)."
        )
        raise DataError(msg)
    try:
        check_one_order(**dict(zip(("y_true", "y_prob", "groups", "entity"), sample, strict=False)))
        outcomes, scores = binary_columns(sample[0], sample[1], pos_label)
    except DataError as error:
        msg = f"{name}: {error}"
        raise DataError(msg) from None
    return cast("Sample", (outcomes, scores, *sample[2:]))


def _groups(name: str, sample: Sample) -> "Mapping[tuple[str, ...], Tally]":
    try:
        tallies = tallies_by(sample[0], sample[1], *sample[2:3])
    except DataError as error:
        msg = f"{name}: {error}"
        raise DataError(msg) from None
    if not any(t.total for t in tallies.values()):
        msg = f"{name} has no rows; give at least one prediction with its outcome."
        raise DataError(msg)
    return tallies


def _entities(
    before: Sample, after: Sample
) -> "tuple[Sequence[BucketCounts], Sequence[BucketCounts]] | None":
    """Count the groups of both samples by bucket of their entity, in the order of their tallies."""
    with_entity: list[tuple[Column, ...]] = [s for s in (before, after) if len(s) == WITH_ENTITY]
    if not with_entity:
        return None
    if len(with_entity) == 1:
        msg = "only one sample has entities; give them for `before` and for `after`."
        raise DataError(msg)
    first, second = (
        [*buckets_by(y_true, y_prob, entity, groups).values()]
        for y_true, y_prob, groups, entity in with_entity
    )
    return first, second
