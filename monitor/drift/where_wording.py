"""Where a drift sits, in a sentence. Pure."""

from monitor.drift.places import Explanation, Place, Where
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
        return (
            f"{explanation.share:.0%} of the evidence comes from {explained_by(explanation)}, "
            f"{explanation.rows:.1%} of the outcomes{_of(explanation.slope)}; without "
            f"{'it' if len(explanation.conditions) == 1 else 'them'} the rest is as before"
            f"{_of(explanation.rest)}."
        )
    if not flagged:
        return "No value of the configured columns differs from its own reference."
    names = listed([name_of(place) for place in flagged[:MOST_NAMED]])
    more = f" and {len(flagged) - MOST_NAMED} more" if len(flagged) > MOST_NAMED else ""
    return (
        f"{len(flagged)} of {len(found.tested)} values differ from their own reference, most of "
        f"all {names}{more}; no few values explain the drift."
    )


def explained_by(explanation: Explanation) -> str:
    """Name the values that explain a drift.

    Examples
    --------
    >>> from monitor.drift.places import Condition
    >>> values = Condition("device", "tv"), Condition("device", "car"), Condition("country", "FR")
    >>> explained_by(Explanation(values, 0.9, None, None, 0.3))
    'device = tv or car and country = FR'
    """
    values = dict[str, list[str]]()
    for one in explanation.conditions:
        values.setdefault(one.column, []).append(shown(one.value))
    return listed([f"{column} = {' or '.join(of)}" for column, of in values.items()])


def name_of(place: Place) -> str:
    """Name a value with its column."""
    return f"{place.column} = {shown(place.value)}"


def _of(slope: Estimate | None) -> str:
    if slope is None:
        return ""
    return f" (slope {slope.value:.2f}, 95 % {slope.low:.2f} to {slope.high:.2f})"


def listed(names: list[str]) -> str:
    """Write a list of names as English does."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
