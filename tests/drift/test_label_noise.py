"""Wrong labels: learned from days before, used once they are certain, and no drift."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import islice, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logit

from monitor.drift import label_noise
from monitor.drift.detecting import advance, new_detector, reset, update_incident
from monitor.drift.detector import SHARES, Detector, no_sums
from monitor.drift.evidence import day_evidence, recovery_evidence
from monitor.drift.inputs import Day, Limits, fit_model_reference
from monitor.drift.judge import judge
from monitor.drift.label_noise import MOST_WRONG, wrong_share
from monitor.drift.reference import Reference, fit_reference
from monitor.drift.verdict import Verdict
from monitor.metrics.core.coarse import Coarse
from monitor.metrics.core.grid import Floats, Ints
from monitor.segment_names import WHOLE
from monitor.store.verdict_table import verdict_table, verdicts_of
from monitor.words.verdict import sentences
from studies.drift.noise import flipped_days
from studies.drift.rules import FIRST, follow_detector
from studies.drift.worlds import DRIFTS, Truth, World, stream

NOISY, SOUND = World(0.3, 3_000), World(0.05, 5_000)
KNOWN_AT = datetime(2026, 12, 1, tzinfo=UTC)
Days = list[dict[str, Coarse]]


@cache
def noisy(seed: int, days: int = 60) -> Days:
    """Draw a stream of which 3 % of the outcomes are recorded as their opposite, always."""
    return list(flipped_days(NOISY, 0.03, seed, days=days))


@cache
def reference(seed: int = 1) -> Reference:
    """Fit its reference."""
    return fit_reference(noisy(seed)[:28])


def followed(found: Reference, days: Days) -> Iterator[Detector]:
    """Fold the days after a reference."""
    detector = new_detector()
    for t, parts in enumerate(days):
        detector, _ = advance(detector, found, [FIRST + timedelta(t)], parts)
        yield detector


def plain_fits(found: Reference, parts: dict[str, Coarse], shares: Floats, span: slice) -> Floats:
    """Give the log-likelihood of each share on a day by SciPy's root and a Cox-Reid term."""
    fits = np.zeros(shares.size)
    for part in parts.values():
        cells = np.arange(part.counts.size)[span][part.counts[span] > 0]
        n, k, p = part.counts[cells], part.positives[cells], expit(found.curve[cells])
        for s, share in enumerate(shares):
            rate = recorded(n, int(k.sum()), p, share)
            fits[s] += (k * np.log(rate) + (n - k) * np.log(1.0 - rate)).sum()
            fits[s] += 0.5 * np.log((n * rate * (1.0 - rate)).sum())
    return fits - fits[0]


def recorded(n: Ints, hits: int, p: Floats, share: float) -> Floats:
    """Give the rates of recorded outcomes at the prior that makes as many positive as there are."""
    wrong = np.minimum(share, 0.95 * np.minimum(p, 1.0 - p))
    own = logit((p - wrong) / (1.0 - 2.0 * wrong))

    def at(shift: float) -> Floats:
        return np.asarray(wrong + (1.0 - 2.0 * wrong) * expit(own + shift))

    return at(brentq(lambda shift: (n * at(shift)).sum() - hits, -9.0, 9.0, xtol=1e-12))


def test_the_posterior_is_that_of_a_plain_sum() -> None:
    """28 days of reference and 32 after it, each with its own prior: to 2 % of the share.

    Each counts by its dispersion, and those after the reference for a nat at most. The plain sum
    takes every score by itself; the detector merges neighbours.
    """
    found, days, detector = reference(), noisy(1), new_detector()
    noise = found.noise
    assert noise is not None
    shares, fits = noise.shares, np.zeros(SHARES)
    for parts, information in zip(days[:28], found.informations, strict=True):
        phi = 1.0 + (found.day_variances * information).max()
        fits += plain_fits(found, parts, shares, found.known) / phi
    for t, parts in enumerate(days[28:]):
        detector, evidence = advance(detector, found, [FIRST + timedelta(t)], parts)
        phi = 1.0 + (detector.jitters * evidence.informations).max()
        said = plain_fits(found, parts, shares, slice(None)) / phi
        fits += said * min(1.0, label_noise.MOST_OF_A_DAY / np.abs(said).max())

    weights = np.exp(fits - fits.max())
    expected = (weights * shares).sum() / weights.sum()

    assert shares[-1] == MOST_WRONG
    assert wrong_share(noise, detector.noise) == pytest.approx(expected, rel=0.02)
    assert 0.02 < expected < 0.04


