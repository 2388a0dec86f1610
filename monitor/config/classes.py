"""What `predictions.classes` says: the classes, and the columns that hold their probabilities."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from monitor.config.brief import brief
from monitor.config.sections import Listed, Section, as_text

MOST_CLASSES = 1_000
ENDS = 3  # names that a message shows


ClassName = Annotated[str, BeforeValidator(as_text), Field(min_length=1, max_length=200)]
Names = Annotated[Listed[ClassName], Field(max_length=MOST_CLASSES)]
Columns = Annotated[Listed[Annotated[str, Field(min_length=1)]], Field(max_length=MOST_CLASSES)]


class Classes(Section):
    """The classes of a model with more than two outcomes.

    Attributes
    ----------
    names : tuple of str
        The classes, in the order of the probabilities.
    columns : tuple of str
        The columns of the probabilities, one for each class.
    vector : str
        Or one column: a list in that order, or a struct with a field for each name.
    sums : str
        Whether probabilities that do not add up to 1 fail a check or are divided by their sum.
    watch : tuple of str
        The classes with gauges of their own; by default the most frequent ones of each day.
    """

    names: Annotated[Names, Field(min_length=2)]
    columns: Columns = ()
    vector: str = ""
    sums: Literal["check", "normalise"] = "check"
    watch: Annotated[Names, Field(max_length=50)] = ()

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        for what, listed in (("names", self.names), ("columns", self.columns)):
            if len(set(listed)) < len(listed):
                twice = next(name for name in listed if listed.count(name) > 1)
                msg = f"{what} must differ, but {brief(twice)} is listed twice"
                raise ValueError(msg)
        if bool(self.columns) == bool(self.vector):
            msg = (
                "needs either columns, one for each class, or vector, the list or struct column "
                "with all probabilities"
            )
            raise ValueError(msg)
        if self.columns and len(self.columns) != len(self.names):
            msg = (
                f"columns lists {len(self.columns)} columns and names {len(self.names)} classes; "
                f"list one column for each class, in the same order"
            )
            raise ValueError(msg)
        if unknown := [name for name in self.watch if name not in self.names]:
            msg = f"watch lists {_few(unknown)}, which names does not"
            raise ValueError(msg)
        return self

    @property
    def watched(self) -> tuple[int, ...]:
        """The positions of the classes that are configured to be watched."""
        return tuple(sorted(self.names.index(name) for name in dict.fromkeys(self.watch)))


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - ENDS} more" if len(names) > ENDS else ""
    return ", ".join(names[:ENDS]) + more
