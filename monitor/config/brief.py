"""A value in a message: at most 60 characters of it, however large it is."""

from typing import Any

from monitor.base.errors import without_credentials

MOST = 60  # characters
MOST_OF_URL = 2_000  # characters in which a user and a password are looked for
MOST_BITS = 190  # of a number that has at most 60 digits


def brief(value: Any) -> str:
    """Write a value as Python does, but at most 60 characters of it, and not all of it first.

    Examples
    --------
    >>> print(brief({"path": "x" * 10_000_000}))
    {'path': 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
    >>> print(brief([7, "seven"]))
    [7, 'seven']
    """
    return cut(_begin(value, MOST + 1))


def cut(text: str, most: int = MOST) -> str:
    """Shorten a text to so many characters.

    Examples
    --------
    >>> cut("abcdefgh", 6)
    'abc...'
    """
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _begin(value: Any, room: int) -> str:
    """Write at least so many characters of a value, or all of it; each level takes one."""
    if isinstance(value, str):
        return repr(without_credentials(value[:MOST_OF_URL])[:room])
    if isinstance(value, bytes):
        return repr(value[:room])
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return f"a number of {value.bit_length():,} bits"
    if isinstance(value, dict):
        return _listed(value.items(), "{}", room)
    if isinstance(value, list | tuple | set):
        return _listed(value, "[]" if isinstance(value, list) else "()", room)
    return repr(value)


def _listed(parts: Any, ends: str, room: int) -> str:
    written, between = ends[0], ""
    for part in parts:
        if len(written) > room:
            return written
        left = room - len(written)
        if ends == "{}":
            key, inner = part
            written += f"{between}{_begin(key, left)}: "
        else:
            written, inner = written + between, part
        written, between = written + _begin(inner, left), ", "
    return written + ends[1]
