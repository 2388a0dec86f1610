"""The YAML file as frozen, strict models: what to read, how to judge it, where to keep it.

Rule 1: a configuration either loads whole or is refused with file, key, value, rule and
remedy. Nothing is guessed and no unknown key is skipped.
Rule 2: this module knows values, not their meaning: formulas live in `monitor.metrics`.
"""

import difflib
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from zoneinfo import available_timezones

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    ValidationError,
    model_validator,
)

from monitor.errors import ConfigError

ALL = "all"  # the segment that merges all others
OTHER = "other"  # the segment of rows whose value is not listed

RowPolicy = Literal["fail", "reject"]
DayPolicy = Literal["fail", "accept"]


def _names_the_day(path: str) -> str:
    """Refuse a template that would read the same file on different days."""
    days = date(2001, 2, 3), date(2001, 2, 4), date(2001, 3, 3), date(2002, 2, 3)
    try:
        rendered = {path.format(day=day) for day in days}
    except (AttributeError, IndexError, KeyError, ValueError) as error:
        msg = f"has a placeholder other than {{day}} or {{day:%Y/%m/%d}} ({error!r})"
        raise ValueError(msg) from None
    if len(rendered) < len(days):
        msg = "must name year, month and day, as {day} (2001-02-03) or like {day:%Y/%m/%d}"
        raise ValueError(msg)
    return path


def _is_time_zone(name: str) -> str:
    if name not in available_timezones():
        msg = "must be a name of the time zone database, like UTC or America/New_York"
        raise ValueError(msg)
    return name


def _rises_from_one(windows: tuple[int, ...]) -> tuple[int, ...]:
    if not windows or windows[0] != 1 or list(windows) != sorted(set(windows)):
        msg = "must rise and begin with 1, like [1, 7, 28]"
        raise ValueError(msg)
    return windows


Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")]
Column = Annotated[str, StringConstraints(min_length=1)]
DayTemplate = Annotated[str, AfterValidator(_names_the_day)]
TimeZone = Annotated[str, AfterValidator(_is_time_zone)]
Windows = Annotated[
    tuple[Annotated[int, Field(ge=1, le=366)], ...],
    Strict(strict=False),
    AfterValidator(_rises_from_one),
]
SegmentValues = Annotated[
    tuple[Name, ...], Strict(strict=False), Field(min_length=1, max_length=50)
]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class PredictionLog(_Strict):
    """Where the predictions are and what their columns are called."""

    path: DayTemplate
    id: Column = "prediction_id"
    score: Column = "score"
    time: Column | None = None


class OutcomeLog(_Strict):
    """Where the outcomes are and what their columns are called."""

    path: DayTemplate
    id: Column = "prediction_id"
    outcome: Column = "outcome"
    time: Column | None = None


class Segments(_Strict):
    """One column of the predictions with few, listed values; all others count as `other`."""

    column: Column
    values: SegmentValues

    @model_validator(mode="after")
    def _has_no_reserved_name(self) -> Self:
        reserved = {ALL, OTHER}.intersection(self.values)
        if reserved or len(set(self.values)) < len(self.values):
            msg = f"values must differ and must not be {ALL} or {OTHER}"
            raise ValueError(msg)
        return self


class Checks(_Strict):
    """What a broken row or day does: `fail` stops the day, `reject` drops and counts the row."""

    prediction_id_missing: RowPolicy = "fail"
    prediction_repeated: RowPolicy = "fail"
    score_missing: RowPolicy = "fail"
    score_out_of_range: RowPolicy = "fail"
    outcome_id_missing: RowPolicy = "fail"
    outcome_invalid: RowPolicy = "fail"
    outcome_conflicting: RowPolicy = "fail"
    outcome_early: RowPolicy = "fail"
    outcome_orphan: RowPolicy = "reject"
    empty_day: DayPolicy = "fail"
    no_outcomes: DayPolicy = "fail"
    one_class: DayPolicy = "fail"


class Model(_Strict):
    """One monitored model."""

    predictions: PredictionLog
    outcomes: OutcomeLog
    segments: Segments | None = None
    owner: str = ""
    severity: Literal["page", "ticket", "info"] = "ticket"
    time_zone: TimeZone = "UTC"
    settled_after: Annotated[int, Field(ge=0, le=120)] = 1
    windows: Windows = (1, 7, 28)
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    null_replicates: Annotated[int, Field(ge=100, le=10_000)] = 100
    schedule: str = "0 6 * * *"
    checks: Checks = Checks()

    @property
    def segment_names(self) -> tuple[str, ...]:
        """The segments that are tallied apart, in stored order; one if none are configured."""
        return (*self.segments.values, OTHER) if self.segments else (ALL,)


