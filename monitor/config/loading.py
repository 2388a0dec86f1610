"""A file, or a folder of files, becomes a Config: every model is checked by itself."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from monitor.base.errors import ConfigError
from monitor.config.brief import brief
from monitor.config.complaints import complaints, details, problems_of
from monitor.config.places import OF_FILE, OF_MODEL, is_name, with_places
from monitor.config.schema import (
    TODO,
    Common,
    Config,
    InvalidModel,
    Model,
    Name,
    literal,
)
from monitor.config.yaml_files import ModelByModelLoader, read_yaml, yaml_complaint

LOGS = "predictions", "outcomes"
COMMON_FILE, MODELS_FOLDER = "monitor.yaml", "models"  # in a folder of configuration files


class _File(Common):
    """A file as it is written; the content of `models` is checked model by model."""

    models: Annotated[Mapping[Any, Any], Field(min_length=1)]


@dataclass(frozen=True)
class _Entry:
    """A model as it is written: its file, the keys above it, and its content."""

    path: Path
    keys: tuple[str, ...]
    content: Any


def load_config(path: Path, *, only: str | None = None) -> Config:
    """Read and check a configuration.

    Parameters
    ----------
    path : Path
        A YAML file with all keys, or a folder: its `monitor.yaml` holds the common keys, and each
        `models/NAME.yaml` the keys of one model.
    only : str or None
        Read and check this model alone, if there is one of this name. In a folder the files of
        the others are not opened.

    Returns
    -------
    Config
        With every relative path resolved against the folder of the file with the common keys, and
        with `~` and `${NAME}` replaced in every path.

    Raises
    ------
    ConfigError
        If a file cannot be read, is not YAML, or a common key breaks a rule; the message has one
        line for each broken rule, those of models included.
    """
    file, *model_files = config_files(path)
    content = read_yaml(file, option="--config", loader=ModelByModelLoader)
    if not isinstance(content, dict):
        msg = (
            f"{file}: must contain the keys store and models, got {brief(content)}; "
            f"see monitor.example.yaml."
        )
        raise ConfigError(msg)
    content, wrong = with_places(content, OF_FILE)
    if wrong:
        raise ConfigError("\n".join(f"{file}: {said}." for said in wrong))
    of_file = [*_entries(file, content.get("models"))]
    if only in {name for name, _ in of_file} | {each.stem for each in model_files}:
        of_file = [entry for entry in of_file if entry[0] == only]
        model_files = [each for each in model_files if each.stem == only]
    entries = [*of_file, *map(_entry_of_file, model_files)]
    checked = dict(_checked(entries, file.absolute().parent))
    invalid = {name: model for name, model in checked.items() if isinstance(model, InvalidModel)}
    if model_files and not content.get("models"):
        content["models"] = dict(entries)
    try:
        common = _File.model_validate(content)
    except ValidationError as error:
        of_models = [model.message for model in invalid.values()]
        of_common = complaints(file, details(error), _File)
        raise ConfigError("\n".join([*of_common, *of_models])) from None
    config = Config(
        store=_place(common.store, file),
        engine=common.engine,
        report=common.report
        and common.report.model_copy(update={"path": _place(common.report.path, file)}),
        models={name: model for name, model in checked.items() if isinstance(model, Model)},
        invalid=invalid,
    )
    return config.linked_to(config.report.url) if config.report and config.report.url else config


def _place(path: str, file: Path) -> str:
    """Resolve a relative path against the folder of a file."""
    return path if "://" in path else str(file.absolute().parent / path)


def config_files(path: Path) -> list[Path]:
    """List the files of a configuration: the one with the common keys, then those of models."""
    if not path.is_dir():
        return [path]
    folder = path / MODELS_FOLDER
    try:
        files = sorted(folder.iterdir())
    except FileNotFoundError:
        files = []
    except OSError as error:
        msg = f"{folder}: cannot be read ({error}); make it a folder of files like fraud.yaml."
        raise ConfigError(msg) from None
    # Editors and Kubernetes keep their own files there, with names that begin with a dot.
    return [
        path / COMMON_FILE,
        *(f for f in files if f.suffix in {".yaml", ".yml"} and not f.name.startswith(".")),
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
    files_of = defaultdict[str, list[Path]](list)
    for name, entry in entries:
        files_of[name].append(entry.path)
    for name, written in entries:
        content, wrong = with_places(written.content, OF_MODEL)
        entry, files = replace(written, content=content), files_of[name]
        complaints = [f"{entry.path}: {'.'.join([*entry.keys, said])}." for said in wrong]
        complaints += () if wrong else _complaints_about(name, entry)
        if len(files) > 1:
            msg = f"{files[-1]}: the model '{name}' is also in {files[0]}; remove one of them."
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
        yield yaml_complaint(entry.path, entry.content)
        return
    try:
        _NAME.validate_python(name)
    except ValidationError as error:
        yield from complaints(entry.path, details(error), Model, entry.keys)
    undecided = [*_undecided(entry.content)]
    for place in undecided:
        key = ".".join([*entry.keys, *map(str, place)])
        yield f"{entry.path}: {key}: is TODO; set it, as the comment above it says."
    problems = problems_of(entry.content, Model)
    told = [p for p in problems if not any(p["loc"][: len(place)] == place for place in undecided)]
    yield from complaints(entry.path, told, Model, entry.keys)


def _undecided(content: Any) -> Iterator[tuple[str | int, ...]]:
    """Find the keys that `init` left to a person."""
    if content == TODO:
        yield ()
    parts = content.items() if isinstance(content, dict) else ()
    listed = enumerate(content) if isinstance(content, list) else ()
    for key, value in (*parts, *listed):
        yield from ((key, *rest) for rest in _undecided(value))


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
            invalid = {str(part) for problem in error.errors() for part in problem["loc"][:1]}
            # A rule about several keys may blame one that is left out already.
            keys -= invalid.intersection(keys) or keys


def _absolute(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Make the relative paths of a valid model absolute."""

    def resolve(template: str) -> str:
        remote = "://" in template or Path(template).is_absolute()
        return template if remote else str(Path(literal(str(folder))) / template)

    logs: dict[str, Any] = {
        log: {**content[log], "path": resolve(content[log]["path"])}
        for log in LOGS
        if "path" in content[log] and not is_name(content[log])
    }
    if maps := content.get("map"):
        listed = [
            {**map_, "file": map_["file"] if "://" in map_["file"] else str(folder / map_["file"])}
            for map_ in (maps if isinstance(maps, list) else [maps])
        ]
        logs["map"] = listed if isinstance(maps, list) else listed[0]
    rates = content.get("label_rate")
    if isinstance(rates, dict) and "file" in rates and "://" not in rates["file"]:
        logs["label_rate"] = {"file": str(folder / rates["file"])}
    return {**content, **logs}
