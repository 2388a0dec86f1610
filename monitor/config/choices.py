"""Settings that can be written in several ways: which one was meant.

The library would complain about each way in turn, and name each by its class.
"""

# They stand in the place of a problem, between keys that are in the file. No key is like them.
ONE, SEVERAL = "\0one", "\0several"
RATE_FILE, RATE_COLUMN, RATE_OUTCOMES = "\0file", "\0column", "\0outcomes"
UNWRITTEN = {ONE, SEVERAL, RATE_FILE, RATE_COLUMN, RATE_OUTCOMES}


def one_or_several(value: object) -> str:
    """Tell a list from a single value."""
    return SEVERAL if isinstance(value, list | tuple) else ONE


def is_scalar(value: object) -> object:
    """Raise ValueError for what is neither text nor a number nor true or false."""
    if not isinstance(value, str | bool | int | float):
        msg = "must be text, a number, true or false"
        raise ValueError(msg)  # noqa: TRY004 - what the library turns into a complaint
    return value


def is_whole_scalar(value: object) -> object:
    """Raise ValueError for what is neither text nor a whole number nor true or false."""
    if not isinstance(value, str | bool | int):
        msg = "must be text, a whole number, true or false"
        raise ValueError(msg)  # noqa: TRY004 - as above
    return value
