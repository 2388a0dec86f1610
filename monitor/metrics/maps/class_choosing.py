"""Choose a map of class vectors by what it gains on days left out, by the rule for one score."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.maps.choosing import FEWEST_SPANS, Choice, Losses, blocks_of_days, choose_among
from monitor.metrics.maps.class_fitting import (
    Start,
    begin,
    can_fit_classes,
    fit_vector_map,
    losses_at_own_levels,
)
from monitor.metrics.maps.class_rows import ClassRows
from monitor.metrics.maps.vector_map import (
    VECTOR_KINDS,
    VectorKind,
    VectorMap,
    apply_vector_map,
    shape_of_logs,
)

LEAST_SCORE = 1e-16  # in the log loss, as in the counts of classes
Step = Callable[[int, int], None]


def choose_vector_map(
    rows: ClassRows, kind: VectorKind | None = None, *, on_step: Step = lambda *_: None
) -> Choice[VectorMap]:
    """Fit all families of maps of class vectors, and choose one over blocks of days left out.

    Parameters
    ----------
    rows : ClassRows
        Consecutive days in their order, at least four.
    kind : str, optional
        Take this family, whatever it gains.
    on_step : callable
        Is given the number of blocks that are done, and of all.

    Returns
    -------
    Choice
        By the rule of `choose_map`: the simplest shape within a standard error of the best, if it
        gained clearly whatever the class priors did, and the map with its level gained too.

    Raises
    ------
    ValueError
        If there are too few outcomes or days for any map, or for the kind that was asked for.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> right = rng.dirichlet([1.0, 1.0, 1.0], 4_000)
    >>> labels = (right.cumsum(axis=1) < rng.random((4_000, 1))).sum(axis=1)
    >>> logged = right**2 / (right**2).sum(axis=1, keepdims=True)
    >>> choice = choose_vector_map(ClassRows(("a", "b", "c"), logged, labels, np.full(8, 500)))
    >>> choice.chosen.kind, choice.worth_it
    ('temperature', True)
    """
    kinds = [each for each in VECTOR_KINDS if can_fit_classes(rows, each)]
    if rows.days < FEWEST_SPANS or len(kinds) <= 2:  # noqa: PLR2004 - identity and intercept
        msg = (
            f"there are {rows.rarer:,} outcomes besides the most frequent class on {rows.days} "
            f"days, too few for a map that holds on other days; take more days."
        )
        raise ValueError(msg)
    if kind and kind not in kinds:
        msg = (
            f"there are {rows.rarer:,} outcomes besides the most frequent of "
            f"{len(rows.classes):,} classes, too few for a map of the kind {kind}; take more days "
            f"or one of {', '.join(kinds)}."
        )
        raise ValueError(msg)
    starts = {each: begin(rows, each) for each in kinds}
    losses = _losses_on_days_left_out(rows, starts, on_step)
    fitted: dict[str, VectorMap] = {
        each: fit_vector_map(rows, each, start) for each, start in starts.items()
    }
    return choose_among(fitted, losses, kind, days=rows.days)


def vector_losses_by_day(rows: ClassRows, vector_map: VectorMap) -> tuple[Floats, Floats]:
    """Give the log loss and the Brier loss of each day, summed over its rows.

    Parameters
    ----------
    rows : ClassRows
        Days.
    vector_map : VectorMap
        A map.

    Returns
    -------
    log_loss, brier : ndarray of shape (days,)
        In nats, and of ``sum_k (q_k - y_k)**2``.

    Examples
    --------
    >>> rows = ClassRows(("a", "b"), np.full((2, 2), 0.5), np.array([0, 1]), np.array([2]))
    >>> vector_losses_by_day(rows, VectorMap("identity", ("a", "b")))
    (array([1.38629436]), array([1.]))
    """
    q = apply_vector_map(rows.vectors, vector_map)
    true = q[np.arange(rows.labels.size), rows.labels]
    brier = (q**2).sum(axis=1) - 2.0 * true + 1.0
    return _sums(-np.log(np.maximum(true, LEAST_SCORE)), rows.sizes), _sums(brier, rows.sizes)


def _sums(values: Floats, sizes: Ints) -> Floats:
    return np.asarray(np.add.reduceat(values, np.cumsum(sizes) - sizes), np.float64)


def _losses_on_days_left_out(
    rows: ClassRows, starts: Mapping[VectorKind, Start], on_step: Step
) -> Losses:
    kinds, blocks = list(starts), blocks_of_days(rows.days)
    log, brier, own = (dict[str, Floats]() for _ in range(3))
    for of in (log, brier, own):
        of.update({kind: np.zeros(rows.days) for kind in kinds})
    for done, out in enumerate(blocks, 1):
        others = np.setdiff1d(np.arange(rows.days), out)
        rest, left_out = rows.take(others), rows.take(out)
        for kind in kinds:
            # A family that the rest cannot bear loses what the one before it does.
            able = [k for k in kinds[: kinds.index(kind) + 1] if can_fit_classes(rest, k)][-1]
            start = replace(starts[able], levels=starts[able].levels[:, others])
            fitted = fit_vector_map(rest, able, start)
            log[kind][out], brier[kind][out] = vector_losses_by_day(left_out, fitted)
            own[kind][out] = losses_at_own_levels(left_out, shape_of_logs(left_out.logs, fitted))
        on_step(done, len(blocks))
    return Losses(log, brier, own, rows.sizes.astype(np.float64))
