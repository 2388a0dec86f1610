"""The YAML file as frozen, strict models: what to read, how to judge it, where to store it.

Rule 1: a configuration either loads completely or raises ConfigError with file, key, value, rule
and remedy. It guesses nothing and skips no unknown key.
Rule 2: this module knows values, not their meaning; formulas are in `monitor.metrics`.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from datetime import date
from itertools import pairwise
from pathlib import Path
from string import Formatter
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
from monitor.segment_names import OTHER, WHOLE

EARLIEST, LATEST = date(1900, 1, 1), date(2999, 12, 31)  # days that may have logs
ISO_DAY = "%Y-%m-%d"  # what {day} alone means
DAY_DIRECTIVES = {"%Y": 4, "%y": 2, "%m": 2, "%d": 2, "%j": 3}  # with their number of digits
YEAR, DAY_OF_YEAR = ({"%Y"}, {"%y"}), ({"%m", "%d"}, {"%j"})

# These replace the validator's own messages, which mention patterns and instances.
RULES = {
    "string_pattern_mismatch": "must be a letter or digit followed by at most 62 letters, digits "
    "or _ . -",
    "model_type": "must contain keys (see monitor.example.yaml)",
    "dict_type": "must contain keys (see monitor.example.yaml)",
    "mapping_type": "must contain keys (see monitor.example.yaml)",
    "too_short": "must not be empty",
}

LOGS = "predictions", "outcomes"

RowPolicy = Literal["fail", "reject"]
DayPolicy = Literal["fail", "accept"]


def _is_a_place(path: str) -> str:
    if not path or "\0" in path:
        msg = "must be a path, or a URL such as s3://bucket/prefix"
        raise ValueError(msg)
    return path


def literal(path: str) -> str:
    """Escape a path so that a template matches exactly this path."""
    return re.sub(r"([*?[])", r"[\1]", path).replace("{", "{{").replace("}", "}}")


def _names_the_day(path: str) -> str:
    """Raise ValueError for a template that would read the same file on different days."""
    try:
        fields = [parts[1:] for parts in Formatter().parse(path) if parts[1] is not None]
    except ValueError as error:
        msg = f"has an unmatched brace ({error}); write a literal brace twice"
        raise ValueError(msg) from None
    named = set()
    for field, spec, conversion in fields:
        directives = set(re.findall("%.?", spec or ISO_DAY))
        if field != "day" or conversion or "{" in str(spec) or not directives <= {*DAY_DIRECTIVES}:
            msg = (
                f"has a placeholder other than {{day}} or one like {{day:%Y/%m/%d}}, "
                f"made of {', '.join(DAY_DIRECTIVES)}"
            )
            raise ValueError(msg)
        named |= directives
    if not all(any(need <= named for need in needs) for needs in (YEAR, DAY_OF_YEAR)):
        msg = (
            "must name year, month and day, as {day} (2001-02-03) or a form such as {day:%Y/%m/%d}"
        )
        raise ValueError(msg)
    return path


def _is_time_zone(name: str) -> str:
    if name not in available_timezones():
        msg = "must be a name from the time zone database, such as UTC or America/New_York"
        raise ValueError(msg)
    return name


def _rises_from_one(windows: tuple[int, ...]) -> tuple[int, ...]:
    if not windows or windows[0] != 1 or list(windows) != sorted(set(windows)):
        msg = "must increase and start with 1, such as [1, 7, 28]"
        raise ValueError(msg)
    return windows


Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")]
Column = Annotated[str, StringConstraints(min_length=1)]
Place = Annotated[str, AfterValidator(_is_a_place)]
DayTemplate = Annotated[Place, AfterValidator(_names_the_day)]
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
    """Where the predictions are and the names of their columns."""

    path: DayTemplate
    id: Column = "prediction_id"
    score: Column = "score"
    time: Column | None = None


class OutcomeLog(_Strict):
    """Where the outcomes are and the names of their columns."""

    path: DayTemplate
    id: Column = "prediction_id"
    outcome: Column = "outcome"
    time: Column | None = None


class Segments(_Strict):
    """A column of the predictions with a few listed values; all others count as `other`."""

    column: Column
    values: SegmentValues

    @model_validator(mode="after")
    def _has_no_reserved_name(self) -> Self:
        reserved = {WHOLE, OTHER}.intersection(self.values)
        if reserved or len(set(self.values)) < len(self.values):
            msg = f"values must differ and must not be {WHOLE} or {OTHER}"
            raise ValueError(msg)
        return self


class Checks(_Strict):
    """What happens to an invalid row or day: `fail` stops the day, `reject` drops the row."""

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


class Span(_Strict):
    """A span of days that includes both the first and the last."""

    first: date
    last: date

    @model_validator(mode="after")
    def _does_not_end_before_it_begins(self) -> Self:
        if self.last < self.first:
            msg = "last must not be before first"
            raise ValueError(msg)
        return self


def _rise_apart(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    for before, after in pairwise(spans):
        if after.first <= before.last:
            msg = "must be in order and must not overlap"
            raise ValueError(msg)
    return spans


Spans = Annotated[tuple[Span, ...], Strict(strict=False), AfterValidator(_rise_apart)]


class Verdicts(_Strict):
    """What days are compared with, and how large a change must be to be reported."""

    references: Spans = ()
    known_drifts: Spans = ()
    false_alert_days: Annotated[int, Field(ge=30, le=1_000_000)] = 1000
    segment_false_alert_days: Annotated[int, Field(ge=30, le=1_000_000)] = 365
    slope_tolerance: Annotated[float, Field(gt=0, lt=1)] = 0.03
    slope_effect: Annotated[float, Field(gt=0, lt=1)] = 0.10
    shape_tolerance: Annotated[float, Field(gt=0, lt=2)] = 0.05
    shape_effect: Annotated[float, Field(gt=0, lt=2)] = 0.20
    prior_shift_odds: Annotated[float, Field(gt=1, le=100)] = 1.25
    level_odds: Annotated[float, Field(gt=1, le=100)] = 1.10
    run_overdue_hours: Annotated[float, Field(ge=1, le=10_000)] = 30
    run_late_hours: Annotated[float, Field(ge=0, le=10_000)] = 6
    outcome_coverage_limit: Annotated[float, Field(gt=0, lt=1)] = 0.5
    rejected_rows_limit: Annotated[float, Field(ge=1, le=1000)] = 2.0


class Model(_Strict):
    """One monitored model."""

    predictions: PredictionLog
    outcomes: OutcomeLog
    segments: Segments | None = None
    strata: Segments | None = None
    owner: str = ""
    severity: Literal["page", "ticket", "info"] = "ticket"
    time_zone: TimeZone = "UTC"
    settled_after: Annotated[int, Field(ge=0, le=120)] = 1
    windows: Windows = (1, 7, 28)
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    null_replicates: Annotated[int, Field(ge=100, le=10_000)] = 100
    schedule: str = "0 6 * * *"
    checks: Checks = Checks()
    verdicts: Verdicts = Verdicts()

    @property
    def segment_names(self) -> tuple[str, ...]:
        """The segments that are tallied separately, in stored order; one if none are configured."""
        return (*self.segments.values, OTHER) if self.segments else (WHOLE,)

    @property
    def stratum_names(self) -> tuple[str, ...]:
        """The parts of a segment with their own priors; one if none are configured."""
        return (*self.strata.values, OTHER) if self.strata else (WHOLE,)


class Engine(_Strict):
    """How much of the machine reading the logs may use."""

    threads: Annotated[int, Field(ge=1, le=1024)] = 2
    memory_mb: Annotated[int, Field(ge=100, le=100_000_000)] = 1500


class Config(_Strict):
    """The whole file. Relative paths are relative to the file's folder."""

    store: Place
    engine: Engine = Engine()
    models: Annotated[Mapping[Name, Model], Field(min_length=1)]

    def model(self, name: str) -> Model:
        """Find a model by name; the error lists the known names."""
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
        With every relative path resolved against the folder of the file.

    Raises
    ------
    ConfigError
        If the file cannot be read, is not YAML, or breaks a rule; the message has one line
        for each broken rule.
    """
    content = read_yaml(path, option="--config")
    if not isinstance(content, dict):
        msg = (
            f"{path}: must contain the keys store and models, got {content!r:.60}; "
            f"see monitor.example.yaml."
        )
        raise ConfigError(msg)
    try:
        Config.model_validate(content)
    except ValidationError as error:
        raise ConfigError("\n".join(_complaints(path, error))) from None
    return Config.model_validate(_absolute(content, path.absolute().parent))


def read_yaml(path: Path, *, option: str) -> Any:
    """Read the YAML file that `option` names, or raise ConfigError with what is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except PermissionError:
        msg = (
            f"{path}: may not be read by this user; grant read permission, or name another file "
            f"with {option}."
        )
        raise ConfigError(msg) from None
    except OSError as error:
        msg = f"{path}: cannot be read ({error}); name an existing file with {option}."
        raise ConfigError(msg) from None
    except UnicodeDecodeError as error:
        msg = f"{path}: is not UTF-8 text ({error}); save it as UTF-8, then run again."
        raise ConfigError(msg) from None
    try:
        return yaml.load(text, Loader=_UniqueKeyLoader)  # noqa: S506 - a subclass of SafeLoader
    except (yaml.YAMLError, *_READER_ERRORS) as error:
        raise ConfigError(_yaml_complaint(path, error)) from None


