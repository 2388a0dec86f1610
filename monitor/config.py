"""The YAML file as frozen, strict models: what to read, how to judge it, where to store it.

Rule 1: a model either loads completely or is invalid, with a message of file, key, value, rule and
remedy. Nothing is guessed and no unknown key is skipped. An error in one model does not affect the
others; an error in the keys that all models share raises ConfigError.
Rule 2: this module knows values, not their meaning; formulas are in `monitor.metrics`.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    TypeAdapter,
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
COMMON_FILE, MODELS_FOLDER = "monitor.yaml", "models"  # in a folder of configuration files

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
    data_error_hours: Annotated[float, Field(ge=0, le=10_000)] = 6
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
    report_url: Annotated[str, Field(pattern=r"^(https?://\S+)?$")] = ""
    time_zone: TimeZone = "UTC"
    settled_after: Annotated[int, Field(ge=0, le=120)] = 1
    windows: Windows = (1, 7, 28)
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    null_replicates: Annotated[int, Field(ge=100, le=10_000)] = 100
    schedule: str = "0 6 * * *"
    log_deadline_hours: Annotated[float, Field(ge=0, le=168)] = 6
    catch_up_days: Annotated[int, Field(ge=0, le=366)] = 7
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


class Common(_Strict):
    """The keys that all models share. Relative paths are relative to the file's folder."""

    store: Place
    engine: Engine = Engine()


class _File(Common):
    """A file as it is written; the content of `models` is checked model by model."""

    models: Annotated[Mapping[Any, Any], Field(min_length=1)]


@dataclass(frozen=True)
class InvalidModel:
    """A model whose configuration breaks a rule.

    Attributes
    ----------
    message : str
        What is wrong, one line for each broken rule.
    shown_as : Model
        Its valid keys, and defaults for the others: enough to export the results that the store
        has of it, but not to read logs.
    """

    message: str
    shown_as: Model


