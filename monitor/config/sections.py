"""What the sections of a configuration file have in common."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Strict

T = TypeVar("T")
Listed = Annotated[tuple[T, ...], Strict(strict=False)]  # a list in the file


class Section(BaseModel):
    """Refuses unknown keys and values of other types, and cannot be changed."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


def as_text(value: object) -> object:
    """Make a whole number text: a value that YAML reads as a number is a name all the same."""
    return str(value) if type(value) is int else value
