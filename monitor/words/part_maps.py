"""Whether a map is for a part of the rows or for all, and what one for all does to parts. Pure."""

from collections.abc import Sequence

from monitor.base.segment_names import printable
from monitor.drift.records.places import Explanation
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.maps.map_file import MapFile
from monitor.metrics.maps.part_gains import PartGain
from monitor.words.numbers import percent

MOST_NAMED = 3


def part_sentences(
    content: MapFile, for_all: Sequence[PartGain], explained: Explanation | None
) -> tuple[str, ...]:
    """Say which rows a map is for, and what a map for all gains or loses in the parts.

    Parameters
    ----------
    content : MapFile
        The map.
    for_all : sequence of PartGain
        What a map for all gains: in the part of the map and in the rest, or in all parts.
    explained : Explanation or None
        Why the map is for a part although none was asked for.
    """
    if content.part:
        return (*_explained(content, explained), *_beside(for_all))
    harmed = sorted((gain for gain in for_all if gain.harmed), key=lambda gain: gain.shape.value)
    if not harmed:
        return ()
    worst = "; ".join(f"{printable(gain.name)} {_nats(gain)}" for gain in harmed[:MOST_NAMED])
    said = (
        f"A map for all would harm {len(harmed)} of {len(for_all)} parts. Gained or lost on days "
        f"left out: {worst}. calibration-monitor where --model {content.model} names the part that "
        f"drifted, and --part fits a map of that part alone."
    )
    return (said,)


def _explained(content: MapFile, explained: Explanation | None) -> tuple[str, ...]:
    if not explained or not content.part:
        return ()
    said = (
        f"{percent(explained.share, 0)} of the evidence for the drift comes from "
        f"{printable(content.part.name)}, so this map is for these rows alone "
        f"({percent(explained.rows)} of the outcomes); --segment all fits one for all."
    )
    return (said,)


def _beside(for_all: Sequence[PartGain]) -> tuple[str, ...]:
    """Say what a map for all would do instead."""
    if not for_all:
        return ()
    said = " and ".join(
        f"{_changed(gain.log_loss)} in {printable(gain.name)} ({percent(gain.rows)} of the "
        f"outcomes; {_nats(gain)})"
        for gain in for_all
    )
    return (f"A map for all would {said}.",)


def _changed(gain: Estimate) -> str:
    verb = "gain" if gain.value > 0.0 else "lose"
    return f"{verb} {abs(gain.value):z.4f} nats a prediction"


def _nats(gain: PartGain) -> str:
    return (
        f"{gain.log_loss:+z.4f value} ({gain.log_loss:z.4f interval}), of it by its shape "
        f"{gain.shape:+z.4f value} ({gain.shape:z.4f interval})"
    )
