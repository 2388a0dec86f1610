"""What `predictions.classes` says: the classes, and the columns that hold their probabilities."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from monitor.config.brief import brief
from monitor.config.names import read_expression
from monitor.config.sections import Listed, Section, as_text

MOST_CLASSES = 1_000
ENDS = 3  # names that a message shows


ClassName = Annotated[str, BeforeValidator(as_text), Field(min_length=1, max_length=200)]
Weight = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Names = Annotated[Listed[ClassName], Field(max_length=MOST_CLASSES)]
Columns = Annotated[Listed[Annotated[str, Field(min_length=1)]], Field(max_length=MOST_CLASSES)]


OneOrMore = Annotated[
    Columns,
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
]


class Highest(Section):
    """The highest scores of each row, where the log has no others; at least three.

    Attributes
    ----------
    classes, scores : tuple of str
        A column with the list of their classes and one with the list of the scores, or a column
        for each of them, the same number of both.
    map : str
        Or one map column from class to score.
    true_score, squares : str
        The columns with the probability of the class that came true, and with the sum of the
        squares of all probabilities; without both there is neither log loss nor Brier score.
    """

    classes: OneOrMore = ()
    scores: OneOrMore = ()
    map: str = ""
    true_score: str = ""
    squares: str = ""

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if bool(self.map) == bool(self.classes or self.scores):
            msg = "needs either map, one column, or both classes and scores"
            raise ValueError(msg)
        if len(self.classes) != len(self.scores):
            msg = (
                f"classes lists {len(self.classes)} columns and scores {len(self.scores)}; list "
                f"one of each for every rank, in the same order"
            )
            raise ValueError(msg)
        if bool(self.true_score) != bool(self.squares):
            msg = "true_score and squares belong together; name both columns, or neither"
            raise ValueError(msg)
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the highest scores."""
        return (self.map,) if self.map else (*self.classes, *self.scores)

    @property
    def of_outcome(self) -> tuple[str, ...]:
        """The columns that log loss and Brier score are computed from; none without them."""
        return (self.true_score, self.squares) if self.true_score else ()


class Classes(Section):
    """The classes of a model with more than two outcomes.

    Attributes
    ----------
    names : tuple of str
        The classes, in the order of the probabilities.
    columns : tuple of str
        The columns of the probabilities, one for each class.
    vector : str
        Or one column, or an expression: a list in that order, a struct with a field for each name,
        or a map.
    top : Highest or None
        Or the highest scores only.
    sums : str
        Whether probabilities that do not add up to 1 fail a check or are divided by their sum.
    weights : tuple of float
        Of a log that is a sample by class: how many rows of the population a row of each class
        stands for, the inverse of the rate at which it was kept, in the order of the names.
    watch : tuple of str
        The classes with gauges of their own; by default the most frequent ones of each day.
    """

    names: Annotated[Names, Field(min_length=2)]
    columns: Columns = ()
    vector: Annotated[str, BeforeValidator(read_expression)] = ""
    top: Highest | None = None
    sums: Literal["check", "normalise"] = "check"
    weights: Annotated[Listed[Weight], Field(max_length=MOST_CLASSES)] = ()
    watch: Annotated[Names, Field(max_length=50)] = ()

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        for what, listed in (("names", self.names), ("columns", self.columns)):
            if len(set(listed)) < len(listed):
                twice = next(name for name in listed if listed.count(name) > 1)
                msg = f"{what} must differ, but {brief(twice)} is listed twice"
                raise ValueError(msg)
        if [bool(self.columns), bool(self.vector), bool(self.top)].count(True) != 1:
            msg = (
                "needs either columns, one for each class, or vector, the list or struct column "
                "with all probabilities, or top, the columns with the highest ones"
            )
            raise ValueError(msg)
        if self.top and (self.watch or self.weights or self.sums == "normalise"):
            msg = (
                "watch, weights and sums: normalise need the probabilities of all classes, but top "
                "has the highest only; leave them out"
            )
            raise ValueError(msg)
        if self.columns and len(self.columns) != len(self.names):
            msg = (
                f"columns lists {len(self.columns)} columns and names {len(self.names)} classes; "
                f"list one column for each class, in the same order"
            )
            raise ValueError(msg)
        if self.weights and len(self.weights) != len(self.names):
            msg = (
                f"weights lists {len(self.weights)} numbers and names {len(self.names)} classes; "
                f"list one number for each class, in the same order"
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
