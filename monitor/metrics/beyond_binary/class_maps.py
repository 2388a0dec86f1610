"""Recalibration of class probabilities: five maps, each the best of its family by log score.

Three keep the order of the classes in every row, so the predicted class stays (temperature,
ensemble, order-preserving). Two move the classes against each other (vector, Dirichlet). All but
the ensemble are linear in their parameters on the logarithms of the probabilities, so their log
score has one minimum, which L-BFGS finds with exact gradients.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from monitor.base.short_text import shown_shortly
from monitor.metrics.beyond_binary.multiclass import check_class_scores
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.log_scores import log_scores, place_knots
from monitor.metrics.core.ramps import ramps_of
from monitor.metrics.core.special import fmin_l_bfgs_b, fmin_slsqp, log_softmax, softmax

Kind = Literal["temperature", "ensemble", "order_preserving", "vector", "dirichlet"]
KINDS: tuple[Kind, ...] = get_args(Kind)

LEAST_SLOPE = 1e-3  # of a map that must stay increasing
SMOOTHNESS = 1.0  # penalty of the differences of neighbouring slopes, in nats of the whole sample
Objective = Callable[[Floats], tuple[float, Floats]]


@shown_shortly
@dataclass(frozen=True, eq=False)
class ClassMap:
    """A map of class probabilities onto class probabilities.

    Attributes
    ----------
    kind : str
        One of "temperature", "ensemble", "order_preserving", "vector", "dirichlet".
    classes : int
        Number of classes c.
    parameters : ndarray
        temperature: shape (1,), ``1 / T``. ensemble: shape (4,), ``1 / T`` and the weights of
        the tempered, the original and the uniform probabilities. order_preserving: shape (m,),
        the slope at each knot. vector: shape (2, c), slopes and intercepts. dirichlet: shape
        (c, c + 1), the matrix and, last, the intercepts.
    knots : ndarray of shape (m,)
        Logarithms of probabilities at which the slope of an order-preserving map is given;
        between them it is linear, beyond them constant. Empty for other kinds.
    """

    kind: Kind
    classes: int
    parameters: Floats
    knots: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def keeps_order(self) -> bool:
        """Whether the classes of every row stay in the same order."""
        return self.kind in ("temperature", "ensemble", "order_preserving")


def fit_class_map(
    y_true: npt.ArrayLike, y_prob: npt.ArrayLike, kind: Kind, *, penalty: float = 1e-3
) -> ClassMap:
    """Fit a recalibration map of class probabilities.

    For analysis, not used by the daily job.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The class that came true, an integer in [0, c).
    y_prob : array-like of shape (n, c)
        Predicted probabilities in [0, 1] of c >= 2 classes; every row sums to 1 within 1e-4.
        Rows that the model was not trained on.
    kind : str
        "temperature", "ensemble", "order_preserving", "vector" or "dirichlet".
    penalty : float
        At least 0; of the Dirichlet map only, for the mean square off its diagonal and of its
        intercepts, in nats a row.

    Returns
    -------
    ClassMap
        For `apply_class_map`.

    Raises
    ------
    ValueError
        As `classwise_tallies` does; if there is no row, the kind is unknown or the penalty
        negative.

    Notes
    -----
    With z the logarithms of the scores, and the mean of ``-log q_y`` made least:

    - temperature: ``q = softmax(z / T)`` (Guo et al. 2017);
    - ensemble: ``q = w_1 softmax(z / T) + w_2 p + w_3 / c`` with weights that are not negative
      and sum to 1, T as before (Zhang, Kailkhura and Han 2020);
    - order_preserving: ``q = softmax(g(z))`` with one increasing g for all classes, the
      diagonal family of Rahimi et al. (2020). Its g is a monotone quadratic spline here, where
      they train an integrated neural network;
    - vector: ``q = softmax(w z + b)``, element by element (Guo et al. 2017);
    - dirichlet: ``q = softmax(W z + b)`` (Kull et al. 2019), with their penalty.

    Interval: parameters come without one. Judge a map on rows that it has not seen: `improvement`
    of the two scores has an interval of its own.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> logits = rng.normal(size=(4_000, 3))
    >>> truth = softmax(logits, axis=1)
    >>> labels = (rng.uniform(size=(4_000, 1)) > truth.cumsum(axis=1)).sum(axis=1)
    >>> fitted = fit_class_map(labels, softmax(2.0 * logits, axis=1), "temperature")
    >>> bool(abs(fitted.parameters[0] - 0.5) < 0.05)  # the logits were doubled
    True
    """
    classes, rows = check_class_scores(y_true, y_prob)
    if not classes.size:
        msg = "a map needs at least one row of scores."
        raise ValueError(msg)
    if kind not in KINDS:
        msg = f"the kind of a map must be one of {', '.join(KINDS)}, got {kind!r}."
        raise ValueError(msg)
    if not penalty >= 0.0:
        msg = f"the penalty must be at least 0, got {penalty}."
        raise ValueError(msg)
    z, count = log_scores(rows), rows.shape[1]
    if kind == "temperature":
        return ClassMap(kind, count, _fit_basis(z[None], classes))
    if kind == "ensemble":
        return ClassMap(kind, count, _fit_ensemble(z, classes))
    if kind == "order_preserving":
        knots = place_knots(rows, z)
        return ClassMap(kind, count, _fit_basis(ramps_of(z, knots), classes), knots)
    if kind == "vector":
        return ClassMap(kind, count, _fit_vector(z, classes))
    return ClassMap(kind, count, _fit_dirichlet(z, classes, penalty))


def apply_class_map(scores: npt.ArrayLike, class_map: ClassMap) -> Floats:
    """Recalibrate class probabilities.

    For analysis, not used by the daily job.

    Parameters
    ----------
    scores : array-like of shape (n, c)
        Predicted probabilities, as for `fit_class_map`.
    class_map : ClassMap
        A fitted map of as many classes.

    Returns
    -------
    ndarray of shape (n, c)
        Probabilities in (0, 1); every row sums to 1.

    Raises
    ------
    ValueError
        As `classwise_tallies` does, or if the map is of another number of classes.

    Notes
    -----
    ``q = map(p)`` by the formulas of `fit_class_map` (Guo et al. 2017; Zhang, Kailkhura and
    Han 2020; Rahimi et al. 2020; Kull et al. 2019). Interval: none, a map is fixed once fitted.

    Examples
    --------
    >>> half = ClassMap("temperature", 3, np.array([0.5]))
    >>> apply_class_map([[0.64, 0.32, 0.04]], half).round(3)
    array([[0.511, 0.361, 0.128]])
    """
    _, rows = check_class_scores(np.zeros(len(np.asarray(scores)), np.int64), scores)
    if rows.shape[1] != class_map.classes:
        msg = f"the map is of {class_map.classes} classes, the scores are of {rows.shape[1]}."
        raise ValueError(msg)
    z, parameters = log_scores(rows), class_map.parameters
    if class_map.kind == "ensemble":
        return np.tensordot(parameters[1:], _ensemble(z, parameters[0]), 1)
    if class_map.kind == "temperature":
        moved = parameters[0] * z
    elif class_map.kind == "order_preserving":
        moved = np.tensordot(parameters, ramps_of(z, class_map.knots), 1)
    elif class_map.kind == "vector":
        moved = parameters[0] * z + parameters[1]
    else:
        moved = z @ parameters[:, :-1].T + parameters[:, -1]
    return np.asarray(softmax(moved, axis=1))


def _loss(moved: Floats, labels: Ints) -> tuple[float, Floats]:
    """Give the mean log score, and its gradient by the moved logarithms."""
    rows = np.arange(labels.size)
    logs = log_softmax(moved, axis=1)
    pull = np.exp(logs)
    pull[rows, labels] -= 1.0
    return float(-logs[rows, labels].mean()), pull / labels.size


def _descend(objective: Objective, start: Floats, least: float | None = None) -> Floats:
    bounds = None if least is None else [(least, None)] * start.size
    minimum, _, _ = fmin_l_bfgs_b(
        objective, start, bounds=bounds, factr=10.0, pgtol=1e-8, maxiter=2_000, maxfun=20_000
    )
    return np.asarray(minimum, np.float64)


def _basis_objective(basis: Floats, labels: Ints) -> Objective:
    """Score ``softmax(sum_j slope_j basis_j)``, neighbouring slopes drawn to each other."""

    def objective(slopes: Floats) -> tuple[float, Floats]:
        loss, pull = _loss(np.tensordot(slopes, basis, 1), labels)
        steps = np.diff(slopes)
        rough = SMOOTHNESS / labels.size
        gradient = np.tensordot(basis, pull, ((1, 2), (0, 1)))
        gradient -= 2.0 * rough * np.diff(steps, prepend=0.0, append=0.0)
        return loss + rough * float(steps @ steps), gradient

    return objective


def _fit_basis(basis: Floats, labels: Ints) -> Floats:
    return _descend(_basis_objective(basis, labels), np.ones(len(basis)), LEAST_SLOPE)


def _ensemble(z: Floats, inverse_temperature: float) -> Floats:
    """Stack the three parts of the ensemble, shape (3, n, c)."""
    tempered = softmax(inverse_temperature * z, axis=1)
    uniform = np.full_like(z, 1.0 / z.shape[1])
    # Logarithms are bounded, so a score of 0 counts as the least one here too.
    return np.stack([tempered, softmax(z, axis=1), uniform])


def _fit_ensemble(z: Floats, labels: Ints) -> Floats:
    inverse = _fit_basis(z[None], labels)
    objective = _mixture_objective(_ensemble(z, inverse[0])[:, np.arange(labels.size), labels])

    def loss(weights: Floats) -> float:
        return objective(weights)[0]

    def gradient(weights: Floats) -> Floats:
        return objective(weights)[1]

    fitted = fmin_slsqp(
        loss,
        np.array([0.8, 0.1, 0.1]),
        fprime=gradient,
        bounds=[(1e-6, 1.0), (0.0, 1.0), (0.0, 1.0)],
        f_eqcons=_missing_weight,
        fprime_eqcons=_missing_weight_gradient,
        iter=200,
        acc=1e-12,
        iprint=0,
    )
    weights = np.clip(fitted, 0.0, 1.0)
    return np.concatenate([inverse, weights / weights.sum()])


def _mixture_objective(parts: Floats) -> Objective:
    """Score a mixture of what three maps give to the true class, shape (3, n)."""

    def objective(weights: Floats) -> tuple[float, Floats]:
        mixed = weights @ parts
        return float(-np.log(mixed).mean()), np.asarray(-(parts / mixed).mean(axis=1))

    return objective


def _missing_weight(weights: Floats) -> Floats:
    return np.array([weights.sum() - 1.0])


def _missing_weight_gradient(weights: Floats) -> Floats:
    return np.ones((1, weights.size))


def _vector_objective(z: Floats, labels: Ints) -> Objective:
    """Score ``softmax(w z + b)``; the parameters are w, then b."""

    def objective(flat: Floats) -> tuple[float, Floats]:
        slopes, intercepts = flat.reshape(2, -1)
        loss, pull = _loss(slopes * z + intercepts, labels)
        return loss, np.concatenate([(pull * z).sum(axis=0), pull.sum(axis=0)])

    return objective


def _fit_vector(z: Floats, labels: Ints) -> Floats:
    count = z.shape[1]
    start = np.concatenate([np.ones(count), np.zeros(count)])
    parameters = _descend(_vector_objective(z, labels), start).reshape(2, count)
    parameters[1] -= parameters[1].mean()  # the same map: a constant of all classes cancels
    return parameters


def _dirichlet_objective(z: Floats, labels: Ints, penalty: float) -> Objective:
    """Score ``softmax(W z + b)`` with a penalty off the diagonal and on b."""
    count = z.shape[1]
    extended = np.column_stack([z, np.ones(len(z))])
    weights = np.full((count, count + 1), penalty / (count * (count - 1)))
    weights[np.arange(count), np.arange(count)] = 0.0
    weights[:, -1] = penalty / count

    def objective(flat: Floats) -> tuple[float, Floats]:
        matrix = flat.reshape(count, count + 1)
        loss, pull = _loss(extended @ matrix.T, labels)
        gradient = pull.T @ extended + 2.0 * weights * matrix
        return loss + float((weights * matrix**2).sum()), gradient.ravel()

    return objective


def _fit_dirichlet(z: Floats, labels: Ints, penalty: float) -> Floats:
    count = z.shape[1]
    start = np.eye(count, count + 1)
    coefficients = _descend(_dirichlet_objective(z, labels, penalty), start.ravel())
    return coefficients.reshape(count, count + 1)