def test_a_drift_that_is_none_is_not_reported() -> None:
    """The prior moves over 100 days: labels taken for right open a drift, learned ones do not."""
    days = noisy(5, 150)[:128]
    found = fit_reference(days[:28])

    assert follow_detector(replace(found, noise=None), days[28:])
    assert follow_detector(found, days[28:]) == []


@pytest.mark.parametrize("drift", ["none", "slope 0.8"])
def test_right_labels_leave_every_bit_as_it_was(drift: str) -> None:
    """Sums, evidence and incidents of 40 days are those of a reference that asks for no share."""
    days = list(stream(SOUND, DRIFTS.get(drift, Truth()), 5, days=40))
    found = fit_reference(days[:28])

    asked = list(followed(found, days[28:]))
    unasked = list(followed(replace(found, noise=None), days[28:]))

    assert not any(wrong_share(found.noise, detector.noise) for detector in asked)
    for one, other in zip(asked, unasked, strict=True):
        assert one.sums.tobytes() == other.sums.tobytes()
        assert all(
            getattr(one.history, name).tobytes() == getattr(other.history, name).tobytes()
            for name in ("scores", "informations", "slopes", "levels")
        )
    assert any(detector.noise.any() for detector in asked)


def test_a_day_is_judged_with_what_days_before_it_say() -> None:
    """Evidence and recovery take the share of the detector before, and that share changes them."""
    found, days = reference(), noisy(1)
    *_, before = followed(found, days[28:59])
    wrong = wrong_share(found.noise, before.noise)
    day = {WHOLE: Coarse(*(2 * getattr(days[59]["segment 0"], n) for n in ("counts", "positives")))}

    _, evidence = advance(before, found, [FIRST + timedelta(31)], day)

    with_share, without = (
        day_evidence(found, day, before.jitters, before.cross, wrong=share) for share in (wrong, 0)
    )
    assert wrong > 0.01
    assert evidence.ratios.tobytes() == with_share.ratios.tobytes()
    assert with_share.ratios != pytest.approx(without.ratios, abs=1e-3)
    near, far = (recovery_evidence(found, day, 0, -0.2, -0.03, wrong=share) for share in (wrong, 0))
    assert near != pytest.approx(far, abs=1e-3)


def test_an_open_drift_teaches_nothing() -> None:
    """From the day after its opening on the sums of labels stand still, until it closes."""
    days = list(flipped_days(NOISY, 0.03, 1, DRIFTS[f"slope 0.8 for {130} days"], days=40, start=5))
    found, opened, learned = fit_reference(days[:28]), 0, list[bytes]()
    detector = new_detector()
    for t, parts in enumerate(days[28:]):
        day = FIRST + timedelta(t)
        before = detector
        detector, evidence = advance(before, found, [day], parts)
        detector = update_incident(detector, day, evidence, alarm=detector.evidence >= 3.0)
        opened += before.incident is not None
        if before.incident:
            learned.append(detector.noise.tobytes())
            assert detector.noise is before.noise
        else:
            assert detector.noise.tobytes() != before.noise.tobytes()

    assert opened > 10
    assert len(set(learned)) == 1


def test_what_was_learned_outlasts_a_known_drift_but_no_reference() -> None:
    """An acknowledged drift leaves the reference in force, a re-based one brings its own shares."""
    *_, detector = followed(reference(), noisy(1)[28:])

    kept, gone = (reset(detector, FIRST, reason) for reason in ("acknowledged", "rebased"))

    assert kept.noise.tobytes() == detector.noise.tobytes()
    assert not gone.noise.any()


def test_an_error_of_the_curve_is_no_wrong_label(monkeypatch: pytest.MonkeyPatch) -> None:
    """Odds five times as high for good, so the curve is off by its own error alike every day.

    Were the curve of these 14 days right, wrong labels would be used within 100 days.
    """
    days = list(islice(stream(SOUND, Truth(odds=5.0), 90_000, reference=14), 14 + 100))
    found = fit_reference(days[:14])
    monkeypatch.setattr(label_noise, "MOST_OF_A_DAY", 100.0)
    learned = [detector.noise for detector in followed(found, days[14:])]

    assert not any(wrong_share(found.noise, sums) for sums in learned)
    monkeypatch.setattr(label_noise, "RIDGE", 1e12)
    assert any(wrong_share(found.noise, sums) for sums in learned)