class Config(Common):
    """The whole configuration: the common keys, the valid models, and the invalid ones."""

    models: Mapping[Name, Model]
    invalid: Annotated[Mapping[str, InvalidModel], Field(exclude=True)] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all configured models."""
        return (*self.models, *self.invalid)

    def model(self, name: str) -> Model:
        """Find a model by name.

        Raises
        ------
        ConfigError
            If the configuration of the model is invalid, or there is no such model.
        """
        if name in self.invalid:
            raise ConfigError(self.invalid[name].message)
        if name not in self.models:
            msg = f"there is no model '{name}'; the configuration has: {', '.join(self.names)}."
            raise ConfigError(msg)
        return self.models[name]

    def shown(self, name: str) -> Model:
        """Find a model by name as its results are exported, whether it is valid or not."""
        return self.invalid[name].shown_as if name in self.invalid else self.models[name]


@dataclass(frozen=True)
class _Entry:
    """A model as it is written: its file, the keys above it, and its content."""

    path: Path
    keys: tuple[str, ...]
    content: Any


def load_config(path: Path) -> Config:
    """Read and check a configuration.

    Parameters
    ----------
    path : Path
        A YAML file with all keys, or a folder: its `monitor.yaml` holds the common keys, and each
        `models/NAME.yaml` the keys of one model.

    Returns
    -------
    Config
        With every relative path resolved against the folder of the file with the common keys.

    Raises
    ------
    ConfigError
        If a file cannot be read, is not YAML, or a common key breaks a rule; the message has one
        line for each broken rule, those of models included.
    """
    file, *model_files = config_files(path)
    content = read_yaml(file, option="--config", loader=_ApartLoader)
    if not isinstance(content, dict):
        msg = (
            f"{file}: must contain the keys store and models, got {content!r:.60}; "
            f"see monitor.example.yaml."
        )
        raise ConfigError(msg)
    entries = [*_entries(file, content.get("models")), *map(_entry_of_file, model_files)]
    checked = dict(_checked(entries, file.absolute().parent))
    invalid = {name: model for name, model in checked.items() if isinstance(model, InvalidModel)}
    if model_files and not content.get("models"):
        content["models"] = dict(entries)
    try:
        common = _File.model_validate(content)
    except ValidationError as error:
        of_models = [model.message for model in invalid.values()]
        raise ConfigError("\n".join([*_complaints(file, error, _File), *of_models])) from None
    store = common.store
    return Config(
        store=store if "://" in store else str(file.absolute().parent / store),
        engine=common.engine,
        models={name: model for name, model in checked.items() if isinstance(model, Model)},
        invalid=invalid,
    )


def config_files(path: Path) -> list[Path]:
    """List the files of a configuration: the one with the common keys, then those of models."""
    if not path.is_dir():
        return [path]
    folder = path / MODELS_FOLDER
    try:
        found = sorted(folder.iterdir())
    except FileNotFoundError:
        found = []
    except OSError as error:
        msg = f"{folder}: cannot be read ({error}); make it a folder of files like fraud.yaml."
        raise ConfigError(msg) from None
    # Editors and Kubernetes keep their own files there, with names that begin with a dot.
    return [
        path / COMMON_FILE,
        *(f for f in found if f.suffix in {".yaml", ".yml"} and not f.name.startswith(".")),
    ]


def _entries(file: Path, models: Any) -> Iterator[tuple[str, _Entry]]:
    if isinstance(models, dict):
        for name, content in models.items():
            yield str(name), _Entry(file, ("models", str(name)), content)


def _entry_of_file(file: Path) -> tuple[str, _Entry]:
    try:
        content = read_yaml(file, option="--config")
    except ConfigError as error:
        content = error
    return file.stem, _Entry(file, (), content)


def _checked(
    entries: Sequence[tuple[str, _Entry]], folder: Path
) -> Iterator[tuple[str, Model | InvalidModel]]:
    """Check each model separately; a model that is defined twice is invalid."""
    for name, entry in entries:
        places = [other.path for same, other in entries if same == name]
        complaints = list(_complaints_about(name, entry))
        if len(places) > 1:
            msg = f"{places[-1]}: the model '{name}' is also in {places[0]}; remove one of them."
            complaints.append(msg)
        if complaints:
            yield name, InvalidModel("\n".join(complaints), _valid_part(entry.content))
        else:
            yield name, Model.model_validate(_absolute(entry.content, folder))


def _complaints_about(name: str, entry: _Entry) -> Iterator[str]:
    if isinstance(entry.content, ConfigError):
        yield str(entry.content)
        return
    if isinstance(entry.content, yaml.YAMLError):
        yield _yaml_complaint(entry.path, entry.content)
        return
    try:
        _NAME.validate_python(name)
    except ValidationError as error:
        yield from _complaints(entry.path, error, Model, entry.keys)
    try:
        Model.model_validate(entry.content)
    except ValidationError as error:
        yield from _complaints(entry.path, error, Model, entry.keys)


_NAME = TypeAdapter(Name)
_NOWHERE = {log: {"path": "{day}"} for log in LOGS}


def _valid_part(content: Any) -> Model:
    """Keep the valid keys of an invalid model, and use defaults for the others."""
    keys = set(Model.model_fields)
    while True:
        given = content.items() if isinstance(content, dict) else ()
        try:
            return Model.model_validate(_NOWHERE | {k: v for k, v in given if k in keys})
        except ValidationError as error:
            keys -= {str(part) for problem in error.errors() for part in problem["loc"][:1]} or keys


def read_yaml(path: Path, *, option: str, loader: "type[_UniqueKeyLoader] | None" = None) -> Any:
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
        return yaml.load(text, Loader=loader or _UniqueKeyLoader)  # noqa: S506 - subclasses of SafeLoader
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


class _ApartLoader(_UniqueKeyLoader):
    """Reads the models of a file one by one; an unreadable one becomes the error."""

    def get_single_data(self) -> Any:
        root = self.get_single_node()
        self._models: dict[yaml.Node, yaml.YAMLError | None] = {}
        for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
            if key.value == "models" and isinstance(value, yaml.MappingNode):
                self._set_apart(value)
        return self.construct_document(root) if root is not None else None

    def _set_apart(self, models: yaml.MappingNode) -> None:
        """Note which nodes are models, and keep the first of those with the same name."""
        named: dict[Any, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in models.value:
            if key.value not in named or key.tag == "tag:yaml.org,2002:merge":
                named[key.value] = key, value
                self._models.setdefault(value, None)
            else:
                msg = f"the key '{key.value}' appears twice"
                error = yaml.constructor.ConstructorError(None, None, msg, key.start_mark)
                self._models[named[key.value][1]] = error
        models.value = list(named.values())

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 - the library's signature
        if node not in self._models:
            return super().construct_object(node, deep)
        known = self._models[node]
        if known:
            return known
        try:
            return super().construct_object(node, deep=True)
        except yaml.YAMLError as error:
            self.recursive_objects, self.deep_construct = {}, False
            return error


def _yaml_complaint(path: Path, error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f"{path}, line {mark.line + 1}, column {mark.column + 1}" if mark else f"{path}"
    problem = getattr(error, "problem", None) or " ".join(str(error).split())
    return f"{where}: is not valid YAML: {problem}; correct it, then run again."


def _absolute(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Make the relative paths of a valid model absolute."""

    def resolve(template: str) -> str:
        remote = "://" in template or Path(template).is_absolute()
        return template if remote else str(Path(literal(str(folder))) / template)

    logs = {log: {**content[log], "path": resolve(content[log]["path"])} for log in LOGS}
    return {**content, **logs}


def _complaints(
    path: Path, error: ValidationError, section: type[BaseModel], keys: tuple[str, ...] = ()
) -> Iterator[str]:
    """Word what is wrong with a section, which is below some keys of a file."""
    problems = error.errors(include_url=False)
    for problem in problems:
        if any(other["loc"] and problem["loc"] == other["loc"][:-1] for other in problems):
            continue  # the message about the part is more specific
        keys_to_it = ".".join([*keys, *map(str, problem["loc"])])
        where = f"{path}: {keys_to_it}" if keys_to_it else f"{path}"
        if problem["type"] == "extra_forbidden":
            key = str(problem["loc"][-1])
            near = difflib.get_close_matches(
                key, _siblings(problem["loc"][:-1], section), n=1, cutoff=0.5
            )
            remedy = f"did you mean '{near[0]}'?" if near else "remove it."
            yield f"{where}: is not a known key; {remedy}"
        elif problem["type"] == "missing":
            yield f"{where}: is missing; add it (see monitor.example.yaml)."
        else:
            rule = RULES.get(problem["type"], problem["msg"].removeprefix("Value error, "))
            yield f"{where}: {rule}, got {problem['input']!r}; correct the value."


def _siblings(location: tuple[int | str, ...], section: type[BaseModel]) -> list[str]:
    """List the keys that are allowed at a location below a section."""
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
    named = [part for part in location if isinstance(part, str)]
    return list((rooms.get(named[-1], section) if named else section).model_fields)
