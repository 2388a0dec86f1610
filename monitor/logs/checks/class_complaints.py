"""What is wrong with a vector of probabilities or its outcome, and what to do about it."""

import difflib

from monitor.config import Classes
from monitor.logs.checks.checks import Status
from monitor.logs.columns.class_labels import has_numbers
from monitor.words.plausibility import LABELS, MOST_ROUNDED

# What a check of rows says of vectors instead of single scores.
SAID_OF_CLASSES = {
    Status.SCORE_MISSING: "vectors of probabilities are incomplete (null, NaN, or all 0)",
    Status.SCORE_OUT_OF_RANGE: "vectors have a probability outside [0, 1]",
    Status.OUTCOME_INVALID: "outcomes are none of predictions.classes.names",
}


def about_vector(status: Status, first: str, classes: Classes) -> str:
    """Say what the first such value may mean; what to do follows.

    Examples
    --------
    >>> pets = Classes(names=("cat", "dog"), vector="p")
    >>> about_vector(Status.OUTCOME_INVALID, "Dog ", pets)
    "did you mean 'dog'? "
    """
    if status == Status.SCORE_SUM and classes.top:
        return "the highest scores may not add up to more than 1; "
    if status == Status.SCORE_SUM:
        labels = f"{LABELS}; " if float(first) > MOST_ROUNDED else ""
        return f"{labels}set predictions.classes.sums to normalise if they are rounded; else "
    if status == Status.SCORE_OUT_OF_RANGE:
        shares = "if they are percent or votes, set predictions.classes.sums to normalise; "
        softmax = "if they are logits, log their softmax. Else "
        return softmax if first.startswith("-") else shares + softmax
    return _about_label(first, classes) if status == Status.OUTCOME_INVALID else ""


def _about_label(said: str, classes: Classes) -> str:
    if said == str(len(classes.names)) and not has_numbers(classes):
        return (
            f"positions of classes are counted from 0; if the log counts from 1, write the names "
            f"as 1 to {said} in predictions.classes.names. Else "
        )
    if said == "null":
        return ""
    wanted = {name.strip().lower(): name for name in classes.names}
    if near := difflib.get_close_matches(said.strip().lower(), wanted, n=1):
        return f"did you mean '{wanted[near[0]]}'? "
    return "if the class is new, list it in predictions.classes.names; else "
