"""The content of the file of a map of class vectors: the map, its days, and what it is worth.

Rule: this module loads numpy at most, because `import monitor` offers its class.
"""

from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Literal

from monitor.base.short_text import shown_shortly
from monitor.metrics.maps.map_file import STRICT, Days, Gains
from monitor.metrics.maps.vector_map import VectorMap


@dataclass(frozen=True)
class ClassTraining:
    """The rows that a map of class vectors was fitted to.

    Attributes
    ----------
    first, last : date
        The first and the last of their days.
    days : int
        Number of days with outcomes.
    read, outcomes : int
        Number of rows that were read, and of those that were drawn from them.
    by_class : tuple of int
        Number of drawn rows of each class.
    """

    __pydantic_config__: ClassVar = STRICT

    first: date
    last: date
    days: int
    read: int
    outcomes: int
    by_class: tuple[int, ...]


@shown_shortly
@dataclass(frozen=True)
class ClassMapFile:
    """A calibration map of a model with classes, with everything that its file says.

    Attributes
    ----------
    model : str
        Whose vectors it maps.
    map : VectorMap
        The map.
    training : ClassTraining
        What it was fitted to.
    replaces : Days or None
        The reference that no longer holds once the map is deployed.
    gains : Gains
        What it gained on days left out.
    version : str
        The version of calibration-monitor that wrote it.
    format : int
        The version of this format.
    """

    __pydantic_config__: ClassVar = STRICT

    model: str
    map: VectorMap
    training: ClassTraining
    replaces: Days | None
    gains: Gains
    version: str
    format: Literal[1] = 1
