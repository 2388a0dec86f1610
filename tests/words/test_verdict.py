from dataclasses import replace
from datetime import UTC, date, datetime
from math import inf, nan
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from monitor.days.decisions import Plan
from monitor.drift.curve.reference import faults_of
from monitor.drift.evidence.directions import SIZES
from monitor.drift.incidents.detecting import new_detector
from monitor.drift.records.day_evidence import DayEvidence
from monitor.drift.records.detector import Incident, Quarter, Worse
from monitor.drift.records.facts import (
    Detectable,
    Facts,
    LastingShift,
    OneDay,
    ReferenceChange,
    Together,
)
from monitor.drift.records.mix import MovedMix, MovedShare
from monitor.drift.records.region_state import Break
from monitor.drift.records.verdict import Verdict
from monitor.evaluation.evaluation import Causes, InterceptCorrection, Shares
from monitor.metrics.core.estimate import Estimate
from monitor.words.advice import what_can_be_found
from monitor.words.verdict import MEANINGS, in_short, sentences
from monitor.words.windows import causes_sentence, correction_sentence, place_sentence

LEAST_SHIFT = 0.22  # logit
SPAN = "7 days to 2026-03-07"
DAY = date(2026, 3, 7)
INCIDENT = Incident(
    opened=date(2026, 3, 5),
    started=date(2026, 3, 2),
    start_low=date(2026, 2, 27),
    start_high=date(2026, 3, 3),
    kind="too_extreme",
    evidence=4.1,
    recovery=0.2,
    size=-0.38,
    size_error=0.05,
    scores=np.zeros(4),
    informations=np.zeros(4),
    slopes=np.zeros(6),
)
VERDICT = Verdict(
    model="ctr",
    segment="all",
    day=date(2026, 3, 7),
    final=True,
    known_at=datetime(2026, 3, 8, tzinfo=UTC),
    state="calibration_drift",
    reasons=(),
    evidence=DayEvidence(*[np.zeros(0)] * 7, unknown_share=0.01),
    detector=replace(new_detector(), incident=INCIDENT),
    limit=np.log10(1_000),
    shift=Estimate.normal(0.58, 0.04),
    level_change=Estimate.normal(0.01, 0.02),
    slope=Estimate(0.62, 0.53, 0.72),
    reference_prevalence=0.242,
    reference_slope=Estimate(1.02, 0.97, 1.07),
    reference_intercept=Estimate(0.02, -0.01, 0.05),
    detectable=Detectable(
        tolerated=0.11, found=0.32, rarer=40.0, days=12.2, days_strong=6.0, within_patience=0.15
    ),
    facts=Facts(false_alert_days=1_000, moved="prior", prevalence=0.2279),
)
SOUND = replace(VERDICT, state="ok", detector=new_detector())
NONE_FOUND = (
    "No evidence of a change of the slope larger than 0.32 since the reference, whatever the prior."
)


def but(verdict: Verdict, **facts: Any) -> Verdict:
    """Change facts of a verdict."""
    return replace(verdict, facts=replace(verdict.facts, **facts))


def drifting(**changes: Any) -> Verdict:
    """Change the incident of the verdict."""
    incident = replace(INCIDENT, **changes)
    return replace(VERDICT, detector=replace(new_detector(), incident=incident))


def said(verdict: Verdict) -> str:
    """Give what is said of a verdict as one text."""
    return " ".join(sentences(verdict))


def reference_with(overlap: float = 1.0, **own: Estimate | None) -> Any:
    """Make what is looked at of a reference."""
    return SimpleNamespace(**{"own_slope": None, "own_intercept": None, "overlap": overlap, **own})


def wrong_from_the_start(**own: Estimate | None) -> Verdict:
    """Give the reference a slope and an intercept of its own."""
    reference = reference_with(**own)
    return replace(
        but(SOUND, faults=faults_of(reference, LEAST_SHIFT)),
        reference_slope=reference.own_slope,
        reference_intercept=reference.own_intercept,
    )


def unknown(share: float) -> Verdict:
    """Let so many of the scores be such as the reference does not know."""
    return replace(VERDICT, evidence=DayEvidence(*[np.zeros(0)] * 7, unknown_share=share))


