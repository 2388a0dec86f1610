"""What keeps a day from being judged. Pure."""

from datetime import timedelta
from math import isfinite

import numpy as np

from monitor.drift.fold.inputs import Day, parts_of_stream, same_classes
from monitor.drift.records.facts import NOT_ALIKE, Obstacle
from monitor.drift.records.verdict import State
from monitor.drift.verdicts.stream import Stream


def obstacle_of(stream: Stream) -> Obstacle | None:
    """Find what keeps the day of a stream from being judged; an open drift outlasts a gap."""
    day, reference = stream.day, stream.reference
    if not day.final:
        return "logs failed" if day.complaint else "outcomes awaited"
    if reference and day.day <= reference.last:
        return "part of the reference"
    if not (reference and stream.own):
        return "no reference"
    if (unlike := day.unlike_of(stream.name)) or not same_classes(day, reference):
        return "read otherwise" if unlike else "other classes"
    if stream.incident or stream.level:
        return None
    return "drift may be late outcomes" if day.late and stream.withheld else _silent(stream)


def _silent(stream: Stream) -> Obstacle | None:
    """Say why nothing that is known by this day is evidence."""
    detector, day, judge_every = stream.detector, stream.day, stream.limits.judge_every
    if detector.history.firsts.size:
        age = day.day - detector.last
        if age < timedelta(days=judge_every):
            return None
        if judge_every > 1:
            return None if age < timedelta(days=2 * judge_every) else "span without contrast"
    elif judge_every > 1:
        return "first span not over"
    if day.predicted.get(stream.name) == 0:
        return "no predictions"
    return _no_contrast(day, stream.name) if isfinite(stream.prevalence) else "no outcomes"


def _no_contrast(day: Day, name: str) -> Obstacle:
    """Say what is equal on a day that tells high scores from low ones nowhere."""
    parts = parts_of_stream(day, name).values()
    counts = np.sum([part.counts for part in parts], axis=0)
    positives = np.sum([part.positives for part in parts], axis=0)
    if day.classes and (classes := day.classes.of(name)):
        equal = np.count_nonzero(classes.outcomes) == 1
    else:
        equal = positives.sum() in (0, counts.sum())
    if equal:
        return "equal outcomes"
    return "equal scores" if np.count_nonzero(counts) == 1 else "no contrast within parts"


def state_without_verdict(obstacle: Obstacle) -> State:
    """Choose the state of a day that is not judged."""
    if obstacle == "logs failed":
        return "data_error"
    return "not_comparable" if obstacle in NOT_ALIKE else "insufficient_data"
