"""Settings of a model that exclude each other, with the reason, for the check, the docs and tests.

A setting with a value, such as `checks.accept: missing_day`, excludes others with that value only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

SINGLE = "what is lost is counted on single predictions with one of two outcomes"
WEIGHED = "what label_rate weighs are single rows, chosen by the score of one of two outcomes"
PROPOSED = "name a column under strata where calibration-monitor check proposes one"
SEVERAL_MAPS = "several maps under map"
COUNTS = "predictions.format: counts"
COLUMN_OF_RATES = "a column in label_rate"
MORE_COLUMNS = "more columns of segments"
# Settings of the predictions that say what single rows are.
OF_ROWS = "id", "score", "time", "where", "duplicates", "explode"
COUNTED = "the rows are counted already, so do this in the statement that counts them"


@dataclass(frozen=True)
class Apart:
    """Two settings that exclude each other.

    Attributes
    ----------
    one, other : str
        The settings.
    why : str
        The reason, or what to do instead.
    """

    one: str
    other: str
    why: str


def _of(one: str, others: Mapping[str, str]) -> tuple[Apart, ...]:
    return tuple(Apart(one, other, why) for other, why in others.items())


def _all_of(one: str, why: str, *others: str) -> tuple[Apart, ...]:
    return _of(one, dict.fromkeys(others, why))


APART = (
    *_of(
        "predictions.classes",
        {
            "predictions.score": "the scores are the probabilities of the classes",
            "predictions.score_means": "the scores are the probabilities of the classes",
            "predictions.weight": "classes have weights, a number each",
            "predictions.entity": "pairs of classes are not counted by entity",
            "outcomes.weight": "classes have weights, a number each",
            "outcomes.outcome_means": "it names the values of two outcomes",
            "outcomes.absent_means": "an outcome that never comes has no class",
            SEVERAL_MAPS: "a map of vectors is fitted to the scores as they are logged",
            "action": "rows of other classes remain, and so a class would seem off",
            "budget": "what explains the error of vectors is not measured",
        },
    ),
    *_all_of("predictions.classes.top", "a map is fitted to whole vectors", "map"),
    *_all_of(
        "label_rate",
        WEIGHED,
        *("predictions.classes", "predictions.entity", "predictions.weight"),
        *("outcomes.weight", "outcomes.absent_means"),
    ),
    *_all_of("value", "what is lost is counted once", "decision"),
    *(
        pair
        for one in ("value", "decision")
        for pair in _all_of(
            one,
            SINGLE,
            *("predictions.classes", "predictions.weight", "outcomes.weight", "label_rate"),
        )
    ),
    *_of(
        "outcomes.weight",
        {
            "predictions.weight": "a row has one weight",
            "outcomes.absent_means": "what is absent has none, so name it in predictions.weight",
        },
    ),
    *_all_of(
        "strata: auto",
        PROPOSED,
        *("a primary column of segments", "predictions.entity", "predictions.classes"),
    ),
    *_of(
        COUNTS,
        {
            "outcomes.path": "counts hold the outcomes too, so write "
            "outcomes: {in_predictions: true}",
            **{f"predictions.{key}": COUNTED for key in OF_ROWS},
            "predictions.score_means": COUNTED,
            "outcomes.outcome": COUNTED,
            "outcomes.outcome_means": COUNTED,
            "outcomes.time": COUNTED,
            "ids": COUNTED,
            "predictions.classes": "counts have two outcomes",
            "predictions.entity": "counts do not say whom a row is about",
            "predictions.weight": "a row that is counted stands for itself",
            "outcomes.weight": "a row that is counted stands for itself",
            COLUMN_OF_RATES: "counts do not say with which probability a row was chosen",
            "action": "leave out the rows that were acted on when you count",
            MORE_COLUMNS: "counts have one column of segments, and one of strata",
            "strata: auto": "counts have no other columns to look among",
        },
    ),
    *_all_of(
        "checks.accept: missing_day",
        "a day outside the calendar may be missing, and any other day is an error",
        "calendar",
    ),
)


def complaints_of(given: Mapping[str, bool]) -> list[str]:
    """Say which settings exclude each other, a sentence for each that excludes others.

    Parameters
    ----------
    given : mapping of str to bool
        Of each setting in the table: whether the model has it.

    Examples
    --------
    >>> print(*complaints_of({name: name in ("value", "decision") for name in SETTINGS}))
    value cannot be combined with decision; remove value, or it: what is lost is counted once
    """
    both = (pair for pair in APART if given[pair.one] and given[pair.other])
    said = []
    for one, pairs in groupby(both, key=lambda pair: pair.one):
        listed = [*pairs]
        them = "it" if len(listed) == 1 else "them"
        whys = "; ".join(dict.fromkeys(pair.why for pair in listed))
        names = ", ".join(pair.other for pair in listed)
        said.append(f"{one} cannot be combined with {names}; remove {one}, or {them}: {whys}")
    return said


SETTINGS = tuple(dict.fromkeys(name for pair in APART for name in (pair.one, pair.other)))
