"""Worlds in which only some predictions get an outcome, and the rule that says which."""

from collections.abc import Callable
from datetime import UTC, date, datetime

import numpy as np
from scipy.special import expit, logit

from monitor.base.segment_names import WHOLE
from monitor.days.summary import Awaited, Segment, Summary
from monitor.metrics.core.grid import CELL_COUNT, Floats, locate
from monitor.metrics.core.tally import tally_on_grid

DAY, KNOWN_AT = date(2026, 3, 7), datetime(2026, 3, 9, tzinfo=UTC)
Rule = Callable[[Floats, Floats], Floats]  # scores and outcomes -> probability of an outcome

# What looks at the outcome, or at nothing, but not at the score.
SILENT: dict[str, Rule] = {
    "1 % at random": lambda s, _: np.full(s.size, 0.01),
    "10 % at random": lambda s, _: np.full(s.size, 0.1),
    "90 % at random": lambda s, _: np.full(s.size, 0.9),
    "a tenth of the positives late": lambda _, y: np.where(y, 0.9, 1.0),
    "a quarter of the positives late": lambda _, y: np.where(y, 0.75, 0.98),
    "a quarter of the negatives late": lambda _, y: np.where(y, 1.0, 0.75),
}
BY_SCORE: dict[str, Rule] = {
    "2 %, and half of the highest": lambda s, _: np.where(s > 0.5, 0.5, 0.02),
    "the riskier the likelier": lambda s, _: s**1.5,
    "the least certain": lambda s, _: 0.03 + 0.3 * np.exp(-(logit(s) ** 2)),
    "accepted below 0.3": lambda s, _: (s < 0.3) * 0.95,
    "times 2 over the whole range": lambda s, _: 0.2 + 0.2 * expit(2.0 * (logit(s) + 1.0)),
}


def draw(
    rows: int, centre: float, rng: np.random.Generator, *, slope: float = 1.0, spread: float = 1.3
) -> tuple[Floats, Floats]:
    """Draw scores, and outcomes of which a slope of 1 makes calibrated ones."""
    logits = rng.normal(centre, spread, rows)
    right = expit(centre + slope * (logits - centre))
    return np.asarray(expit(logits)), rng.random(rows) < right


def part_of(scores: Floats, outcomes: Floats, rule: Rule, rng: np.random.Generator) -> Segment:
    """Give an outcome to some of the predictions."""
    has = rng.random(scores.size) < rule(scores, outcomes)
    late = np.bincount(locate(scores[~has])[0], minlength=CELL_COUNT)
    cells = np.flatnonzero(late)
    known = tally_on_grid(outcomes[has], scores[has])
    return Segment(known, scores.size, Awaited(cells, late[cells]))


def day_of(segments: dict[str, Segment] | Segment, *, final: bool = True) -> Summary:
    """Make a day."""
    parts = {WHOLE: segments} if isinstance(segments, Segment) else segments
    return Summary("m", (DAY,), parts, {}, final, KNOWN_AT)
