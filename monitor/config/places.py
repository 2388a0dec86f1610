"""`~` and `${NAME}` in the paths of a configuration, wherever it has a path.

Rule: they are replaced in what is read from the file, before anything is checked, so every rule
about a path is one about the path that is meant.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from monitor.config.schema import literal

Keys = tuple[str, ...]

VARIABLE = re.compile(r"\$\{([^{}]*)\}")
OF_FILE: Mapping[Keys, bool] = {("store",): False, ("report", "path"): False}
# Whether what stands in the place of a variable is a part of a template, which has braces.
OF_MODEL: Mapping[Keys, bool] = {
    ("predictions", "path"): True,
    ("outcomes", "path"): True,
    ("map", "file"): False,
    ("label_rate", "file"): False,
}


def with_places(content: Any, keys_of: Mapping[Keys, bool]) -> tuple[Any, list[str]]:
    """Replace `~` and `${NAME}` in the paths of a file or of a model.

    Parameters
    ----------
    content : object
        As it is written, whatever it is.
    keys_of : mapping of tuple of str to bool
        `OF_FILE` or `OF_MODEL`.

    Returns
    -------
    content : object
        The same with whole paths.
    list of str
        Where a path cannot be replaced: its key, and what is wrong.
    """
    wrong = list[str]()
    for keys, is_template in keys_of.items():
        whole = partial(_whole, write=literal if is_template else str, keys=keys, wrong=wrong)
        content = _changed(content, keys, whole)
    return content, wrong


def _whole(path: str, *, write: Callable[[str], str], keys: Keys, wrong: list[str]) -> str:
    """Replace `~` and variables in a path, or leave it and note what is wrong."""
    try:
        return _with_variables(_with_home(path, write), write)
    except ValueError as error:
        wrong.append(f"{'.'.join(keys)}: {error}")
        return path


def _changed(content: Any, keys: Sequence[str], change: Callable[[str], str]) -> Any:
    """Copy a content with the texts at some keys changed; lists on the way are gone through."""
    if isinstance(content, list):
        return [_changed(each, keys, change) for each in content]
    if not keys:
        return change(content) if isinstance(content, str) else content
    if not isinstance(content, dict) or keys[0] not in content:
        return content
    if is_name(content):
        return content
    return {**content, keys[0]: _changed(content[keys[0]], keys[1:], change)}


def is_name(log: Mapping[str, Any]) -> bool:
    """Whether the path of a log is the name of a table in a catalog."""
    return bool(log.get("format") == "iceberg" and log.get("connection"))


def _with_home(path: str, write: Callable[[str], str]) -> str:
    if not path.startswith("~"):
        return path
    user, slash, rest = path.partition("/")
    try:
        home = str(Path(user).expanduser())
    except RuntimeError:
        msg = f"there is no home folder of {user}; write the path itself, got {path!r}"
        raise ValueError(msg) from None
    return f"{write(home)}{slash}{rest}"


def _with_variables(path: str, write: Callable[[str], str]) -> str:
    unset = [name for name in VARIABLE.findall(path) if not os.environ.get(name)]
    if unset:
        msg = (
            f"the environment variable {unset[0]} is not set; set it where the command runs, or "
            f"write the path itself, got {path!r}"
        )
        raise ValueError(msg)
    return VARIABLE.sub(lambda match: write(os.environ[match[1]]), path)
