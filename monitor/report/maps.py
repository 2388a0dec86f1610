"""What is said of a fitted calibration map, and what one makes of some scores, as a table."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.console import RenderableType

from monitor.metrics.maps.calibration_map import CalibrationMap, apply_steps
from monitor.report.tables import plain_table
from monitor.words.broken import map_at
from monitor.words.maps import lasting_sentence, map_sentences
from monitor.words.part_maps import part_sentences

if TYPE_CHECKING:  # it fits maps, and commands that only show one start without
    from monitor.pipeline.maps.recalibration import Recalibration

BENDS = "spline", "isotonic"  # kinds that follow the curve at each place
PLACES = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)


def recalibration_sentences(fitted: "Recalibration") -> tuple[str, ...]:
    """Say which rows a map is for, what it is worth, and what it cannot do."""
    return (
        *part_sentences(fitted.content, fitted.for_all, fitted.explained),
        *([lasting_sentence(fitted.lasting)] if fitted.lasting else []),
        *([map_at(fitted.place, bends=_bends(fitted))] if fitted.place else []),
        *map_sentences(
            fitted.choice,
            fitted.content,
            worth_it=fitted.worth_it,
            asked=fitted.asked,
            extrapolated=fitted.extrapolated,
            harmed=bool(fitted.harmed) and not fitted.content.part,
        ),
    )


def _bends(fitted: "Recalibration") -> bool:
    """Say whether the map is worth it and follows the curve at each place."""
    return fitted.worth_it and fitted.choice.chosen.kind in BENDS


def mapped_scores(steps: Sequence[CalibrationMap]) -> Mapping[str, float]:
    """Give the mapped probability of each of some scores; empty without a map of one score."""
    mapped = apply_steps(np.array(PLACES), steps).tolist() if steps else []
    return {f"{score:g}": p for score, p in zip(PLACES, mapped, strict=False)}


def mapped_table(steps: Sequence[CalibrationMap]) -> RenderableType:
    """Show them, and which of them lie beyond the scores that a map was fitted to."""
    table = plain_table("What it makes of a score", ("score", "mapped", "fitted there"))
    low, high = steps[0].known
    for score, mapped in mapped_scores(steps).items():
        within = "yes" if low <= float(score) <= high else "no"
        table.add_row(score, f"{mapped:.4g}", within)
    return table
