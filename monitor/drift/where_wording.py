"""Where a drift sits, in a sentence. Pure."""

from monitor.drift.where import Place, Where
from monitor.metrics.core.estimate import Estimate
from monitor.segment_names import shown

MOST_NAMED = 5


def where_sentence(found: Where) -> str:
    """Say which values explain a drift, or that no few of them do.

    Examples
    --------
    >>> where_sentence(Where("too_extreme", None, (), None))
    'No value of the configured columns differs from its own reference.'
    """
    flagged, explanation = found.flagged, found.explanation
    if explanation:
        values = _listed([shown(value) for value in explanation.values])
        return (
            f"{explanation.share:.0%} of the evidence comes from {explanation.column} = {values}, "
            f"{explanation.rows:.1%} of the outcomes{_of(explanation.slope)}; without "
            f"{'it' if len(explanation.values) == 1 else 'them'} the rest is as before"
            f"{_of(explanation.rest)}."
        )
    if not flagged:
        return "No value of the configured columns differs from its own reference."
    tested = sum(place.change is not None for place in found.places)
    names = _listed([name_of(place) for place in flagged[:MOST_NAMED]])
    more = f" and {len(flagged) - MOST_NAMED} more" if len(flagged) > MOST_NAMED else ""
    return (
        f"{len(flagged)} of {tested} values differ from their own reference, most of all {names}"
        f"{more}; no few values of one column explain the drift."
    )


def name_of(place: Place) -> str:
    """Name a value with its column."""
    return f"{place.column} = {shown(place.value)}"


def _of(slope: Estimate | None) -> str:
    if slope is None:
        return ""
    return f" (slope {slope.value:.2f}, 95 % {slope.low:.2f} to {slope.high:.2f})"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
