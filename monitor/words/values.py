"""Values of columns that drift by themselves, in sentences. Pure."""

import json
from collections.abc import Sequence
from shlex import quote

from monitor.drift.records.detector import LEVEL_KINDS, NOT_COMPARABLE, SCORES_EQUAL
from monitor.drift.records.places import listed, name_of
from monitor.drift.records.values import MovingPriors, ValueIncident
from monitor.drift.records.verdict import SLOPE_KINDS
from monitor.metrics.core.estimate import Estimate
from monitor.words.broken import score, share
from monitor.words.level import factor, side_of
from monitor.words.numbers import odds

MOST_TOLD = 5  # values with a sentence each


def value_sentences(incidents: Sequence[ValueIncident]) -> list[str]:
    """Say of each open drift of a value what, since when and how strong."""
    told = [_sentence(incident) for incident in incidents[:MOST_TOLD]]
    left = len(incidents) - MOST_TOLD
    return [*told, f"{left} more values have drifted by themselves."] if left > 0 else told


def values_in_short(incidents: Sequence[ValueIncident], most: int) -> str:
    """Name the values that drift by themselves, and how, where all their scores are off.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from datetime import date
    >>> day = date(2026, 3, 1)
    >>> ios = ValueIncident("os", "ios", day, day, "too_extreme", -0.5, 0.1, 5.0, 0.0, -50.0, 100.0)
    >>> values_in_short([ios, ios, ios], 1)
    'os = ios and 2 more drifted'
    >>> tv = replace(ios, column="device", value="tv", kind="scores_too_high", size=-1.1)
    >>> values_in_short([tv, ios], 2)
    'scores of device = tv are 3 times too high (odds) and os = ios drifted'
    """
    off = [each for each in incidents[:most] if each.kind in (*LEVEL_KINDS, *NOT_COMPARABLE)]
    drifted = [name_of(each.name) for each in incidents[:most] if each not in off]
    left = len(incidents) - most
    drifted += [f"{left} more"] if left > 0 else []
    said = [f"{_whose(each)} {_off_in_short(each)}" for each in off]
    return listed([*said, *([f"{listed(drifted)} drifted"] if drifted else [])])


def _whose(incident: ValueIncident) -> str:
    every = "all " if incident.kind == SCORES_EQUAL else ""
    return f"{every}scores of {name_of(incident.name)} are"


def _off_in_short(incident: ValueIncident) -> str:
    """Say how all scores of a value are off; follows "are"."""
    if incident.kind in LEVEL_KINDS:
        return f"{factor(incident.size)} {side_of(incident.kind)} (odds)"
    if incident.kind == SCORES_EQUAL:
        return "equal" if incident.mean is None else score(incident.mean)
    return "beyond those that the reference knows"


def step_for(model: str, incident: ValueIncident) -> str:
    """Say what to do about a value."""
    ask = f"Ask what was released on {incident.started} for these rows, or changed in the service."
    if incident.kind in NOT_COMPARABLE:
        no_map = " No map can repair a constant." if incident.kind == SCORES_EQUAL else ""
        return f"{ask}{no_map}"
    part = quote(name_of(incident.name))
    fit = f"calibration-monitor recalibrate --model {model} --part {part} fits a map of that part"
    return f"{ask} {fit} alone." if incident.kind in LEVEL_KINDS else f"{fit} alone."


def strata_to_set(model: str, moving: MovingPriors) -> str:
    """Say which column should be `strata`, and the setting.

    Examples
    --------
    >>> strata_to_set("ads", MovingPriors("country", 0.5, ("DE", "FR"), 28))[-86:]
    'Set models.ads.strata to {"column": "country", "values": ["DE", "FR"]}, then backfill.'
    """
    setting = json.dumps({"column": moving.column, "values": moving.values}, ensure_ascii=False)
    return (
        f"the priors of the values of {moving.column} move apart from day to day (standard "
        f"deviation {moving.spread:.2f} in log-odds, {moving.days} days). Pooled, they can look "
        "like a drift. "
        f"Set models.{model}.strata to {setting}, then backfill."
    )


def priors_of_their_own(column: str) -> str:
    """Say which column the monitor has taken for strata.

    Examples
    --------
    >>> priors_of_their_own("device")
    'Each value of device has a prior of its own, because they moved apart in the reference.'
    """
    return (
        f"Each value of {column} has a prior of its own, because they moved apart in the reference."
    )


def strata_instead_of_drift(model: str, moving: MovingPriors) -> str:
    """Say that an open drift may be none, because of priors that move, and the setting."""
    return (
        f"This may be no drift: within the values of {moving.column}, each with a prior of its "
        f"own, the scores are as before; {strata_to_set(model, moving)}"
    )


def size_of(incident: ValueIncident) -> str:
    """Say how strong the drift of a value is, against the other values of its column.

    Examples
    --------
    >>> from datetime import date
    >>> day = date(2026, 3, 1)
    >>> of = ("os", "ios", day, day, "too_extreme", -0.5, 0.1, 5.0, 0.0, -50.0, 100.0)
    >>> size_of(ValueIncident(*of))
    'slope 0.50, 95 % 0.30 to 0.70'
    """
    if incident.kind in NOT_COMPARABLE:
        return ""
    if incident.kind in SLOPE_KINDS:
        slope = Estimate.normal(1.0 + incident.size, incident.size_error)
        return f"slope {slope:.2f plain}"
    return f"{Estimate.normal(incident.size, incident.size_error):+.2f plain} in log-odds"


def _sentence(incident: ValueIncident) -> str:
    beside = listed([*incident.beside]) if incident.beside else ""
    shared = f" {beside} may be off only because of rows that they share." if beside else ""
    if incident.kind in NOT_COMPARABLE:
        return f"Since {incident.started} {_whose(incident)} {_true_of(incident)}.{shared}"
    if incident.kind in LEVEL_KINDS:
        rows = "" if incident.share is None else f", {share(incident.share)} of the outcomes"
        return (
            f"Since {incident.started} {_whose(incident)} {_off_in_short(incident)}{rows}: their "
            f"outcomes are {size_of(incident)} away from their own curve in the reference, and "
            f"neither the base rate nor the other values of {incident.column} moved along. Found "
            f"at {odds(incident.evidence)}.{shared}"
        )
    strong = f"{size_of(incident)} against the other values of {incident.column}"
    return (
        f"{name_of(incident.name)} drifts by itself: {incident.kind.replace('_', ' ')} since "
        f"{incident.started} ({strong}), found at {odds(incident.evidence)}.{shared}"
    )


def _true_of(incident: ValueIncident) -> str:
    """Say what scores that cannot be compared are, and how often they come true."""
    what, mean = _off_in_short(incident), incident.mean
    if mean is not None and incident.kind != SCORES_EQUAL:
        what += f", {score(mean)} on average"
    if incident.share is not None:
        what += f" ({share(incident.share)} of the outcomes)"
    if incident.rate is None or incident.expected is None:
        return what
    return (
        f"{what}; {share(incident.rate)} of them come true, where the curve of the reference has "
        f"{share(incident.expected)}"
    )