def folded(days: list[Day], *, stops: tuple[int, ...] = ()) -> list[Verdict]:
    """Judge days after a reference of 28; at each stop go on from what is stored."""
    found, verdicts = fit_model_reference(days[:28], Limits()), list[Verdict]()
    for first, last in pairwise((28, *stops, len(days))):
        stored = verdicts_of(verdict_table(verdicts[-2:], about={})) if verdicts else []
        batch = judge(
            "ctr",
            days[first:last],
            references=[found],
            limits=Limits(),
            recent=days[max(0, first - 14) : first],
            detectors={verdict.segment: verdict.detector for verdict in stored},
        )
        verdicts += [verdict for of_day in batch for verdict in of_day]
    return verdicts


def test_labels_are_learned_alike_however_days_arrive() -> None:
    """One call, days one by one from the store, and any stops give the same bytes of verdicts."""
    days = judged_days(noisy(1, 40))
    expected = verdict_table(folded(days), about={})

    for stops in (tuple(range(29, 68)), (31, 50), (66,)):
        assert verdict_table(folded(days, stops=stops), about={}).equals(expected)


def judged_days(days: Days) -> list[Day]:
    """Make what verdicts are reached from; one segment."""
    return [
        Day(date(2026, 1, 1) + timedelta(t), True, KNOWN_AT, 1.0, {("a", "all"): part})
        for t, of_day in enumerate(days)
        for part in of_day.values()
    ]


def test_the_verdict_names_the_share() -> None:
    """A sentence, once a share is used, and the fact behind it; sound labels have neither."""
    noisy_verdict = folded(judged_days(noisy(1)))[-2]
    sound_verdict = folded(judged_days(list(stream(SOUND, Truth(), 5, days=5))))[-2]

    said = (
        f"About {100 * (noisy_verdict.facts.wrong or 0.0):.2g} % of the outcomes seem to be wrong"
    )
    assert noisy_verdict.facts.wrong == pytest.approx(0.03, abs=0.01)
    assert any(sentence.startswith(said) for sentence in sentences(noisy_verdict))
    assert sound_verdict.facts.wrong is None
    assert not any("wrong" in sentence for sentence in sentences(sound_verdict))


def test_a_store_from_before_labels_were_learned_begins_with_the_reference() -> None:
    """Its detectors have no such column: nothing was learned of labels since the reference."""
    table = verdict_table(folded(judged_days(noisy(1, 5))), about={})
    place = table.schema.get_field_index("detector")
    kept = [field.name for field in table.schema.field(place).type if field.name != "noise"]
    old = pa.StructArray.from_arrays(
        [pc.struct_field(table["detector"].combine_chunks(), name) for name in kept], kept
    )

    verdicts = verdicts_of(table.set_column(place, "detector", old))

    assert all(verdict.detector.noise.tobytes() == no_sums().tobytes() for verdict in verdicts)


def test_samples_and_classes_have_no_share() -> None:
    """Weights of a sample flip the two outcomes unequally, so labels count as right there."""
    days = judged_days(noisy(1, 0))
    sampled = [replace(day, class_weights=(10.0, 1.0)) for day in days]

    found, whole = fit_model_reference(sampled, Limits()), fit_model_reference(days, Limits())

    assert all(stream.noise is None for stream in found.streams.values())
    assert all(stream.noise is not None for stream in whole.streams.values())


@pytest.mark.parametrize(("highest", "least"), [(MOST_WRONG, 0.0), (0.03, 0.027)])
def test_four_percent_or_more_is_something_else(highest: float, least: float) -> None:
    """Where 4 % or more fit best, the curve bends for another reason than labels."""
    shares, learned = np.linspace(0.0, highest, SHARES), no_sums()
    learned[:SHARES] = np.linspace(0.0, 60.0, SHARES)

    share = wrong_share(label_noise.Noise(shares, no_sums()), learned)
    assert least <= share <= least / 0.9
