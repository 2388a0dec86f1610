"""What a drift is named, and how large it is said to be."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cache

import numpy as np
import pytest

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import Reference
from monitor.drift.evidence.directions import SIZES, day_profiles, rows_of_day
from monitor.drift.evidence.history import learned_day_variances
from monitor.drift.fold.inputs import Day, Limits, ModelReference, fit_model_reference
from monitor.drift.incidents.detecting import best_fit
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import days_needed, judge
from monitor.metrics.core.coarse import Coarse, occupied
from monitor.metrics.logistic.conditional import conditional_log_ratio
from studies.drift.kinds import DRIFTS, REFERENCE, START, days_of
from studies.drift.worlds import World
from tests.support.cases import some
from tests.support.stored import detectors_again

MANY, PLAIN = World(0.05, 20_000), Limits()


def reference_of(found: ModelReference) -> Reference:
    """Take that of the whole."""
    return found.streams[WHOLE]


def fold(
    days: Sequence[Day],
    limits: Limits = PLAIN,
    *,
    daily: bool = False,
    known: Callable[[date], bool] = lambda _: True,
) -> list[Verdict]:
    """Judge the days after the reference, in one call or each from what is stored of the last."""
    reference, before = fit_model_reference(days[:REFERENCE], limits), days[:REFERENCE]
    stored = {day.day: day for day in days if known(day.day)}
    found, detectors = list[Verdict](), None
    for batch in [[day] for day in days[REFERENCE:]] if daily else [days[REFERENCE:]]:
        needed = days_needed([day.day for day in before], detectors or {}, limits)
        verdicts = [
            whole
            for whole, *_ in judge(
                *("model", batch),
                references=[reference],
                limits=limits,
                recent=[day for day in before if day.day in needed],
                detectors=detectors,
                recall=stored.get,
            )
        ]
        before = [*before, *batch]
        found += verdicts
        detectors = detectors_again(verdicts[-1:])
    return found


@cache
def stream(name: str, seed: int, length: int = START + 20) -> list[Day]:
    """Draw a stream with a drift."""
    return list(days_of(MANY, DRIFTS[name].truth, seed))[: REFERENCE + length]


def test_a_profile_is_the_ratio_of_conditional_likelihoods() -> None:
    """At each size and direction, over the mean dispersion of the day."""
    days = stream("slope 0", 1)
    own = reference_of(fit_model_reference(days[:REFERENCE], Limits()))
    variances = np.array([0.0, 0.02, 0.0, 0.01])
    [part] = days[-1].parts.values()
    seen = occupied(part)

    rows = rows_of_day(own, days[-1].parts)
    found, plain = (day_profiles(rows, v) for v in (variances, np.zeros(4)))

    for j, i in ((0, 0), (1, 5), (2, 9), (3, 15)):
        distortion = SIZES[i] * own.directions[j, seen.cells]
        curve = own.curve[seen.cells]
        exact = conditional_log_ratio(curve, seen.counts, seen.positives, distortion)
        assert plain[j, i] == pytest.approx(exact, rel=1e-9)  # the same sums, in another order
    assert np.ptp(found[plain != 0.0] / plain[plain != 0.0]) < 1e-9
    assert 0.0 < found[0, 0] / plain[0, 0] < 1.0


FAR = ("slope -1", "slope 0", "slope 1.6", "ends +0.8", "tails -0.4")


@pytest.mark.parametrize("name", some(FAR, 2))
def test_a_drift_far_from_the_reference_has_its_name_and_size(name: str) -> None:
    """On every day that it is open, whatever its own days have taught of their variance."""
    days = stream(name, 2)
    verdicts = fold(days)
    incidents = [i for v in verdicts if (i := v.detector.incident)]

    assert len(incidents) > 14
    assert {i.kind for i in incidents} == {DRIFTS[name].kind}
    assert incidents[-1].size == pytest.approx(DRIFTS[name].size, abs=0.1)  # 4 % of -2.5 to 2.5
    own, last = reference_of(fit_model_reference(days[:REFERENCE], PLAIN)), incidents[-1]
    usual = learned_day_variances(own, verdicts[-1].detector.history, last.started)
    rows = [rows_of_day(own, day.parts) for day in days if day.day >= last.started]
    since = [day_profiles(of, usual) for of in rows]
    assert last.profiles == pytest.approx(np.sum(since, axis=0), rel=1e-5)  # sums of 32 bits


def test_without_one_of_the_days_the_name_is_that_at_the_reference() -> None:
    """A drift that is found after more than a week, of which the store holds no longer all."""
    slow = [
        day if n < REFERENCE + START else replace(day, parts=few(day))
        for n, day in enumerate(stream("slope 0.5", 4, START + 40))
    ]
    whole = fold(slow)
    opened, now = next((n, i) for n, v in enumerate(whole) if (i := v.detector.incident))

    cut = fold(slow, known=lambda day: day != now.started)

    before = cut[opened].detector.incident
    assert now.started < now.opened - timedelta(7)
    assert now.profiles is not None
    assert before.profiles is None
    assert (before.kind, before.size) == best_fit(before.scores, before.informations)
    assert cut[-1].detector.incident.profiles is None


def few(day: Day) -> dict[tuple[str, str], Coarse]:
    """Keep a fiftieth of a day's rows."""
    rng = np.random.default_rng(day.day.toordinal())
    kept = {}
    for key, part in day.parts.items():
        positives = rng.binomial(part.positives, 0.02)
        negatives = rng.binomial(part.counts - part.positives, 0.02)
        kept[key] = replace(part, counts=positives + negatives, positives=positives)
    return kept
