"""A reference whose own days changed says so, on which day and how; a sound one says nothing."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import islice

import numpy as np
import pytest

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.change_within import LEAST_SIDE, ORDERS, change_within
from monitor.drift.curve.reference import Reference
from monitor.drift.fold.inputs import Day, Limits, ModelReference, fit_model_reference
from monitor.drift.records.facts import ReferenceChange
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.grid import Floats
from monitor.words.trust import trust
from monitor.words.verdict import sentences
from studies.classes.worlds import NONE, Drift, day_of_pairs
from studies.classes.worlds import World as WorldOfClasses
from studies.classes.worlds import stream as class_stream
from studies.drift.entity_worlds import draw_days, panel
from studies.drift.worlds import DRIFTS, Truth, World, stream, tilted
from tests.support.cases import some

FIRST = date(2026, 1, 1)
LATER = datetime(2026, 6, 1, tzinfo=UTC)
DAYS, BREAK = 28, 20
TWO = World(0.5, 2_000)


def days_of(
    world: World, truth: Truth, seed: int, number: int = DAYS, at: int = BREAK
) -> list[Day]:
    """Draw days of which those from one on have a drift."""
    parts = islice(stream(world, truth, seed, reference=at, days=number - at + 1), number)
    return [
        Day(FIRST + timedelta(t), True, LATER, 1.0, {(name, ""): of for name, of in day.items()})
        for t, day in enumerate(parts)
    ]


def fitted(days: Sequence[Day], **limits: int) -> ModelReference:
    """Fit the reference of some days."""
    return fit_model_reference(days, Limits(**limits))


@pytest.mark.parametrize(
    ("truth", "kind", "before", "after"),
    [
        (DRIFTS["slope 0.66"], "too_extreme", 1.0, 0.66),
        (DRIFTS["slope 1.3"], "too_timid", 1.0, 1.3),
        (Truth(tilted(-1.0)), "too_extreme", 1.0, -1.0),  # outcomes or scores are reversed
    ],
)
def test_the_day_and_the_slopes_are_named(
    truth: Truth, kind: str, before: float, after: float
) -> None:
    """Eight of 28 days are off; a slope of 2,000 rows a day has an error of 0.02 over 8 days."""
    changed = fitted(days_of(TWO, truth, 3)).changed

    assert changed == ReferenceChange(
        FIRST,
        FIRST + timedelta(BREAK),
        kind,
        pytest.approx(before, abs=0.06),
        pytest.approx(after, abs=0.08),
    )


@pytest.mark.parametrize("seed", [62_006, 62_030, 62_036])
def test_a_curve_that_falls_is_fitted(seed: int) -> None:
    """Half of the days are reversed, so that the curve of all falls: Newton's method went astray.

    The score along every direction is 0 but for the ridge: less than a standard error.
    """
    days = days_of(TWO, Truth(tilted(-1.0)), seed, at=14)

    whole = fitted(days).streams[WHOLE]

    assert isinstance(whole, Reference)
    assert abs(whole.curve[whole.known]).max() < 5.0
    assert (abs(whole.scores.sum(0)) < np.sqrt(whole.informations.sum(0))).all()


def test_a_curve_that_bends_is_named_by_its_shape() -> None:
    """Slopes before and since are those of both halves; what changed is the curve."""
    changed = fitted(days_of(TWO, DRIFTS["curvature 0.3"], 3)).changed

    assert changed
    assert changed.kind == "ends_underpredicted"
    assert changed.since == FIRST + timedelta(BREAK)


def test_sound_references_say_nothing() -> None:
    """By construction at most 1 of 1,001 sound references; none of these 40 does."""
    assert not [s for s in range(40) if fitted(days_of(TWO, Truth(), s)).changed]


def test_small_changes_are_not_worth_a_word() -> None:
    """A slope of 0.93 is certain with 200,000 rows a day, and below what is looked for."""
    days = days_of(World(0.5, 200_000), Truth(tilted(0.93)), 3)

    assert fitted(days).changed is None
    assert fitted(days_of(World(0.5, 200_000), Truth(tilted(0.8)), 3)).changed


def test_spans_are_named_by_their_first_day() -> None:
    """With `judge_every: 2` rows are spans of two days."""
    changed = fitted(days_of(TWO, DRIFTS["slope 0.66"], 3, number=56, at=40), judge_every=2).changed

    assert changed
    assert changed.since == FIRST + timedelta(40)


def test_models_with_classes_are_named_too() -> None:
    """The pairs of three classes get logits 1.6 times as large from day 21 on."""
    world, sharp = WorldOfClasses("3 classes", 3, rows=1_000), Drift("sharp", sharpened=1.6)
    sound, drifted = (
        [day_of_pairs(rows) for rows in class_stream(world, drift, 9, days=DAYS, start=0)]
        for drift in (NONE, sharp)
    )
    days = [*sound[:BREAK], *drifted[DAYS + BREAK :]]
    in_order = [replace(day, day=of.day) for day, of in zip(days, sound, strict=False)]

    changed = fitted(in_order).changed

    assert fitted(sound[:DAYS]).changed is None
    assert changed
    assert changed.since == FIRST + timedelta(BREAK)
    assert changed.after == pytest.approx(1 / 1.6, abs=0.06)


def test_days_that_hang_together_are_left_out() -> None:
    """Days of a panel that is scored again and again move slowly, and are of one kind."""
    days = [*draw_days(panel(1 / 60), 1, 1.0, 99, DAYS)]

    assert fitted(days).changed is None


def largest(scores: Floats, informations: Floats, variances: Floats) -> tuple[float, int]:
    """Find the clearest change by plain sums: its size in standard errors, and its day."""
    found = []
    for split in range(LEAST_SIDE, len(scores) - LEAST_SIDE + 1):
        weights = informations / (1.0 + variances * informations)
        offsets = scores / informations
        sides = slice(None, split), slice(split, None)
        means = [(weights[of] * offsets[of]).sum(0) / weights[of].sum(0) for of in sides]
        error = np.sqrt(sum(1.0 / weights[of].sum(0) for of in sides))
        found += [(float(z), split) for z in np.abs(means[1] - means[0]) / error]
    return max(found)


@pytest.mark.parametrize("seed", some(range(6), 3))
def test_it_is_a_permutation_test(seed: int) -> None:
    """The split is that of plain sums, and no other order of the days has one as clear."""
    rng = np.random.default_rng(seed)
    informations = rng.gamma(3.0, 40.0, (DAYS, 4))
    scores, variances = rng.normal(size=(DAYS, 4)) * np.sqrt(informations), np.full(4, 0.002)
    scores[BREAK:, 1] += 0.5 * informations[BREAK:, 1]

    split = change_within(scores, informations, variances)

    most, day = largest(scores, informations, variances)
    assert split
    assert (split.row, split.direction) == (day, 1)
    orders = (rng.permutation(DAYS) for _ in range(100))
    assert all(largest(scores[of], informations[of], variances)[0] < most for of in orders)


def test_chance_looks_like_a_change_as_rarely_as_promised() -> None:
    """Of 3,000 references of independent days with their own variance: 3 expected, 9 allowed."""
    rng, known = np.random.default_rng(1), np.full((DAYS, 4), 400.0)
    found = 0
    for _ in range(3 * ORDERS):
        own = rng.standard_t(3, size=(DAYS, 4)) * 0.05  # days differ, some far
        scores = known * own + rng.normal(size=(DAYS, 4)) * np.sqrt(known)
        found += change_within(scores, known, np.zeros(4)) is not None

    assert found <= 9


@pytest.mark.parametrize("known", [0.0, 100.0])
def test_nothing_is_found_where_nothing_differs(known: float) -> None:
    """Scores of 0 everywhere, with information or without, and too few days."""
    nothing = np.zeros((DAYS, 4))

    assert change_within(nothing, nothing + known, np.zeros(4)) is None
    assert change_within(nothing[:6], nothing[:6] + 1.0, np.zeros(4)) is None


def test_the_verdict_does_not_call_such_a_reference_right() -> None:
    """A slope of 0.66 on eight reference days and ever since: no word of scores that fit."""
    days = days_of(TWO, DRIFTS["slope 0.66"], 3, number=DAYS + 10)
    judged = judge("m", days, references=[fitted(days[:DAYS])], limits=Limits())
    verdict = [*judged][-1][0]

    said = " ".join(sentences(verdict))
    assert verdict.state == "reference_changed"  # which a table, a title and a gauge show too
    assert "The reference itself changed on 2026-01-21 (slope 1.00 before, 0.68 since)" in said
    assert "scores fit" not in said
    answer = trust(verdict)
    assert answer.answer.startswith("Not surely: the reference itself changed on 2026-01-21")
    assert "[{first: 2026-01-01, last: 2026-01-20}]" in answer.step
    assert "calibration-monitor rebase m --from 2026-01-21" in answer.step
