"""A map from class probabilities to calibrated ones: its form, and how it is applied.

Rule: the shape works on the logarithms of the scores and is the same whatever the class priors;
the level has one intercept for each class, and a move of the priors takes it away. Maps of the
kinds temperature and order_preserving have no level, so they keep the classes of a row in order.
"""

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from monitor.base.short_text import shown_shortly
from monitor.metrics.core.log_scores import log_scores
from monitor.metrics.core.ramps import ramps_of
from monitor.metrics.core.special import softmax

if TYPE_CHECKING:
    from collections.abc import Iterable

    from monitor.metrics.core.grid import Floats

VectorKind = Literal[
    "identity", "intercept", "temperature", "order_preserving", "vector", "dirichlet"
]
VECTOR_KINDS: tuple[VectorKind, ...] = get_args(VectorKind)  # by their freedom
WITH_LEVEL: tuple[VectorKind, ...] = ("intercept", "vector", "dirichlet")


@shown_shortly
@dataclass(frozen=True)
class VectorMap:
    """A map ``q = softmax(g(z) + level)`` of a vector with the logarithms z.

    Attributes
    ----------
    kind : str
        The family of g. identity: ``z``, without a level. intercept: ``z``. temperature: ``b z``,
        b one over the temperature. order_preserving: the same increasing g for all classes, the
        integral of a slope that is linear between knots and constant beyond them. vector: ``w z``,
        element by element. dirichlet: ``W z``.
    classes : tuple of str
        The classes, in the order of the vectors.
    level : tuple of float
        An intercept for each class, in logit; empty for identity, temperature and
        order_preserving.
    parameters : tuple of float
        temperature: b. order_preserving: the slope at each knot. vector: w. dirichlet: W, row by
        row. b and the slopes at knots are above 0.
    knots : tuple of float
        Of order_preserving: logarithms of scores, strictly increasing, at least two; else none.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid", "strict": True, "allow_inf_nan": False}

    kind: VectorKind
    classes: tuple[str, ...]
    level: tuple[float, ...] = ()
    parameters: tuple[float, ...] = ()
    knots: tuple[float, ...] = ()

    @property
    def keeps_order(self) -> bool:
        """Whether the classes of every row stay in the same order."""
        return not self.level


def apply_vector_map(vectors: "Floats", vector_map: VectorMap) -> "Floats":
    """Map vectors of class probabilities to calibrated ones.

    Parameters
    ----------
    vectors : ndarray of shape (n, c)
        Probabilities of the classes of the map in their order; each row sums to 1.
    vector_map : VectorMap
        The map.

    Returns
    -------
    ndarray of shape (n, c)
        Probabilities; each row sums to 1.

    Examples
    --------
    >>> half = VectorMap("temperature", ("a", "b", "c"), parameters=(0.5,))
    >>> apply_vector_map(np.array([[0.64, 0.32, 0.04]]), half).round(3)
    array([[0.511, 0.361, 0.128]])
    """
    if vector_map.kind == "identity":
        return vectors
    moved = shape_of_logs(log_scores(vectors), vector_map)
    return np.asarray(softmax(moved + np.array(vector_map.level or 0.0), axis=1))


def shape_of_logs(logs: "Floats", vector_map: VectorMap) -> "Floats":
    """Give g, the map without its level, shape (n, c).

    Examples
    --------
    >>> double = VectorMap("vector", ("a", "b"), (0.0, 0.0), (2.0, 1.0))
    >>> shape_of_logs(np.array([[-1.0, -2.0]]), double)
    array([[-2., -2.]])
    """
    parameters = np.array(vector_map.parameters)
    if vector_map.kind in ("identity", "intercept"):
        return logs
    if vector_map.kind == "order_preserving":
        return _sum(parameters[:, None, None] * ramps_of(logs, np.array(vector_map.knots)))
    if vector_map.kind == "dirichlet":
        count = len(vector_map.classes)
        return _sum(logs[:, j, None] * parameters[j::count] for j in range(count))
    return np.asarray(parameters * logs)


def _sum(terms: "Iterable[Floats]") -> "Floats":
    """Add up in this order: a row of a product of matrices depends on how many rows there are."""
    return reduce(np.add, terms)


def check_vector_map(vector_map: VectorMap) -> None:
    """Check what the types of a map do not say.

    Parameters
    ----------
    vector_map : VectorMap
        A map that somebody else wrote.

    Raises
    ------
    ValueError
        If it has the wrong number of classes, intercepts, parameters or knots, or would reorder
        where its kind does not.
    """
    count, kind = len(vector_map.classes), vector_map.kind
    sizes = {"temperature": 1, "vector": count, "dirichlet": count**2}
    size = len(vector_map.knots) if kind == "order_preserving" else sizes.get(kind, 0)
    rising = all(a < b for a, b in pairwise(vector_map.knots))
    if len(set(vector_map.classes)) != count or count < 2:  # noqa: PLR2004
        msg = f"a map has at least two classes with different names, got {count}."
    elif len(vector_map.level) != (count if kind in WITH_LEVEL else 0):
        msg = f"a map of the kind {kind} cannot have {len(vector_map.level)} intercepts."
    elif len(vector_map.parameters) != size:
        msg = f"a map of the kind {kind} has {size} parameters, got {len(vector_map.parameters)}."
    elif (kind == "order_preserving") != (len(vector_map.knots) > 1) or not rising:
        knots = vector_map.knots
        msg = f"a map of the kind {kind} cannot have the {len(knots)} knots {knots}."
    elif kind in ("temperature", "order_preserving") and not min(vector_map.parameters) > 0.0:
        msg = "the map is not strictly increasing."
    elif not all(map(isfinite, (*vector_map.level, *vector_map.parameters, *vector_map.knots))):
        msg = "a number of the map is not finite."
    else:
        return
    raise ValueError(msg)