DATED = "Since 2026-03-02 (90 % 2026-02-27 to 2026-03-03)"
EXTREME = (
    "scores are too extreme: high ones come true less often than before, low ones more often "
    "(slope about 0.62, 95 % 0.53 to 0.72)."
)
FOUND = (
    "On 2026-03-05 the evidence for a drift, over all days on which it may have begun, reached "
    "13,000 to 1"
)
PREVALENCE = (
    "24.20 % in the reference; over the week the log-odds of all scores moved by +0.58 (standard "
    "error 0.04). The drift was found apart from that."
)
WEEKS = Quarter(date(2026, 3, 5), np.zeros(0, np.int64), np.zeros(0), undecided=True)
WORSE = Worse(date(2026, 3, 7), 3.1, 1, "too_extreme", -0.16, 0.85)
SHIFTED = replace(SOUND, state="prior_shift", level_change=Estimate.normal(-0.12, 0.02))
LIFTED = replace(SOUND, state="prior_shift", level_change=Estimate.normal(0.06, 0.01))
LASTING = LastingShift(Estimate(0.21, 0.09, 0.33), date(2025, 11, 8))
PLANNED = replace(
    SOUND, state="acknowledged", plan=Plan(SOUND.day, date(2026, 4, 1), why="new features")
)
# A verdict, what must be said of it, and what must not.
SAID: dict[str, tuple[Verdict, str, str]] = {
    "a drift": (
        VERDICT,
        (f"{DATED} {EXTREME} {FOUND}; the limit is 1,000. Prevalence 22.79 % on 2026-03-07, "
        f"{PREVALENCE} "
        "On average at least 1,000 days pass between two such alerts that are false."),
        "recovery",
    ),
    "a recovery": (
        drifting(recovery=1.99),
        "Since then 98 to 1 speaks for recovery; at 1,000 to 1 the incident closes.",
        "nan",
    ),
    **{
        kind: (
            drifting(kind=kind, size=-0.15),
            f"{DATED} {MEANINGS[kind]} (by about 0.15 in log-odds).",
            "slope about",
        )
        for kind in MEANINGS
        if not kind.startswith("too_")
    },
    "gradual": (
        drifting(gradual=True),
        "Gradually, since about 2026-03-02 (90 % 2026-02-27 to 2026-03-03), scores are too extrem",
        DATED,
    ),
    "another drift before": (
        drifting(started=date(2026, 3, 6)),
        "It took the place of another drift. On 2026-03-05 the evid",
        DATED,
    ),
    "undecided": (
        replace(drifting(quarter=WEEKS), state="undecided"),
        (f"{EXTREME} Over the last 13 weeks the outcomes say neither that this lasts nor that it "
        f"is over: what is left is smaller than this volume can tell. {FOUND}"),
        "nan",
    ),
    "worse": (
        drifting(started=date(2026, 3, 6), worse=WORSE),
        ("Worse since 2026-03-06: a slope of 0.62, it was 0.85. On 2026-03-07 the evidence for "
        f"this change reached 1,300 to 1. {FOUND}"),
        "took the place",
    ),
    # The limit of a segment depends on how many others alert that day.
    "a segment": (replace(VERDICT, segment="DE"), f"{FOUND}.", "the limit is"),
    "planned": (
        PLANNED,
        ("A change (new features) is planned until 2026-04-01: what is found up to that day alerts "
        "nobody. What lasts is an alert on the first day that is judged after it."),
        "as in the reference",
    ),
    "no outcomes": (
        but(VERDICT, prevalence=None),
        f"Prevalence not known for 2026-03-07, {PREVALENCE}",
        "nan",
    ),
    "a prior shift": (
        replace(SOUND, state="prior_shift"),
        f"{NONE_FOUND} Once the base rate is known the scores fit: only the prior moved.",
        "apart",
    ),
    "a prior shift on a day that contradicts": (
        but(replace(SOUND, state="prior_shift"), one_day=OneDay(55.0, "too_extreme")),
        "This day alone contradicts the reference, 10^55 to 1, as if",
        "the scores fit",
    ),
    "rows without a value": (
        but(
            SOUND,
            mix=MovedMix(
                (MovedShare("", 0.0, 0.0, 0.467), MovedShare("other", 0.0, 0.0, 0.467)), (), 1_500
            ),
        ),
        "Of the predictions 46.7 % have no value in the column of the segments",
        "not listed",
    ),
    "a lasting shift": (
        but(SOUND, lasting=LASTING),
        ("Over the 120 days since 2025-11-08 the log-odds of all scores are +0.21 away from the "
        "reference (95 % +0.09 to +0.33)."),
        "nan",
    ),
    "a level that drifts": (
        but(replace(SOUND, state="level_drift"), lasting=LASTING),
        "",
        "Over the 120 days",
    ),
    "prior and inputs": (
        but(SHIFTED, moved="prior or inputs"),
        ("Outcomes are less frequent than a shift of the prior explains (level change -0.120, "
        "standard error 0.020), but the inputs moved too: scores and outcomes alone do not "
        "separate a shift of prior and inputs together from a lowered curve."),
        "Only the prior moved",
    ),
    "a lift": (
        but(LIFTED, moved="lift", lift=0.3),
        ("All scores come true more often than before, and the scores did not move along as they "
        "would under a shift of the prior alone: as if the curve had been lifted by +0.30 in logit "
        "(level change +0.060, standard error 0.010)."),
        "nan",
    ),
    "on average": (
        but(VERDICT, on_average=True),
        ("Such an alert is false once in 1,000 days, on average over references, while the curve "
        "does not change."),
        "On average at least",
    ),
    "unknown scores": (
        unknown(0.31),
        ("31 % of the scores lie where the reference has too few outcomes: of these only a break "
        "at one place is judged."),
        "nan",
    ),
    "held down": (
        but(replace(VERDICT, state="ok", detector=new_detector(), reached=1.0), alone=3.5),
        ("If outcomes were independent, the evidence for a drift would be 3,200 to 1, over the "
        "limit; as they hang together, it is 10 to 1."),
        "nan",
    ),
    "extreme from the start": (
        wrong_from_the_start(own_slope=Estimate(0.5, 0.45, 0.55)),
        ("Unchanged since the reference, whose own scores are too extreme (slope 0.50, 95 % 0.45 "
        f"to 0.55). {NONE_FOUND}"),
        "nan",
    ),
    "off by chance": (wrong_from_the_start(own_slope=Estimate(0.7, 0.3, 1.1)), NONE_FOUND, "own"),
    "a reference that changed": (
        but(
            replace(
                wrong_from_the_start(own_slope=Estimate(0.5, 0.4, 0.6)), state="reference_changed"
            ),
            changed=ReferenceChange(DAY, DAY, "too_extreme", 1.0, 0.7),
        ),
        "In the reference scores were too extreme (slope 0.50, 95 % 0.4",
        "Unchanged since",
    ),
    "extreme and low": (
        wrong_from_the_start(
            own_slope=Estimate(0.5, 0.4, 0.6), own_intercept=Estimate(0.4, 0.3, 0.5)
        ),
        ("whose own scores are too extreme (slope 0.50, 95 % 0.40 to 0.60) and too low on average "
        "(intercept +0.40, 95 % +0.30 to +0.50)."),
        "nan",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_what_is_said_of_a_verdict(case: str) -> None:
    """What happened, since when, how strong it is, and how often it is false; no more."""
    verdict, expected, never = SAID[case]

    assert expected in said(verdict)
    assert never not in said(verdict)


def test_what_is_said_in_short() -> None:
    """A start that is about a day, and a drift that became worse; undecided is as before."""
    slow, worse = drifting(gradual=True), drifting(started=date(2026, 3, 6), worse=WORSE)
    undecided = replace(drifting(quarter=WEEKS), state="undecided")

    assert in_short(slow).startswith("too extreme, gradually, since about 2026-03-02")
    assert ", worse than before, found at" in in_short(worse)
    assert in_short(undecided) == in_short(VERDICT)


def test_a_broken_log_keeps_the_name_of_its_model() -> None:
    """A message that begins with a name is not written in capitals."""
    failed = replace(SOUND, state="data_error")
    told = but(failed, obstacle="logs failed", complaint="ctr 2026-03-07: no outcomes")

    assert sentences(told) == ("ctr 2026-03-07: no outcomes.",)


@pytest.mark.parametrize(
    "verdict", [SOUND, VERDICT, but(VERDICT, obstacle="part of the reference")]
)
def test_entities_that_are_counted_again_are_told_instead_of_a_promise(verdict: Verdict) -> None:
    """Sound, drifting or not judged yet, the last sentence says so, and none says how rare."""
    found = but(verdict, faults=("counted again",), reference=(DAY, DAY))

    *others, last = sentences(found)

    assert "the same entities seem to be counted again" in last
    assert "set predictions.entity" in last
    assert not any("1,000 days pass" in said for said in others)
    assert last not in sentences(but(found, faults=()))


def test_what_hangs_together_is_said() -> None:
    """What a reference is worth, what it cannot tell, and a longer one only where it is quicker."""
    found = Detectable(0.03, 0.27, 500.0, 40.0, 9.0, None, Together(28, 1.42, 0.134, 26.0))
    worth = (
        "Outcomes of these days hang together: 28 days count as about 1.4. Within 120 days slopes "
        "nearer to 1 than 0.87 could be chance"
    )

    longer = "; with a reference of 91 days a slope of 0.8 would take about 26 days."
    assert what_can_be_found(found).endswith(worth + longer)
    for as_slow in (Together(28, 1.42, 0.134, 40.0), Together(100, 1.42, 0.134, None)):
        said = what_can_be_found(replace(found, together=as_slow))
        assert said.endswith("could be chance.")
        assert "91" not in said
    nothing = replace(found, together=Together(28, 0.1, nan, inf), days=inf)
    assert "every slope could be chance." in what_can_be_found(nothing)


def test_what_can_be_found_is_said() -> None:
    """Tolerance, effect and days; few outcomes a day add what is never found."""
    many = Detectable(
        tolerated=0.11, found=0.32, rarer=40.0, days=12.2, days_strong=6.0, within_patience=0.15
    )
    first = (
        "With this reference, changes of the slope below 0.11 are tolerated and changes above 0.32 "
        "are found; a slope of 0.8 would take about 12 days."
    )

    assert what_can_be_found(many) == first
    few = replace(many, rarer=9.0, days=50.4, within_patience=0.7)
    assert what_can_be_found(few) == (
        f"{first.replace('12 days', '50 days')} With 9 of the rarer outcome a day, changes smaller "
        "than 0.70 are not found within 120 days."
    )
    none = what_can_be_found(replace(few, days=inf, within_patience=nan))
    assert "a slope of 0.8 would take more than 400 days." in none
    assert none.endswith(
        "With 9 of the rarer outcome a day, no change of the slope is found within 120 days."
    )


def correction(removed: float) -> InterceptCorrection:
    """Offer an intercept that removes so many nats, give or take 0.01."""
    return InterceptCorrection(
        Estimate.normal(-0.321, 0.03),
        Estimate.normal(removed, 0.01 / 1.959964),
        Estimate.normal(0.0043, 0.001),
        0.35,
    )


def test_a_correction_says_how_much_it_would_remove() -> None:
    """The sentence gives the intercept, its gain with an interval, and the whole error."""
    said = correction_sentence(correction(0.012), f"the {SPAN}", drifting=False)

    assert said == (
        "Adding -0.32 to the log-odds of every score would remove 0.0120 of the 0.3500 nats of log "
        "loss of the 7 days to 2026-03-07 (95 % 0.0020 to 0.0220), and 0.0043 of the squared error."
    )
    assert correction_sentence(correction(0.012), f"the {SPAN}", drifting=True) == (
        f"{said} It corrects the level, not the drift."
    )


def test_a_gain_that_chance_explains_is_no_gain() -> None:
    """An intercept whose gain may be nothing is not advised."""
    assert correction_sentence(correction(0.009), f"the {SPAN}", drifting=True) == (
        "Adding an intercept is not worthwhile: the best one, -0.32, would remove 0.0090 of the "
        "0.3500 nats of log loss of the 7 days to 2026-03-07 (95 % -0.0010 to 0.0190)."
    )


def test_a_break_at_one_place_has_a_number_of_its_own() -> None:
    """A tilt of 0.5 with the information 800 explains 100 nats of 10,000 rows, with an error."""
    place = Break(
        *("value", 512, 513, 0.5, 0.5, 0.0, float("nan"), 500, 240, 10_000),
        profile=100.0 - 400.0 * (SIZES - 0.5) ** 2,
        information=800.0,
    )

    said = place_sentence(place)
    assert "0.0100 nats a prediction since it began (95 % 0.0072 to 0.0128)" in said


def test_causes_that_chance_explains_are_marked() -> None:
    """Each cause has its share; one that may be absent is marked, an unknown one says so."""
    shares, errors = Shares(0.0449, 0.0012, -0.0001, float("nan")), Shares(0.001, 0.001, 0.1, 0.1)

    assert causes_sentence(Causes(shares, errors, shares, errors), f"the {SPAN}") == (
        "The calibration error of the 7 days to 2026-03-07, in nats of log loss, by cause: "
        "prior shift 0.0449, slope 0.0012 (n.s.), shape -0.0001 (n.s.), rest unknown."
    )
