"""What happens to rows and days that break a check: the checks, listed under each answer."""

from collections.abc import Mapping
from typing import Literal, Self, get_args

from pydantic import model_validator

from monitor.config.sections import Listed, Section

Answer = Literal["fail", "reject", "unknown", "accept"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)
_STRICT: tuple[Answer, ...] = ("fail", "reject")
_LENIENT: tuple[Answer, ...] = ("reject", "fail")
# The checks, with the answers that each may have; the first is the usual one.
CHECKS: Mapping[str, tuple[Answer, ...]] = {
    "prediction_id_missing": _STRICT,
    "prediction_repeated": _STRICT,
    "score_missing": _STRICT,
    "score_out_of_range": _STRICT,
    "score_sum": _STRICT,
    "outcome_id_missing": _STRICT,
    "outcome_invalid": _STRICT,
    "outcome_conflicting": _STRICT,
    "outcome_early": _STRICT,
    "outcome_time_missing": ("unknown", "fail", "accept"),
    "outcome_time_impossible": ("fail", "unknown", "accept"),
    "outcome_orphan": _LENIENT,
    "outcome_late": _LENIENT,
    "missing_day": ("fail", "accept"),
    "empty_day": ("fail", "accept"),
    "no_outcomes": ("fail", "accept"),
    "one_class": ("fail", "accept"),
}
# Those of the time of an outcome of 0.
UNDATED = "outcome_time_missing", "outcome_time_impossible"


class Checks(Section):
    """The checks whose answer is not the usual one.

    Attributes
    ----------
    fail, reject, unknown, accept : tuple of str
        Checks of which a broken row or day stops the day; drops the row, which is counted; counts
        the row as one without an outcome; or counts as what it says.
    """

    fail: Listed[str] = ()
    reject: Listed[str] = ()
    unknown: Listed[str] = ()
    accept: Listed[str] = ()

    @model_validator(mode="after")
    def _has_one_answer_for_each(self) -> Self:
        given = [(name, answer) for answer in ANSWERS for name in getattr(self, answer)]
        names = [name for name, _ in given]
        for name, answer in given:
            if name not in CHECKS:
                msg = f"{answer} lists {name[:50]!r}, but the checks are {', '.join(CHECKS)}"
                raise ValueError(msg)
            if answer not in CHECKS[name]:
                msg = f"{answer} must not list {name}; list it under {_either(CHECKS[name])}"
                raise ValueError(msg)
            if names.count(name) > 1:
                msg = f"{name} is listed twice; leave it under one answer"
                raise ValueError(msg)
        return self

    def of(self, check: str) -> str:
        """Return what happens to a row or a day that breaks a check.

        Examples
        --------
        >>> checks = Checks(reject=("score_missing",))
        >>> checks.of("score_missing"), checks.of("outcome_invalid"), checks.of("outcome_late")
        ('reject', 'fail', 'reject')
        """
        given = (answer for answer in ANSWERS if check in getattr(self, answer))
        return next(given, CHECKS[check][0])

    def also(self, answers: Mapping[str, str]) -> "Checks":
        """Give some checks other answers.

        Examples
        --------
        >>> Checks(accept=("one_class",)).also({"score_missing": "reject"}).of("score_missing")
        'reject'
        """
        every = {check: self.of(check) for check in CHECKS} | dict(answers)
        other = {check: answer for check, answer in every.items() if answer != CHECKS[check][0]}
        return Checks.model_validate(listed(other))


def listed(answers: Mapping[str, str]) -> dict[str, list[str]]:
    """List checks under their answers, as a file has them.

    Examples
    --------
    >>> listed({"score_missing": "reject", "one_class": "accept", "outcome_invalid": "reject"})
    {'reject': ['score_missing', 'outcome_invalid'], 'accept': ['one_class']}
    """
    return {
        answer: [check for check, its in answers.items() if its == answer]
        for answer in ANSWERS
        if answer in answers.values()
    }


def _either(answers: tuple[Answer, ...]) -> str:
    return f"{', '.join(answers[:-1])} or {answers[-1]}"