class Engine(_Strict):
    """How much of the machine the reading of logs may take."""

    threads: Annotated[int, Field(ge=1)] = 2
    memory_mb: Annotated[int, Field(ge=100)] = 1500


class Config(_Strict):
    """The whole file. Relative paths are relative to the file's folder."""

    store: str
    engine: Engine = Engine()
    models: Annotated[Mapping[Name, Model], Field(min_length=1)]

    def model(self, name: str) -> Model:
        """Find a model by name, or say which names there are."""
        if name not in self.models:
            msg = f"there is no model '{name}'; the configuration has: {', '.join(self.models)}."
            raise ConfigError(msg)
        return self.models[name]


def load_config(path: Path) -> Config:
    """Read and check a configuration file.

    Parameters
    ----------
    path : Path
        A YAML file.

    Returns
    -------
    Config
        With every relative path made absolute against the folder of the file.

    Raises
    ------
    ConfigError
        If the file cannot be read, is not YAML, or breaks a rule; the message has one line
        for each broken rule.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot be read ({error}); name an existing file with --config."
        raise ConfigError(msg) from None
    try:
        content = yaml.load(text, Loader=_UniqueKeyLoader)  # noqa: S506 - a subclass of SafeLoader
    except yaml.YAMLError as error:
        msg = f"{path}: is not YAML: {' '.join(str(error).split())}; mend it, then run again."
        raise ConfigError(msg) from None
    if not isinstance(content, dict):
        msg = f"{path}: must hold the keys store and models; see monitor.example.yaml."
        raise ConfigError(msg)
    try:
        return Config.model_validate(_absolute(content, path.absolute().parent))
    except ValidationError as error:
        raise ConfigError("\n".join(_complaints(path, error))) from None


class _UniqueKeyLoader(yaml.SafeLoader):
    """YAML without the trap that of two equal keys the last silently wins."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                msg = f"the key '{key}' stands twice"
                raise yaml.constructor.ConstructorError(None, None, msg, node.start_mark)
        return super().construct_mapping(node, deep)


def _absolute(content: dict[Any, Any], folder: Path) -> dict[Any, Any]:
    """Make the relative paths of the raw content absolute; leave everything odd to the checks."""

    def resolve(value: Any) -> Any:
        local = isinstance(value, str) and value and "://" not in value
        return str(folder / value) if local else value

    def resolve_logs(model: Any) -> Any:
        if not isinstance(model, dict):
            return model
        logs = {
            key: {**model[key], "path": resolve(model[key]["path"])}
            for key in ("predictions", "outcomes")
            if isinstance(model.get(key), dict) and "path" in model[key]
        }
        return {**model, **logs}

    resolved = dict(content)
    if "store" in resolved:
        resolved["store"] = resolve(resolved["store"])
    if isinstance(resolved.get("models"), dict):
        resolved["models"] = {k: resolve_logs(v) for k, v in resolved["models"].items()}
    return resolved


def _complaints(path: Path, error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False):
        where = ".".join(str(part) for part in problem["loc"] if part != "[key]")
        if problem["type"] == "extra_forbidden":
            key = str(problem["loc"][-1])
            near = difflib.get_close_matches(key, _siblings(problem["loc"][:-1]), n=1, cutoff=0.5)
            remedy = f"did you mean '{near[0]}'?" if near else "remove it."
            yield f"{path}: {where}: is not a known key; {remedy}"
        elif problem["type"] == "missing":
            yield f"{path}: {where}: is missing; add it (see monitor.example.yaml)."
        else:
            rule = problem["msg"].removeprefix("Value error, ")
            yield f"{path}: {where}: {rule}, got {problem['input']!r}; correct the value."


def _siblings(location: tuple[int | str, ...]) -> list[str]:
    """List the keys that are allowed at a place of the file."""
    rooms: dict[str, type[BaseModel]] = {
        "predictions": PredictionLog,
        "outcomes": OutcomeLog,
        "segments": Segments,
        "checks": Checks,
        "engine": Engine,
    }
    inside_a_model = len(location) == 2 and location[0] == "models"  # noqa: PLR2004 - models.NAME
    room = Model if inside_a_model else rooms.get(str(location[-1]), Config) if location else Config
    return list(room.model_fields)
