"""How the rows of a log are laid out: CSV without a header, and records with several rows."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from monitor.config.brief import brief
from monitor.config.names import Value
from monitor.config.sections import Listed, Section

ELEMENT, POSITION = "element", "position"  # the columns that `explode` adds


def _differ(names: tuple[str, ...]) -> tuple[str, ...]:
    lowered = [name.lower() for name in names]
    twice = next((name for name in names if lowered.count(name.lower()) > 1), None)
    if twice:
        msg = f"must differ, whatever their case, but {brief(twice)} is listed twice"
        raise ValueError(msg)
    return names


def _is_one_sign(text: str) -> str:
    if len(text) != 1 or text in '\0\r\n"':
        msg = 'must be one sign, such as "|" or "\\t"'
        raise ValueError(msg)
    return text


def _is_no_sign(text: str) -> str:
    if any(sign in text for sign in '\0\r\n"'):
        msg = "must be a text without quotes and line breaks, such as NULL or '\\N'"
        raise ValueError(msg)
    return text


Names = Annotated[
    Listed[Annotated[str, Field(min_length=1, max_length=200)]],
    Field(max_length=5000),
    AfterValidator(_differ),
]
Separator = Annotated[str, AfterValidator(_is_one_sign)]
NullText = Annotated[str, Field(min_length=1, max_length=50), AfterValidator(_is_no_sign)]


class Exploded(Section):
    """A list in each record of a log, whose elements are a row each.

    Attributes
    ----------
    list : str
        The column, a way into it such as response.predictions, or an expression.
    separator : str or None
        What is between two elements, if the list is a text and not JSON.
    """

    list: Value
    separator: Annotated[str, Field(min_length=1, max_length=20)] | None = None


def _read_list(value: object) -> object:
    """Read the name of a list, or an expression, as an entry without a separator."""
    if isinstance(value, dict) and "list" not in value:
        separator = {k: v for k, v in value.items() if k == "separator"}
        return {"list": {k: v for k, v in value.items() if k != "separator"}, **separator}
    return {"list": value} if isinstance(value, str) else value


Explode = Annotated[Exploded, BeforeValidator(_read_list)]


def check_layout(
    form: str, columns: Sequence[str], separator: str | None, null_text: str | None
) -> None:
    """Check that only CSV says how it is laid out.

    Raises
    ------
    ValueError
        If another format does.
    """
    given = {"columns": columns, "separator": separator, "null_text": null_text}
    named = [name for name, value in given.items() if value]
    if named and form != "csv":
        msg = (
            f"{', '.join(named)} needs format: csv, but the format is {form}; set format: csv if "
            f"these are CSV files, or remove {'it' if len(named) == 1 else 'them'}"
        )
        raise ValueError(msg)
