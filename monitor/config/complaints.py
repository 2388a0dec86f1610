"""What is wrong with a configuration, in words: key, rule, value and remedy."""

import difflib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from monitor.config.brief import brief, cut
from monitor.config.checks import ANSWERS, CHECKS
from monitor.config.choices import UNWRITTEN
from monitor.config.columns import Crossing, WatchedColumn

MOST_UNKNOWN = 10  # keys that are listed at a time
NEEDED: dict[str | int, Any] = {
    "path": "{day}",
    "predictions": {"path": "{day}"},
    "outcomes": {"path": "{day}"},
}
# These replace the validator's own messages, which mention patterns and instances.
RULES = {
    "string_pattern_mismatch": "must be a letter or digit followed by at most 62 letters, digits "
    "or _ . -",
    "model_type": "must contain keys (see monitor.example.yaml)",
    "dict_type": "must contain keys (see monitor.example.yaml)",
    "mapping_type": "must contain keys (see monitor.example.yaml)",
    "tuple_type": "must be a list",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
}
# Rules with a number, by the name that the library gives it.
LIMITS = {
    "too_long": "must have at most {max_length} items, and has {actual_length}",
    "string_too_long": "must be at most {max_length} characters long",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be below {lt}",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be above {gt}",
}
# Keys and values that were there once, and what to write instead.
REMOVED = {
    "top.map": "is called scores now; write scores: COLUMN, without classes.",
    "top.true_score": "is gone; write outcome: [TRUE_SCORE, SQUARES], the two columns.",
    "top.squares": "is gone; write outcome: [TRUE_SCORE, SQUARES], the two columns.",
    "classes.columns": "is called vector now; write vector: [COLUMN, ...], one for each class.",
    "horizon": "is gone; write settled_after with that number of days.",
    "verdicts.prior_shift_odds": "is gone; write level_odds, which counts for both.",
    "verdicts.shape_tolerance": "is gone; write slope_tolerance, from which it follows.",
    "report_url": "is gone; write the address of all pages, report: {url: ...} beside models.",
    "predictions.catalog": "is called connection now; write connection in its place.",
    "outcomes.catalog": "is called connection now; write connection in its place.",
    "engine.master": "is a setting of Spark; write conf: {spark.master: ...} under engine.",
    "engine.remote": "is a setting of Spark; write conf: {spark.remote: ...} under engine.",
    "verdicts.strata": "is gone; write strata: auto beside segments, or remove it.",
    "verdicts.segment_false_alert_days": "is gone, and is 0.365 times false_alert_days; remove it, "
    "or write another false_alert_days.",
    "budget.prior_shift": "is gone: what a shift of the prior cost does not count; remove it.",
    "budget.page": "is gone, and is 4 times the budget; remove it, or write another "
    "per_prediction.",
    "budget.ticket": "is gone, and is the budget itself; remove it, or write another "
    "per_prediction.",
    "alpha": "is gone, and is 0.05 for every model; remove it. A notebook takes another level.",
    "null_replicates": "is gone, and is 100 for every model; remove it.",
    "slope_effect": "is gone; remove it, or write slope_tolerance, from which it follows if wide.",
    "shape_effect": "is gone; remove it, or write slope_tolerance, from which it follows if wide.",
    "run_late_hours": "is gone, and is 6; remove it, or write run_overdue_hours.",
    "outcome_coverage_limit": "is gone, and is 0.5 of what is usual; remove it.",
    "rejected_rows_limit": "is gone, and is twice what is usual; remove it.",
    "wander": "is gone, because it kept no promise; remove it. Name the column that moves the "
    "slope under 'strata' or 'segments', or write a wider 'slope_tolerance'.",
    "settled_after: auto": "'auto' is gone, because the wait must not change while the "
    "monitor runs; write a number of days, such as 28. `calibration-monitor check` measures the "
    "delays of the outcomes and says which number is enough.",
}

ADDED = {*UNWRITTEN, "[key]"}  # by the library to the keys of the file


def problems_of(content: Any, section: type[BaseModel]) -> list[ErrorDetails]:
    """List all that is wrong with a section of a file.

    The validator checks rules about several keys only where each key is valid. So the content is
    checked again without its invalid keys, until nothing more is found. A rule that mentions a key
    that was left out would speak about the default, so it is not listed.
    """
    whole, listed, left_out = content, list[ErrorDetails](), set[str]()
    reported = set[tuple[int | str, ...]]()
    while True:
        try:
            section.model_validate(content)
        except ValidationError as error:
            problems = [_as_written(problem, content) for problem in details(error)]
        else:
            return listed
        if reported.issuperset(problem["loc"] for problem in problems):
            return listed
        reported.update(problem["loc"] for problem in problems)
        for problem in problems:
            if not left_out.intersection(_key_names(problem, left_out)):
                listed.append({**problem, "input": _at(whole, problem)})
        rest = content
        for problem in problems:
            rest = _without(rest, problem["loc"])
            left_out |= set([part for part in problem["loc"] if isinstance(part, str)][-1:])
        if rest == content:
            return listed
        content = rest


def details(error: ValidationError) -> list[ErrorDetails]:
    """List the problems of an error, but not those of a whole whose part has one."""
    problems = error.errors(include_url=False)
    for problem in problems:
        is_key = problem["type"] == "extra_forbidden"  # then the last part is in the file
        rest = problem["loc"][-1:] if is_key else ()
        parts = problem["loc"][: -1 if is_key else None]
        problem["loc"] = (*(part for part in parts if part not in ADDED), *rest)
    wholes = {problem["loc"][:-1] for problem in problems if problem["loc"]}
    return [problem for problem in problems if problem["loc"] not in wholes]


