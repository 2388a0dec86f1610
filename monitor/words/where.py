"""Where a drift sits, in a sentence, and what a search for it found. Pure."""

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING, Literal

from monitor.drift.records.day_evidence import LabelChange
from monitor.drift.records.detector import LEVEL_KINDS
from monitor.drift.records.places import (
    Explanation,
    Where,
    explained_by,
    listed,
    name_all,
    name_of,
)
from monitor.metrics.core.estimate import Estimate
from monitor.words.label_change import as_if
from monitor.words.level import factor, side_of
from monitor.words.numbers import percent

if TYPE_CHECKING:  # its room needs mathematics, and commands that only show start without
    from monitor.drift.where.part_search import PartFound

MOST_NAMED = 5
Maps = Literal["parts", "all rows", "none"]  # what `recalibrate` can fit a map of


def where_command(model: str, *, counted: bool = True) -> str:
    """Write the command that says where a drift sits.

    Parameters
    ----------
    model : str
        Its name.
    counted : bool
        Whether values of columns are counted every day; else the logs are searched.

    Examples
    --------
    >>> where_command("fraud", counted=False)
    'calibration-monitor where --model fraud --search'
    """
    return f"calibration-monitor where --model {quote(model)}{'' if counted else ' --search'}"


def where_sentence(where: Where) -> str:
    """Say which values explain a drift, or that no few of them do.

    Examples
    --------
    >>> where_sentence(Where("too_extreme", None, (), None))
    'No value of the configured columns differs from its own reference.'
    """
    flagged, explanation = where.flagged, where.explanation
    if explanation:
        return (
            f"{percent(explanation.share, 0)} of the evidence comes from "
            f"{name_all(explanation.conditions)}{_others(explanation)}, "
            f"{percent(explanation.rows)} of the outcomes{_how(explanation)}; without "
            f"{'it' if len(explanation.every) == 1 else 'them'} the rest is as before"
            f"{_of(explanation.rest)}.{_new(explanation)}{_uncounted(explanation)}{_instead(explanation)}"
            f"{_beside(explanation)}"
        )
    if not flagged:
        return "No value of the configured columns differs from its own reference."
    more = [f"{len(flagged) - MOST_NAMED} more"] if len(flagged) > MOST_NAMED else []
    names = listed([*(name_of(place) for place in flagged[:MOST_NAMED]), *more])
    differ = (
        f"differs from its own reference, {names}"
        if len(flagged) == 1
        else f"differ from their own reference, most of all {names}"
    )
    of = f"of {len(where.tested)} value{'s' if len(where.tested) > 1 else ''}"
    return f"{len(flagged)} {of} {differ}; no few values explain the drift."


def labels_sentence(labels: LabelChange, explanation: Explanation | None) -> str:
    """Say that it is the labels of some values that changed, or of all rows.

    Examples
    --------
    >>> from monitor.metrics.core.estimate import Estimate
    >>> labels_sentence(LabelChange("lost", Estimate(0.4, 0.3, 0.5), 5.0), None)
    'The outcomes look as if 40 % (95 % 30 % to 50 %) of the positives were missing.'
    """
    of = f"In {explained_by(explanation)} the" if explanation else "The"
    return f"{of} outcomes look {as_if(labels)}."


def new_values(where: Where, most: int) -> str:
    """Name the values that the reference does not know, but for those beyond so many; may be empty.

    Examples
    --------
    >>> from monitor.drift.records.places import Place
    >>> values = [Place("shop", name, 10, None, new=True) for name in ("a", "b", "c")]
    >>> new_values(Where("too_extreme", None, tuple(values), None), 2)
    'New since the reference: shop = a, shop = b and 1 more.'
    """
    new = [name_of(place) for place in where.places if place.new]
    more = f" and {len(new) - most} more" if len(new) > most else ""
    return f"New since the reference: {', '.join(new[:most])}{more}." if new else ""


def values_not_shown(left_out: int, elsewhere: str = "") -> str:
    """Say how many values a table leaves out, and where they are; empty if it shows all.

    Examples
    --------
    >>> values_not_shown(1), values_not_shown(12, "; --json has all"), values_not_shown(0)
    ('1 more value is not shown.', '12 more values are not shown; --json has all.', '')
    """
    if left_out <= 0:
        return ""
    return f"{left_out} more {'value is' if left_out == 1 else 'values are'} not shown{elsewhere}."


