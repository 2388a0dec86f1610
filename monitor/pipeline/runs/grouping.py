"""Group the failures of a run: what is wrong with many days is said once. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from monitor.base.errors import Fault
from monitor.pipeline.days.progress import Failure

LEAST_GROUPED = 3  # days; of two, each message is shown
WITHOUT = {
    "predictions": "wait for the log, correct predictions.path, or, if the model does not score "
    "every day, write its calendar or list missing_day under checks.accept.",
    "outcomes": "wait for the log (a day without outcomes needs an empty file), or correct "
    "outcomes.path.",
}


def grouped(model: str, failures: Iterable[Failure]) -> list[str]:
    """Say what is wrong with days, in one message for many days with the same fault.

    Examples
    --------
    >>> from datetime import date
    >>> missing = Fault("predictions", "missing_day", "a day of the log is missing")
    >>> days = [Failure(date(2018, 6, day), "", missing) for day in (10, 11, 14)]
    >>> print(grouped("mlb", days)[0][:67])
    mlb: 3 days without predictions, first 2018-06-10, last 2018-06-14;
    """
    alike = defaultdict[object, list[Failure]](list)
    for failure in failures:
        alike[_what_is_wrong(failure)].append(failure)
    return [message for group in alike.values() for message in _messages(model, group)]


def _what_is_wrong(failure: Failure) -> object:
    """Give the same for two days if one message can speak of both."""
    fault = failure.fault
    return (fault.log, fault.check, fault.complaint) if fault else failure


def _messages(model: str, alike: Sequence[Failure]) -> list[str]:
    if len(alike) < LEAST_GROUPED or not alike[0].fault:
        return [failure.message for failure in alike]
    days = [failure.day for failure in alike]
    span = f"first {min(days)}, last {max(days)}"
    if _is_missing(alike[0].fault):
        log = alike[0].fault.log
        return [f"{model}: {len(days)} days without {log}, {span}; {WITHOUT[log]}"]
    others = sorted(set(days) - {days[0]})
    more = f"{model}: {len(others)} more days like {days[0]}, first {others[0]}, last {others[-1]}."
    return [alike[0].message, more]


def _is_missing(fault: Fault) -> bool:
    return fault.check == "missing_day" and fault.log in WITHOUT
