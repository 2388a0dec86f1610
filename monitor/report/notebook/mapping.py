"""Calibration maps in a notebook or in the program that serves the model."""

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from monitor.base.errors import ConfigError, DataError
from monitor.metrics.core.samples import at_ends, check_sums
from monitor.metrics.maps.calibration_map import KINDS, CalibrationMap, apply_steps, check_map
from monitor.metrics.maps.class_map_file import ClassMapFile
from monitor.metrics.maps.map_file import MapFile
from monitor.metrics.maps.vector_map import VectorMap, apply_vector_map
from monitor.report.notebook.columns import array_of, numbers_in

if TYPE_CHECKING:
    from monitor.metrics.core.grid import Floats

AnyMap = MapFile | ClassMapFile | CalibrationMap | VectorMap | str | PathLike[str]
NAMES_SHOWN = 3


def read_map(path: str | PathLike[str]) -> MapFile | ClassMapFile:
    """Read a map file that `calibration-monitor recalibrate` wrote.

    Parameters
    ----------
    path : str or path
        A local path or a URL such as ``s3://bucket/map.json``.

    Returns
    -------
    MapFile or ClassMapFile
        The map, and what its file says about it; the latter of a model with classes.

    Raises
    ------
    DataError
        If it cannot be read, is no map file, or was changed after it was written.
    """
    from monitor.store.map_file import read_map as read

    return read(path_of(path))


def path_of(given: object) -> str:
    """Give a path as text.

    Raises
    ------
    ConfigError
        If it is none.
    """
    if not isinstance(given, str | PathLike):
        msg = f"path is {given!r}, but must be a path or a URL."
        raise ConfigError(msg)
    return str(given)


def apply_map(scores: Any, calibration_map: AnyMap) -> "Floats":
    """Map scores to calibrated probabilities.

    Parameters
    ----------
    scores : column
        Probabilities in [0, 1]: a list, an array, or a column of pandas, Polars or Arrow. For a
        map of class vectors of shape (n, c), in the order of its classes; each row sums to 1.
    calibration_map : MapFile, ClassMapFile, CalibrationMap, VectorMap or path
        The map, or the path of its file. Read the file once if you map many times. One that is
        for a part of the rows takes the scores of these rows.

    Returns
    -------
    ndarray
        Probabilities in (0, 1), in the order of the scores: a map of one score never reorders
        them. Of vectors, of shape (n, c).

    Raises
    ------
    DataError
        If a score is missing or outside [0, 1], the file is no map file, vectors are not those of
        its classes, or its maps are for different rows.
    ConfigError
        If the map is none, or of no family.

    Examples
    --------
    >>> from monitor.metrics.maps.calibration_map import CalibrationMap
    >>> apply_map([0.2, 0.9], CalibrationMap("platt", level=0.0, parameters=(0.5,))).round(3)
    array([0.333, 0.75 ])
    """
    values = numbers_in("scores", array_of("scores", scores))
    values, outside = at_ends(values)
    if outside.any():
        place = int(np.flatnonzero(outside.ravel())[0])
        msg = (
            f"{outside.sum():,} of {values.size:,} scores are missing or outside [0, 1], first "
            f"{values.ravel()[place]} at place {place}; map the others only."
        )
        raise DataError(msg)
    fitted = _map_of(calibration_map)
    if isinstance(fitted, VectorMap):
        _check_vectors(values, fitted)
        return apply_vector_map(values, fitted)
    return apply_steps(values, fitted)


def _map_of(given: Any) -> Sequence[CalibrationMap] | VectorMap:
    """Give the map of vectors, or all maps that a score goes through."""
    if isinstance(given, VectorMap):
        return given
    if isinstance(given, CalibrationMap):
        _check_family(given)
        return [given]
    if not isinstance(given, MapFile | ClassMapFile | str | PathLike):
        msg = f"calibration_map is {given!r}, but must be a map or the path of its file."
        raise ConfigError(msg)
    content = given if isinstance(given, MapFile | ClassMapFile) else read_map(given)
    if isinstance(content, ClassMapFile):
        return content.map
    if len({step.part for step in content.steps}) > 1:
        names = ", then ".join(step.part.name if step.part else "all" for step in content.steps)
        msg = (
            f"the maps of this file are for different rows ({names}), which scores alone do not "
            f"tell; apply each to its own rows, or use the SQL of calibration-monitor map sql."
        )
        raise DataError(msg)
    return content.steps


def _check_family(calibration_map: CalibrationMap) -> None:
    """Check a map that was written by hand."""
    try:
        if calibration_map.kind not in KINDS:
            kinds = ", ".join(KINDS)
            msg = f"the kind of a map must be one of {kinds}, got {calibration_map.kind!r}."
            raise ConfigError(msg)
        check_map(calibration_map)
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _check_vectors(values: "Floats", vector_map: VectorMap) -> None:
    count = len(vector_map.classes)
    if values.ndim != 2 or values.shape[1] != count:  # noqa: PLR2004 - rows and classes
        names = ", ".join(vector_map.classes[:NAMES_SHOWN]) + (", …" if count > NAMES_SHOWN else "")
        msg = (
            f"the map is of vectors of {count:,} classes ({names}), but the scores have the shape "
            f"{values.shape}; give one column for each class, in this order."
        )
        raise DataError(msg)
    try:
        check_sums(values, "vectors", "divide each by its sum.")
    except ValueError as error:
        raise DataError(str(error)) from None