def repair_commands(model: str, explanation: Explanation) -> tuple[str, ...]:
    """Write the command that fits a map of the values that explain a drift, for each column.

    Examples
    --------
    >>> from monitor.drift.records.places import Condition
    >>> values = Condition("device", "tv"), Condition("device", "car")
    >>> repair_commands("ads", Explanation(values, 0.9, None, None, 0.3))
    ("calibration-monitor recalibrate --model ads --part 'device = tv' --part 'device = car'",)
    """
    by_column = dict[str, list[str]]()
    for condition in explanation.every:
        by_column.setdefault(condition.column, []).append(f"--part {quote(name_of(condition))}")
    begin = f"calibration-monitor recalibrate --model {model}"
    return tuple(" ".join([begin, *parts]) for parts in by_column.values())


def _new(explanation: Explanation) -> str:
    """Say which of the values the reference does not know, and since when there are any."""
    new = [f"{name_of(c)} is new since {c.first}" for c in explanation.conditions if c.first]
    return f" {listed(new)}, so its outcomes are compared with the curve of all." if new else ""


def _uncounted(explanation: Explanation) -> str:
    """Say that values may be off because they share rows with others."""
    if explanation.counted:
        return ""
    return (
        " How many rows these values share is not counted, so one may be off because of another: "
        "cross their columns to be sure."
    )


def _instead(explanation: Explanation) -> str:
    """Say which other values explain the drift hardly less well."""
    others = explanation.instead
    if not others:
        return ""
    more = f" (or {len(others) - MOST_NAMED} more)" if len(others) > MOST_NAMED else ""
    return (
        f" {', or '.join(others[:MOST_NAMED])}{more} would explain it nearly as well: the outcomes "
        "do not tell these apart."
    )


def _beside(explanation: Explanation) -> str:
    """Say which values may be off too.

    Examples
    --------
    >>> values = Explanation((), 0.9, None, None, 0.3, beside=("hour = 7", "shop = 2"))
    >>> print(_beside(values).strip())
    hour = 7 and shop = 2 may be off too, or only share rows: cross their columns to be sure.
    """
    if not explanation.beside:
        return ""
    named = listed([*explanation.beside[:MOST_NAMED]])
    return f" {named} may be off too, or only share rows: cross their columns to be sure."


def parts_sentence(parts: Sequence["PartFound"], columns: int) -> str:
    """Say how many parts were confirmed, and which is the clearest.

    Examples
    --------
    >>> parts_sentence((), 12)
    'No part of the values of 12 columns moved apart from all other rows.'
    """
    of = f"the values of {columns} column{'s' if columns > 1 else ''}"
    if not parts:
        return f"No part of {of} moved apart from all other rows."
    named = [part_sentence(part) for part in parts]
    return (
        f"{len(parts)} part{'s' if len(parts) > 1 else ''} of {of} moved apart. {' '.join(named)}"
    )


def part_sentence(part: "PartFound") -> str:
    """Say of a part what moved, and which others the outcomes cannot tell from it."""
    new = ", which the reference lacks" if part.new else ""
    slope = "" if part.new or not part.slope else f" (slope {part.slope:.2f plain})"
    beside = (
        f" {', or '.join(part.instead)} would do nearly as well on the days of the search."
        if part.instead
        else ""
    )
    return (
        f"{name_all(part.conditions)}{new}: {part.kind.replace('_', ' ')}{slope}, "
        f"{percent(part.rows)} of the outcomes, p = {part.p_value:.1g}.{beside}"
    )


def _others(explanation: Explanation) -> str:
    """Say which values moved the other way, and how; the numbers of those before follow them."""
    if not explanation.opposite:
        return ""
    said = [
        f"{name_of(other.condition)} ({other.kind.replace('_', ' ')}{_with_slope(other.slope)})"
        for other in explanation.opposite
    ]
    slope = _with_slope(explanation.slope).removeprefix(", ")
    return f"{f' ({slope})' if slope else ''} and, the other way, {listed(said)}"


def _with_slope(slope: Estimate | None) -> str:
    return f", slope {slope:.2f plain}" if slope else ""


def _how(explanation: Explanation) -> str:
    """Say how strong the drift of some values is."""
    if explanation.opposite:
        return ""
    if explanation.kind not in LEVEL_KINDS:
        return _of(explanation.slope)
    return f" (scores {factor(explanation.size)} {side_of(explanation.kind)} in odds)"


def _of(slope: Estimate | None) -> str:
    return f" (slope {slope:.2f plain})" if slope else ""
