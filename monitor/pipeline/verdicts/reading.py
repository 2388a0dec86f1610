"""How the logs of a day were read, and which days were read otherwise than their reference.

Rule: what a stream counts has to be the same on a day and in its reference. Where it is not, the
stream is not compared, and a sentence says what changed and which command makes them alike again.
Settings that change nothing that is counted, such as paths and limits, are none of this.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property, lru_cache
from shlex import quote
from typing import TYPE_CHECKING, Any

from monitor.base.segment_names import OTHER, WHOLE
from monitor.config import Config, Model
from monitor.drift.records.facts import Unlike
from monitor.store.store import Store
from monitor.words.reading import read_otherwise

if TYPE_CHECKING:  # `show` asks about windows, and fits no reference
    from monitor.drift.fold.inputs import Day, ModelReference
    from monitor.pipeline.verdicts.references import ReferenceSpan

Reading = Mapping[str, Any]

# Settings of what all streams count.
COUNTED = {
    "predictions": ("id", "score", "score_means", "predicted_label", "label_means", "duplicates",
                    "where", "weight", "classes", "entity", "sql", "day", "explode", "columns",
                    "null_text"),
    "outcomes": ("id", "outcome", "outcome_means", "absent_means", "duplicates", "where", "weight",
                 "in_predictions", "sql", "explode", "columns", "null_text"),
}  # fmt: skip
OF_MODEL = ("ids", "strata", "action", "time_zone")
WAIT = "settled_after"
TIMES = "checks.outcome_time_missing", "checks.outcome_time_impossible"  # which zeros are counted
WHERE_KNOWN = {WAIT, *TIMES}  # compared where both are known
COLUMN, VALUES = "segments.column", "segments.values"
REMEMBERED = 512  # days whose reading is kept in memory


def reading_of(model: Model) -> Reading:
    """Name the settings of what a model's streams count, as `run` records them with each day."""
    dumped = model.model_dump(mode="json", include={*COUNTED, "segments", *OF_MODEL})
    reading = {
        f"{log}.{key}": value
        for log, keys in COUNTED.items()
        for key in keys
        if (value := dumped[log].get(key)) not in (None, [])
    }
    if classes := reading.get("predictions.classes"):
        kept = [key for key in classes if key not in ("watch", "weights")]  # weights undo a sample
        reading["predictions.classes"] = {key: classes[key] for key in kept}
    segments = dumped["segments"] or {}
    of_segments = {f"segments.{key}": segments[key] for key in ("column", "values") if segments}
    of_model = {key: dumped[key] for key in OF_MODEL if dumped[key]}
    of_times = {key: model.checks.of(key.partition(".")[2]) for key in TIMES}
    own = of_times if model.outcomes.time else {}
    return {**reading, **of_segments, **of_model, **own, WAIT: model.settled_after}


def differences(now: Reading, before: Reading) -> dict[str, tuple[str, ...]]:
    """Name the streams that two readings count differently, each with the settings that differ.

    The whole stands for all streams.

    Examples
    --------
    >>> differences({COLUMN: "c", VALUES: ["b"]}, {COLUMN: "c", VALUES: ["a", "b"]})
    {'a': ('segments.values',), 'other': ('segments.values',)}
    >>> differences({"predictions.where": "x > 1", VALUES: ["a"]}, {VALUES: ["b"]})
    {'all': ('predictions.where',)}
    """
    unknown = WHERE_KNOWN - ({*now} & {*before})
    keys = {*now, *before} - unknown
    changed = tuple(sorted(key for key in keys if now.get(key) != before.get(key)))
    of_all = tuple(key for key in changed if key not in (COLUMN, VALUES))
    if of_all:
        return {WHOLE: of_all}
    listed, listed_before = set(now.get(VALUES, ())), set(before.get(VALUES, ()))
    if COLUMN in changed:
        return dict.fromkeys(sorted(listed | listed_before | {OTHER}), changed)
    return dict.fromkeys(sorted(listed ^ listed_before) + [OTHER] * bool(changed), changed)