# Errors that escape the YAML library, on 2026-02-30, `!!bool perhaps` or a thousand brackets.
_READER_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


class _UniqueKeyLoader(yaml.SafeLoader):
    """A YAML loader that rejects duplicate keys, where the last would silently win."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 - the library's signature
        try:
            return super().construct_object(node, deep)
        except _READER_ERRORS as error:
            msg = f"cannot be read as {node.tag.rpartition(':')[2]}: {error}"
            raise yaml.constructor.ConstructorError(None, None, msg, node.start_mark) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - the library's signature
        seen: list[Any] = []
        for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                msg = f"the key '{key}' appears twice"
                raise yaml.constructor.ConstructorError(None, None, msg, key_node.start_mark)
            seen.append(key)
        return super().construct_mapping(node, deep)


def _yaml_complaint(path: Path, error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f"{path}, line {mark.line + 1}, column {mark.column + 1}" if mark else f"{path}"
    problem = getattr(error, "problem", None) or " ".join(str(error).split())
    return f"{where}: is not valid YAML: {problem}; correct it, then run again."


def _absolute(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Make the relative paths of checked content absolute."""

    def resolve(template: str) -> str:
        remote = "://" in template or Path(template).is_absolute()
        return template if remote else str(Path(literal(str(folder))) / template)

    models = {
        name: {
            **model,
            **{log: {**model[log], "path": resolve(model[log]["path"])} for log in LOGS},
        }
        for name, model in content["models"].items()
    }
    store = content["store"]
    return {
        **content,
        "store": store if "://" in store else str(folder / store),
        "models": models,
    }


