"""`monitor.compare`: the verdict's words for two samples, whatever the prior."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import expit, logit

import monitor
from monitor.drift.verdicts.two_samples import find_change
from monitor.metrics import coarsen, tally_on_grid

Rows = tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]


def draw(rng: np.random.Generator, rows: int, *, prior: float = 0.2, slope: float = 1.0) -> Rows:
    """Draw scores that are calibrated at 20 %, of two normal classes; a slope bends outcomes."""
    outcomes = rng.random(rows) < prior
    logits = logit(0.2) + 1.5 * (rng.normal(size=rows) + np.where(outcomes, 0.75, -0.75))
    if slope != 1.0:
        outcomes = rng.random(rows) < expit(slope * logits)
    return outcomes, expit(logits)


def test_a_prior_shift_is_no_drift() -> None:
    """20 % become 35 %: only the prior moved, by log odds of 0.77."""
    rng = np.random.default_rng(1)
    found = monitor.compare(draw(rng, 20_000), draw(rng, 20_000, prior=0.35))

    assert found.verdict == "prior_shift"
    assert not found.changed
    assert found.kind is None
    assert found.slope is not None
    assert found.slope.low < 1.0 < found.slope.high
    assert found.shift is not None
    # 0.767; the standard error is 0.025.
    assert found.shift.value == pytest.approx(logit(0.35) - logit(0.2), abs=0.08)
    assert found.prevalences == pytest.approx((0.2, 0.35), abs=0.015)
    assert "Only the prior moved." in found.reasons
    assert found.evidence < found.limit == pytest.approx(3.0)


def test_a_drift_under_a_prior_shift_is_found() -> None:
    """A slope of 0.7 beside a prior shift is named and measured."""
    rng = np.random.default_rng(2)
    found = monitor.compare(draw(rng, 20_000), draw(rng, 20_000, prior=0.35, slope=0.7))

    assert found.changed
    assert found.kind == "too_extreme"
    assert found.evidence > found.limit
    assert found.slope is not None
    assert found.slope.low < 0.7 < found.slope.high
    assert found.reasons[0].startswith("The curve changed: scores are too extreme")
    assert "calibration_drift" in found._repr_html_()
    frame = found.to_frame().set_index("measure")
    assert frame.loc["slope", "value"] == found.slope.value
    assert frame.loc["evidence", "value"] == found.evidence
    plt.switch_backend("agg")
    drawn = found.plot()
    assert len(drawn.lines) >= 2
    assert drawn.collections
    plt.close("all")


@pytest.mark.parametrize(
    ("slope", "kind"),
    [(-1.0, "too_extreme"), (0.0, "too_extreme"), (0.5, "too_extreme"), (1.6, "too_timid")],
)
def test_a_strong_distortion_has_its_name_and_size(slope: float, kind: str) -> None:
    """What is far from the curve of the first sample is no other kind, and no larger."""
    rng = np.random.default_rng(9)
    both = draw(rng, 20_000), draw(rng, 5_000, slope=slope)
    before, after = ([coarsen(tally_on_grid(hits, scores))] for hits, scores in both)
    found = find_change(before, after, alpha=0.001)

    assert found.kind == kind
    assert found.size
    # Three standard errors of the slope of 5,000 rows.
    assert found.size.value == pytest.approx(slope - 1.0, abs=0.12)


def test_a_lifted_curve_is_named() -> None:
    """All outcomes twice as likely at the same scores: the level, not the prior."""
    rng = np.random.default_rng(3)
    _, scores = draw(rng, 20_000)
    lifted = rng.random(20_000) < expit(logit(scores) + 0.7)
    found = monitor.compare(draw(rng, 20_000), (lifted, scores))

    assert found.verdict == "level_drift"


def test_false_and_missed_drifts_are_as_rare_as_stated() -> None:
    """Of 200 pairs with unchanged curves, at most a few are called changed at alpha = 0.05.

    The evidence has a mean of at most 1 if the curve is within its tolerance, so at most 10 are
    expected; more than 20 would have probability 0.001. In simulations it is 0.5 %. A change of
    the size that is said to be found in more than half of the comparisons is found in 70 % of
    1,000 such pairs, with a standard error of 5 % in 100.
    """
    rng = np.random.default_rng(4)

    def changed(slope: float, prior: float) -> bool:
        before, after = (
            [coarsen(tally_on_grid(y_true, y_prob))]
            for y_true, y_prob in (draw(rng, 3_000), draw(rng, 3_000, prior=prior, slope=slope))
        )
        return find_change(before, after, alpha=0.05).state == "calibration_drift"

    assert sum(changed(1.0, 0.35) for _ in range(200)) <= 20
    first, second = (coarsen(tally_on_grid(y, s)) for y, s in (draw(rng, 3_000), draw(rng, 3_000)))
    size = find_change([first], [second], alpha=0.05).detectable
    found = sum(changed(1.0 - size, 0.2) for _ in range(100))
    assert 50 <= found <= 90


def test_groups_that_wander_ask_for_more_evidence() -> None:
    """Where the slope of every day differs anyway, the slope of one more day is no news."""
    rng = np.random.default_rng(6)
    days = [draw(rng, 2_000, slope=float(slope)) for slope in rng.normal(1.0, 0.3, 20)]
    before = tuple(np.concatenate(column) for column in zip(*days, strict=True))
    groups = np.repeat([f"day {i:02}" for i in range(20)], 2_000)
    after = draw(rng, 4_000, slope=0.6)

    assert monitor.compare((before[0], before[1]), after).changed
    assert not monitor.compare((before[0], before[1], groups), after).changed


def test_too_little_is_said_to_be_too_little() -> None:
    """300 outcomes of each kind are needed first, and two classes afterwards."""
    rng = np.random.default_rng(7)
    few = monitor.compare(draw(rng, 1_000), draw(rng, 1_000))
    one_class = monitor.compare(draw(rng, 5_000), ([1, 1], [0.2, 0.3]))

    assert few.verdict == one_class.verdict == "insufficient_data"
    positives = few.tallies[0].total_positives
    lack = f"the first sample has {positives} of at least 300 positive outcomes"
    assert few.reasons == (f"There is too little to compare: {lack}.",)
    assert "outcomes of both classes" in one_class.reasons[0]
    with pytest.raises(
        monitor.ConfigError, match=r"no curve to draw; take more rows\. There is too little"
    ):
        few.plot()
    assert few.slope is None


def of_entities(rng: np.random.Generator) -> tuple[Any, ...]:
    """Draw 500 entities, all of whose 24 rows have one outcome; every row is calibrated."""
    who = np.repeat(np.arange(500), 24)
    logits = rng.normal(-1.4, 1.2, 500)[who] + rng.normal(0.0, 0.3, who.size)
    return expit(logits) > rng.random(500)[who], expit(logits), None, who


def test_rows_of_one_entity_are_no_evidence_of_their_own() -> None:
    """Of 20 comparisons of unchanged curves at 5 %, and of 95 % intervals, few are wrong.

    At most 3 of 20 each with a probability of 98 %; without entities most find a change.
    """
    rng, wrong = np.random.default_rng(11), np.zeros(3)
    for _ in range(20):
        before, after = of_entities(rng), of_entities(rng)
        found = monitor.compare(before, after, alpha=0.05)
        plain = monitor.compare(before[:2], after[:2], alpha=0.05)
        assert found.slope
        wrong += found.changed, not found.slope.low < 1.0 < found.slope.high, plain.changed
    assert (wrong[:2] <= 3).all()
    assert wrong[2] > 10
    assert any("count entities, not rows: the second sample" in text for text in found.reasons)


def test_entities_of_one_sample_alone_are_refused() -> None:
    """They would be compared with rows that count as independent."""
    with pytest.raises(monitor.DataError, match="only one sample has entities"):
        monitor.compare(([0, 1], [0.1, 0.2]), ([0, 1], [0.1, 0.2], None, [1, 2]))
