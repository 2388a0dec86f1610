"""Fitted references as a record of the store, and back to the last bit. Pure.

Rule: a kept fit is the fitted one. Numbers keep their type and arrays their order in memory, for
sums may depend on either.
"""

import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import date
from functools import singledispatch
from typing import Any, Literal

import numpy as np

from monitor.drift.classes.class_levels import ClassLevels, PairLevel
from monitor.drift.classes.class_scores import ClassScores
from monitor.drift.classes.pairs import ClassDay, PairCurves
from monitor.drift.curve.label_noise import Noise
from monitor.drift.curve.reference import Reference, Sensitivity
from monitor.drift.curve.regions import Regions
from monitor.drift.fold.inputs import ModelReference
from monitor.drift.records.facts import Detectable, ReferenceChange, Together
from monitor.drift.records.lack import Lack
from monitor.drift.records.mix import Mix
from monitor.drift.records.values import MovingPriors
from monitor.metrics.core.coarse import Coarse
from monitor.metrics.core.dispersion import DesignEffects
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.logistic.level import Level

KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(ModelReference, Reference, Lack, Sensitivity, Detectable, Coarse, Level, Estimate),
        *(Noise, MovingPriors, Regions, Mix, ReferenceChange),
        *(ClassDay, PairCurves, ClassLevels, PairLevel, ClassScores),  # of models with classes
        *(Together, DesignEffects),  # of models with entities
    )
}
FAST = 1  # of nine levels of compression; a higher one saves little of arrays of floats
MOST_BYTES = 2**30  # of an array: a damaged record must not take all memory


@singledispatch
def laid_out(value: Any) -> Any:
    """Lay out a fit as JSON has it."""
    name = type(value).__name__
    held = {field.name: laid_out(getattr(value, field.name)) for field in fields(KINDS[name])}
    return {"kind": [name, held]}


@laid_out.register(str | int | float | None)
def _(value: float | str | None) -> Any:
    return value


@laid_out.register
def _(value: np.ndarray) -> Any:
    order: Literal["C", "F"] = "C" if value.flags.c_contiguous else "F"
    content = b64encode(zlib.compress(value.tobytes(order), FAST)).decode()
    return {"array": [value.dtype.str, list(value.shape), order, content]}


@laid_out.register
def _(value: np.generic) -> Any:
    return {"number": [value.dtype.str, value.item()]}


@laid_out.register
def _(value: slice) -> Any:
    return {"slice": [value.start, value.stop]}


@laid_out.register
def _(value: date) -> Any:
    return {"date": value.isoformat()}


@laid_out.register
def _(value: tuple) -> Any:  # type: ignore[type-arg]
    return {"tuple": [laid_out(item) for item in value]}


@laid_out.register
def _(value: Mapping) -> Any:  # type: ignore[type-arg]
    return {"mapping": [[laid_out(k), laid_out(v)] for k, v in value.items()]}


def read_back(value: Any) -> Any:
    """Read a fit back.

    Raises
    ------
    ValueError, LookupError, TypeError, zlib.error
        If this program did not lay it out.

    Examples
    --------
    >>> read_back(laid_out({("DE", "all"): np.array([0.5]), "known": slice(1, 3)}))
    {('DE', 'all'): array([0.5]), 'known': slice(1, 3, None)}
    """
    if not isinstance(value, dict):
        return value
    ((form, of),) = value.items()
    return _FORMS[form](of)


def _array(kind: str, shape: list[int], order: Any, content: str) -> np.ndarray[Any, Any]:
    reading = zlib.decompressobj()
    plain = reading.decompress(b64decode(content), MOST_BYTES)
    # A copy, because an array of bytes cannot be written to.
    return np.frombuffer(plain, np.dtype(kind)).reshape(shape, order=order).copy(order)


_FORMS: Mapping[str, Callable[[Any], Any]] = {
    "array": lambda of: _array(*of),
    "number": lambda of: np.dtype(of[0]).type(of[1]),
    "slice": lambda of: slice(*of),
    "date": date.fromisoformat,
    "tuple": lambda of: tuple(map(read_back, of)),
    "mapping": lambda of: {read_back(k): read_back(v) for k, v in of},
    "kind": lambda of: KINDS[of[0]](**{name: read_back(value) for name, value in of[1].items()}),
}
