"""YAML files, read so that nothing is guessed."""

from pathlib import Path
from typing import Any

import yaml

from monitor.base.errors import ConfigError
from monitor.config.brief import brief, cut

MOST_BYTES, MOST_NODES = 1_000_000, 10_000
MOST_OF_PROBLEM = 200  # characters of the library's own message


def read_yaml(path: Path, *, option: str, loader: "type[_UniqueKeyLoader] | None" = None) -> Any:
    """Read the YAML file that `option` names, or raise ConfigError with what is wrong."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        text = content.decode("utf-8", errors="strict") if len(content) <= MOST_BYTES else ""
    except PermissionError:
        msg = (
            f"{path}: may not be read by this user; grant read permission, or name another file "
            f"with {option}."
        )
        raise ConfigError(msg) from None
    except FileNotFoundError:
        first = "write one with calibration-monitor init LOGS, or " if option == "--config" else ""
        msg = f"{path}: does not exist; {first}name an existing file with {option}."
        raise ConfigError(msg) from None
    except OSError as error:
        msg = f"{path}: cannot be read ({error}); name an existing file with {option}."
        raise ConfigError(msg) from None
    except UnicodeDecodeError as error:
        msg = f"{path}: is not UTF-8 text ({error}); save it as UTF-8, then run again."
        raise ConfigError(msg) from None
    if len(content) > MOST_BYTES:
        raise ConfigError(_too_large(path, f"more than {MOST_BYTES:,} bytes"))
    try:
        return yaml.load(text, Loader=loader or _UniqueKeyLoader)  # noqa: S506 - subclasses of SafeLoader
    except _TooManyNodesError as error:
        written_out = ", aliases written out" if error.in_aliases else ""
        more = f"more than {MOST_NODES:,} values{written_out}"
        raise ConfigError(_too_large(path, more, in_aliases=error.in_aliases)) from None
    except (yaml.YAMLError, *_READER_ERRORS) as error:
        raise ConfigError(yaml_complaint(path, error)) from None


def _too_large(path: Path, more: str, *, in_aliases: bool = False) -> str:
    repeated = ", and write out what aliases repeat" if in_aliases else ""
    return (
        f"{path}: has {more}; for many models, use a folder with one file for each (see the "
        f"README){repeated}."
    )


class _TooManyNodesError(Exception):
    """Raised inside this file only, when a document is too large, or its aliases make it so."""

    def __init__(self, *, in_aliases: bool) -> None:
        super().__init__()
        self.in_aliases = in_aliases


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
    """A YAML loader that rejects duplicate keys, where the last would silently win.

    It counts the values before it builds one, because a few aliases of aliases make billions.
    """

    _composed = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Count the values as they are written, so that a long file is not read to its end."""
        self._composed += 1
        if self._composed > MOST_NODES:
            raise _TooManyNodesError(in_aliases=False)
        return super().compose_node(parent, index)

    def get_single_node(self) -> yaml.Node | None:
        """Read the document, and count its values with the aliases written out."""
        root = super().get_single_node()
        if root is not None and _size(root, {}) > MOST_NODES:
            raise _TooManyNodesError(in_aliases=True)
        return root

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> Any:
        """Construct a value; two escapes may make one character, but one must not make half."""
        value = super().construct_scalar(node)
        try:
            return value.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            msg = f"{brief(value)} contains half of a character, a lone surrogate"
            raise yaml.constructor.ConstructorError(None, None, msg, node.start_mark) from None

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 - the library's signature
        try:
            return super().construct_object(node, deep)
        except _READER_ERRORS as error:
            msg = f"cannot be read as {cut(node.tag.rpartition(':')[2])}: {error}"
            raise yaml.constructor.ConstructorError(None, None, msg, node.start_mark) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - the library's signature
        seen: list[Any] = []
        for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                msg = f"the key {brief(key)} appears twice"
                raise yaml.constructor.ConstructorError(None, None, msg, key_node.start_mark)
            seen.append(key)
        return super().construct_mapping(node, deep)


class ModelByModelLoader(_UniqueKeyLoader):
    """Reads the models of a file one by one; an unreadable one becomes the error."""

    def get_single_data(self) -> Any:
        """Read the document, after the nodes of its models were found."""
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
                msg = f"the key {brief(key.value)} appears twice"
                error = yaml.constructor.ConstructorError(None, None, msg, key.start_mark)
                self._models[named[key.value][1]] = error
        models.value = list(named.values())

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 - the library's signature
        """Construct a value; that of a model completely, so that its errors are its own."""
        if node not in self._models:
            return super().construct_object(node, deep)
        if twice := self._models[node]:
            return twice
        try:
            return super().construct_object(node, deep=True)
        except yaml.YAMLError as error:
            self.recursive_objects, self.deep_construct = {}, False
            return error


def _size(node: yaml.Node, sizes: dict[int, int]) -> int:
    """Count the values below a node, with aliases written out; one that contains itself has none.

    A loop counts as too many values.
    """
    if id(node) in sizes:
        return sizes[id(node)]
    sizes[id(node)] = MOST_NODES + 1  # what a loop finds
    parts: list[yaml.Node] = []
    if isinstance(node, yaml.MappingNode):
        parts = [part for pair in node.value for part in pair]
    elif isinstance(node, yaml.SequenceNode):
        parts = node.value
    sizes[id(node)] = 1 + sum(_size(part, sizes) for part in parts)
    return sizes[id(node)]


def yaml_complaint(path: Path, error: Exception) -> str:
    """Word what is wrong with a file, with line and column."""
    mark = getattr(error, "problem_mark", None)
    place = f"{path}, line {mark.line + 1}, column {mark.column + 1}" if mark else f"{path}"
    problem = getattr(error, "problem", None) or " ".join(f"{error}".split())
    said = cut(problem, MOST_OF_PROBLEM)
    return f"{place}: is not valid YAML: {said}; correct it, then run again."
