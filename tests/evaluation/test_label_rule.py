"""The day on which another rule chooses labels: found, to the day, and never made up."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from monitor.days.summary import Segment, Summary, whole
from monitor.evaluation.chosen_labels import LEAST_DAYS, rule_change
from monitor.metrics.core.grid import Floats
from monitor.words.labels import rule_sentence
from tests.support.cases import some
from tests.support.label_worlds import BY_SCORE, DAY, SILENT, Rule, day_of, draw, part_of

DAYS = 24


def days_of(
    rules: Sequence[Rule], seed: int, *, rows: int = 4_000, wander: float = 0.0
) -> list[Summary]:
    """Label a day by each rule; reviewers do more on some days, by a factor that `wander` sets."""
    rng = np.random.default_rng(seed)
    days = []
    for i, rule in enumerate(rules):
        scores, outcomes = draw(rows, -1.0 + rng.normal(0.0, 0.3), rng)
        diligence = np.exp(rng.normal(-wander, wander))

        def at_work(s: Floats, y: Floats, rule: Rule = rule, by: float = diligence) -> Floats:
            return np.minimum(1.0, by * rule(s, y))

        day = day_of(part_of(scores, outcomes, at_work, rng))
        days.append(replace(day, days=(DAY + timedelta(i),)))
    return days


@pytest.mark.parametrize("rule", BY_SCORE | SILENT)
@pytest.mark.parametrize("wander", [0.0, 0.2])
def test_a_rule_that_stays_is_not_called_new(rule: str, wander: float) -> None:
    """Whatever it looks at, while the prior moves, also where some days get fewer reviews."""
    for seed in some(range(4), 2):
        assert rule_change(days_of([(BY_SCORE | SILENT)[rule]] * DAYS, seed, wander=wander)) is None


@pytest.mark.parametrize("change", range(LEAST_DAYS, DAYS - LEAST_DAYS + 1, 3))
@pytest.mark.parametrize("wander", [0.0, 0.2])
def test_a_new_rule_is_found_on_its_day(change: int, wander: float) -> None:
    """With the rates of the scores where it differs most clearly."""

    def stricter(s: Floats, _: Floats) -> Floats:
        return np.where(s < 0.3, 0.78, 0.2)

    def before(s: Floats, _: Floats) -> Floats:
        return np.full(s.size, 0.78)

    days = days_of([before] * change + [stricter] * (DAYS - change), change, wander=wander)
    found = rule_change(days)

    assert not found.alike
    assert abs((found.day - DAY).days - change) <= (1 if wander else 0)
    assert found.before.low > 0.3 - 0.05
    assert found.before.rate > 2.0 * found.after.rate
    assert (found.before.low, found.before.high) == (found.after.low, found.after.high)


def mixed(parts: str, change: int, rates: dict[str, tuple[float, float]]) -> list[Summary]:
    """Draw days of two parts with rates before and after a day, on which their traffic swaps."""
    rng, days = np.random.default_rng(change), []
    for i in range(DAYS):
        drawn = dict[str, Segment]()
        for name, sizes in (("few", (3_000, 1_000)), ("many", (1_000, 3_000))):
            rate = rates[name][i >= change]
            scores, outcomes = draw(sizes[i >= change], -1.0, rng)
            drawn[name] = part_of(scores, outcomes, lambda s, _, r=rate: np.full(s.size, r), rng)
        day = day_of(drawn)
        if parts == "strata":
            day = day_of(replace(whole(day), strata=drawn))
        days.append(replace(day, days=(DAY + timedelta(i),)))
    return days


@pytest.mark.parametrize("parts", ["segments", "strata"])
def test_traffic_that_moves_between_parts_is_no_new_rule(parts: str) -> None:
    """The share of each part stays; a new rule of one part is found, and its day."""
    stays = {"few": (0.2, 0.2), "many": (0.8, 0.8)}

    assert rule_change(mixed(parts, 12, stays)) is None
    found = rule_change(mixed(parts, 12, stays | {"many": (0.8, 0.5)}))
    assert found.day == DAY + timedelta(12)
    # A quarter of the traffic has a rate of 0.2; 800 rows of a group and 12 days give 0.005.
    assert found.before.rate == pytest.approx(0.65, abs=0.02)
    assert found.after.rate == pytest.approx(0.425, abs=0.02)


def test_what_cannot_be_compared_is_left_out() -> None:
    """Days whose outcomes can still arrive look as if fewer were chosen."""
    rules = [SILENT["90 % at random"]] * 10 + [SILENT["10 % at random"]] * 10
    days = days_of(rules, 1)

    found = rule_change(days)
    assert found.alike  # at all scores, so the score has no say
    # 10 days of 4,000 rows: two standard errors of the rates are 0.003.
    assert (found.before.rate, found.after.rate) == pytest.approx((0.9, 0.1), abs=0.005)
    assert "alike at all scores: 10.0 %" in rule_sentence(found)
    assert rule_change([replace(day, final=i < 10) for i, day in enumerate(days)]) is None
    assert rule_change(days[: 2 * LEAST_DAYS - 1]) is None
    assert rule_change(days[10 - LEAST_DAYS + 1 :]) is None
    assert rule_change([]) is None
