"""Numbers of a window that say nothing, because it has too few outcomes: a dash with a reason."""

from dataclasses import fields, replace
from math import nan
from typing import Any

from monitor.evaluation.errors import Errors
from monitor.evaluation.evaluation import LEAST_RARER, Evaluation

LEAST_FOR_ECE = 20  # of the rarer outcome: with fewer, one bin may hold all of them


def says_ece(e: Evaluation) -> bool:
    """Return whether there are outcomes enough for ECE."""
    return _rarer(e) >= LEAST_FOR_ECE


def says_tce(e: Evaluation) -> bool:
    """Return whether there are outcomes enough for TCE."""
    return _rarer(e) >= LEAST_RARER


def reason(e: Evaluation) -> str:
    """Say why numbers of a window are missing; empty if none is."""
    if says_tce(e):
        return ""
    missing = "TCE" if says_ece(e) else "ECE and TCE"
    return (
        f"{missing}: too few outcomes to say, {_rarer(e):,} of the rarer kind; ECE needs "
        f"{LEAST_FOR_ECE}, TCE {LEAST_RARER}"
    )


def told_numbers(e: Evaluation) -> Evaluation:
    """Return an evaluation with nan for the numbers that say nothing."""
    return replace(e, raw=_told(e, e.raw), prior=_told(e, e.prior))


def document(e: Evaluation) -> dict[str, Any]:
    """Return an evaluation for JSON, without the numbers that say nothing, with the reason."""
    told = told_numbers(e)
    return {
        **{field.name: getattr(told, field.name) for field in fields(told)},
        "too_few": reason(e) or None,
    }


def _told(e: Evaluation, errors: Errors | None) -> Errors | None:
    if errors and not says_ece(e):
        errors = replace(errors, ece=nan, ece_interval=None)
    if errors and not says_tce(e):
        errors = replace(errors, tce_published=nan)
    return errors


def _rarer(e: Evaluation) -> int:
    """Count the outcomes of the rarer kind."""
    return min(e.positives, e.matched - e.positives)
