"""A map from the scores of a model to calibrated probabilities: its form, and how it is applied.

Rule: every map is strictly increasing in the log-odds of the score, so it never reorders scores,
and it never gives 0 or 1. Its shape and its level are two parts, because the level (the prior) may
be gone next week.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from monitor.base.short_text import shown_shortly
from monitor.metrics.core.ramps import ramps_of

if TYPE_CHECKING:
    from monitor.metrics.core.grid import Floats

Kind = Literal["identity", "intercept", "platt", "beta", "spline", "isotonic"]
KINDS: tuple[Kind, ...] = get_args(Kind)  # by their freedom

LIMIT = 36.0  # log-odds: the widest at which 1 - p still has digits, and p is not 1
# The scores at these log-odds, as doubles; scores beyond count as them.
LOWEST, HIGHEST = 2.319522830243569e-16, 0.9999999999999998
LEAST_SLOPE = 1e-3  # of every part of a map, so that it stays strictly increasing
MOST_SLOPE = 10.0  # where scores separate the outcomes, no finite slope is the best
SIZES = {"identity": 0, "intercept": 0, "platt": 1, "beta": 2}  # their parameters


@shown_shortly
@dataclass(frozen=True)
class CalibrationMap:
    """A map ``p = sigma(g(x) + level)`` of a score with the log-odds x.

    Attributes
    ----------
    kind : str
        The family of g. identity: ``x``, with a level of 0. intercept: ``x``. platt: ``b x``.
        beta: ``a ln s - b ln(1 - s)``, s the score. spline: the integral, from the first knot on,
        of a slope that is linear between knots and constant beyond them. isotonic: linear between
        knots, with slope 1 beyond them.
    level : float
        The constant, in logit.
    parameters : tuple of float
        platt: b. beta: a, b. spline: the slope at each knot. isotonic: g at each knot, strictly
        increasing. Slopes are above 0.
    knots : tuple of float
        Log-odds of scores, strictly increasing; at least two for spline and isotonic, else none.
    known : tuple of float
        The scores between which it was fitted; beyond them it extrapolates.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid", "strict": True, "allow_inf_nan": False}

    kind: Kind
    level: float = 0.0
    parameters: tuple[float, ...] = ()
    knots: tuple[float, ...] = ()
    known: tuple[float, float] = (0.0, 1.0)


IDENTITY = CalibrationMap("identity")


def apply_calibration_map(scores: "Floats", calibration_map: CalibrationMap) -> "Floats":
    """Map scores to calibrated probabilities.

    Parameters
    ----------
    scores : ndarray
        Probabilities in [0, 1], of any shape.
    calibration_map : CalibrationMap
        The map.

    Returns
    -------
    ndarray
        Probabilities in (0, 1), of the same shape and in the same order.

    Examples
    --------
    >>> half = CalibrationMap("platt", level=0.1, parameters=(0.5,))
    >>> apply_calibration_map(np.array([0.0, 0.2, 0.5, 1.0]), half).round(4)
    array([0.    , 0.3559, 0.525 , 1.    ])
    """
    moved = shape_of(log_odds(scores), calibration_map) + calibration_map.level
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(moved, -LIMIT, LIMIT))))


def apply_steps(scores: "Floats", steps: Sequence[CalibrationMap]) -> "Floats":
    """Map scores through several maps in their order.

    Examples
    --------
    >>> half = CalibrationMap("platt", parameters=(0.5,))
    >>> apply_steps(np.array([0.2, 0.8]), [half, CalibrationMap("intercept", 0.1)]).round(4)
    array([0.3559, 0.6885])
    """
    for step in steps:
        scores = apply_calibration_map(scores, step)
    return scores


def log_odds(scores: "Floats") -> "Floats":
    """Give the log-odds of scores, about 36 for those nearest to 0 and 1.

    Examples
    --------
    >>> log_odds(np.array([0.0, 0.5, 1.0])).round(2)
    array([-36.  ,   0.  ,  36.04])
    """
    inside = np.clip(scores, LOWEST, HIGHEST)
    return np.asarray(np.log(inside) - np.log1p(-inside), np.float64)


def shape_of(logits: "Floats", calibration_map: CalibrationMap) -> "Floats":
    """Give g, the map without its level.

    Parameters
    ----------
    logits : ndarray
        Log-odds of scores.
    calibration_map : CalibrationMap
        The map.

    Examples
    --------
    >>> shape_of(np.array([-1.0, 1.0]), CalibrationMap("platt", parameters=(0.5,)))
    array([-0.5,  0.5])
    """
    if calibration_map.kind in ("identity", "intercept"):
        return logits
    if calibration_map.kind == "isotonic":
        return _between_points(
            logits, np.array(calibration_map.knots), np.array(calibration_map.parameters)
        )
    functions = functions_of(logits, calibration_map.kind, calibration_map.knots)
    return np.tensordot(np.array(calibration_map.parameters), functions, 1)


def functions_of(logits: "Floats", kind: Kind, knots: tuple[float, ...] = ()) -> "Floats":
    """Give the increasing functions that a shape is a sum of, shape (p, ...).

    Parameters
    ----------
    logits : ndarray
        Log-odds of scores.
    kind : str
        platt, beta or spline.
    knots : tuple of float
        Of a spline.

    Examples
    --------
    >>> functions_of(np.array([0.0]), "beta").round(3)  # ln s and -ln(1 - s)
    array([[-0.693],
           [ 0.693]])
    """
    if kind == "platt":
        return logits[None]
    if kind == "beta":
        small = np.log1p(np.exp(-np.abs(logits)))
        return np.stack([np.minimum(logits, 0.0) - small, np.maximum(logits, 0.0) + small])
    return ramps_of(logits, np.array(knots))


def check_map(calibration_map: CalibrationMap) -> None:
    """Check what the types of a map do not say.

    Parameters
    ----------
    calibration_map : CalibrationMap
        A map that somebody else wrote.

    Raises
    ------
    ValueError
        If it is not strictly increasing, or has the wrong number of parameters or knots.
    """
    size, knots = SIZES.get(calibration_map.kind, len(calibration_map.knots)), calibration_map.knots
    rising = all(a < b for a, b in pairwise(knots))
    if calibration_map.kind == "isotonic":
        increases = all(a < b for a, b in pairwise(calibration_map.parameters))
    else:
        increases = all(value > 0.0 for value in calibration_map.parameters)
    if len(calibration_map.parameters) != size:
        count = len(calibration_map.parameters)
        msg = f"a map of the kind {calibration_map.kind} has {size} parameters, got {count}."
    elif (calibration_map.kind in SIZES) != (not knots) or len(knots) == 1:
        msg = f"a map of the kind {calibration_map.kind} cannot have {len(knots)} knots."
    elif not rising:
        msg = "the knots of the map are not strictly increasing."
    elif not increases:
        msg = "the map is not strictly increasing."
    elif calibration_map.kind == "identity" and calibration_map.level != 0.0:
        msg = (
            f"the level of an identity is 0, got {calibration_map.level}; an intercept has a level."
        )
    elif not 0.0 <= calibration_map.known[0] <= calibration_map.known[1] <= 1.0:
        msg = f"known scores are two in [0, 1] in their order, got {calibration_map.known}."
    else:
        return
    raise ValueError(msg)


def _between_points(logits: "Floats", knots: "Floats", values: "Floats") -> "Floats":
    beyond = logits - np.clip(logits, knots[0], knots[-1])
    return np.asarray(np.interp(logits, knots, values) + beyond)
