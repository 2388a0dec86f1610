"""Packages whose public names are loaded when they are first used.

The stub beside such a package, `__init__.pyi`, says once what is public and where it is defined.
"""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pkgutil import get_data


def homes_of(package: str) -> dict[str, str]:
    """Give the module that defines each name which the stub of a package imports."""
    imports = [node for node in _stub(package).body if isinstance(node, ast.ImportFrom)]
    return {name.asname or name.name: f"{node.module}" for node in imports for name in node.names}


def attach(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Give `__getattr__`, `__dir__` and `__all__` of a package with a stub."""
    homes = homes_of(package)
    (listed,) = (node.value for node in _stub(package).body if isinstance(node, ast.Assign))

    def load(name: str) -> object:
        if name not in homes:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        value: object = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)  # the next use finds it without this function
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return load, names, ast.literal_eval(listed)


def _stub(package: str) -> ast.Module:
    return ast.parse(get_data(package, "__init__.pyi") or b"")  # from a zip too
