"""Values of columns that drift by themselves, in sentences. Pure."""

import json
from collections.abc import Sequence
from shlex import quote

from monitor.drift.places import listed, name_of
from monitor.drift.values import MovingPriors, ValueIncident
from monitor.drift.verdict import SLOPE_KINDS
from monitor.metrics.core.estimate import Estimate
from monitor.words.numbers import odds

MOST_TOLD = 5  # values with a sentence each


def value_sentences(incidents: Sequence[ValueIncident]) -> list[str]:
    """Say of each open drift of a value what, since when and how strong."""
    told = [_sentence(incident) for incident in incidents[:MOST_TOLD]]
    left = len(incidents) - MOST_TOLD
    return [*told, f"{left} more values have drifted by themselves."] if left > 0 else told


def values_in_short(incidents: Sequence[ValueIncident], most: int) -> str:
    """Name the values that drift by themselves.

    Examples
    --------
    >>> from datetime import date
    >>> day = date(2026, 3, 1)
    >>> ios = ValueIncident("os", "ios", day, day, "too_extreme", -0.5, 0.1, 5.0, 0.0, -50.0, 100.0)
    >>> values_in_short([ios, ios, ios], 1)
    'os = ios and 2 more'
    """
    names = listed([name_of(incident.name) for incident in incidents[:most]])
    left = len(incidents) - most
    return f"{names} and {left} more" if left > 0 else names


def repair_of(model: str, incident: ValueIncident) -> str:
    """Write the command that fits a map of a value."""
    return f"calibration-monitor recalibrate --model {model} --part {quote(name_of(incident.name))}"


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
    if incident.kind in SLOPE_KINDS:
        slope = Estimate.normal(1.0 + incident.size, incident.size_error)
        return f"slope {slope:.2f plain}"
    return f"{Estimate.normal(incident.size, incident.size_error):+.2f plain} in log-odds"


def _sentence(incident: ValueIncident) -> str:
    strong = f"{size_of(incident)} against the other values of {incident.column}"
    beside = listed([*incident.beside]) if incident.beside else ""
    shared = f" {beside} may be off only because of rows that they share." if beside else ""
    return (
        f"{name_of(incident.name)} drifts by itself: {incident.kind.replace('_', ' ')} since "
        f"{incident.started} ({strong}), found at {odds(incident.evidence)}.{shared}"
    )
