"""The calibration map of a model in the shadow: read, and applied to stored days."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache

from monitor.config import MapSetting, Model
from monitor.errors import ConfigError
from monitor.evaluation.map_gain import MapGain
from monitor.evaluation.shadow import DayGain, Shadow, day_gains, map_gain
from monitor.metrics.maps.class_map_file import ClassMapFile
from monitor.metrics.maps.map_file import MapFile
from monitor.pipeline.progress import fingerprint
from monitor.segment_names import WHOLE
from monitor.store.map_file import read_map
from monitor.summary import Summary

Read = Callable[[date], tuple[Summary, str]]


@dataclass(frozen=True, eq=False)
class ShadowDays:
    """A map in the shadow, and what it gained on each day.

    Attributes
    ----------
    shadow : Shadow
        The map.
    setting : MapSetting
        From which day on it is compared, and from which day on it is deployed.
    days : sequence of date
        The stored days on which it is compared.
    gains : callable
        Gives the fingerprint of a day, and by segment what the map gained; None of a day whose
        outcomes are still arriving.
    """

    shadow: Shadow
    setting: MapSetting
    days: Sequence[date]
    gains: Callable[[date], tuple[str, Mapping[str, DayGain] | None]]

    def covers(self, window: Sequence[date]) -> bool:
        """Whether the map is compared on every day of a window."""
        return bool(window) and is_compared(self.setting, window[0], window[-1])

    def gain(self, day: date, segment: str) -> MapGain | None:
        """Estimate what the map gained up to a day; None while its outcomes are arriving."""
        if not is_compared(self.setting, day, day) or not self.gains(day)[1]:
            return None
        gains = [self.gains(earlier)[1] for earlier in self.days if earlier <= day]
        return map_gain([of_day[segment] for of_day in gains if of_day and segment in of_day])

    def marks(self, day: date) -> list[object]:
        """Name everything that the results of the map on a day rest on."""
        if not is_compared(self.setting, day, day):
            return []
        earlier = [self.gains(other)[0] for other in self.days if other <= day]
        return [repr(self.shadow), f"{self.setting.since}", fingerprint([*earlier])]


def is_compared(setting: MapSetting, first: date, last: date) -> bool:
    """Whether a map is compared with the scores on all days of a span."""
    return setting.since <= first and not (setting.deploy and setting.deploy <= last)


def read_shadow(model: Model, name: str) -> tuple[MapFile, Shadow] | None:
    """Read the map file that a model names; None if it names none.

    Raises
    ------
    ConfigError
        If it is the map of another model or segment, or is compared on days it was fitted to.
    DataError
        If it cannot be read.
    """
    if not model.map:
        return None
    content = read_map(model.map.file)
    key = f"models.{name}.map"
    if isinstance(content, ClassMapFile):
        msg = (
            f"{key}.file: {model.map.file} maps vectors of {len(content.map.classes):,} classes, "
            f"but {name} predicts one score; fit one with calibration-monitor recalibrate "
            f"--model {name}."
        )
        raise ConfigError(msg)
    if content.model != name:
        msg = (
            f"{key}.file: {model.map.file} maps scores of the model '{content.model}'; "
            f"fit one with calibration-monitor recalibrate --model {name}."
        )
        raise ConfigError(msg)
    if content.segment not in (WHOLE, *model.segment_names):
        msg = (
            f"{key}.file: {model.map.file} maps scores of the segment '{content.segment}', which "
            f"the model does not have; it has {', '.join(model.segment_names)}."
        )
        raise ConfigError(msg)
    if model.map.since <= content.training.last:
        msg = (
            f"{key}.since: the map was fitted to the days up to {content.training.last}, and is "
            f"compared on days that it has not seen; set since after that day, got "
            f"{model.map.since}."
        )
        raise ConfigError(msg)
    return content, Shadow(content.map, content.segment)


def shadow_days(model: Model, name: str, stored: Sequence[date], read: Read) -> ShadowDays | None:
    """Prepare the map of a model for its stored days; None if it has none.

    Parameters
    ----------
    model, name : Model, str
        The model.
    stored : sequence of date
        Its summarised days.
    read : callable
        Reads a summary and its fingerprint.

    Raises
    ------
    ConfigError, DataError
        As `read_shadow`.
    """
    mapped = read_shadow(model, name)
    if not mapped or not model.map:
        return None
    shadow, setting = mapped[1], model.map

    @cache
    def gains(day: date) -> tuple[str, Mapping[str, DayGain] | None]:
        summary, mark = read(day)
        return mark, day_gains(summary, shadow) if summary.final else None

    days = [day for day in stored if is_compared(setting, day, day)]
    return ShadowDays(shadow, setting, days, gains)
