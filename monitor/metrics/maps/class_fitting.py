"""Fit a map of class vectors: the shape with intercepts for each day, then its level."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.log_scores import place_knots
from monitor.metrics.core.ramps import ramps_of
from monitor.metrics.core.special import fmin_l_bfgs_b
from monitor.metrics.maps.class_rows import ClassRows
from monitor.metrics.maps.mean_over_days import FEWEST_DAYS, LEVEL_MEMORY, mean_over_days
from monitor.metrics.maps.vector_map import WITH_LEVEL, VectorKind, VectorMap, shape_of_logs

OUTCOMES_PER_TERM = 10  # the usual rule for logistic regressions: events per variable
LEAST_SLOPE = 1e-3  # of a map that must stay increasing
# What is known beforehand, as standard deviations. Of the intercept of a class on a day: an odds
# ratio of e**2 is unusual, and a class without an outcome has a finite one.
USUAL_LEVEL = 2.0
USUAL_SLOPE = 0.5  # of a class against 1, or of neighbouring slopes against each other
USUAL_MIX = 0.1  # of the weight that a class has in another one
PRECISION = 1e-8  # nats a row: a step that gains less is the last


Objective = Callable[[Floats], tuple[float, Floats]]


@dataclass(frozen=True, eq=False)
class Start:
    """Where a fit begins: at what another one found, so that it takes fewer steps.

    `knots` are those of an order-preserving map.
    """

    changes: Floats
    levels: Floats
    knots: Floats


@dataclass(frozen=True, eq=False)
class _Family:
    """A shape that is linear in its parameters, around the identity at 0. Arrays are (c, n).

    `move` gives what parameters add to the logarithms, `pull` the gradient by the parameters of a
    gradient by those, `curve` the second derivatives of one by one; `stiffness` is how strongly
    each is held, `steps` whether their differences are.
    """

    size: int
    move: Callable[[Floats], Floats]
    pull: Callable[[Floats], Floats]
    curve: Callable[[Floats], Floats]
    stiffness: Floats
    steps: bool = False


def can_fit_classes(rows: ClassRows, kind: VectorKind) -> bool:
    """Check that ten outcomes that are not of the most frequent class are there for each term.

    Intercepts are held by what is usual, so they can be fitted to any rows.

    Examples
    --------
    >>> few = ClassRows(("a", "b"), np.full((30, 2), 0.5), np.arange(30) % 2, np.array([30]))
    >>> can_fit_classes(few, "temperature"), can_fit_classes(few, "vector")
    (True, False)
    """
    count = len(rows.classes)
    terms = {"temperature": 1, "order_preserving": 8, "vector": 2 * count, "dirichlet": count**2}
    return rows.rarer >= OUTCOMES_PER_TERM * terms.get(kind, 0)


def fit_vector_map(rows: ClassRows, kind: VectorKind, start: Start | None = None) -> VectorMap:
    """Fit a map of class vectors.

    Parameters
    ----------
    rows : ClassRows
        Rows of one day or more, best of consecutive ones.
    kind : str
        "identity", "intercept", "temperature", "order_preserving", "vector" or "dirichlet".
    start : Start, optional
        From `begin`, of the same kind and as many days.

    Returns
    -------
    VectorMap
        Its level moves by that share of what the outcomes ask for that is likely to stay.

    Notes
    -----
    The shape g maximises ``sum_i log softmax(g(z_i) + a_t(i))_y`` over itself and intercepts a_t of
    the classes for each day, so no class prior enters it. Families: temperature and vector (Guo et
    al. 2017), the diagonal order-preserving family of Rahimi et al. (2020) with a spline whose
    slope is linear between knots, dirichlet (Kull et al. 2019). Parameters have normal priors
    around the identity, which matter while a class is rare. The level is the maximum-likelihood one
    of all days, each intercept shrunk as in `fit_calibration_map`: with d its distance from the
    level that keeps the mean score of the class, and v the variance of d over days, it moves by
    ``d**2 / (d**2 + v)`` of d. Temperature and order_preserving have none, so that the order of the
    classes stays.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> right = rng.dirichlet([1.0, 1.0, 1.0], 4_000)
    >>> labels = (right.cumsum(axis=1) < rng.random((4_000, 1))).sum(axis=1)
    >>> logged = right**2 / (right**2).sum(axis=1, keepdims=True)
    >>> rows = ClassRows(("a", "b", "c"), logged, labels, np.full(4, 1_000))
    >>> round(fit_vector_map(rows, "temperature").parameters[0], 1)  # the logits were doubled
    0.5
    """
    begun = _fit_shape(rows, kind, start)
    parameters = 1.0 + begun.changes
    if kind == "dirichlet":
        count = len(rows.classes)
        parameters = (np.eye(count) + begun.changes.reshape(count, count)).ravel()
    fitted = VectorMap(kind, rows.classes, (), _plain(parameters), _plain(begun.knots))
    if kind not in WITH_LEVEL:
        return fitted
    level = _level(rows, shape_of_logs(rows.logs, fitted))
    return replace(fitted, level=_plain(level - level.mean()))


def begin(rows: ClassRows, kind: VectorKind) -> Start:
    """Fit the shape of a family alone, as the start of fits to most of the same days.

    Examples
    --------
    >>> rows = ClassRows(("a", "b"), np.full((40, 2), 0.5), np.arange(40) % 2, np.array([40]))
    >>> begin(rows, "temperature").changes.size
    1
    """
    return _fit_shape(rows, kind, None)


def losses_at_own_levels(rows: ClassRows, shape: Floats) -> Floats:
    """Give the log loss of each day, summed, with the intercepts that suit it.

    Parameters
    ----------
    rows : ClassRows
        Days.
    shape : ndarray of shape (n, c)
        ``g(z)`` of each row.

    Examples
    --------
    >>> rows = ClassRows(("a", "b"), np.full((4, 2), 0.5), np.array([0, 1, 1, 1]), np.array([2, 2]))
    >>> losses_at_own_levels(rows, np.zeros((4, 2))).round(2)  # 2 log 2, and less of two alike
    array([1.39, 0.5 ])
    """
    moved = np.ascontiguousarray(shape.T) + _offset(rows, shape)[:, None]
    levels = _fit_levels(moved, rows.outcomes.T, rows.sizes)
    moved += np.repeat(levels, rows.sizes, axis=1)
    losses = _softmax(moved)[0] - moved[rows.labels, np.arange(rows.labels.size)]
    held = 0.5 * (levels**2).sum(axis=0) / USUAL_LEVEL**2
    return np.asarray(np.add.reduceat(losses, _starts(rows.sizes)) + held)


def _plain(values: Floats) -> tuple[float, ...]:
    return tuple(np.asarray(values, np.float64).tolist())


def _starts(sizes: Ints) -> Ints:
    return np.asarray(np.cumsum(sizes) - sizes)


def _offset(rows: ClassRows, shape: Floats) -> Floats:
    """Give the intercepts with which a shape stays where the scores are, on average."""
    return np.asarray(rows.logs.mean(axis=0) - shape.mean(axis=0))


def _softmax(moved: Floats) -> tuple[Floats, Floats]:
    """Give the logarithms of the sums over classes, and the probabilities, of shape (c, n)."""
    top = moved.max(axis=0)
    odds = np.exp(moved - top)
    total = odds.sum(axis=0)
    odds /= total
    return np.log(total) + top, odds


def _family(logs: Floats, kind: VectorKind, knots: Floats) -> _Family:
    # No product of BLAS over rows: its last digits depend on the number of threads.
    centred = logs - logs.mean(axis=1, keepdims=True)  # so that slope and intercept do not fight
    count = len(logs)
    if kind == "temperature":
        return _Family(
            1,
            move=lambda p: p * centred,
            pull=lambda g: np.array([(g * centred).sum()]),
            curve=lambda v: np.array([(v * centred**2).sum()]),
            stiffness=np.zeros(1),
        )
    if kind == "order_preserving":
        ramps = ramps_of(logs, knots)
        ramps -= ramps.mean(axis=2, keepdims=True)
        return _Family(
            knots.size,
            move=lambda p: np.einsum("j,jkn->kn", p, ramps),
            pull=lambda g: np.einsum("jkn,kn->j", ramps, g),
            curve=lambda v: np.array([(v * ramp**2).sum() for ramp in ramps]),
            stiffness=np.full(knots.size, USUAL_SLOPE**-2),
            steps=True,
        )
    if kind == "vector":
        return _Family(
            count,
            move=lambda p: p[:, None] * centred,
            pull=lambda g: np.asarray((g * centred).sum(axis=1)),
            curve=lambda v: np.asarray((v * centred**2).sum(axis=1)),
            stiffness=np.full(count, USUAL_SLOPE**-2),
        )
    mix = np.full((count, count), USUAL_MIX**-2)
    np.fill_diagonal(mix, USUAL_SLOPE**-2)
    return _Family(
        count**2,
        move=lambda p: np.einsum("ij,jn->in", p.reshape(count, count), centred),
        pull=lambda g: np.einsum("in,jn->ij", g, centred).ravel(),
        curve=lambda v: np.einsum("in,jn->ij", v, centred**2).ravel(),
        stiffness=mix.ravel(),
    )


def _fit_shape(rows: ClassRows, kind: VectorKind, start: Start | None) -> Start:
    knots, count, days = np.zeros(0), len(rows.classes), rows.days
    if kind in ("identity", "intercept"):
        return Start(np.zeros(0), np.zeros((count, days)), knots)
    if kind == "order_preserving":
        knots = start.knots if start else place_knots(rows.vectors, rows.logs)
    logs = np.ascontiguousarray(rows.logs.T)
    family, columns = _family(logs, kind, knots), np.arange(rows.labels.size)
    starts, total = _starts(rows.sizes), rows.labels.size

    def objective(flat: Floats) -> tuple[float, Floats]:
        changes, levels = flat[: family.size], flat[family.size :].reshape(count, days)
        moved = logs + family.move(changes)
        moved += np.repeat(levels, rows.sizes, axis=1)
        tops, pull = _softmax(moved)
        loss = float((tops - moved[rows.labels, columns]).sum())
        pull[rows.labels, columns] -= 1.0
        held, force = _held(family, changes)
        loss += held + 0.5 * float((levels**2).sum()) / USUAL_LEVEL**2
        by_level = np.add.reduceat(pull, starts, axis=1) + levels / USUAL_LEVEL**2
        return loss / total, np.concatenate([family.pull(pull) + force, by_level.ravel()]) / total

    q = _softmax(logs)[1]
    spread = q * (1.0 - q)
    of_levels = np.add.reduceat(spread, starts, axis=1) + USUAL_LEVEL**-2
    of_changes = np.maximum(family.curve(spread) + family.stiffness, 1.0)  # scores may be equal
    curvature = np.concatenate([of_changes, of_levels.ravel()])
    rises = kind in ("temperature", "order_preserving")
    least = [LEAST_SLOPE - 1.0 if rises else None] * family.size + [None] * (count * days)
    at = np.zeros(curvature.size)
    if start:
        at = np.concatenate([start.changes, start.levels.ravel()])
    least_at = _descend(objective, at, np.sqrt(curvature / total), least)
    return Start(least_at[: family.size], least_at[family.size :].reshape(count, days), knots)


def _held(family: _Family, changes: Floats) -> tuple[float, Floats]:
    """Give the penalty of parameters in nats, and its gradient."""
    if not family.steps:
        return 0.5 * float((family.stiffness * changes**2).sum()), family.stiffness * changes
    steps = np.diff(changes)
    force = -np.diff(family.stiffness[1:] * steps, prepend=0.0, append=0.0)
    return 0.5 * float((family.stiffness[1:] * steps**2).sum()), force


def _fit_levels(shape: Floats, sums: Floats | Ints, sizes: Ints) -> Floats:
    """Find the intercepts, shape (c, groups), of groups of rows with these sums of scores."""
    starts, total = _starts(sizes), shape.shape[1]

    def objective(flat: Floats) -> tuple[float, Floats]:
        levels = flat.reshape(sums.shape)
        tops, q = _softmax(shape + np.repeat(levels, sizes, axis=1))
        loss = float(tops.sum() - (levels * sums).sum() + 0.5 * (levels**2).sum() / USUAL_LEVEL**2)
        gradient = np.add.reduceat(q, starts, axis=1) - sums + levels / USUAL_LEVEL**2
        return loss / total, gradient.ravel() / total

    q = _softmax(shape)[1]
    curvature = np.add.reduceat(q * (1.0 - q), starts, axis=1).ravel() + USUAL_LEVEL**-2
    least_at = _descend(objective, np.zeros(sums.size), np.sqrt(curvature / total))
    return np.asarray(least_at.reshape(sums.shape))


def _descend(
    objective: Objective, start: Floats, scale: Floats, least: Sequence[float | None] = ()
) -> Floats:
    """Minimise in units in which every second derivative is about 1."""

    def scaled(x: Floats) -> tuple[float, Floats]:
        loss, gradient = objective(x / scale)
        return loss, gradient / scale

    bounds = [(None if b is None else b * s, None) for b, s in zip(least, scale, strict=False)]
    least_at, _, _ = fmin_l_bfgs_b(
        *(scaled, start * scale),
        bounds=bounds or None,
        factr=PRECISION / np.finfo(float).eps,
        pgtol=1e-9,
        maxiter=500,
    )
    return np.asarray(least_at / scale, np.float64)


def _level(rows: ClassRows, shape: Floats) -> Floats:
    """Fit the level of all days, and move by that share of it that is likely to stay."""
    offset, together = _offset(rows, shape), np.array([rows.labels.size])
    moved, by_day = np.ascontiguousarray(shape.T) + offset[:, None], rows.outcomes.T
    asked = _fit_levels(moved, by_day.sum(axis=1, keepdims=True), together)[:, 0]
    if rows.days < FEWEST_DAYS:
        return asked + offset
    kept = _fit_levels(moved, rows.vectors.sum(axis=0)[:, None], together)[:, 0]
    asked, kept = asked - asked.mean(), kept - kept.mean()
    q, starts = _softmax(moved + asked[:, None])[1], _starts(rows.sizes)
    missing = np.asarray(by_day - np.add.reduceat(q, starts, axis=1), np.float64)
    information = np.add.reduceat(q * (1.0 - q), starts, axis=1)
    errors = np.array(
        [
            mean_over_days(u, i, least_memory=LEVEL_MEMORY, to_come=False).standard_error
            for u, i in zip(missing, information, strict=True)
        ]
    )
    distance = asked - kept
    share = distance**2 / np.maximum(distance**2 + errors**2, np.finfo(float).tiny)
    return np.asarray(kept + share * distance + offset)
