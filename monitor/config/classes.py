"""What `predictions.classes` says: the classes, and the columns that hold their probabilities."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from monitor.config.brief import brief
from monitor.config.choices import ONE, SEVERAL, one_or_several
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

Vector = Annotated[
    Annotated[str, BeforeValidator(read_expression), Field(min_length=1), Tag(ONE)]
    | Annotated[Columns, Field(min_length=1), Tag(SEVERAL)],
    Discriminator(one_or_several),
]


class Highest(Section):
    """The highest scores of each row, where the log has no others; at least three.

    Attributes
    ----------
    classes, scores : tuple of str
        A column with the list of their classes and one with the list of the scores, or a column
        for each of them, the same number of both; without classes, `scores` is one column with a
        map from class to score.
    outcome : tuple of str
        The columns with the probability of the class that came true, and with the sum of the
        squares of all probabilities; without them there is neither log loss nor Brier score.
    """

    scores: OneOrMore
    classes: OneOrMore = ()
    outcome: Columns = ()

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if not self.scores:
            msg = "scores must name a column: a map from class to score, or lists beside classes"
            raise ValueError(msg)
        if len(self.scores) != (len(self.classes) or 1):
            msg = (
                f"classes lists {len(self.classes)} columns and scores {len(self.scores)}; list "
                f"one of each for every rank, in the same order"
            )
            raise ValueError(msg)
        if len(self.outcome) not in (0, 2):
            msg = (
                "outcome must list two columns: the probability of the class that came true, and "
                "the sum of the squares of all probabilities"
            )
            raise ValueError(msg)
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the highest scores."""
        return (*self.classes, *self.scores)

    @property
    def map(self) -> str:
        """The column with a map from class to score; empty without one."""
        return "" if self.classes else self.scores[0]


class Classes(Section):
    """The classes of a model with more than two outcomes.

    Attributes
    ----------
    names : tuple of str
        The classes, in the order of the probabilities.
    vector : str, tuple of str or None
        The columns of the probabilities, one for each class; or one column, or an expression: a
        list in that order, a struct with a field for each name, or a map.
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
    vector: Vector | None = None
    top: Highest | None = None
    sums: Literal["check", "normalise"] = "check"
    weights: Annotated[Listed[Weight], Field(max_length=MOST_CLASSES)] = ()
    watch: Annotated[Names, Field(max_length=50)] = ()

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        for what, listed in (("names", self.names), ("vector", self.columns)):
            if len(set(listed)) < len(listed):
                twice = next(name for name in listed if listed.count(name) > 1)
                msg = f"{what} must differ, but {brief(twice)} is listed twice"
                raise ValueError(msg)
        if bool(self.vector) == bool(self.top):
            msg = (
                "needs either vector, one column for each class or one with all probabilities, or "
                "top, the columns with the highest ones"
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
                f"vector lists {len(self.columns)} columns and names {len(self.names)} classes; "
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
    def columns(self) -> tuple[str, ...]:
        """The columns of the probabilities, one for each class; none if one column has all."""
        return () if self.vector is None or isinstance(self.vector, str) else self.vector

    @property
    def whole(self) -> str:
        """The column or expression with all probabilities; empty if each has its own."""
        return self.vector if isinstance(self.vector, str) else ""

    @property
    def has_numbers(self) -> bool:
        """Whether all names are integers, so that a number in the log is a name."""
        return all(name.lstrip("-").isdecimal() for name in self.names)

    @property
    def logged(self) -> tuple[str, ...]:
        """All columns that it names, and expressions of them."""
        top = (*self.top.columns, *self.top.outcome) if self.top else ()
        return (*self.columns, self.whole, *top)

    @property
    def watched(self) -> tuple[int, ...]:
        """The positions of the classes that are configured to be watched."""
        return tuple(sorted(self.names.index(name) for name in dict.fromkeys(self.watch)))


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - ENDS} more" if len(names) > ENDS else ""
    return ", ".join(names[:ENDS]) + more