@dataclass(frozen=True, eq=False)
class Readings:
    """How the stored days of a model were read.

    Attributes
    ----------
    store, name : Store, str
        Of which model.
    """

    store: Store
    name: str

    @cached_property
    def of_day(self) -> Any:
        """Read how a day was read; None of a day of an earlier version."""
        return lru_cache(REMEMBERED)(lambda day: self.store.read_reading(self.name, day))

    @cached_property
    def days(self) -> Sequence[date]:
        """List the stored days, rising."""
        return self.store.days("summaries", self.name)

    def of_reference(
        self, reference: "ModelReference | ReferenceSpan"
    ) -> tuple[date, Reading] | None:
        """Find the last day of a reference of which it is known how it was read."""
        inside = (d for d in reversed(self.days) if reference.first <= d <= reference.last)
        return next(((day, read) for day in inside if (read := self.of_day(day))), None)

    def unlike(
        self, now: Reading | None, reference: "ModelReference | ReferenceSpan"
    ) -> dict[str, tuple[str, ...]]:
        """Name the streams that a reading counts otherwise than a reference, with the settings."""
        known = self.of_reference(reference)
        return differences(now, known[1]) if now and known else {}

    def since(self, day: date, settings: Sequence[str]) -> date:
        """Find the first of the days up to a day that were read with the same settings."""
        last = self.of_day(day) or {}
        first = day
        for earlier in (d for d in reversed(self.days) if d < day):
            reading = self.of_day(earlier)
            if reading is None or any(reading.get(key) != last.get(key) for key in settings):
                break
            first = earlier
        return first

    def compared(self, day: "Day", reference: "ModelReference | None") -> "Day":
        """Leave out of a day what its reference counts otherwise, and say so of each stream."""
        if reference is None or day.day <= reference.last:
            return day
        unlike = self.unlike(self.of_day(day.day), reference)
        if not unlike:
            return day
        said = {
            stream: Unlike(
                tuple(other for other in unlike if unlike[other] == settings),
                *(settings, self.since(day.day, settings), reference.first, reference.last),
            )
            for stream, settings in unlike.items()
        }
        if WHOLE not in unlike:
            return replace(day, unlike=said)
        return replace(day, unlike=said, parts={}, third={}, classes=None, entities={}, rest={})


def next_days_are_unlike(config: Config, name: str) -> str:
    """Say what the next days would be read otherwise than the reference; empty if nothing is."""
    from monitor.pipeline.verdicts.references import spans_in_store

    model, store = config.model(name), Store(config.store)
    spans = [span for span in spans_in_store(config, name) if span.days and not span.lack]
    if not spans:
        return ""
    readings, newest = Readings(store, name), spans[-1]
    unlike = readings.unlike(reading_of(model), newest)
    if not unlike:
        return ""
    settings = tuple(sorted({key for keys in unlike.values() for key in keys}))
    return read_otherwise(name, Unlike((*unlike,), settings, None, newest.first, newest.last))


def read_otherwise_next(config: Config, name: str) -> list[str]:
    """Say what the next days would be read otherwise than the reference, or their windows."""
    mixed = mixed_windows(config, name, WHOLE)
    return [sentence for sentence in (next_days_are_unlike(config, name), mixed) if sentence]


def mixed_windows(config: Config, name: str, segment: str, day: date | None = None) -> str:
    """Say which windows to a day mix days that were read in two ways; empty if none does.

    Without a day: those to the day after the newest one that is stored, as the configuration has
    it read.
    """
    model, readings = config.model(name), Readings(Store(config.store), name)
    if not readings.days:
        return ""
    now = readings.of_day(day) if day else reading_of(model)
    day = day or readings.days[-1] + timedelta(days=1)
    other = _read_otherwise_before(readings, day, now or {}, segment, max(model.windows))
    if not other:
        return ""
    first, last = min(other), max(other)
    mixed = [f"{length}" for length in model.windows if length > (day - last).days]
    settings = " and ".join(sorted({key for keys in other.values() for key in keys}))
    return (
        f"Windows of {' and '.join(mixed)} days to {day} are not comparable: their days up to "
        f"{last} were read with another {settings}; run calibration-monitor backfill --model "
        f"{quote(name)} --from {first} --to {last}, which reads them again."
    )


def _read_otherwise_before(
    readings: Readings, day: date, now: Reading, segment: str, longest: int
) -> dict[date, tuple[str, ...]]:
    """Find the days of the longest window in which a stream was read otherwise."""
    found = dict[date, tuple[str, ...]]()
    for earlier in readings.days:
        before = readings.of_day(earlier) if 0 < (day - earlier).days < longest else None
        unlike = differences(now, before) if now and before else {}
        if settings := unlike.get(WHOLE) or unlike.get(segment):
            found[earlier] = settings
    return found
