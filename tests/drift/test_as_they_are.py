"""Changed since the reference and wrong are two questions: scores that fit are no page."""

from datetime import UTC, datetime, timedelta
from functools import cache

import numpy as np
import pytest
from scipy.special import expit

from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.words.trust import trust
from monitor.words.verdict import in_short, sentences
from studies.drift.breaks import BREAKS, Change, rerouted
from studies.drift.rules import FIRST
from tests.support.cases import ALL
from tests.support.stored import detectors_again

ROWS, REFERENCE, SOUND, AFTER = 2_000, 28, 4, 10
BEGUN = FIRST + timedelta(REFERENCE + SOUND)
Line = tuple[float, float]  # slope and intercept of the outcomes on the scores


def drawn(before: Line, now: Line, change: Change | None = None, bend: float = 0.0) -> list[Day]:
    """Draw days whose outcomes have a line on the scores, and another one after a release.

    With an intercept all scores are off by it, and the outcomes are as without.
    """
    rng, days = np.random.default_rng(1), []
    for t in range(REFERENCE + SOUND + AFTER):
        new = t >= REFERENCE + SOUND
        slope, intercept = now if new else before
        weights = np.exp(-0.5 * ((CENTRES + 1.5 + intercept) / 1.6) ** 2)
        counts = rng.multinomial(ROWS, weights / weights.sum())
        moved = intercept + slope * CENTRES + bend * new * np.cos(1.5 * CENTRES)
        moved = moved + (rng.normal(0.0, 0.2) if intercept == 0.0 else 0.0)
        part = Coarse(counts, rng.binomial(counts, expit(moved)))
        part = change(rng, part) if change and new else part
        known = datetime(2027, 1, 1, tzinfo=UTC)
        days.append(Day(FIRST + timedelta(t), True, known, 1.0, {("all", "all"): part}))
    return days


def judged(days: list[Day], cut: int = REFERENCE) -> list[Verdict]:
    """Judge the days after the reference, from `cut` on with what was stored before."""
    references = [fit_model_reference(days[:REFERENCE], Limits())]
    given = {"references": references, "limits": Limits()}
    given |= {"recall": {day.day: day for day in days}.get}
    first = [*judge("ctr", days[REFERENCE:cut], **given)]
    detectors = detectors_again(first[-1] if first else [])
    rest = judge("ctr", days[cut:], **given, recent=days[cut - 7 : cut], detectors=detectors)
    return [whole for whole, *_ in (*first, *rest)]


@cache
def of_lines(before: Line, now: Line) -> list[Verdict]:
    """Judge a release."""
    return judged(drawn(before, now))


@pytest.mark.parametrize("before", [0.7, 1.5] if ALL else [0.7])
def test_a_release_whose_scores_fit_is_a_ticket_on_every_day(before: float) -> None:
    """It is found as soon as any drift, names both slopes, and says what to do."""
    found = of_lines((before, 0.0), (1.0, 0.0))
    states = {verdict.state for verdict in found[SOUND:]}
    last = found[-1]

    assert states == {"ok", "improved"}
    assert last.state == "improved"
    assert (last.incident.opened - BEGUN).days < 7
    assert last.headline(last.incident).kind == "improved"
    assert abs(last.incident.own.slope.value - 1.0) < 3.0 * 0.03  # its standard error
    since = last.incident.started
    assert in_short(last).startswith(f"the scores fit since {since} (slope ")
    assert f"; {before:.1f}" in in_short(last)
    assert sentences(last)[0].endswith("take a new reference from that day on.")
    told = trust(last)
    assert told.answer.startswith("Yes, better than before: the scores fit")
    assert f"calibration-monitor rebase ctr --from {since} " in told.step


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (0.5, 0.72, "nearer to 1, but not there"),
        (0.8, 0.5, "further from 1"),
        (0.75, 1.5, "past 1"),
    ],
)
def test_scores_that_moved_and_do_not_fit_page(before: float, now: float, said: str) -> None:
    """The page says from where to where."""
    last = of_lines((before, 0.0), (now, 0.0))[-1]

    assert last.state == "calibration_drift"
    assert said in trust(last).answer
    assert f"from {last.reference_slope.value:.2f} to " in trust(last).answer
    assert any(said in sentence for sentence in sentences(last))


def test_a_calibrated_model_that_drifts_is_never_better() -> None:
    """Whatever its reference curve has of chance: slopes, a wave, and rows with a new score."""
    line = (1.0, 0.0)
    worlds = [of_lines(line, (1.4, 0.0)), judged(drawn(line, line, bend=0.5))]
    worlds.append(judged(drawn(line, line, BREAKS["scores from 0.3 to 0.5 become 0.9"])))
    # A release that fits, but for the rows that a default takes away.
    worlds.append(judged(drawn((0.7, 0.0), line, rerouted(0.1, 0.0))))
    for found in worlds:
        assert found[-1].state == "calibration_drift"
        assert "improved" not in {verdict.state for verdict in found}


def test_a_level_that_is_right_at_last_is_a_ticket() -> None:
    """Scores three times too high in the reference, right from a day on; the other way it pages."""
    better = of_lines((1.0, -1.1), (1.0, 0.0))[-1]
    worse = of_lines((1.0, 0.0), (1.0, -1.1))[-1]

    assert better.state == "improved"
    assert better.level_incident
    assert "intercept +0.0" in in_short(better) or "intercept -0.0" in in_short(better)
    assert "; -1.0" in in_short(better)
    assert worse.state == "level_drift"


def test_a_slope_beyond_what_is_remembered_is_no_number() -> None:
    """Scores that are shuffled have slope 0, inverted ones -1: at most 0.25, and no interval."""
    for slope in (0.0, -1.0):
        last = of_lines((1.0, 0.0), (slope, 0.0))[-1]
        assert (last.slope.value, np.isnan(last.slope.low)) == (0.25, True)
        assert "(slope at most 0.25)" in sentences(last)[0]


def test_a_day_alone_says_that_it_contradicts_the_reference() -> None:
    """No page comes from one day, and no `yes` either; the next day is a page or all is well."""
    shuffled, line = (0.0, 0.0), (1.0, 0.0)
    default = rerouted(0.1, 0.0)
    for now, change, kind in ((shuffled, None, "too_extreme"), (line, default, "place")):
        days = drawn(line, now, change)[: REFERENCE + SOUND + 2]
        *before, first, second = judged(days)
        assert len(before) == SOUND
        assert not any(verdict.facts.one_day for verdict in before)
        assert first.state in ("ok", "prior_shift")
        assert first.facts.one_day.kind == kind
        assert first.facts.one_day.evidence > 10.0
        assert trust(first).answer.startswith("Not today: this day alone contradicts the reference")
        assert "it pages if the next day does so too" in sentences(first)[0]
        assert not any("No evidence" in sentence for sentence in sentences(first))
        assert second.state == "calibration_drift"
        assert second.facts.one_day is None


def test_a_model_that_became_duller_is_told_without_an_alert() -> None:
    """Half of the rows get the share that comes true: right, and less telling."""
    line = (1.0, 0.0)
    found = judged(drawn(line, line, rerouted(0.8, 0.252)))

    assert {verdict.state for verdict in found} <= {"ok", "prior_shift"}
    assert found[-1].facts.scores.duller
    assert any("the model became duller" in sentence for sentence in sentences(found[-1]))
    assert trust(found[-1]).answer.startswith("Yes, and the scores discriminate less")
    assert not found[SOUND - 1].facts.scores.duller
