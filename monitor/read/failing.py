"""For what a program lets a call fail: the groups of states that `show --fail-on` names.

Rule: what a person has taken with `ack` counts all the same, because the probabilities are no
better for it. A drift that the configuration says is known does not.
"""

from collections.abc import Iterable, Mapping, Sequence

from monitor.base.errors import ConfigError
from monitor.base.segment_names import WHOLE
from monitor.drift.records.verdict import OF_LABELS, UNJUDGED, Verdict
from monitor.read.standing import Standing

GROUPS: Mapping[str, frozenset[str]] = {
    "drift": frozenset(["calibration_drift", "undecided"]),
    "level": frozenset(["level_drift"]),
    "labels": OF_LABELS,
    "blind": UNJUDGED | {"reference_changed", "unreadable", ""},
}
OF_WHOLE = "blind"  # beside the whole, because a small segment has no verdict on many days


def groups_of(text: str) -> tuple[str, ...]:
    """Read the names of groups, with commas between them.

    Raises
    ------
    ConfigError
        If one is no group.

    Examples
    --------
    >>> groups_of("drift, level")
    ('drift', 'level')
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in GROUPS:
            msg = f"--fail-on: {name!r} is none of {', '.join(GROUPS)}; name some of these."
            raise ConfigError(msg)
    return names


def failing(
    stands: Mapping[str, Standing], groups: Iterable[str], *, old: bool = False
) -> dict[str, list[str]]:
    """List the segments of a model for which a call fails, by group.

    Parameters
    ----------
    stands : mapping of str to Standing
        What stands of each segment that is asked about.
    groups : iterable of str
        Some of `GROUPS`.
    old : bool
        Whether later days than that of the verdicts must have settled, as `is_old` says: of these
        nothing is known.

    Returns
    -------
    dict
        Without the groups that no segment is in.
    """
    found = {
        group: [
            name
            for name, standing in stands.items()
            if (_fails(group, standing) or (old and group == OF_WHOLE))
            and not (group == OF_WHOLE and name != WHOLE in stands)
        ]
        for group in groups
    }
    return {group: names for group, names in found.items() if names}


def _fails(group: str, standing: Standing) -> bool:
    return standing.state in GROUPS[group] or group in _beside_the_state(standing.verdict)


def _beside_the_state(verdict: Verdict | None) -> Sequence[str]:
    """Give the groups of what the day alone says, and of a level that is off beside a drift."""
    if verdict is None:
        return ()
    level = verdict.level_incident
    is_off = verdict.facts.today is not None or (level is not None and not level.improved)
    said = {"level": is_off, "drift": verdict.facts.one_day is not None}
    return [group for group, holds in said.items() if holds]
