"""The sentences of a verdict: what they say, and what they do not claim."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from monitor.drift.detector import Incident
from monitor.drift.wording import MEANINGS, Facts, sentences
from monitor.evaluation.attribution import Causes, InterceptCorrection, Shares
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.logistic.level import Lift
from monitor.report.error_wording import causes_sentence, correction_sentence

SPAN = "7 days to 2026-03-07"
INCIDENT = Incident(
    opened=date(2026, 3, 5),
    started=date(2026, 3, 2),
    kind="too_extreme",
    evidence=4.1,
    recovery=0.2,
    scores=np.zeros(4),
    informations=np.zeros(4),
    slopes=np.zeros(6),
)
FACTS = Facts(
    state="calibration_drift",
    day=date(2026, 3, 7),
    obstacle="",
    known_until=None,
    incident=INCIDENT,
    limit=np.log10(8_000),
    false_alert_days=1_000,
    slope=Estimate(0.62, 0.53, 0.72),
    lift=Lift(shift=0.58, shift_error=0.04, kappa=0.01, kappa_error=0.02, separation=0.2),
    prevalence=0.2279,
    reference_prevalence=0.242,
)


def test_a_drift_says_what_since_when_how_strong_and_how_often_it_is_false() -> None:
    """The sentences of a drift name all that was asked for, with numbers a person can read."""
    assert sentences(FACTS) == (
        (
            "Since 2026-03-02 scores are too extreme: high ones come true less often than before, "
            "low ones more often (slope about 0.62, 95 % 0.53 to 0.72)."
        ),
        (
            "On 2026-03-05 the outcomes fitted a drift 13,000 times better than the reference "
            "within its tolerance; the limit is 8,000."
        ),
        (
            "Prevalence 22.79% on 2026-03-07, 24.20% in the reference; over the week the log-odds "
            "of all scores moved by +0.58 (standard error 0.04). The drift was found apart from "
            "that."
        ),
        "On average at least 1,000 days pass between two such alerts that are false.",
    )


@pytest.mark.parametrize(
    ("log10", "said"), [(1.0, "10 to 1"), (1.99, "98 to 1"), (7.3, "10^7 to 1"), (0.4, None)]
)
def test_recovery_is_told_once_it_is_worth_telling(log10: float, said: str | None) -> None:
    """Odds are written out while they are short; odds below three to one are noise."""
    told = sentences(replace(FACTS, incident=replace(INCIDENT, recovery=log10)))
    found = [s for s in told if "recovery" in s]

    expected = f"Since then {said} speaks for recovery; at 100 to 1 the incident closes."
    assert found == ([expected] if said else [])


@pytest.mark.parametrize("kind", [kind for kind in MEANINGS if not kind.startswith("too_")])
def test_a_shape_is_told_with_its_size(kind: str) -> None:
    """A distortion that no slope describes is as strong as its score over its information."""
    scores = np.array([0.0, 30.0, -20.0, 80.0])
    incident = replace(INCIDENT, kind=kind, scores=scores, informations=np.full(4, 200.0))
    size = {"ends": 0.15, "tails": 0.10, "top": 0.40}[kind.partition("_")[0]]

    first, *_ = sentences(replace(FACTS, incident=incident))

    assert first == f"Since 2026-03-02 {MEANINGS[kind]} (by about {size:.2f} in log-odds)."


def test_a_drift_that_took_the_place_of_another_says_so() -> None:
    """Its start is its own, and later than the day on which the incident opened."""
    told = sentences(replace(FACTS, incident=replace(INCIDENT, started=date(2026, 3, 6))))

    assert told[0].startswith("Since 2026-03-06 scores are too extreme")
    assert told[1].startswith("It took the place of another drift. On 2026-03-05 the outcomes")


def test_a_segment_names_no_limit() -> None:
    """Its limit depends on how many others alert that day; the evidence stands alone."""
    told = sentences(replace(FACTS, limit=None))

    assert told[1].endswith("13,000 times better than the reference within its tolerance.")


def test_an_acknowledged_drift_is_never_denied() -> None:
    """While a drift is known the sentences do not claim that the curve is as it was."""
    acknowledged = replace(FACTS, state="acknowledged", incident=None, known_until=date(2026, 4, 1))
    told = sentences(acknowledged)

    assert told[0] == (
        "A drift is acknowledged until 2026-04-01. After that day the evidence starts again from "
        "zero."
    )
    assert "as in the reference" not in " ".join(told)


def test_a_day_without_outcomes_has_no_prevalence() -> None:
    """An incident goes on over days of which nothing is known, and says so."""
    told = " ".join(sentences(replace(FACTS, prevalence=float("nan"))))

    assert "Prevalence not known for 2026-03-07, 24.20% in the reference" in told
    assert "nan" not in told


def test_a_broken_log_keeps_the_name_of_its_model() -> None:
    """A message that begins with a name is not written in capitals."""
    told = sentences(replace(FACTS, state="data_error", obstacle="ctr 2026-03-07: no outcomes"))

    assert told == ("ctr 2026-03-07: no outcomes.",)


def test_a_prior_shift_does_not_claim_to_be_apart_from_the_prior() -> None:
    """The verdict that is the prior's own says that nothing else moved."""
    told = " ".join(sentences(replace(FACTS, state="prior_shift", incident=None)))

    assert told.startswith("Only the prior moved")
    assert "apart" not in told


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
    said = correction_sentence(correction(0.012), SPAN, drifting=False)

    assert said == (
        "Adding -0.32 to the log-odds of every score would remove 0.0120 of the 0.3500 nats of log "
        "loss of the 7 days to 2026-03-07 (95 % 0.0020 to 0.0220), and 0.0043 of the squared error."
    )
    assert correction_sentence(correction(0.012), SPAN, drifting=True) == (
        f"{said} It corrects the level, not the drift."
    )


def test_a_gain_that_chance_explains_is_no_gain() -> None:
    """An intercept whose gain may be nothing is not advised."""
    assert correction_sentence(correction(0.009), SPAN, drifting=True) == (
        "Adding an intercept is not worthwhile: the best one, -0.32, would remove 0.0090 of the "
        "0.3500 nats of log loss of the 7 days to 2026-03-07 (95 % -0.0010 to 0.0190)."
    )


def test_causes_that_chance_explains_are_marked() -> None:
    """Each cause has its share; one that may be absent is marked, an unknown one says so."""
    shares, errors = Shares(0.0449, 0.0012, -0.0001, float("nan")), Shares(0.001, 0.001, 0.1, 0.1)

    assert causes_sentence(Causes(shares, errors, shares, errors), SPAN) == (
        "The calibration error of the 7 days to 2026-03-07, in nats of log loss, by cause: "
        "prior shift 0.0449, slope 0.0012 (n.s.), shape -0.0001 (n.s.), rest unknown."
    )
