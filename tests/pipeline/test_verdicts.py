"""Verdicts in the store: the same bytes however they came, and what moves them."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from monitor.config import Config, load_config
from monitor.days.summary import Segment, Summary
from monitor.drift.records import detector
from monitor.drift.records.verdict import Verdict
from monitor.metrics.core.tally import tally_on_grid
from monitor.pipeline.days.progress import ALONE, Failure, Pace, PhaseProgress
from monitor.pipeline.verdicts.judging import NOTHING_KNOWN, Known, judge_days
from monitor.pipeline.verdicts.references import read_references
from monitor.read.incidents import incidents
from monitor.read.results import results_of
from monitor.store.store import Store
from tests.conftest import Ended

FIRST = date(2026, 1, 1)
DAYS = [FIRST + timedelta(days=i) for i in range(40)]
LATE = DAYS[20]  # in some tests provisional at first
BROKEN = DAYS[30]  # from then on the slope is 0.6
ROWS = 2_000

CONFIG = """\
store: {store}
models:
  ctr:
    predictions: {{path: "logs/predictions/{{day}}.parquet"}}
    outcomes: {{path: "logs/outcomes/{{day}}.parquet"}}
    segments: {{column: country, values: [DE, FR]}}
    windows: [1]
    verdicts: {{{verdicts}}}
"""
LACKS = (
    "There is no reference to compare with yet: the one from {span} has {days} of at least 14 "
    "final days; wait for them, or name more days in verdicts.references."
)
REFERENCE = "references: [{first: 2026-01-01, last: 2026-01-14}]"


@cache
def summary(day: date, *, final: bool = True, slope: float | None = None) -> Summary:
    """Draw a day of two segments; the prior moves daily, and from BROKEN on the slope is 0.6."""
    rng = np.random.default_rng(day.toordinal())
    tilt = slope or (0.6 if day >= BROKEN else 1.0)

    def segment(centre: float) -> Segment:
        x = rng.normal(centre, 1.2, ROWS)
        prior = rng.normal(0.0, 0.5)
        t = tally_on_grid(rng.random(ROWS) < expit(tilt * x + prior), expit(x))
        return Segment(t, ROWS)

    return Summary(
        model="ctr",
        days=(day,),
        segments={"DE": segment(-1.0), "FR": segment(0.0)},
        rejected={},
        final=final,
        known_at=datetime(2026, 3, 1, tzinfo=UTC),
    )


def configure(folder: Path, verdicts: str = REFERENCE) -> Config:
    """Write and load a configuration with a store of its own."""
    path = folder / "monitor.yaml"
    path.write_text(CONFIG.format(store=folder / "store", verdicts=verdicts))
    return load_config(path)


@pytest.fixture(scope="module")
def summarised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Store forty days of summaries; the tests get copies."""
    folder = tmp_path_factory.mktemp("summarised")
    for day in DAYS:
        Store(str(folder / "store")).write_summary(summary(day))
    return folder


