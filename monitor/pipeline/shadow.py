"""The calibration map of a model in the shadow: read, and applied to stored days."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache

from monitor.config import MapSetting, Model
from monitor.errors import ConfigError
from monitor.evaluation.map_gain import MapGain
from monitor.evaluation.shadow import (
    DayGain,
    Shadow,
    class_gains,
    day_gains,
    map_gain,
    map_summary,
)
from monitor.metrics.maps.class_map_file import ClassMapFile
from monitor.metrics.maps.map_file import MapFile
from monitor.pipeline.progress import fingerprint
from monitor.segment_names import WHOLE
from monitor.store.map_file import AnyMapFile, read_map
from monitor.store.store import Store
from monitor.summary import Summary

Read = Callable[[date], tuple[Summary, str]]
MappedDay = tuple[Summary, str]  # a day as the map would have made it, and its fingerprint
Gains = tuple[str, Mapping[str, DayGain] | None]


@dataclass(frozen=True, eq=False)
class ModelMap:
    """The calibration map of a model, and what it makes of stored days.

    Attributes
    ----------
    content : MapFile or ClassMapFile
        The map.
    setting : MapSetting
        From which day on it is compared, and from which day on it is deployed.
    mark : str
        It names the map.
    map_day : callable
        Gives a day as the map would have made it, and the fingerprint of that; None of a day with
        classes that was not counted through the map.
    gains : callable
        Gives the fingerprint of a day, and by segment what the map gained; None of a day whose
        outcomes are still arriving, or that was not counted through the map.
    """

    content: AnyMapFile
    setting: MapSetting
    mark: str
    map_day: Callable[[date], MappedDay | None]
    gains: Callable[[date], Gains]

    def trains(self, day: date) -> bool:
        """Whether the map was fitted to a day."""
        return self.content.training.first <= day <= self.content.training.last


@dataclass(frozen=True, eq=False)
class ShadowDays:
    """A map in the shadow, and what it gained on each day.

    Attributes
    ----------
    map : ModelMap
        The map.
    days : sequence of date
        The stored days on which it is compared.
    gains : callable
        As those of the map.
    """

    map: ModelMap
    days: Sequence[date]
    gains: Callable[[date], Gains]

    def covers(self, window: Sequence[date]) -> bool:
        """Whether the map is compared on every day of a window."""
        return bool(window) and is_compared(self.map.setting, window[0], window[-1])

    def gain(self, day: date, segment: str) -> MapGain | None:
        """Estimate what the map gained up to a day; None while its outcomes are arriving."""
        if not is_compared(self.map.setting, day, day) or not self.gains(day)[1]:
            return None
        gains = [self.gains(earlier)[1] for earlier in self.days if earlier <= day]
        return map_gain([of_day[segment] for of_day in gains if of_day and segment in of_day])

    def marks(self, day: date) -> list[object]:
        """Name everything that the results of the map on a day rest on."""
        if not is_compared(self.map.setting, day, day):
            return []
        earlier = [self.gains(other)[0] for other in self.days if other <= day]
        return [self.map.mark, f"{self.map.setting.since}", fingerprint([*earlier])]


def is_compared(setting: MapSetting, first: date, last: date) -> bool:
    """Whether a map is compared with the scores on all days of a span."""
    return setting.since <= first and not (setting.deploy and setting.deploy <= last)


def read_model_map(model: Model, name: str, store: Store, read: Read) -> ModelMap | None:
    """Read the newest map file that a model names, as `read_map_of`; None if it names none."""
    return read_map_of(model.map, model, name, store, read) if model.map else None


def read_map_of(setting: MapSetting, model: Model, name: str, store: Store, read: Read) -> ModelMap:
    """Read a map file that a model names.

    Parameters
    ----------
    setting : MapSetting
        One of its maps.
    model, name : Model, str
        The model.
    store : Store
        Where days that were counted through a map of class vectors are.
    read : callable
        Reads a summary and its fingerprint.

    Raises
    ------
    ConfigError
        If it is the map of another model, segment or classes, or is compared on days it was fitted
        to.
    DataError
        If it cannot be read.
    """
    content = read_map(setting.file)
    _must_fit(content, model, name, setting)
    if isinstance(content, ClassMapFile):
        return _of_vectors(content, setting, name, store, read)
    return _of_scores(content, setting, read)


def _of_scores(content: MapFile, setting: MapSetting, read: Read) -> ModelMap:
    shadow = Shadow(content.map, content.segment)

    def map_day(day: date) -> MappedDay:
        summary, mark = read(day)
        return map_summary(summary, shadow), mark

    def gains(day: date) -> Gains:
        summary, mark = read(day)
        return mark, day_gains(summary, shadow) if summary.final else None

    return ModelMap(content, setting, repr(shadow), map_day, gains)


def _of_vectors(
    content: ClassMapFile, setting: MapSetting, name: str, store: Store, read: Read
) -> ModelMap:
    by = fingerprint([repr(content.map)])

    def map_day(day: date) -> MappedDay | None:
        counted = store.read_mapped(name, day) if day in store.days("mapped", name) else None
        # Of another map or summary it is as good as none: a run that reads logs makes it again.
        is_of_now = counted and (counted.by, counted.made_from) == (by, read(day)[1])
        return (counted.summary, counted.mark) if counted and is_of_now else None

    def gains(day: date) -> Gains:
        (summary, mark), mapped = read(day), map_day(day)
        if not (mapped and summary.classes and mapped[0].classes):
            return mark, None
        return f"{mark} {mapped[1]}", class_gains(summary.classes, mapped[0].classes)

    return ModelMap(content, setting, by, map_day, gains)


def shadow_days(model_map: ModelMap | None, stored: Sequence[date]) -> ShadowDays | None:
    """Prepare the map of a model for its stored days; None if it has none."""
    if not model_map:
        return None
    days = [day for day in stored if is_compared(model_map.setting, day, day)]
    return ShadowDays(model_map, days, cache(model_map.gains))


def _must_fit(content: AnyMapFile, model: Model, name: str, setting: MapSetting) -> None:
    """Raise ConfigError unless a map is of this model, and compared with days it has not seen."""
    key, fit = f"models.{name}.map", f"fit one with calibration-monitor recalibrate --model {name}."
    wrong = _what_is_mapped(content, model, name)
    if wrong:
        msg = f"{key}.file: {setting.file} maps {wrong}; {fit}"
        raise ConfigError(msg)
    if isinstance(content, MapFile) and content.before:
        msg = (
            f"{key}.file: {setting.file} is composed of {len(content.steps)} maps, for the scores "
            f"that the model itself gives; name the map that was fitted to the logged scores."
        )
        raise ConfigError(msg)
    if isinstance(content, MapFile) and content.part and content.segment == WHOLE:
        msg = (
            f"{key}.file: {setting.file} maps the rows with {content.part.name}, which stored days "
            f"are not divided by; to compare and deploy it here, make the column primary in "
            f"models.{name}.segments, backfill, and fit the map of its segment."
        )
        raise ConfigError(msg)
    if isinstance(content, MapFile) and content.segment not in (WHOLE, *model.segment_names):
        msg = (
            f"{key}.file: {setting.file} maps scores of the segment '{content.segment}', which "
            f"the model does not have; it has {', '.join(model.segment_names)}."
        )
        raise ConfigError(msg)
    if setting.since <= content.training.last:
        msg = (
            f"{key}.since: the map was fitted to the days up to {content.training.last}, and is "
            f"compared on days that it has not seen; set since after that day, got "
            f"{setting.since}."
        )
        raise ConfigError(msg)


def _what_is_mapped(content: AnyMapFile, model: Model, name: str) -> str:
    """Say what a map is of; empty if that is what the model predicts."""
    classes = model.predictions.classes
    if isinstance(content, ClassMapFile):
        theirs, ours = content.map.classes, classes.names if classes else ()
        if len(theirs) != len(ours):
            predicted = f"{len(ours):,} classes" if classes else "one score"
            return f"vectors of {len(theirs):,} classes, but {name} predicts {predicted}"
        for place, (a, b) in enumerate(zip(theirs, ours, strict=True), 1):
            if a != b:
                return f"class {place} as '{a}', but predictions.classes.names has '{b}' there"
    elif classes:
        return f"one score, but {name} predicts {len(classes.names):,} classes"
    return "" if content.model == name else f"scores of the model '{content.model}'"
