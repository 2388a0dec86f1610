"""Packages whose public names are loaded when they are first used.

The stub beside such a package, `__init__.pyi`, says once what is public and where it is defined.
It is read when a name is first asked for, because most programs ask for none.
"""

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ast import Module

LISTED = "__all__"


@cache
def homes_of(package: str) -> dict[str, str]:
    """Give the module that defines each name which the stub of a package imports."""
    from ast import ImportFrom  # noqa: PLC0415 - see the first lines of this file

    imports = [node for node in _stub(package).body if isinstance(node, ImportFrom)]
    return {name.asname or name.name: f"{node.module}" for node in imports for name in node.names}


def attach(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Give `__getattr__` and `__dir__` of a package with a stub; the first has `__all__` too."""

    def load(name: str) -> object:
        if name == LISTED:
            value: object = _listed(package)
        elif not name.startswith("__") and name in homes_of(package):
            value = getattr(import_module(homes_of(package)[name]), name)
        else:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        setattr(sys.modules[package], name, value)  # the next use finds it without this function
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes_of(package)})

    return load, names


def _listed(package: str) -> object:
    from ast import Assign, literal_eval  # noqa: PLC0415 - as above

    (listed,) = (node.value for node in _stub(package).body if isinstance(node, Assign))
    return literal_eval(listed)


def _stub(package: str) -> "Module":
    from ast import parse  # noqa: PLC0415 - as above
    from pkgutil import get_data  # noqa: PLC0415 - as above

    return parse(get_data(package, "__init__.pyi") or b"")  # from a zip too
