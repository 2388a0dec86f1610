"""What is wrong with a configuration, in words: key, rule, value and remedy."""

import difflib
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ValidationError

from monitor.config.schema import (
    Checks,
    Engine,
    Ids,
    OutcomeLog,
    OutcomeMeans,
    PredictionLog,
    Report,
    Segments,
    Span,
    Verdicts,
)

# These replace the validator's own messages, which mention patterns and instances.
RULES = {
    "string_pattern_mismatch": "must be a letter or digit followed by at most 62 letters, digits "
    "or _ . -",
    "model_type": "must contain keys (see monitor.example.yaml)",
    "dict_type": "must contain keys (see monitor.example.yaml)",
    "mapping_type": "must contain keys (see monitor.example.yaml)",
    "too_short": "must not be empty",
}


def complaints(
    path: Path, error: ValidationError, section: type[BaseModel], keys: tuple[str, ...] = ()
) -> Iterator[str]:
    """Word what is wrong with a section, which is below some keys of a file."""
    problems = error.errors(include_url=False)
    for problem in problems:
        if any(other["loc"] and problem["loc"] == other["loc"][:-1] for other in problems):
            continue  # the message about the part is more specific
        keys_to_it = ".".join([*keys, *map(str, problem["loc"])])
        where = f"{path}: {keys_to_it}" if keys_to_it else f"{path}"
        if problem["type"] == "extra_forbidden":
            key = str(problem["loc"][-1])
            near = difflib.get_close_matches(
                key, _siblings(problem["loc"][:-1], section), n=1, cutoff=0.5
            )
            remedy = f"did you mean '{near[0]}'?" if near else "remove it."
            yield f"{where}: is not a known key; {remedy}"
        elif problem["type"] == "missing":
            yield f"{where}: is missing; add it (see monitor.example.yaml)."
        else:
            rule = RULES.get(problem["type"], problem["msg"].removeprefix("Value error, "))
            of_all_keys = isinstance(problem["input"], dict) and "predictions" in problem["input"]
            got = "" if of_all_keys else f", got {problem['input']!r}"
            yield f"{where}: {rule}{got}; correct the value."


def _siblings(location: tuple[int | str, ...], section: type[BaseModel]) -> list[str]:
    """List the keys that are allowed at a location below a section."""
    rooms: dict[str, type[BaseModel]] = {
        "predictions": PredictionLog,
        "outcomes": OutcomeLog,
        "outcome_means": OutcomeMeans,
        "ids": Ids,
        "segments": Segments,
        "strata": Segments,
        "checks": Checks,
        "verdicts": Verdicts,
        "references": Span,
        "known_drifts": Span,
        "engine": Engine,
        "report": Report,
    }
    named = [part for part in location if isinstance(part, str)]
    return list((rooms.get(named[-1], section) if named else section).model_fields)