def _complaints(path: Path, error: ValidationError) -> Iterator[str]:
    problems = error.errors(include_url=False)
    for problem in problems:
        if any(problem["loc"] == other["loc"][:-1] for other in problems):
            continue  # the message about the part is more specific
        where = ".".join(str(part) for part in problem["loc"] if part != "[key]")
        if problem["type"] == "extra_forbidden":
            key = str(problem["loc"][-1])
            near = difflib.get_close_matches(key, _siblings(problem["loc"][:-1]), n=1, cutoff=0.5)
            remedy = f"did you mean '{near[0]}'?" if near else "remove it."
            yield f"{path}: {where}: is not a known key; {remedy}"
        elif problem["type"] == "missing":
            yield f"{path}: {where}: is missing; add it (see monitor.example.yaml)."
        else:
            rule = RULES.get(problem["type"], problem["msg"].removeprefix("Value error, "))
            yield f"{path}: {where}: {rule}, got {problem['input']!r}; correct the value."


def _siblings(location: tuple[int | str, ...]) -> list[str]:
    """List the keys that are allowed at a location in the file."""
    rooms: dict[str, type[BaseModel]] = {
        "predictions": PredictionLog,
        "outcomes": OutcomeLog,
        "segments": Segments,
        "strata": Segments,
        "checks": Checks,
        "verdicts": Verdicts,
        "references": Span,
        "known_drifts": Span,
        "engine": Engine,
    }
    inside_a_model = len(location) == 2 and location[0] == "models"  # noqa: PLR2004 - models.NAME
    named = [part for part in location if isinstance(part, str)]
    room = Model if inside_a_model else rooms.get(named[-1], Config) if named else Config
    return list(room.model_fields)
