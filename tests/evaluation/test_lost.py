"""What miscalibration cost: against plain counts by the nested maps, and in known worlds."""

from dataclasses import replace
from datetime import UTC, date, datetime

import numpy as np
import pytest
from scipy.special import expit, logit

from monitor.days.summary import Segment, Summary
from monitor.evaluation.attribution import Worth, causes_of, lost_of, mean_lost
from monitor.evaluation.evaluate import evaluate
from monitor.evaluation.evaluation import AMOUNTS, NAMES
from monitor.evaluation.score_errors import Settings
from monitor.metrics.core.buckets import NO_BUCKETS
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.tally import Tally, merge, tally_on_grid
from monitor.metrics.logistic.recalibration_maps import fit_nested_maps
from monitor.metrics.scores.net_benefit import Decision, net_benefit
from monitor.store.evaluation_table import evaluation_of, evaluation_table

SEEDS = range(6)
SETTINGS = Settings(alpha=0.05, null_replicates=100)


def world(seed: int, n: int = 6000) -> tuple[Tally, Decision]:
    """Draw predictions with an intercept and a slope of their own, and a decision."""
    rng = np.random.default_rng(seed)
    z = rng.normal(rng.uniform(-2, 0), rng.uniform(0.7, 1.5), n)
    y = rng.random(n) < expit(rng.uniform(-0.5, 0.5) + rng.uniform(0.6, 1.2) * z)
    decision = Decision(rng.uniform(0.1, 0.5), rng.uniform(1, 5), rng.uniform(0.5, 3))
    return tally_on_grid(y, expit(z)), decision


def lost_by(t: Tally, decision: Decision) -> dict[str, Estimate]:
    """Give what decisions lost, by cause."""
    lost = lost_of(Worth("EUR", decision=decision), t, NO_BUCKETS)
    assert lost.rest is None
    return {name: getattr(lost, name) for name in AMOUNTS if name != "rest"}


def worth_of_acting(t: Tally, logits: Floats, decision: Decision) -> float:
    """Count the net benefit of deciding by mapped scores."""
    acts = logits >= logit(decision.threshold)
    wins, losses = t.positives[acts].sum(), (t.counts - t.positives)[acts].sum()
    return float(decision.benefit * wins - decision.cost * losses) / t.total


@pytest.mark.parametrize("seed", SEEDS)
def test_is_the_counted_difference_but_for_the_noise_of_the_fit(seed: int) -> None:
    """Within the correction for the fit, which is far below one standard error of a share."""
    t, decision = world(seed)
    maps, lost = fit_nested_maps(t), lost_by(t, decision)
    of_maps = [worth_of_acting(t, logits, decision) for logits in maps.logits]

    assert of_maps[0] == pytest.approx(
        net_benefit(t, decision.threshold, benefit=decision.benefit, cost=decision.cost).value
    )
    for i, name in enumerate(("prior_shift", "slope", "shape")):
        counted = of_maps[i + 1] - of_maps[i]
        assert abs(lost[name].value - counted) <= 0.5 * lost[name].error
    parts = sum(lost[name].value for name in ("prior_shift", "slope", "shape"))
    assert lost["all"].value == pytest.approx(parts, abs=1e-12)  # a telescoping sum


@pytest.mark.parametrize("exact_cost", [True, False])
def test_finds_what_a_known_error_costs(exact_cost: bool) -> None:  # noqa: FBT001 (parametrized)
    """The mean over forty days, within four of its standard errors of the truth."""
    decision = Decision(0.2, 1.0, 0.25 if exact_cost else 1.0)
    rng, n = np.random.default_rng(5), 4000
    days = []
    for _ in range(40):
        z = rng.normal(-1.0, 1.0, n)
        days.append((tally_on_grid(rng.random(n) < expit(0.3 + 0.8 * z), expit(z)), NO_BUCKETS))
    worth = Worth("", decision=decision)
    merged = merge(t for t, _ in days), NO_BUCKETS
    lost = mean_lost(days, merged, worth, lambda t, held: lost_of(worth, t, held))

    z = np.linspace(-9.0, 7.0, 400_001)
    density = np.exp(-0.5 * (z + 1.0) ** 2)
    p = expit(0.3 + 0.8 * z)
    gain = decision.benefit * p - decision.cost * (1 - p)
    changed = (p >= decision.threshold).astype(float) - (expit(z) >= decision.threshold)
    truth = float((density * changed * gain).sum() / density.sum())

    assert abs(lost.all.value - truth) < 4 * lost.all.error
    assert abs(truth) > 4 * lost.all.error  # so that 0 would be noticed


def test_of_log_loss_is_the_error_by_cause_times_its_price() -> None:
    """Each cause of `causes_of`, and their sum, to rounding."""
    t, _ = world(3)
    causes, lost = causes_of(t), lost_of(Worth("EUR", per_nat=12.5), t, NO_BUCKETS)
    for name in NAMES:
        amount = getattr(lost, name)
        assert amount.value == pytest.approx(12.5 * getattr(causes.log_loss, name))
        assert amount.error == pytest.approx(12.5 * getattr(causes.log_loss_errors, name))
    assert lost.all.value == pytest.approx(12.5 * sum(vars(causes.log_loss).values()))


def day_of(day: int, **tallies: Tally) -> Summary:
    """Make a day of segments."""
    return Summary(
        model="ctr",
        days=(date(2026, 3, day),),
        segments={name: Segment(t, t.total) for name, t in tallies.items()},
        rejected={},
        final=True,
        known_at=datetime(2026, 3, 9, tzinfo=UTC),
    )


def test_a_window_is_the_mean_of_its_days_and_segments() -> None:
    """Each with its own prior and its number of predictions; stored and read back."""
    worth = Worth("EUR", decision=Decision(0.3, 2.0, 1.0))
    days = [day_of(d, DE=world(d)[0], FR=world(d + 9, 3000)[0]) for d in (1, 2)]
    evaluations = evaluate(days, window_days=7, settings=replace(SETTINGS, worth=worth))
    parts = [s.tally for day in days for s in day.segments.values()]
    of_parts = [lost_of(worth, t, NO_BUCKETS) for t in parts]

    for name in ("all", "prior_shift", "slope", "shape"):
        values = [getattr(lost, name) for lost in of_parts]
        sizes = np.array([t.total for t in parts])
        mean = getattr(evaluations[0].lost, name)
        assert mean.value == pytest.approx(np.average([v.value for v in values], weights=sizes))
        errors = sizes * [v.error for v in values] / sizes.sum()
        assert mean.error == pytest.approx(np.sqrt((errors**2).sum()))
    assert {e.segment: e.lost is not None for e in evaluations} == dict.fromkeys(
        ("all", "DE", "FR"), True
    )
    table = evaluation_table(evaluations)
    assert [evaluation_of(row).lost for row in table.to_pylist()] == [e.lost for e in evaluations]


def test_without_a_price_nothing_is_stored() -> None:
    """Neither the number nor its column, and all else is as with a price."""
    days = [day_of(1, all=world(1)[0])]
    worth = Worth("EUR", per_nat=2.0)
    without = evaluate(days, window_days=1, settings=SETTINGS)
    priced = evaluate(days, window_days=1, settings=replace(SETTINGS, worth=worth))

    assert "lost" not in evaluation_table(without).column_names
    assert evaluation_table(priced).drop_columns(["lost"]).equals(evaluation_table(without))
