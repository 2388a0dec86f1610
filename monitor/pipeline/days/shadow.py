"""The calibration map of a model in the shadow: read, and applied to stored days."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from monitor.base.errors import ConfigError, DataError
from monitor.base.segment_names import WHOLE
from monitor.config import MapSetting, Model
from monitor.days.summary import ColumnPart, Summary
from monitor.drift.where.part_counts import parts_of_segments
from monitor.evaluation.score_errors import LabelRates
from monitor.evaluation.shadow import (
    DayGain,
    Shadow,
    class_gains,
    day_gains,
    has_rows_of,
    map_part,
    map_summary,
    part_gains,
)
from monitor.metrics.maps.class_map_file import ClassMapFile
from monitor.metrics.maps.map_file import MapFile
from monitor.metrics.maps.part import Part
from monitor.pipeline.days.label_rates import label_rates_of
from monitor.pipeline.days.parts import column_of, counts_of_rule
from monitor.pipeline.days.progress import fingerprint
from monitor.store.map_file import AnyMapFile, read_map
from monitor.store.store import Store

CountPart = Callable[[Summary], ColumnPart | None]
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
        classes that was not counted through the map, or without counts of the map's rows.
    gains : callable
        Gives the fingerprint of a day, and by segment what the map gained; None of a day whose
        outcomes are still arriving, that was not counted through the map, or that has no counts of
        the map's rows.
    """

    content: AnyMapFile
    setting: MapSetting
    mark: str
    map_day: Callable[[date], MappedDay | None]
    gains: Callable[[date], Gains]

    def trains(self, day: date) -> bool:
        """Whether the map was fitted to a day."""
        return self.content.training.first <= day <= self.content.training.last

    def is_compared(self, first: date, last: date) -> bool:
        """Whether the map is compared with the scores on all days of a span."""
        deploy = self.setting.deploy
        return self.setting.since <= first and not (deploy and deploy <= last)


def read_model_map(model: Model, name: str, store: Store, read: Read) -> ModelMap | None:
    """Read the newest map file that a model names, as `read_map_of`; None if it names none."""
    return read_map_of(model.map[-1], model, name, store, read) if model.map else None


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
    rates = label_rates_of(model)
    if content.part and content.segment == WHOLE:
        count = _counter(model, content.part, store)
        return _of_part(content, content.part, setting, read, count, rates)
    return _of_scores(content, setting, read, rates)


def _of_scores(
    content: MapFile, setting: MapSetting, read: Read, rates: LabelRates | None
) -> ModelMap:
    shadow = Shadow(content.map, content.segment)

    def map_day(day: date) -> MappedDay:
        summary, mark = read(day)
        return map_summary(summary, shadow), mark

    def gains(day: date) -> Gains:
        summary, mark = read(day)
        return mark, day_gains(summary, shadow, rates) if summary.final else None

    return ModelMap(content, setting, repr(shadow), map_day, gains)


def _of_part(
    content: MapFile,
    part: Part,
    setting: MapSetting,
    read: Read,
    count: CountPart,
    rates: LabelRates | None,
) -> ModelMap:
    """Compare a map of values of a watched column by what the store counts for them."""

    def counted(day: date) -> tuple[Summary, str, ColumnPart | None]:
        summary, mark = read(day)
        inside = count(summary)
        return summary, f"{mark} {_mark(inside)}", inside

    def map_day(day: date) -> MappedDay | None:
        summary, mark, inside = counted(day)
        return (map_part(summary, inside, content.map), mark) if inside else None

    def gains(day: date) -> Gains:
        summary, mark, inside = counted(day)
        if not (inside and summary.final):
            return mark, None
        return mark, part_gains(summary, inside, content.map, rates)

    return ModelMap(content, setting, repr((content.map, part)), map_day, gains)


def _counter(model: Model, part: Part, store: Store) -> CountPart:
    """Return what counts the rows of a part on a day; None of one without counts of them."""
    column = column_of(model, part) or ""

    def count(summary: Summary) -> ColumnPart | None:
        if model.segments and column == model.segments.name:
            values: Mapping[str, ColumnPart] = parts_of_segments(summary)
        else:
            try:
                values = store.read_columns(summary.model, summary.days[0]).get(column, {})
            except DataError:  # not counted, or damaged: a run heals it
                return None
        inside = counts_of_rule(model, column, part, values) if values else None
        return inside if inside and has_rows_of(summary, inside) else None

    return count


def _mark(part: ColumnPart | None) -> str:
    """Name the counts of a part."""
    if part is None:
        return "not counted"
    digest = hashlib.sha256()
    for numbers in (part.cells, part.counts, part.positives):
        digest.update(numbers.astype("<i8").tobytes() + b"|")
    return digest.hexdigest()


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
        _part_must_fit(content.part, model, name, setting)
    if isinstance(content, MapFile) and content.segment not in (WHOLE, *model.segment_names):
        msg = (
            f"{key}.file: {setting.file} maps scores of the segment '{content.segment}', which "
            f"the model does not have; name a map of one of {', '.join(model.segment_names)}."
        )
        raise ConfigError(msg)
    if setting.since <= content.training.last:
        msg = (
            f"{key}.since: the map was fitted to the days up to {content.training.last}, and is "
            f"compared on days that it has not seen; set since after that day, got "
            f"{setting.since}."
        )
        raise ConfigError(msg)


def _part_must_fit(part: Part, model: Model, name: str, setting: MapSetting) -> None:
    """Raise ConfigError unless stored days count the rows of a part, and that is enough."""
    key, maps = f"models.{name}.map", f"{setting.file} maps the rows with {part.name}"
    if column_of(model, part) is None:
        msg = (
            f"{key}.file: {maps}, which no column of models.{name}.segments counts; list the "
            f"column there as it was when the map was fitted, and backfill the days since "
            f"{setting.since}."
        )
        raise ConfigError(msg)
    if setting.deploy:
        msg = (
            f"{key}.deploy: {maps}. Stored days cannot be divided by these rows and by segments, "
            f"so no reference can be seen through the map: compare it without deploy. Once the log "
            f"holds mapped scores, take the map out and begin a new reference with "
            f"calibration-monitor rebase {name}; or make the column primary in "
            f"models.{name}.segments, backfill, and fit the map of its segment."
        )
        raise ConfigError(msg)
    if model.predictions.entity:
        msg = (
            f"{key}.file: {maps}. With predictions.entity the rows of one entity are not counted "
            f"by these values, so intervals would be too short; make the column primary in "
            f"models.{name}.segments, backfill, and fit the map of its segment."
        )
        raise ConfigError(msg)


def _scores_of(names: Sequence[str]) -> str:
    return f"{len(names):,} classes" if names else "one score"


def _what_is_mapped(content: AnyMapFile, model: Model, name: str) -> str:
    """Say what a map is of; empty if that is what the model predicts."""
    classes = model.predictions.classes
    ours = classes.names if classes else ()
    theirs = content.map.classes if isinstance(content, ClassMapFile) else ()
    if len(theirs) != len(ours):
        of = "vectors of " if theirs else ""
        return f"{of}{_scores_of(theirs)}, but {name} predicts {_scores_of(ours)}"
    for place, (a, b) in enumerate(zip(theirs, ours, strict=True), 1):
        if a != b:
            return f"class {place} as '{a}', but predictions.classes.names has '{b}' there"
    return "" if content.model == name else f"scores of the model '{content.model}'"
