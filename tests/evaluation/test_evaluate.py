"""A window judged: every number is that of its measure, on the right scores."""

from dataclasses import fields, replace
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from scipy.special import expit

import monitor.metrics
from monitor.days.summary import Segment, Summary, merge_summaries, whole
from monitor.evaluation.attribution import intercept_correction
from monitor.evaluation.errors import Errors
from monitor.evaluation.evaluate import evaluate
from monitor.evaluation.evaluation import LEAST_RARER, Evaluation
from monitor.evaluation.score_errors import Settings
from monitor.metrics.binned.binning import monitor_sizes, paper_sizes, pava_bc
from monitor.metrics.binned.ece import ece
from monitor.metrics.core.buckets import BUCKETS, add_up_buckets, bins_of
from monitor.metrics.core.grid import locate
from monitor.metrics.core.tally import Tally, shift, tally_on_grid
from monitor.metrics.logistic.intercept import fit_intercept
from monitor.metrics.scores.brier import rbs
from monitor.metrics.test_based.tce import tce

DAY = date(2026, 3, 1)
KNOWN = datetime(2026, 3, 3, tzinfo=UTC)
SETTINGS = Settings(alpha=0.05, null_replicates=100)


def drawn(rows: int, *, seed: int, delta: float = 0.0, slope: float = 1.0) -> Tally:
    """Draw a model whose true log-odds are `slope` times its own, plus `delta`."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1, 1, rows)
    return tally_on_grid(rng.random(rows) < expit(slope * logits + delta), expit(logits))


def summary(day: date = DAY, *, final: bool = True, **tallies: Tally) -> Summary:
    """Make a day of the given segments, a tenth of whose predictions have no outcome."""
    return Summary(
        model="ctr",
        days=(day,),
        segments={name: Segment(t, t.total + t.total // 9) for name, t in tallies.items()},
        rejected={"score_missing": 2},
        final=final,
        known_at=KNOWN,
    )


def by_segment(window: Summary, window_days: int = 1) -> dict[str, Evaluation]:
    """Evaluate a window and index the result."""
    found = evaluate([window], window_days=window_days, settings=SETTINGS)
    return {e.segment: e for e in found}


def points(errors: Errors | None) -> Errors | None:
    """Leave the intervals out, and what needs more than a tally."""
    return errors and replace(errors, tce=None, ece_interval=None, rbs_interval=None)


def errors(t: Tally) -> Errors:
    """Take the measures one by one; one that a public function of its name measures, from it."""
    smallest, largest = paper_sizes(t.total)
    published = tce(t, pava_bc(t, min_size=smallest, max_size=largest))
    smallest, largest = monitor_sizes(t.total)
    seen = pava_bc(t, min_size=smallest, max_size=largest)
    given = {"tce_published": published.value, "ece": ece(seen), "rbs": rbs(t)}
    intervals = {"tce", "ece_interval", "rbs_interval"}
    names = {field.name for field in fields(Errors)} - {*given} - intervals
    return Errors(**given, **{name: getattr(monitor.metrics, name)(t) for name in names})


def test_every_number_is_that_of_its_measure() -> None:
    """Raw measures are those of the scores, prior ones those of the shifted scores."""
    t = drawn(4_000, seed=1, delta=0.5)
    e = by_segment(summary(all=t))["all"]
    fitted = fit_intercept(t)

    assert (e.predicted, e.matched, e.positives) == (4_444, 4_000, t.total_positives)
    assert e.coverage == 4_000 / 4_444
    assert e.prevalence == t.total_positives / 4_000
    assert e.mean_score == t.mean_score
    assert points(e.raw) == errors(t)
    assert points(e.prior) == errors(shift(t, fitted.delta))
    assert e.shift.value == fitted.delta
    # 1.96 standard errors on both sides of the estimate.
    half_width = (e.shift.high - e.shift.low) / 2
    assert half_width == pytest.approx(1.959964 * fitted.standard_error, rel=1e-6)
    assert (e.shift.high + e.shift.low) / 2 == pytest.approx(fitted.delta, rel=1e-12)
    assert (e.final, e.known_at, e.day, e.window_days, e.days_present) == (True, KNOWN, DAY, 1, 1)


def test_whole_is_the_merge_of_the_segments() -> None:
    """The whole comes first and counts every row; only it counts rejected rows."""
    window = summary(DE=drawn(900, seed=2), FR=drawn(450, seed=3))
    found = by_segment(window)

    assert list(found) == ["all", "DE", "FR"]
    assert found["all"].matched == 1_350
    assert found["all"].predicted == 1_000 + 500
    assert points(found["all"].raw) == errors(whole(window).tally)
    assert [dict(e.rejected) for e in found.values()] == [{"score_missing": 2}, {}, {}]


def test_a_prior_shift_is_adjusted_and_a_slope_is_not() -> None:
    """Prior-adjusted TCE is inside its null reference under a prior shift, else above it."""
    shifted = by_segment(summary(all=drawn(50_000, seed=4, delta=1.0)))["all"]
    tilted = by_segment(summary(all=drawn(50_000, seed=4, slope=0.7)))["all"]

    for e in (shifted, tilted):
        assert None not in (e.raw, e.prior, e.null, e.shift)
        assert 0 <= e.null.q05 <= e.null.q50 <= e.null.q95 <= e.null.q99 <= 1
        assert e.null.q05 < e.null.mean < e.null.q95
    assert shifted.raw.tce_published > shifted.null.q99
    assert shifted.prior.tce_published < shifted.null.q95
    assert shifted.shift.low < 1.0 < shifted.shift.high
    assert tilted.prior.tce_published > tilted.null.q99


def test_the_offered_intercept_is_one_for_the_whole_window() -> None:
    """What is offered is the window's intercept and what it alone would remove of the error.

    The share of the prior in the causes is what an intercept for each day would remove: more.
    """
    deltas = (0.2, 1.4)
    days = [
        summary(DAY + timedelta(days=i), all=drawn(5_000, seed=i, delta=delta))
        for i, delta in enumerate(deltas)
    ]
    e = evaluate(days, window_days=2, settings=SETTINGS)[0]

    assert e.correction == intercept_correction(whole(merge_summaries(days)).tally)
    assert e.correction.delta.value == pytest.approx(e.shift.value, rel=1e-9)
    share, removed = e.causes.log_loss.prior_shift, e.correction.log_loss
    assert share > removed.value + 5 * removed.standard_error > 0
    one_class = by_segment(summary(all=tally_on_grid([0] * 50, [0.1] * 50)))["all"]
    assert one_class.correction is None


def test_one_class_has_raw_measures_only() -> None:
    """Without a positive there is no finite intercept, hence no shift, prior or null."""
    e = by_segment(summary(all=tally_on_grid([0, 0, 0], [0.1, 0.2, 0.3])))["all"]

    assert (e.shift, e.prior, e.null) == (None, None, None)
    assert points(e.raw) == errors(tally_on_grid([0, 0, 0], [0.1, 0.2, 0.3]))
    assert e.prevalence == 0.0


@pytest.mark.parametrize(("rarer", "informs"), [(LEAST_RARER - 1, False), (LEAST_RARER, True)])
@pytest.mark.parametrize("flipped", [False, True])
def test_chance_is_resampled_where_it_informs(rarer: int, *, informs: bool, flipped: bool) -> None:
    """Of a hundred of the rarer outcome on, whichever it is; all else is there with fewer too."""
    outcomes = (np.arange(4_000) < rarer) != flipped
    e = by_segment(summary(all=tally_on_grid(outcomes, np.linspace(0.01, 0.99, 4_000))))["all"]

    assert (e.null is not None) == informs
    assert None not in (e.raw, e.prior, e.shift)


def test_an_unsettled_window_has_nothing_that_describes_chance_alone() -> None:
    """No null reference and no interval of ECE; all other numbers are those of a final window."""
    t, settings = drawn(5_000, seed=7), replace(SETTINGS, interval_days=1, tce_size=2_000)
    (final,), (unsettled,) = (
        evaluate([summary(final=settled, all=t)], window_days=7, settings=settings)
        for settled in (True, False)
    )

    assert final.null is not None
    assert unsettled.null is None
    for one, other in ((final.raw, unsettled.raw), (final.prior, unsettled.prior)):
        assert one.ece_interval is not None
        assert other.ece_interval is None
        assert points(one) == points(other)
        assert one.rbs_interval == other.rbs_interval


def test_an_empty_segment_has_counts_only() -> None:
    """A segment without outcomes is present, with no measure at all."""
    empty = tally_on_grid([], [])
    window = summary(DE=drawn(900, seed=2), FR=empty)
    e = by_segment(window)["FR"]

    assert (e.predicted, e.matched, e.positives) == (0, 0, 0)
    assert (e.raw, e.prior, e.null, e.shift) == (None, None, None, None)
    assert np.isnan([e.coverage, e.prevalence, e.mean_score]).all()


def test_chance_depends_on_what_is_evaluated_only() -> None:
    """The null reference is the same on every rerun and differs between windows and segments."""
    t = drawn(600, seed=5)
    window = summary(DE=t, FR=t)
    once, again = by_segment(window), by_segment(window)
    longer = by_segment(window, window_days=7)

    assert once == again
    assert once["DE"].null != once["FR"].null
    assert once["DE"].null != longer["DE"].null


def test_windows_merge_days_in_any_order() -> None:
    """A window is final if all its days are, known at the latest moment, and sums everything."""
    days = [
        summary(DAY + timedelta(days=i), final=i != 1, DE=drawn(100 + i, seed=i)) for i in range(3)
    ]
    forwards, backwards = merge_summaries(days), merge_summaries(reversed(days))

    assert str(evaluate([forwards], window_days=7, settings=SETTINGS)) == str(
        evaluate([backwards], window_days=7, settings=SETTINGS)  # as text, where nan is nan
    )
    assert forwards.days == tuple(DAY + timedelta(days=i) for i in range(3))
    assert not forwards.final
    assert merge_summaries([days[0], days[2]]).final
    assert forwards.rejected == {"score_missing": 6}
    assert whole(forwards).tally.total == 303


def test_a_segment_may_be_absent_from_some_days() -> None:
    """Segments that were added to the configuration later still merge."""
    early = summary(DAY, DE=drawn(100, seed=1))
    late = summary(DAY + timedelta(days=1), DE=drawn(50, seed=2), FR=drawn(70, seed=3))

    merged = merge_summaries([late, early])

    assert {name: part.tally.total for name, part in merged.segments.items()} == {
        "DE": 150,
        "FR": 70,
    }


def test_a_day_never_counts_twice() -> None:
    """Merging a day with itself, two models, or nothing is refused."""
    day = summary(all=drawn(10, seed=1))
    other = Summary("spam", (DAY,), day.segments, {}, final=True, known_at=KNOWN)

    with pytest.raises(
        ValueError, match=r"^ctr: 2026-03-01 would count twice; merge each day once"
    ):
        merge_summaries([day, day])
    with pytest.raises(ValueError, match=r"got those of \['ctr', 'spam'\]\.$"):
        merge_summaries([day, other])
    with pytest.raises(ValueError, match=r"got those of none\.$"):
        merge_summaries([])


def test_intervals_count_entities_over_days_and_segments() -> None:
    """Of rows that come four times with one outcome intervals are twice as wide, on every span.

    To 25 %: 64 buckets know a variance to 18 %, and so a width to 9 %. Values stay as they are.
    """
    rng, entities, days = np.random.default_rng(8), 6_000, []
    logits = rng.normal(-1, 1, entities)
    outcomes = rng.random(entities) < expit(logits)
    of = {"DE": np.arange(entities) % 2 == 0, "FR": np.arange(entities) % 2 == 1}
    for i in range(4):
        tallies = {name: tally_on_grid(outcomes[r], expit(logits[r])) for name, r in of.items()}
        held = {
            (name, "all"): add_up_buckets(
                np.arange(entities)[r] // 2 % BUCKETS,
                bins_of(locate(expit(logits[r]))[0]),
                np.ones(r.sum(), np.int64),
                outcomes[r].astype(np.int64),
            )
            for name, r in of.items()
        }
        days.append(replace(summary(DAY + timedelta(i), **tallies), entities=held))
    settings = replace(SETTINGS, interval_days=4, tce_size=5_000)
    alone = evaluate([replace(d, entities={}) for d in days], window_days=4, settings=settings)
    found = evaluate(days, window_days=4, settings=settings)
    on_a_day = evaluate(days[:1], window_days=1, settings=settings)

    for one, other in zip(alone, found, strict=True):
        assert one.design_effect is None
        assert other.design_effect == pytest.approx(4.0, rel=0.6)  # a variance, of 18 % at 1 sd
        pairs = [(one.shift, other.shift), (one.slope, other.slope)]
        pairs += [(one.raw.rbs_interval, other.raw.rbs_interval)]
        pairs += [(one.correction.delta, other.correction.delta)]
        for narrow, wide in pairs:
            assert wide.value == narrow.value
            assert (wide.high - wide.low) / (narrow.high - narrow.low) == pytest.approx(2, rel=0.25)
        assert other.null.q95 > one.null.q95
        assert points(one.raw) == points(other.raw)
    wide, narrow = (of[0].raw.ece_interval for of in (found, alone))
    assert wide.high - wide.low > 1.2 * (narrow.high - narrow.low)
    assert all(e.design_effect < 1.6 for e in on_a_day)  # rows of one day have nothing in common
