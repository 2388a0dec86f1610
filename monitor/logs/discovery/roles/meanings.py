"""What names of score and outcome say that values cannot: horizons, cut durations. Pure."""

import json
import re
from collections.abc import Sequence
from itertools import combinations

from monitor.logs.discovery.roles.candidates import words
from monitor.logs.discovery.samples.columns import NUMBERS, Column

HORIZON = re.compile(r"(?<![A-Za-z0-9])(\d{1,3})_?(d|days?|w|weeks?|m|mo|months?)(?![A-Za-z0-9])")
DAYS = {"d": 1, "w": 7, "m": 30}
CENSORED = ("censored", "censor", "censoring", "truncated")
LABELS = ("label", "class", "predicted", "prediction", "pred", "decision", "argmax")
ROUNDED = 1e-3  # how far the sum of mean probabilities may be from 1
LEAST_CONFIDENCE = 0.5 - 1e-6  # of the likelier of two labels
DURATION = ("duration", "tenure", "survival", "tte", "lifetime")


def horizon(name: str) -> int | None:
    """Read the days that a name says.

    Examples
    --------
    >>> horizon("y_30d"), horizon("default_12_months"), horizon("score_v2")
    (30, 360, None)
    """
    match = HORIZON.search(name.lower())
    return int(match[1]) * DAYS[match[2][0]] if match else None


def about_names(score: str, outcome: str, wait: int, beside: Sequence[Column]) -> list[str]:
    """Say what the names of score and outcome leave unsure.

    Parameters
    ----------
    score, outcome : str
        The columns that were chosen.
    wait : int
        Days after which the outcomes are there.
    beside : sequence of Column
        The columns of the log of outcomes.

    Examples
    --------
    >>> about_names("p_7d", "y_30d", 40, [])
    ['`p_7d` says 7 days and `y_30d` 30']
    >>> about_names("p", "y", 0, [])
    []
    """
    doubts = []
    ours, theirs = horizon(score), horizon(outcome)
    if ours and theirs and ours != theirs:
        doubts.append(f"`{score}` says {ours} days and `{outcome}` {theirs}")
    days = theirs or ours
    if days and wait < days:
        doubts.append(
            f"`{outcome if theirs else score}` says {days} days, but the outcomes are there after "
            f"{wait}; if a 0 can still become a 1 until then, write settled_after: {days}"
        )
    lasting = [c.name for c in beside if c.kind in NUMBERS and {*DURATION} & {*words(c.name)}]
    if {*CENSORED} & {*words(outcome)}:
        doubts.append(
            f"`{outcome}` says that the time of a row was cut short, not what happened; set "
            f"outcomes.outcome to whether it happened within the horizon of the score"
        )
    elif lasting and outcome not in lasting:
        doubts.append(
            f"`{outcome}` stands beside `{lasting[0]}`: a row without the event may only not have "
            f"been watched long enough; the outcome is whether it happened within the horizon"
        )
    return doubts


def about_confidence(score: Column, beside: Sequence[Column]) -> list[str]:
    """Say whether a score may be the confidence in a predicted label.

    Parameters
    ----------
    score : Column
        That was chosen.
    beside : sequence of Column
        The columns of the predictions.
    """
    if not score.least >= LEAST_CONFIDENCE or score.within != 1:
        return []
    labels = labels_beside(score, beside)
    if not labels:
        return _about_twins(score, beside)
    label = labels[0]
    sentence = (
        f"`{score.name}` is never below 0.5 and stands beside `{label.name}`; if it is the "
        f"probability of that label, write score_means: probability_of_label and predicted_label: "
        f"{json.dumps(label.name, ensure_ascii=False)}"
    )
    return [sentence]


def parts_of_one(columns: Sequence[Column]) -> list[str]:
    """List columns that could be the probabilities of classes; none if they are not."""
    parts = [c for c in columns if c.kind == "real" and c.within == 1]
    several = len(parts) > 2 and abs(sum(c.mean for c in parts) - 1) < ROUNDED  # noqa: PLR2004 - two are one score
    return [c.name for c in parts] if several else []


def _about_twins(score: Column, beside: Sequence[Column]) -> list[str]:
    """Say that two columns have the same two values: one may be a label, the other what came true.

    Which is which cannot be measured, because a label agrees with an outcome as often as the
    outcome with the label.
    """
    of_two = [c for c in beside if len(c.values) == 2]  # noqa: PLR2004 - a label and another
    twins = next(((a, b) for a, b in combinations(of_two, 2) if {*a.values} == {*b.values}), None)
    if not twins:
        return []
    a, b = (c.name for c in twins)
    sentence = (
        f"`{score.name}` is never below 0.5, and `{a}` and `{b}` have the same two values; if it "
        f"is the probability of one of them and the other is what came true, write score_means: "
        f"probability_of_label, the first as predicted_label and the other as outcome"
    )
    return [sentence]


def labels_beside(score: Column, beside: Sequence[Column]) -> list[Column]:
    """List the columns that may be the label that a score is the probability of."""
    if score.within != 1:
        return []
    return [
        c
        for c in beside
        if len(c.values) == 2 and {*LABELS} & {*words(c.name)}  # noqa: PLR2004 - a label and another
    ]


def meanings_of_label(label: Column) -> list[dict[str, list[str | int]] | None]:
    """List what the two values of a label may stand for: None if they are 0 and 1."""
    values = sorted(label.values)
    if label.kind == "boolean" or {*values} <= {"0", "1", "0.0", "1.0"}:
        return [None]
    if label.kind in NUMBERS:
        first, second = (int(float(value)) for value in values)
        return [] if first == second else _both(first, second)
    return _both(*values)


def _both(a: str | int, b: str | int) -> list[dict[str, list[str | int]] | None]:
    return [{"positive": [one], "negative": [zero]} for one, zero in ((b, a), (a, b))]
