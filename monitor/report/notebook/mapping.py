"""Calibration maps in a notebook or in the program that serves the model."""

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from monitor.errors import DataError
from monitor.metrics.maps.calibration_map import CalibrationMap, apply_calibration_map
from monitor.metrics.maps.map_file import MapFile

if TYPE_CHECKING:
    from monitor.metrics.core.grid import Floats

AnyMap = MapFile | CalibrationMap | str | PathLike[str]


def read_map(path: str | PathLike[str]) -> MapFile:
    """Read a map file that `calibration-monitor recalibrate` wrote.

    Parameters
    ----------
    path : str or path
        A local path or a URL such as ``s3://bucket/map.json``.

    Returns
    -------
    MapFile
        The map, and what its file says about it.

    Raises
    ------
    DataError
        If it cannot be read, is no map file, or was changed after it was written.
    """
    from monitor.store.map_file import read_map as read

    return read(str(path))


def apply_map(scores: Any, calibration_map: AnyMap) -> "Floats":
    """Map scores to calibrated probabilities.

    Parameters
    ----------
    scores : column
        Probabilities in [0, 1]: a list, an array, or a column of pandas, Polars or Arrow.
    calibration_map : MapFile, CalibrationMap or path
        The map, or the path of its file. Read the file once if you map many times.

    Returns
    -------
    ndarray
        Probabilities in (0, 1), in the order of the scores: a map never reorders them.

    Raises
    ------
    DataError
        If a score is missing or outside [0, 1], or the file is no map file.

    Examples
    --------
    >>> from monitor.metrics.maps.calibration_map import CalibrationMap
    >>> apply_map([0.2, 0.9], CalibrationMap("platt", level=0.0, parameters=(0.5,))).round(3)
    array([0.333, 0.75 ])
    """
    given: npt.NDArray[Any] = np.asarray(scores)
    try:
        values = given.astype(np.float64)
    except (TypeError, ValueError):
        msg = f"scores must be numbers, got an array of {given.dtype}."
        raise DataError(msg) from None
    outside = ~((values >= 0.0) & (values <= 1.0))  # written so that nan is outside
    if outside.any():
        place = int(np.flatnonzero(outside.ravel())[0])
        msg = (
            f"{outside.sum():,} of {values.size:,} scores are missing or outside [0, 1], first "
            f"{values.ravel()[place]} at place {place}; map the others only."
        )
        raise DataError(msg)
    return apply_calibration_map(values, _map_of(calibration_map))


def _map_of(given: AnyMap) -> CalibrationMap:
    if isinstance(given, CalibrationMap):
        return given
    return (given if isinstance(given, MapFile) else read_map(given)).map