@pytest.fixture(scope="module")
def judged_at_once(summarised: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judge all of these days in one call; the tests get copies."""
    folder = tmp_path_factory.mktemp("judged")
    judge_from(configure_copy(summarised, folder), FIRST)
    return folder


@pytest.fixture(scope="module")
def judged_too_soon(summarised: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judge all of these days while one of them is provisional; the tests get copies."""
    folder = tmp_path_factory.mktemp("too-soon")
    found = configure_copy(summarised, folder)
    Store(found.store).write_summary(summary(LATE, final=False))
    judge_from(found, FIRST)
    return folder


def configure_copy(source: Path, folder: Path, verdicts: str = REFERENCE) -> Config:
    """Copy a store, and configure it."""
    shutil.copytree(source / "store", folder / "store", dirs_exist_ok=True)
    return configure(folder, verdicts)


@pytest.fixture
def config(summarised: Path, tmp_path: Path) -> Config:
    """Copy the store of forty days of summaries."""
    return configure_copy(summarised, tmp_path)


@pytest.fixture
def judged(judged_at_once: Path, tmp_path: Path) -> Config:
    """Copy the store whose days were judged in one call."""
    return configure_copy(judged_at_once, tmp_path)


@pytest.fixture
def too_soon(judged_too_soon: Path, tmp_path: Path) -> Config:
    """Copy the store whose days were judged while one of them was provisional."""
    return configure_copy(judged_too_soon, tmp_path)


def stored(config: Config) -> dict[str, bytes]:
    """Read every file of verdicts."""
    return stored_in(Path(config.store).parent)


def stored_in(project: Path) -> dict[str, bytes]:
    """Read every file of verdicts below a folder with a store."""
    folder = project / "store" / "verdicts" / "ctr"
    return {path.name: path.read_bytes() for path in sorted(folder.glob("2*.*"))}


def verdict(config: Config, day: date, segment: str = "all") -> Verdict:
    """Read one verdict."""
    verdicts, _ = Store(config.store).read_verdicts("ctr", day)
    return next(v for v in verdicts if v.segment == segment)


def judge_from(
    config: Config, first: date, known: Known = NOTHING_KNOWN, pace: Pace = ALONE
) -> list[date]:
    """Judge the stored days from one day on."""
    return judge_days(config, "ctr", read_references(config, "ctr"), first, known, pace)


def killed_while_judging(config: Config) -> None:
    """Judge again from a late day on, be killed two days later, and go on the next morning."""
    Store(config.store).write_summary(summary(LATE))

    def stop(step: PhaseProgress) -> None:
        if step.day == DAYS[22]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge_from(config, LATE, pace=Pace(on_progress=stop))
    judge_from(config, DAYS[-1])


def killed_before_judging(config: Config) -> None:
    """Let a day be summarised again, be killed, and go on the next morning."""
    store = Store(config.store)
    store.mark_stale("ctr", LATE)
    store.write_summary(summary(LATE))
    judge_from(config, DAYS[-1])


def test_same_bytes_after_changed_limits(config: Config, judged_at_once: Path) -> None:
    """Judge all days by other limits, then a single late one by these: the same files."""
    folder = Path(config.store).parent
    judge_from(configure(folder, f"{REFERENCE}, false_alert_days: 90"), FIRST)
    judge_from(configure(folder), DAYS[-1])

    assert stored(config) == stored_in(judged_at_once)
    assert len(stored(config)) == len(DAYS)


@pytest.mark.parametrize("some_way", [killed_while_judging, killed_before_judging])
def test_same_bytes_after_a_day_that_was_provisional(
    too_soon: Config, some_way: Callable[[Config], object], judged_at_once: Path
) -> None:
    """After late outcomes and kills: the same files as in one call."""
    before = stored(too_soon)

    some_way(too_soon)

    assert stored(too_soon) == stored_in(judged_at_once)
    assert before != stored(too_soon)


def test_what_is_carried_is_of_the_newest_settled_day(config: Config) -> None:
    """A day that awaits outcomes changes nothing that is carried, so none of it is stored."""
    store = Store(config.store)
    for day in DAYS[-2:]:
        store.write_summary(summary(day, final=False))
    judge_from(config, FIRST)

    (carried, _), (between, _) = (store.read_carried("ctr", day) for day in DAYS[:-3:-1])
    assert carried
    assert (carried.day, between) == (DAYS[-3], None)


def test_a_broken_slope_is_found_and_a_moving_prior_is_not(judged: Config) -> None:
    """Sixteen days of moving priors are no drift; a slope of 0.6 is one within three days."""
    before = [verdict(judged, day).state for day in DAYS[14:30]]
    first = next(day for day in DAYS if verdict(judged, day).state == "calibration_drift")
    found = verdict(judged, DAYS[-1])
    assert set(before) <= {"ok", "prior_shift"}
    assert BROKEN <= first <= BROKEN + timedelta(days=3)
    assert found.detector.incident is not None
    assert found.detector.incident.kind == "too_extreme"
    assert abs((found.detector.incident.started - BROKEN).days) <= 2
    assert found.slope is not None
    deviation = (found.slope.value - 0.6) / (found.slope.high - found.slope.low) * 2 * 1.96
    assert abs(deviation) < 3.29  # one in a thousand
    assert found.reasons[0].startswith(
        f"Since {found.detector.incident.started} (90 % {found.detector.incident.start_low} to "
        f"{found.detector.incident.start_high}) scores are too ext"
    )


def test_reference_days_are_not_judged(judged: Config) -> None:
    """A day of the reference says so; the first after it is judged."""
    inside, after = verdict(judged, DAYS[13]), verdict(judged, DAYS[14])
    assert inside.state == "insufficient_data"
    assert inside.reasons == ("The day is part of the reference, 2026-01-01 to 2026-01-14.",)
    assert after.state in ("ok", "prior_shift")


def test_without_a_reference_nothing_is_judged(config: Config) -> None:
    """A configured reference whose days are not stored is named, with what it lacks."""
    other = configure(
        Path(config.store).parent, "references: [{first: 2025-01-01, last: 2025-01-28}]"
    )
    judge_from(other, FIRST)

    found = verdict(other, DAYS[-1])
    assert found.state == "insufficient_data"
    assert found.reasons == (LACKS.format(span="2025-01-01 to 2025-01-28", days=0),)


def test_a_day_before_the_reference_says_so(config: Config) -> None:
    """It is not said that there is no reference: there is one, of later days."""
    later = "references: [{first: 2026-01-10, last: 2026-01-28}]"
    judge_from(found := configure(Path(config.store).parent, later), FIRST)

    assert verdict(found, DAYS[3]).reasons == (
        "The day is before the reference, 2026-01-10 to 2026-01-28.",
    )


def test_a_day_without_predictions_is_no_day_of_a_reference(config: Config) -> None:
    """A model that rests on some days is judged like any other."""
    nothing = Segment(tally_on_grid([], []), 0)
    for day in (DAYS[5], DAYS[12]):
        empty = replace(summary(day), segments={"DE": nothing, "FR": nothing})
        Store(config.store).write_summary(empty)
    judge_from(default := configure(Path(config.store).parent, ""), FIRST)

    assert "2026-01-01 to 2026-01-30" in verdict(default, DAYS[12]).reasons[0]
    assert verdict(default, DAYS[30]).state in ("ok", "prior_shift")


def test_a_day_whose_summary_is_deleted_is_no_data_error(judged: Config) -> None:
    """Its old verdict is no complaint about its logs; the day is not judged again."""
    before = verdict(judged, DAYS[20])
    (Path(judged.store) / f"summaries/ctr/{DAYS[20]}.parquet").unlink()

    again = judge_from(judged, FIRST)

    assert before.state != "data_error"
    assert DAYS[20] not in again
    assert len(again) == len(DAYS) - 1


def test_a_new_reference_begins_anew_and_keeps_the_past(judged: Config) -> None:
    """Days before a second reference keep their verdicts; those after are compared with it."""
    store = Store(judged.store)
    for i in range(40, 53):
        store.write_summary(summary(FIRST + timedelta(days=i)))
    judge_from(judged, FIRST + timedelta(days=40))
    past = stored(judged)
    spans = (
        "references: [{first: 2026-01-01, last: 2026-01-14}, {first: 2026-02-05, last: 2026-02-18}]"
    )
    again = configure(Path(judged.store).parent, spans)
    judge_from(again, FIRST)

    drifting, inside, after = (date(2026, 2, d) for d in (4, 10, 22))
    assert verdict(again, drifting).state == "calibration_drift"
    assert verdict(again, inside).state == "insufficient_data"
    assert verdict(again, after).state in ("ok", "prior_shift")
    assert past.keys() == stored(again).keys()


def test_a_plan_changes_what_stands_and_nothing_that_is_stored(judged: Config) -> None:
    """Its days are silent at once, without a run; what lasts is an alert on the first day after."""
    (paged,) = incidents(results_of(judged, "ctr"))["all"]
    span = "known_drifts: [{first: 2026-01-31, last: 2026-02-05, why: new features}]"
    before = stored(judged)
    known = configure(Path(judged.store).parent, f"{REFERENCE}, {span}")
    read = results_of(known, "ctr")

    silent = [v for day in DAYS[30:36] for v in read.verdicts(day)]
    assert {v.state for v in silent} == {"acknowledged"}
    assert all("(new features) is planned until 2026-02-05" in v.reasons[0] for v in silent)
    assert read.verdicts(DAYS[-1])[0].state == "calibration_drift"
    assert incidents(read)["all"] == [paged]  # it lasts, and alerts again
    judge_from(known, FIRST)
    assert stored(known) == before


def test_a_drift_that_a_new_reference_ends_says_so(config: Config) -> None:
    """It is noted on the first day that is no evidence."""
    for later in range(1, 11):  # so that the new reference has 14 days
        Store(config.store).write_summary(summary(DAYS[-1] + timedelta(days=later)))
    spans = REFERENCE.replace("}]", "}, {first: 2026-02-06, last: 2026-02-19}]")
    known = configure(Path(config.store).parent, spans)
    judge_from(known, FIRST)
    open_, *over = (verdict(known, day) for day in DAYS[35:40])

    assert open_.detector.incident is not None
    assert open_.detector.ended is None
    ended = detector.Ended(open_.detector.incident.started, DAYS[36], "rebased")
    assert [v.detector.ended for v in over] == [ended] * len(over)
    assert all(v.detector.incident is None for v in over)


def test_a_reference_that_is_too_short_is_not_used(
    judged: Config, command: Callable[..., Ended]
) -> None:
    """Re-basing on four days ends no incident: today's reference stays, and everything says so.

    With fourteen days the new reference is used.
    """
    before = [verdict(judged, day) for day in DAYS]
    longer = REFERENCE.replace("}]", "}, {first: 2026-02-06, last: 2026-02-19}]")
    short = configure(Path(judged.store).parent, longer)
    path = Path(judged.store).parent / "monitor.yaml"

    told = command("evaluate", "--config", path, "--from", DAYS[30], "--to", DAYS[-1])

    lack = (
        "A new reference is not used yet: the one from 2026-02-06 to 2026-02-19 has 4 of at "
        "least 14 final days; wait for them, or name more days in verdicts.references. Until then "
        "the one before it stays in force."
    )
    assert told.code == 0
    assert lack in told.out
    for day, was in zip(DAYS, before, strict=True):
        now, awaits = verdict(short, day), day >= DAYS[36]
        assert (now.state, now.reached) == (was.state, was.reached)
        assert (lack in now.reasons) == awaits
        assert [reason for reason in now.reasons if reason != lack] == [*was.reasons]
        assert now.awaited == (DAYS[36] if awaits else None)
    assert now.state == "calibration_drift"
    for later in range(1, 11):
        Store(judged.store).write_summary(summary(DAYS[-1] + timedelta(days=later)))
    judge_from(short, FIRST)
    assert verdict(short, DAYS[36]).state == "insufficient_data"
    assert verdict(short, DAYS[36]).awaited is None


def test_a_shift_knows_the_first_of_its_days(judged: Config) -> None:
    """The days in a row with its state, one by one or at once; a day without verdict is no end."""
    config = judged
    for place, day in enumerate(DAYS[15:30]):
        found = summary(day)
        moved = dict(found.segments)
        if place > 2:
            moved = {name: with_more_positives(part) for name, part in moved.items()}
        Store(config.store).write_summary(replace(found, segments=moved, final=place != 9))
    one = [judge_from(config, day) for day in (DAYS[15], DAYS[20], DAYS[24])]
    states = {day: verdict(config, day) for day in DAYS[14:30]}

    assert one
    assert states[DAYS[24]].state == "insufficient_data"
    since = None
    for day, found in states.items():
        if found.state in ("prior_shift", "level_drift"):
            before = [d for d in DAYS[14:30] if d < day and states[d].state != "insufficient_data"]
            same = before and states[before[-1]].state == found.state
            since = since if same else day
            assert found.shifted == since
        else:
            assert found.shifted is None
    assert states[DAYS[29]].shifted is not None
    assert states[DAYS[29]].shifted < DAYS[24]


def with_more_positives(part: Segment) -> Segment:
    """Count every positive outcome three times."""
    t = part.tally
    outcomes = (np.ones(3 * t.total_positives), np.zeros(t.total - t.total_positives))
    scores = (
        np.repeat(t.scores, 3 * t.positives),
        np.repeat(t.scores, t.counts - t.positives),
    )
    more = tally_on_grid(np.concatenate(outcomes), np.concatenate(scores))
    return Segment(more, more.total)


def test_a_day_with_bad_logs_is_a_data_error_until_it_is_mended(judged: Config) -> None:
    """It says what was wrong, keeps the evidence as it was, and gives way to a summary."""
    config, store, day = judged, Store(judged.store), DAYS[35]
    (Path(config.store) / f"summaries/ctr/{day}.parquet").unlink()
    failure = Failure(day, "ctr 2026-02-05: 3 scores lie outside [0, 1].")
    judge_from(config, day, Known(DAYS[-1], [failure]))
    broken = verdict(config, day)
    judge_from(config, DAYS[33])
    kept = verdict(config, day)
    store.write_summary(summary(day))
    judge_from(config, day)

    assert broken.state == kept.state == "data_error"
    assert kept.reasons == ("ctr 2026-02-05: 3 scores lie outside [0, 1].",)
    assert verdict(config, DAYS[36]).state == "calibration_drift"
    assert verdict(config, day).state == "calibration_drift"


def test_a_complaint_of_a_day_that_was_not_over_is_none(judged: Config) -> None:
    """What was told before its end is removed, and the days after it stay as they are."""
    store, day = Store(judged.store), DAYS[35]
    (Path(judged.store) / f"summaries/ctr/{day}.parquet").unlink()
    judge_from(judged, day, Known(day, [Failure(day, "ctr: there is no log yet.")]))
    told = verdict(judged, day)
    judge_from(judged, DAYS[33])

    assert told.state == "data_error"
    assert day not in store.days("verdicts", "ctr")
    assert store.days("verdicts", "ctr")[-1] == DAYS[-1]


@pytest.mark.parametrize(("back", "removed"), [(1, False), (7, True), (14, False), (31, True)])
def test_any_day_can_be_done_again_from_the_week_before(
    judged: Config, back: int, *, removed: bool
) -> None:
    """The same bytes, whether or not the later verdicts are still there; few files hold more."""
    store, before = Store(judged.store), stored(judged)
    holding = [day for day in DAYS if store.read_carried("ctr", day)[0]]
    if removed:
        store.remove("verdicts", "ctr", DAYS[-back:])

    assert judge_from(judged, DAYS[-back]) == DAYS[-back:]
    assert stored(judged) == before
    assert holding == [day for day in DAYS if day.weekday() == 0 or day in (DAYS[0], DAYS[-1])]


def test_segments_have_verdicts_of_their_own(judged: Config) -> None:
    """Each segment is compared with its own reference, and its evidence is its own.

    Their limit is that of a day on which neither is over it: the evidence, which is 0 after each
    alarm, is compared with 365 days for each of two streams. Both drifts were opened at 365 days
    or more, the limit of a day on which both alarm.
    """
    verdicts, _ = Store(judged.store).read_verdicts("ctr", DAYS[-1])
    assert [v.segment for v in verdicts] == ["all", "DE", "FR"]
    assert {v.state for v in verdicts} == {"calibration_drift"}
    assert verdicts[0].limit == pytest.approx(np.log10(1_000), rel=1e-12)
    for verdict in verdicts[1:]:
        assert verdict.limit == pytest.approx(np.log10(2 * 365), rel=1e-12)
        assert verdict.detector.incident is not None
        assert verdict.detector.incident.evidence >= np.log10(365)
