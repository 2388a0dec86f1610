"""Words that choose between formulas: a misspelt one must not choose the last of them."""

from typing import get_args


def check_option(name: str, value: object, options: object) -> None:
    """Raise ValueError unless the value is one of a `Literal`."""
    allowed = get_args(options)
    if value not in allowed:
        msg = f"the {name} must be one of {', '.join(allowed)}, got {value!r}."
        raise ValueError(msg)
