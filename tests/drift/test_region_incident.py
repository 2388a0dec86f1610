"""Incidents of breaks at one place: named as what they are, dated, followed, closed, kept."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache

import numpy as np
import pytest

from monitor.days.arrivals import Late
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.region_state import KIND, Break
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import Coarse
from monitor.words.trust import trust
from monitor.words.verdict import in_short, sentences
from studies.drift.breaks import BREAKS, WEIGHTS
from studies.drift.rules import FIRST
from studies.drift.worlds import draw_day

REFERENCE, SOUND, BROKEN = 28, 5, 12
BEGUN = FIRST + timedelta(REFERENCE + SOUND)
Change = Callable[[np.random.Generator, Coarse], Coarse]


def drawn(change: Change, *, rows: int = 2_000, back: int = 0, seed: int = 1) -> list[Day]:
    """Draw days: of a reference, sound ones, broken ones, and sound ones again."""
    rng, days = np.random.default_rng(seed), []
    total = REFERENCE + SOUND + BROKEN + back
    for t, prior in enumerate(rng.normal(0.0, 0.3, total)):
        part = draw_day(rng, WEIGHTS, rows, prior, 0.0)
        if 0 <= t - REFERENCE - SOUND < BROKEN:
            part = change(rng, part)
        known = datetime(2027, 1, 1, tzinfo=UTC)
        parts = {("all", "all"): part}
        days.append(Day(FIRST + timedelta(t), True, known, 1.0, parts))
    return days


def judged(days: Sequence[Day]) -> list[Verdict]:
    """Judge the days after the reference; give the verdicts of the whole."""
    references = [fit_model_reference(days[:REFERENCE], Limits())]
    recall = {day.day: day for day in days}.get
    folded = judge("ctr", days[REFERENCE:], references=references, limits=Limits(), recall=recall)
    return [whole for whole, *_ in folded]


@cache
def of_break(name: str) -> list[Verdict]:
    """Judge the days of a break."""
    return judged(drawn(BREAKS[name]))


def place_of(verdict: Verdict) -> Break:
    """Give the open break."""
    assert verdict.incident.kind == KIND
    assert verdict.incident.place
    return verdict.incident.place


@pytest.mark.parametrize(
    ("name", "opened", "score", "share", "rate"),
    [
        ("5 % of the rows get the score 0", 2, 0.0, 0.05, 0.24),
        ("5 % of the rows get the score 1", 2, 1.0, 0.05, 0.24),
        ("5 % of the rows get the score 0.5", 7, 0.5, 0.06, 0.26),
        ("scores from 0.3 to 0.5 become 0.9", 2, 0.9, 0.2, 0.4),
    ],
)
def test_a_value_is_named_with_its_rows_and_its_first_day(
    name: str, opened: int, score: float, share: float, rate: float
) -> None:
    """The day on which it began is told to the day."""
    whole = of_break(name)[-1]
    place = place_of(whole)

    assert whole.state == "calibration_drift"
    assert 2 <= (whole.incident.opened - BEGUN).days + 1 <= opened
    assert whole.incident.start_low == whole.incident.start_high == BEGUN
    assert place.first_score == place.last_score == pytest.approx(score, abs=0.005)
    assert place.share == pytest.approx(share, abs=0.02)
    assert place.rate == pytest.approx(rate, abs=0.06)


def test_a_region_is_named_with_its_odds() -> None:
    """Five percent of bots around 0.73 lower the odds there; two days before may be the first."""
    whole = of_break("5 % bots around 0.73")[-1]
    place = place_of(whole)

    assert place.family == "region"
    assert place.first_score < 0.73 < place.last_score
    assert (BEGUN - whole.incident.start_low).days == 2
    assert whole.incident.start_high == BEGUN
    assert -1.5 < whole.incident.size < -0.2
    assert sentences(whole)[0].startswith(f"Since {whole.incident.started} ")
    assert ": at scores " not in sentences(whole)[0]
    assert "elsewhere as before" in sentences(whole)[0]
    assert "what they were at scores " in in_short(whole)


def test_what_is_said_of_a_value() -> None:
    """The sentence, the first line and the next step speak of the rows, of no slope."""
    whole = of_break("5 % of the rows get the score 0")[-1]
    first = sentences(whole)[0]

    assert " 5 % of the rows have the score 0 (none in the reference); 2" in first
    assert first.endswith(" % of them come true.")
    assert in_short(whole).startswith(f"5 % of the rows have the score 0 since {BEGUN}, found at ")
    assert trust(whole).answer.startswith("No: 5 % of the rows have the score 0 since ")
    assert "No map can tell them" in trust(whole).step
    assert not any("only a break at one place is judged" in said for said in sentences(whole))


def test_scores_that_all_moved_are_no_place() -> None:
    """Log-odds of all scores 2 higher, the outcomes as they were: an error of the level."""

    def change(_: np.random.Generator, day: Coarse) -> Coarse:
        return Coarse(np.roll(day.counts, 64), np.roll(day.positives, 64))

    whole = judged(drawn(change))[-1]

    assert whole.level_incident
    assert whole.distortion is None or whole.distortion.place is None


def test_it_closes_when_it_is_over() -> None:
    """A default score that is gone again: the incident closes, a week after it opened or later."""
    last = judged(drawn(BREAKS["5 % of the rows get the score 0"], back=8))[-1]

    assert last.incident is None
    assert last.detector.ended.reason == "recovered"
    gone = BEGUN + timedelta(BROKEN)
    assert gone <= last.detector.ended.closed <= gone + timedelta(4)


def test_a_region_that_recovers_closes() -> None:
    """By its outcomes, which are as before."""
    days = judged(drawn(BREAKS["5 % bots around 0.73"], back=14))

    assert days[SOUND + BROKEN - 1].incident
    assert days[-1].incident is None


def test_a_late_day_says_nothing_of_places() -> None:
    """Outcomes that arrive late may look like anything: what has accumulated stays as it is."""
    days = drawn(BREAKS["5 % of the rows get the score 0"])
    late = Late(5, 0.4, 0.4, None)
    late_days = [replace(d, late=late) if d.day >= BEGUN else d for d in days]

    whole = judged(late_days)[-1]

    assert whole.incident is None or whole.incident.place is None
    assert whole.detector.regions.last < BEGUN
