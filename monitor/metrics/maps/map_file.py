"""The content of a map file: a calibration map, what it was fitted to, and what it is worth.

Rule: this module loads numpy at most, because `import monitor` offers its class.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from monitor.base.segment_names import WHOLE
from monitor.base.short_text import shown_shortly
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.maps.calibration_map import CalibrationMap
from monitor.metrics.maps.part import Part

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

NEWEST_DAYS = timedelta(days=7)  # whose outcomes give the newest level, and how old they may be
STRICT: dict[str, object] = {"extra": "forbid", "strict": True, "allow_inf_nan": False}


@dataclass(frozen=True)
class Gain:
    """By how much a loss falls for each prediction, with its 95 % interval; positive is better."""

    __pydantic_config__: ClassVar = STRICT

    value: float
    low: float
    high: float

    @property
    def estimate(self) -> Estimate:
        """The same as an estimate, which knows how it is written."""
        return Estimate(self.value, self.low, self.high)


@dataclass(frozen=True)
class Gains:
    """What a map gained on days that it was not fitted to.

    Attributes
    ----------
    log_loss, brier : Gain
        Of the whole map over the scores as they are: nats, and squared probability.
    level_log_loss, shape_log_loss : Gain
        What of the log loss an intercept alone gains, and what the shape adds to it. The level is
        the part that a move of the prior takes away.
    """

    __pydantic_config__: ClassVar = STRICT

    log_loss: Gain
    brier: Gain
    level_log_loss: Gain
    shape_log_loss: Gain


@dataclass(frozen=True)
class Level:
    """Where the level of a map comes from.

    Attributes
    ----------
    source : {"outcomes", "scores"}
        Fitted to outcomes, or expected from the scores alone.
    first, last : date
        The days of these outcomes or scores.
    standard_error : float
        Of the level, in logit.
    """

    __pydantic_config__: ClassVar = STRICT

    source: Literal["outcomes", "scores"]
    first: date
    last: date
    standard_error: float


@dataclass(frozen=True)
class Training:
    """The days that the shape of a map was fitted to.

    Attributes
    ----------
    first, last : date
        The first and the last of them.
    days : int
        Number of days with outcomes.
    outcomes, positives : int
        Number of outcomes, and of those that were 1.
    """

    __pydantic_config__: ClassVar = STRICT

    first: date
    last: date
    days: int
    outcomes: int
    positives: int


@dataclass(frozen=True)
class Days:
    """A span of days, both ends included."""

    __pydantic_config__: ClassVar = STRICT

    first: date
    last: date


@dataclass(frozen=True)
class Step(CalibrationMap):
    """A map that the scores of some rows go through.

    Attributes
    ----------
    part : Part or None
        The rows; None if all do.
    """

    part: Part | None = None


@shown_shortly
@dataclass(frozen=True)
class MapFile:
    """A calibration map of a model, with everything that its file says.

    Attributes
    ----------
    model, segment : str
        Whose scores it maps.
    map : CalibrationMap
        The map.
    training : Training
        What its shape was fitted to.
    level : Level
        What its level was fitted to.
    replaces : Days or None
        The reference that no longer holds once the map is deployed.
    gains : Gains or None
        What it gained on days left out; None if they were not computed.
    version : str
        The version of calibration-monitor that wrote it.
    format : int
        The version of this format.
    before : tuple of Step
        The maps that a score goes through first, in their order; none unless it is composed.
    part : Part or None
        The rows that it maps; None if it maps all, or was written before files said so.
    """

    __pydantic_config__: ClassVar = STRICT

    model: str
    segment: str
    map: CalibrationMap
    training: Training
    level: Level
    replaces: Days | None
    gains: Gains | None
    version: str
    format: Literal[1] = 1
    before: tuple[Step, ...] = ()
    part: Part | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        """All maps that a score goes through, in their order."""
        return (*self.before, Step(**vars(self.map), part=self.part))


def composed(deployed: MapFile, newer: MapFile) -> MapFile:
    """Put a map on top of a deployed one.

    Parameters
    ----------
    deployed : MapFile
        The map that made the scores which the log holds.
    newer : MapFile
        The map that was fitted to these scores.

    Returns
    -------
    MapFile
        The newer one, for the scores that the model itself gives.

    Raises
    ------
    ValueError
        If they map scores of different models, or of different segments and do not say which
        rows those are.

    Examples
    --------
    >>> day = date(2026, 3, 1)
    >>> fitted = Training(day, day, 1, 90, 30), Level("outcomes", day, day, 0.2)
    >>> first, second = (
    ...     MapFile("bids", "all", CalibrationMap("platt", 0.0, (b,)), *fitted, None, None, "1.0")
    ...     for b in (0.5, 1.5)
    ... )
    >>> [step.parameters for step in composed(first, second).steps]
    [(0.5,), (1.5,)]
    """
    if deployed.model != newer.model:
        msg = f"the maps are of two models, '{deployed.model}' and '{newer.model}'."
        raise ValueError(msg)
    if deployed.segment not in (WHOLE, newer.segment) and not deployed.part:
        msg = (
            f"the deployed map is of the segment '{deployed.segment}' alone, the newer one of "
            f"'{newer.segment}'."
        )
        raise ValueError(msg)
    return replace(newer, before=(*deployed.steps, *newer.before))


def map_text(content: "DataclassInstance") -> str:
    """Write the content of a map file as JSON, with its check sum.

    Parameters
    ----------
    content : MapFile or ClassMapFile
        The content.

    Returns
    -------
    str
        A JSON document, the same for the same content. Its numbers read back exactly.

    Examples
    --------
    >>> day = date(2026, 3, 1)
    >>> fitted = Training(day, day, 1, 90, 30), Level("outcomes", day, day, 0.2)
    >>> made = MapFile("bids", "all", CalibrationMap("identity"), *fitted, None, None, "1.0")
    >>> json.loads(map_text(made))["map"]["kind"]
    'identity'
    """
    document = json.loads(json.dumps(asdict(content), default=date.isoformat))
    # What files of earlier versions do not have is written only where there is something to say.
    for each in (document, *document.get("before", ())):
        for key in ("before", "part"):
            if not each.get(key):
                each.pop(key, None)
    return json.dumps({**document, "checksum": checksum(document)}, indent=1) + "\n"


def checksum(document: dict[str, Any]) -> str:
    """Give the check sum of a document: SHA-256 of its shortest JSON with sorted keys.

    Parameters
    ----------
    document : dict
        A map file without its check sum.

    Returns
    -------
    str
        Such as ``sha256:44136fa3...``.

    Examples
    --------
    >>> checksum({})[:15]
    'sha256:44136fa3'
    """
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def with_level(content: MapFile, value: float, level: Level) -> MapFile:
    """Replace the level of a map, and keep its shape.

    Parameters
    ----------
    content : MapFile
        The map.
    value : float
        The new level in logit.
    level : Level
        Where it comes from.

    Returns
    -------
    MapFile
        Without gains, because they were those of the other level. An identity becomes an
        intercept.

    Examples
    --------
    >>> day = date(2026, 3, 1)
    >>> fitted = Training(day, day, 1, 90, 30), Level("outcomes", day, day, 0.2)
    >>> made = MapFile("bids", "all", CalibrationMap("identity"), *fitted, None, None, "1.0")
    >>> with_level(made, 0.5, Level("scores", day, day, 0.1)).map.kind
    'intercept'
    """
    kind = "intercept" if content.map.kind == "identity" else content.map.kind
    moved = replace(content.map, kind=kind, level=value)
    return replace(content, map=moved, level=level, gains=None)
