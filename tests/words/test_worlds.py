"""What the first line and the sentences say of worlds in which everything moves.

The truth is known: what was done to the prior, the inputs, the scores and the curve.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from math import log, sqrt
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import logit

from monitor.base.segment_names import WHOLE
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.words.trust import trust
from monitor.words.verdict import sentences
from studies.drift.levels import CELLS, FIRST
from studies.drift.shapes import centre, shares
from studies.drift.worlds import World, draw_day

REFERENCE, DAYS, DRAWN = 28, 8, 20
WEEK = 7
SIZES = (World(0.2, 1_000), World(0.025, 4_000))
FITS = ("the scores fit", "only the prior moved")
NOISE = 3.0  # standard errors


class Seen(NamedTuple):
    """A day of a world: what is off in log-odds, how far outcomes moved and their error."""

    off: float
    base: float
    error: float
    bent: bool
    verdict: Verdict

    @property
    def left(self) -> float:
        """How much of what is off did not come with the base rate; below 0 if more came."""
        return abs(self.off) - self.base * np.sign(self.off)

    @property
    def said(self) -> str:
        """The first line."""
        return trust(self.verdict).answer


def as_day(number: int, counts: Coarse) -> Day:
    """Make a day of the reference or after it."""
    known_at = datetime(2026, 1, 1, tzinfo=UTC)
    return Day(FIRST + timedelta(number), True, known_at, 1.0, {(WHOLE, WHOLE): counts})


def worlds_of(size: World) -> Iterator[Seen]:
    """Draw what moves, all of it, some of it or nothing, from the first day after a reference."""
    rng = np.random.default_rng(size.rows)
    middle = centre(size.prevalence)
    days = [draw_day(rng, shares(middle), size.rows, 0.2 * rng.normal(), 0.0) for _ in range(28)]
    limits = Limits()
    reference = fit_model_reference([as_day(t, day) for t, day in enumerate(days)], limits)
    before = sum(int(day.positives.sum()) for day in days) / sum(day.counts.sum() for day in days)
    for _ in range(DRAWN):
        prior = rng.choice([0.0, 0.0, 0.7, -0.7, 1.5, -1.5])
        inputs = rng.choice([0.0, 0.0, 1.0, -1.0])
        bias = round(CELLS * rng.choice([0, 0, 0.3, -0.3, 0.7, -0.7, 1.5, -1.5, 2.5, 3.9, -4.6]))
        slope = rng.choice([1.0, 1.0, 0.7])
        bend = (slope - 1.0) * (CENTRES - middle)
        drawn = [
            draw_day(rng, shares(middle + inputs), size.rows, prior, bend) for _ in range(DAYS)
        ]
        moved = [Coarse(np.roll(d.counts, bias), np.roll(d.positives, bias)) for d in drawn]
        days_on = [as_day(REFERENCE + t, day) for t, day in enumerate(moved)]
        judged = judge("bids", days_on, references=[reference], limits=limits)
        for t, (verdict, *_) in enumerate(judged):
            week = drawn[max(0, t - WEEK + 1) : t + 1]
            hits, rows = (
                sum(int(of.sum()) for of in each)
                for each in zip(*((d.positives, d.counts) for d in week), strict=True)
            )
            now = hits / rows
            error = 1.0 / sqrt(rows * now * (1.0 - now))
            base = float(logit(now) - logit(before))
            yield Seen(prior - bias / CELLS, base, error, slope != 1.0, verdict)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_no_line_says_what_is_not_so(size: World) -> None:
    """Forty worlds a day each for a week: of none is the prior blamed for what it did not do."""
    yes = fits = blamed = once = 0
    for seen in worlds_of(size):
        said, all_of_it = seen.said, " ".join([seen.said, *sentences(seen.verdict)])
        once += said.startswith("Once the base rate is known:")
        if said.startswith("Yes") and not seen.bent:
            yes += 1
            assert abs(seen.off) < log(2.0) + NOISE * seen.error, all_of_it
        if "base rate moved" in said and not seen.bent:
            blamed += 1
            assert seen.base * seen.off > 0.0, all_of_it
        if any(words in all_of_it for words in FITS) and not seen.bent:
            fits += 1
            most = max(log(1.25), 0.25 * abs(seen.off))
            assert seen.left < most + NOISE * seen.error, all_of_it
        if seen.verdict.state in ("prior_shift", "level_drift"):
            assert "The mean score went from" in all_of_it
            assert ", the outcomes from" in all_of_it

    assert min(yes, fits, blamed, once) >= 5
