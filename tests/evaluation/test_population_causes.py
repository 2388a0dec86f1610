"""Causes, an intercept and a map: of all predictions, from labels that were chosen."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binom

from monitor.days.summary import SQUARE, UNIT, ColumnPart, Segment, awaited, rated
from monitor.evaluation.attribution import causes_of, intercept_correction
from monitor.evaluation.evaluation import NAMES
from monitor.evaluation.population import (
    mean_population_causes,
    population_causes,
    population_correction,
)
from monitor.evaluation.score_errors import LabelRates
from monitor.evaluation.shadow import Shadow, day_gains, part_gains
from monitor.metrics.core.coarse import coarsen
from monitor.metrics.core.estimate import NORMAL_95
from monitor.metrics.core.grid import locate
from monitor.metrics.core.tally import tally_on_grid
from monitor.metrics.maps.calibration_map import CalibrationMap
from tests.support.cases import ALL, some
from tests.support.label_worlds import BY_SCORE, SILENT, Rule, day_of, draw, part_of

DAYS, ROWS, CENTRE, SLOPE = 40, 20_000, -1.0, 0.6
RULES: dict[str, Rule] = BY_SCORE | {"10 % at random": SILENT["10 % at random"]}
del RULES["accepted below 0.3"]  # there is nothing to be known above
IN_LOG = LabelRates(in_log=True)
RIGHT = CalibrationMap("platt", (1.0 - SLOPE) * CENTRE, (SLOPE,))


def everything(scores: np.ndarray, _: np.ndarray) -> np.ndarray:
    """Label all."""
    return np.ones(scores.size)


def hidden(rows: int, rng: np.random.Generator, *, all_labelled: bool = False) -> Segment:
    """Label rows by what moves the outcome too, with a probability that the log has."""
    x, z = rng.normal(CENTRE, 1.3, rows), rng.normal(size=rows)
    outcomes = rng.random(rows) < expit(SLOPE * (x - CENTRE) + CENTRE + z)
    rate = np.ones(rows) if all_labelled else np.clip(expit(x + z), 0.05, 1.0)
    has, w = rng.random(rows) < rate, 1.0 / rate
    late = locate(expit(x[~has]))[0]
    sums = (np.rint(UNIT * w[has]).astype(int), np.rint(SQUARE * w[has] ** 2).astype(int))
    return Segment(
        tally_on_grid(outcomes[has], expit(x[has])),
        rows,
        awaited(late, np.ones(late.size, np.int64)),
        rated=rated(locate(expit(x[has]))[0], *sums, outcomes[has]),
    )


@cache
def truth(world: str) -> np.ndarray:
    """Compute the causes of a million predictions, and what an intercept removes of their error."""
    rng = np.random.default_rng(5)
    if world == "hidden":
        part = hidden(1_000_000, rng, all_labelled=True)
    else:
        part = part_of(*draw(1_000_000, CENTRE, rng, slope=SLOPE), everything, rng)
    causes, correction = causes_of(part.tally), intercept_correction(part.tally)
    shares = [vars(of)[name] for of in (causes.log_loss, causes.squared_error) for name in NAMES]
    return np.array([*shares, correction.delta.value, correction.log_loss.value])


def held(part: Segment, rates: LabelRates, expected: np.ndarray) -> np.ndarray:
    """Say which of the intervals hold what is expected."""
    explained, correction = population_causes(part, rates), population_correction(part, rates)
    assert explained
    causes = explained[1]
    kinds = (causes.log_loss, causes.squared_error)
    values = [vars(of)[name] for of in kinds for name in NAMES]
    kinds = (causes.log_loss_errors, causes.squared_error_errors)
    errors = [vars(of)[name] for of in kinds for name in NAMES]
    values += [correction.delta.value, correction.log_loss.value]
    errors += [correction.delta.standard_error, correction.log_loss.standard_error]
    is_unknown = np.array(errors) == 0.0  # a cause whose map could not be fitted
    return is_unknown | (np.abs(np.array(values) - expected) <= NORMAL_95 * np.array(errors))


@pytest.mark.parametrize("world", some([*RULES, "hidden"][::-1], 2))
def test_intervals_hold_those_of_all(world: str) -> None:
    """About 95 of 100 days, however labels are chosen, in nats and in squares."""
    rng, days = np.random.default_rng(2), DAYS if ALL else 20
    times = np.zeros(2 * len(NAMES) + 2, int)
    for _ in range(days):
        if world == "hidden":
            times += held(hidden(ROWS, rng), IN_LOG, truth(world))
        else:
            part = part_of(*draw(ROWS, CENTRE, rng, slope=SLOPE), RULES[world], rng)
            times += held(part, LabelRates(), truth("by score"))

    assert times.min() >= binom.ppf(1e-3, days, 0.95)


def test_all_labelled_is_the_tally_itself() -> None:
    """Whatever says so; the spread is that of the fitted map, not that of the outcomes."""
    part = hidden(ROWS, np.random.default_rng(4), all_labelled=True)
    plain, shift = causes_of(part.tally), intercept_correction(part.tally)
    assert plain
    assert shift
    for rates in (LabelRates(), LabelRates(((0.4, 1.0), (1.0, 1.0))), IN_LOG):
        explained, correction = population_causes(part, rates), population_correction(part, rates)
        assert explained
        assert explained[0] == ROWS
        assert correction.delta.value == pytest.approx(shift.delta.value, rel=1e-9)
        for kind in ("log_loss", "squared_error"):
            for name in NAMES:
                ours, theirs = (vars(getattr(c, kind))[name] for c in (explained[1], plain))
                scale = vars(getattr(plain, f"{kind}_errors"))[name]
                assert abs(ours - theirs) < 0.05 * scale  # optimism by the outcomes, or the map


@pytest.mark.parametrize("rarer", [0, 9, 10, 19, 20, 39, 40])
def test_few_labelled_outcomes_name_fewer_causes(rarer: int) -> None:
    """As of labelled predictions alone, however many predictions they stand for."""
    scores = np.linspace(0.05, 0.6, 400)
    outcomes = np.zeros(400, int)
    outcomes[np.random.default_rng(6).permutation(400)[:rarer]] = 1
    tally = tally_on_grid(outcomes, scores)
    cells = locate(scores)[0]
    explained = population_causes(Segment(tally, 8_000, awaited(cells, np.full(400, 19))))

    assert (explained is None) == (rarer < 10)
    if explained:
        assert (explained[1].log_loss_errors.slope > 0.0) == (rarer >= 20)
        assert explained[1].log_loss_errors.shape == 0.0 or rarer >= 40


def test_days_are_averaged_by_their_predictions() -> None:
    """Not by their labels; where most days have too few, all are explained together."""
    rng = np.random.default_rng(7)
    few = RULES["10 % at random"]
    big = part_of(*draw(ROWS, CENTRE, rng, slope=SLOPE), few, rng)
    small = part_of(*draw(2_000, CENTRE, rng), everything, rng)
    causes = [found[1] for part in (big, small) if (found := population_causes(part))]
    mean = mean_population_causes([big, small], big, population_causes)
    sparse = [part_of(*draw(200, CENTRE, rng), few, rng) for _ in range(5)]

    assert mean.log_loss.slope == pytest.approx(
        (20 * causes[0].log_loss.slope + 2 * causes[1].log_loss.slope) / 22, rel=1e-12
    )
    assert mean_population_causes(sparse, big, population_causes) == causes[0]


PARTS: dict[str, Callable[[], tuple[list[Segment], LabelRates]]] = {
    "by score": lambda: (
        [
            part_of(*draw(ROWS, CENTRE, rng, slope=SLOPE), RULES["the riskier the likelier"], rng)
            for rng in map(np.random.default_rng, range(DAYS))
        ],
        LabelRates(),
    ),
    "in the log": lambda: (
        [hidden(ROWS, rng) for rng in map(np.random.default_rng, range(DAYS))],
        IN_LOG,
    ),
}


@pytest.mark.parametrize("who", PARTS)
def test_a_map_gains_what_it_gains_for_all(who: str) -> None:
    """Over 40 days, for a map of all rows and for one of the rows in some cells."""
    parts, rates = PARTS[who]()
    rng = np.random.default_rng(8)
    many = (
        hidden(1_000_000, rng, all_labelled=True)
        if rates.in_log
        else part_of(*draw(1_000_000, CENTRE, rng, slope=SLOPE), everything, rng)
    )
    right = day_gains(day_of(many), Shadow(RIGHT))["all"]
    right_above = part_gains(day_of(many), above(many), RIGHT)["all"]
    ours, above_ours, plain = (np.zeros(3) for _ in range(3))
    for part in parts:
        for sums, gain in (
            (ours, day_gains(day_of(part), Shadow(RIGHT), rates)["all"]),
            (above_ours, part_gains(day_of(part), above(part), RIGHT, rates)["all"]),
            (plain, day_gains(day_of(part), Shadow(RIGHT))["all"]),
        ):
            sums += [gain.outcomes, gain.log_loss, gain.brier]

    assert ours[0] == pytest.approx(DAYS * ROWS, rel=2e-3)  # beyond the highest label
    assert ours[1] / ours[0] == pytest.approx(right.log_loss / right.outcomes, rel=0.06)
    assert ours[2] / ours[0] == pytest.approx(right.brier / right.outcomes, rel=0.1)
    right_share = right_above.log_loss / right_above.outcomes
    assert above_ours[1] / above_ours[0] == pytest.approx(right_share, rel=0.1)
    assert abs(plain[1] / plain[0] - right.log_loss / right.outcomes) > 0.005


def above(part: Segment) -> ColumnPart:
    """Take the rows with scores above 0.6."""
    cells = coarsen(part.tally)
    seen = np.flatnonzero(cells.counts)
    seen = seen[seen > 512 + 32 * logit(0.6)]
    return ColumnPart(seen, cells.counts[seen], cells.positives[seen], part.predicted)
