"""A store in which every gauge has a sample, and every number tells its place."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from math import nan
from pathlib import Path
from typing import Any, get_args, get_type_hints
from zlib import crc32

import numpy as np

from monitor.base.errors import Fault
from monitor.config import Config
from monitor.days.arrivals import Arrivals
from monitor.days.decisions import Acknowledgement, Rebase
from monitor.days.run_record import FailedDay
from monitor.drift.incidents.detecting import new_detector
from monitor.drift.records.day_evidence import DayEvidence, LabelChange
from monitor.drift.records.detector import (
    OUTCOMES_MISSING,
    Ended,
    Incident,
    LevelWatch,
    Shift,
    Worse,
)
from monitor.drift.records.facts import (
    ClassFacts,
    Coverage,
    Detectable,
    Facts,
    OneDay,
    ReferenceChange,
    Unlike,
)
from monitor.drift.records.mix import MovedMix, MovedShare
from monitor.drift.records.places import Condition, Explanation, Place, Where
from monitor.drift.records.values import ValueIncident, ValuePast, ValueWatch
from monitor.drift.records.verdict import Verdict
from monitor.evaluation.errors import Errors
from monitor.evaluation.evaluation import (
    Causes,
    ClassErrors,
    ClassMeasures,
    Evaluation,
    Expectation,
    InterceptCorrection,
    Lost,
    MapGain,
    Population,
    Shares,
    TceNull,
    VectorErrors,
)
from monitor.export.snapshot_reader import Reader
from monitor.export.text import exposition, lines
from monitor.metrics.core.estimate import Estimate
from monitor.store.store import Store

OLDER, FINAL, PROVISIONAL = date(2026, 2, 28), date(2026, 3, 1), date(2026, 3, 2)
LOGS = {"predictions": {"path": "p/{day}"}, "outcomes": {"path": "o/{day}"}}


POPULATION = Population(
    prevalence=Estimate(0.0971, 0.0962, 0.0983),
    mean_score=Estimate(0.0974, 0.0965, 0.0986),
    errors=Errors(
        tce_published=0.0977, ece=0.0978, rbs=0.0979, rbs_interval=Estimate(0.0979, 0.0967, 0.0988)
    ),
    reached=0.9968,
)


LOST = Lost(
    "EUR",
    0.2,
    *(Estimate(i / 80, i / 160, i / 40) for i in (10, 1, 2, 3)),
    rest=Estimate(0.05, -0.025, 0.125),
)


def evaluation(
    number: int, day: date, *, model: str = "fraud", segment: str = "all", window: int = 1
) -> Evaluation:
    """Make an evaluation in which every number tells its place: the 3rd of number 7 is 0.0703."""

    def place(nth: int) -> float:
        return (100 * number + nth) / 10_000

    def errors(nth: int) -> Errors:
        return Errors(
            **further(Errors, 100 * number + nth),
            tce_published=place(nth),
            ece=place(nth + 1),
            rbs=place(nth + 2),
            tce=Estimate(place(nth + 60), place(nth + 61), place(nth + 62)),
            ece_interval=Estimate(place(nth + 1), place(nth + 70), place(nth + 71)),
            rbs_interval=Estimate(place(nth + 2), place(nth + 80), place(nth + 81)),
        )

    return Evaluation(
        model=model,
        segment=segment,
        day=day,
        window_days=window,
        days_present=1 if window == 1 else window - 2,
        final=day != PROVISIONAL,
        known_at=datetime(2026, 3, 5, tzinfo=UTC),
        predicted=1000 * number + 15,
        matched=1000 * number + 14,
        positives=1000 * number + 13,
        rejected={"outcome_orphan": 1000 * number + 17} if segment == "all" else {},
        coverage=place(18),
        prevalence=place(19),
        mean_score=place(20),
        shift=Estimate(value=-place(21), low=-place(22), high=place(23)),
        raw=errors(1),
        prior=errors(4),
        null=TceNull(mean=place(7), q05=place(8), q50=place(9), q95=place(10), q99=place(11)),
        slope=Estimate(place(24), place(25), place(26)),
        causes=Causes(*(Shares(*(place(27 + 4 * i + j) for j in range(4))) for i in range(4))),
        expected=Expectation(*map(place, range(43, 49))) if day == PROVISIONAL else None,
        correction=InterceptCorrection(
            *(Estimate.normal(place(90 + 2 * i), place(91 + 2 * i)) for i in range(3)), place(96)
        ),
        map=errors(100) if (segment, window) == ("all", 1) else None,
        map_slope=Estimate(0.9, 0.8, 1.0) if (segment, window) == ("all", 1) else None,
        map_gain=MapGain(12, *(Estimate(i / 8, i / 16, i / 4) for i in (1, 2, 3)))
        if (segment, window) == ("all", 1) and day == FINAL
        else None,
        classes=CLASSES if (model, segment, window) == ("fraud", "all", 7) else None,
        population=POPULATION if (segment, window) == ("DE", 1) else None,
        lost=LOST if (segment, window) == ("all", 7) else None,
        **further(Evaluation, number),
    )


UNLIKE = (Unlike(("DE",), ("segments.values",), FINAL, FINAL - timedelta(60), FINAL),)
CHANGE = ReferenceChange(FINAL, FINAL, "too_extreme", 1.0, 0.7)
MIX = MovedMix((MovedShare("", 0.01, 0.02, 0.25),), (), 1000)

# What `evaluation` gives a value by hand; a field that is added later gets one of its own.
BY_HAND = {
    *("tce_published", "ece", "rbs", "tce", "ece_interval", "rbs_interval"),
    *("model", "segment", "day", "window_days", "days_present", "final", "known_at", "predicted"),
    *("matched", "positives", "rejected", "coverage", "prevalence", "mean_score", "shift", "raw"),
    *("prior", "null", "slope", "causes", "expected", "correction", "map", "map_slope"),
    *("map_gain", "classes", "population", "lost"),
}


def further(of: type, place: int) -> dict[str, Any]:
    """Fill the fields that nothing is given by hand, each with a number that tells its place."""
    found = dict[str, Any]()
    for name in get_type_hints(of).keys() - BY_HAND:
        value = (crc32(name.encode()) + place) % 10_000 / 10_000
        is_estimate = Estimate in get_args(get_type_hints(of)[name])
        found[name] = Estimate(value, value - 0.5, value + 0.5) if is_estimate else value
    return found


def verdict(segment: str, incident: Incident | None) -> Verdict:
    """Make the verdict of a day: with a drift, or with one that is over."""
    ended = None if incident else Ended(OLDER - timedelta(days=11), OLDER, "recovered")
    sums = 10.0 ** (np.arange(8) / 8)
    moved = None if incident else Shift("prior_shift", OLDER - timedelta(days=3))
    detector = replace(new_detector(), sums=sums, incident=incident, ended=ended, moved=moved)
    return Verdict(
        model="fraud",
        segment=segment,
        day=FINAL,
        final=True,
        known_at=datetime(2026, 3, 5, tzinfo=UTC),
        state="calibration_drift" if incident else "prior_shift",
        reasons=("Something moved.",),
        evidence=EVIDENCE,
        detector=detector,
        limit=3.75,
        shift=Estimate(0.5, 0.25, 0.75),
        level_change=Estimate(-0.5, -0.75, -0.25),
        slope=Estimate(0.75, 0.625, 0.875),
        reference_prevalence=0.125,
        reference_slope=Estimate(0.875, 0.75, 1.0),
        reference_intercept=Estimate(0.375, 0.25, 0.5),
        detectable=Detectable(
            tolerated=0.0625,
            found=0.25,
            rarer=50.0,
            days=12.5,
            days_strong=6.5,
            within_patience=0.1875,
        ),
        where=WHERE if incident else None,
        reached=2.625,
        awaited=OLDER - timedelta(days=5) if incident else None,
        facts=Facts(
            classes=None if incident else ClassFacts((), 0.5, 0.5, 0.5, None, None, "cat"),
            unlike=UNLIKE if segment == "all" else (),
            mix=MIX if segment == "all" else None,
            changed=CHANGE if segment == "all" else None,
        ),
        values=VALUES if incident else None,
    )


def verdict_of_labels(segment: str) -> Verdict:
    """Make the verdict of a segment whose positive outcomes got lost."""
    labels = LabelChange("lost", Estimate(0.25, 0.1875, 0.3125), 4.5)
    drift = verdict(segment, replace(DRIFT, worse=None, unexplained=None))
    facts = Facts(labels=labels, today=-1.5, one_day=OneDay(40.0, "place"))
    return replace(drift, state="labels_lost", facts=facts, where=None, values=None, awaited=None)


def verdict_of_missing(segment: str) -> Verdict:
    """Make the verdict of a stream whose outcomes went missing as the base rate moved."""
    missing = replace(DRIFT, kind=OUTCOMES_MISSING, worse=None, unexplained=None)
    labels = verdict_of_labels(segment)
    detector = replace(labels.detector, incident=None, level=LevelWatch(incident=missing))
    facts = Facts(covered=Coverage(1.0, 0.75))
    return replace(labels, state="undecided", detector=detector, facts=facts)


def class_errors(name: str, at: float) -> ClassErrors:
    """Make the measures of a class."""
    known = Errors(at, at / 2, at / 4, tce=Estimate(at / 8, at / 16, at / 4))
    return ClassErrors(name, 100, at, at / 2, raw=known, prior=known)


def place(value: str, evidence: float) -> Place:
    """Make a place of a drift."""
    moved, slope = Estimate(-0.5, -0.75, -0.25), Estimate(0.5, 0.25, 0.75)
    flagged = evidence > 1.0
    return Place("device", value, 1_000, moved, slope, evidence, evidence / 4, flagged)


VALUES = ValueWatch(
    OLDER,
    ValuePast((), np.zeros((0, 4, 4)), (), np.zeros((0, 4, 4)), np.zeros((0, 7))),
    *np.zeros((2, 0, 8), np.float32),
    (
        ValueIncident(
            *("device", "web", FINAL, OLDER, "too_extreme"),
            *(-0.5, 0.125, 4.5, 0.25, -32.0, 64.0),
            beside=("country = FR",),
        ),
    ),
)
WHERE = Where(
    "top_overpredicted",
    Estimate(-0.5, -0.75, -0.25),
    (place("tv", 3.0), place("web", 0.5), Place("device", "watch", 10, new=True)),
    Explanation(
        (Condition("device", "tv"), Condition("country", "FR")),
        0.875,
        Estimate(0.75, 0.625, 0.875),
        None,
        0.25,
        "top_overpredicted",
        -0.25,
    ),
)
VECTOR = VectorErrors(rbs=Estimate(0.5, 0.375, 0.625), log_score=Estimate(1.5, 1.375, 1.625))
CLASSES = ClassMeasures(
    count=4,
    judged=0.875,
    raw=VECTOR,
    prior=VECTOR,
    by_class=(class_errors("cat", 0.5), class_errors("dog", 0.25)),
    pairs=6,
)
EVIDENCE = DayEvidence(
    ratios=np.zeros(8),
    tolerances=np.zeros(4),
    effects=np.zeros(4),
    scores=np.zeros(4),
    informations=np.zeros(4),
    slopes=np.zeros(6),
    levels=np.zeros(4),
    unknown_share=0.3125,
)
FAULT = Fault("predictions", "score_out_of_range", "scores lie outside [0, 1]", 14, 20_000, 1.75)
DRIFT = Incident(
    opened=FINAL,
    started=OLDER,
    start_low=date(2026, 2, 26),
    start_high=FINAL,
    kind="top_overpredicted",
    evidence=4.5,
    recovery=0.0,
    size=-0.25,
    size_error=0.0625,
    scores=np.zeros(4),
    informations=np.zeros(4),
    slopes=np.zeros(6),
    worse=Worse(FINAL, 3.5, 1, "too_extreme", -0.125, 0.875),
    unexplained=-0.125,
    of_class="cat",
)


def of_one_class(e: Evaluation) -> Evaluation:
    """Take away what has no finite intercept to rest on."""
    silent = replace(e, shift=None, prior=None, null=None, slope=None, causes=None)
    return replace(silent, expected=None, correction=None)


def without_outcomes(e: Evaluation) -> Evaluation:
    """Take away what rests on outcomes."""
    silent = replace(of_one_class(e), matched=0, positives=0, coverage=0.0, raw=None)
    return replace(silent, prevalence=nan, mean_score=nan)


def configure(folder: Path, **models: dict[str, object]) -> Config:
    """Configure models whose logs are nowhere."""
    content = {name: {**LOGS, **model} for name, model in models.items()}
    return Config.model_validate({"store": str(folder), "models": content})


def expose(config: Config) -> str:
    """Say what the exporter of version 1.2.3 says of a store."""
    snapshots = Reader(config, version="1.2.3").snapshots()
    return exposition(map(lines, snapshots.values())).decode()


AT = datetime(2026, 3, 3, 3, 7, tzinfo=UTC)  # when the drift was taken


def fill_store(folder: Path) -> Config:
    """Fill a store with two models, three days, segments, and windows of two lengths."""
    config = configure(
        folder,
        ads={
            "time_zone": "America/New_York",
            "map": {"file": "map.json", "since": date(2025, 11, 1), "deploy": date(2025, 11, 15)},
            "verdicts": {
                "references": [
                    {"first": date(2025, 6, 1), "last": date(2025, 6, 28)},
                    {"first": date(2025, 12, 1), "last": date(2025, 12, 28)},
                ],
                "known_drifts": [{"first": date(2026, 5, 1), "last": date(2026, 6, 30)}],
                "blind": "page",
            },
        },
        fraud={
            "owner": "risk-team",
            "outcomes": {**LOGS["outcomes"], "owner": "tracking-team"},
            "severity": "page",
            "budget": {"per_prediction": 0.01},
        },
    ).linked_to("https://r.test")
    days = {
        OLDER: [evaluation(9, OLDER)],
        FINAL: [
            evaluation(1, FINAL),
            evaluation(2, FINAL, segment="DE"),
            evaluation(3, FINAL, window=7),
            evaluation(4, FINAL, segment="DE", window=7),
        ],
        PROVISIONAL: [
            evaluation(5, PROVISIONAL),
            of_one_class(evaluation(6, PROVISIONAL, segment="DE")),
        ],
    }
    store = Store(config.store)
    for day, evaluations in days.items():
        store.write_evaluations("fraud", day, evaluations, inputs="")
    verdicts = [verdict("all", DRIFT), verdict("DE", None), verdict_of_labels("FR")]
    store.write_verdicts("fraud", FINAL, verdicts, basis="")
    taken = Acknowledgement(1, AT, "Ana", "a new feature", "all", FINAL, date(2026, 3, 31))
    store.decide("fraud", lambda *_: taken)
    store.decide("ads", lambda *_: Rebase(1, AT, "Ben", "trained again", date(2026, 2, 1)))
    never = (0,) * 26
    arrivals = Arrivals(date(2026, 1, 20), (5, 2, 0, 1, *never), (12, 3, 1, 0, *never))
    store.write_arrivals("fraud", arrivals)
    silent = without_outcomes(evaluation(7, FINAL, model="ads"))
    store.write_evaluations("ads", FINAL, [silent], inputs="")
    morning = datetime(2026, 3, 3, 6, tzinfo=UTC)
    for started, failed in ((morning - timedelta(days=1), False), (morning, True)):
        finished = started + timedelta(seconds=90.5)
        day = FailedDay(PROVISIONAL, FAULT) if failed else None
        store.write_run("fraud", started=started, finished=finished, failed=day)
    store.write_run(
        "ads", started=morning, finished=morning + timedelta(hours=1), failed=FailedDay(FINAL)
    )
    return config