def _as_written(problem: ErrorDetails, content: Any) -> ErrorDetails:
    """Find the place of a problem in a list of segments, which is divided, or in a single map."""
    first, *rest = problem["loc"] or ("",)
    if first == "map" and isinstance(content, dict) and isinstance(content.get("map"), dict):
        return {**problem, "loc": (first, *rest[1:])}
    listed = content.get("segments") if isinstance(content, dict) else None
    if not isinstance(listed, list) or first not in {"segments", "columns"}:
        return problem
    is_primary = [isinstance(entry, dict) and bool(entry.get("primary")) for entry in listed]
    indices = [i for i, primary in enumerate(is_primary) if primary == (first == "segments")]
    if first == "columns" and rest:
        index, *rest = rest
        indices = indices[int(index) :]
    return {**problem, "loc": ("segments", *indices[:1], *rest)}


def _key_names(problem: ErrorDetails, names: set[str]) -> set[str]:
    """Return the names that a problem is about or mentions."""
    about = {str(part) for part in problem["loc"][-1:]}
    return about | {name for name in names if re.search(rf"\b{re.escape(name)}\b", problem["msg"])}


def _at(whole: Any, problem: ErrorDetails) -> Any:
    """Return the value that a problem is about, as the file has it."""
    value = whole
    for key in problem["loc"]:
        if not isinstance(value, dict) or key not in value:
            return problem["input"]
        value = value[key]
    return value


def _without(content: Any, location: tuple[int | str, ...]) -> Any:
    """Leave out what is at a location; a path, which has no default, becomes a valid one."""
    if not isinstance(content, dict) or not location:
        return content
    key, *below = location
    if below and isinstance(content.get(key), dict):
        return {**content, key: _without(content[key], tuple(below))}
    rest = {k: value for k, value in content.items() if k != key}
    if key in NEEDED:
        return rest if content.get(key) == NEEDED[key] else {**rest, key: NEEDED[key]}
    return rest


def complaints(
    path: Path,
    problems: Sequence[ErrorDetails],
    section: type[BaseModel],
    keys: tuple[str, ...] = (),
) -> Iterator[str]:
    """Word what is wrong with a section, which is below some keys of a file."""
    unknown = [problem for problem in problems if problem["type"] == "extra_forbidden"]
    for problem in problems:
        keys_to_it = ".".join([*keys, *(cut(f"{part}") for part in problem["loc"])])
        place = f"{path}: {keys_to_it}" if keys_to_it else f"{path}"
        if any(problem is unlisted for unlisted in unknown[MOST_UNKNOWN:]):
            continue
        if gone := _gone(problem):
            yield f"{place}: {gone}"
        elif problem["type"] == "extra_forbidden":
            key = str(problem["loc"][-1])
            near = difflib.get_close_matches(
                key, _siblings(problem["loc"][:-1], section), n=1, cutoff=0.5
            )
            remedy = f"did you mean '{near[0]}'?" if near else "remove it."
            yield f"{place}: is not a known key; {remedy}"
        elif problem["type"] == "missing":
            yield f"{place}: is missing; add it (see monitor.example.yaml)."
        else:
            rule = _rule(problem)
            of_all_keys = isinstance(problem["input"], dict) and "predictions" in problem["input"]
            secret = problem["loc"][-1:] == ("connection",)  # it may be an address with a password
            got = "" if of_all_keys or secret else f", got {brief(problem['input'])}"
            yield f"{place}: {rule}{got}; correct the value."
    if more := len(unknown[MOST_UNKNOWN:]):
        yield f"{path}: {more:,} more keys are not known; correct those above first."


def _gone(problem: ErrorDetails) -> str | None:
    """Say what to write instead of a key or a value that was there once."""
    key = str(problem["loc"][-1]) if problem["loc"] else ""
    if problem["type"] != "extra_forbidden":
        value = problem["input"]
        return REMOVED.get(f"{key}: {value}") if isinstance(value, str) else None
    if key in CHECKS and problem["loc"][-2:-1] == ("checks",):
        answer = problem["input"] if problem["input"] in ANSWERS else CHECKS[key][-1]
        return f"is not a key any more; write checks: {{{answer}: [{key}]}}."
    return REMOVED.get(".".join(map(str, problem["loc"][-2:]))) or REMOVED.get(key)


def _rule(problem: ErrorDetails) -> str:
    """Word the rule that is broken."""
    kind, limits = problem["type"], problem.get("ctx", {})
    if limits.get("min_length", 1) > 1:
        return f"must have at least {limits['min_length']} items"
    if kind in LIMITS:
        written = {name: _number(value) for name, value in limits.items()}
        return LIMITS[kind].format(**written)
    return RULES.get(kind, problem["msg"].removeprefix("Value error, "))


def _number(value: Any) -> str:
    """Write a number as it is: 500, 10,000, 0.5."""
    if isinstance(value, float):
        return f"{value:g}"
    return f"{value:,}" if isinstance(value, int) else f"{value}"


def _siblings(location: tuple[int | str, ...], section: type[BaseModel]) -> list[str]:
    """List the keys that are allowed at a location below a section."""
    if location[:1] == ("segments",) and len(location) > 1:  # one of a list
        return [*WatchedColumn.model_fields, *Crossing.model_fields, "primary"]
    for key in location:
        if key in section.model_fields:
            section = next(_sections_in(section.model_fields[key].annotation), section)
    return [*section.model_fields]


def _sections_in(kind: Any) -> Iterator[type[BaseModel]]:
    """List the sections that a field of a kind can hold."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for part in get_args(kind):
        yield from _sections_in(part)
