"""What the sections of a configuration file have in common."""

import re
from datetime import date
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Strict

ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
T = TypeVar("T")
Listed = Annotated[tuple[T, ...], Strict(strict=False)]  # a list in the file


class Section(BaseModel):
    """Refuses unknown keys and values of other types, and cannot be changed."""

    # Only what is read gets a validator of its own, which takes as long to build as to import.
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)


def as_date(value: object) -> object:
    """Read a date in quotes, which YAML reads as text."""
    if isinstance(value, str) and ISO_DATE.fullmatch(value):
        try:
            return date.fromisoformat(value)
        except ValueError:  # such as 30 February: a value of another type is refused
            return value
    return value


Date = Annotated[date, BeforeValidator(as_date)]


def as_text(value: object) -> object:
    """Make a whole number text: a value that YAML reads as a number is a name all the same."""
    return str(value) if type(value) is int else value
