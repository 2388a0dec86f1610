"""Wrong labels: learned from days before, used once they are certain, and no drift."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logit

from monitor.base.segment_names import WHOLE
from monitor.drift.curve import label_noise
from monitor.drift.curve.label_noise import FAMILIES, MOST_LOST, MOST_WRONG, wrong_labels
from monitor.drift.curve.reference import Reference, fit_reference, judged_with
from monitor.drift.evidence.directions import day_evidence, recovery_evidence, rows_of_day
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.incidents import label_change
from monitor.drift.incidents.detecting import advance, new_detector, update_incident
from monitor.drift.records.day_evidence import Family, WrongLabels
from monitor.drift.records.detector import SHARES, Detector, no_sums
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import Coarse
from monitor.metrics.core.grid import Floats, Ints
from monitor.words.verdict import sentences
from studies.drift.noise import flipped_days
from studies.drift.rules import FIRST, detectors, follow_detector
from studies.drift.worlds import DRIFTS, Truth, World, stream
from tests.support.stored import detectors_again, read_of_before, whole_table

NOISY, SOUND = World(0.3, 3_000), World(0.05, 5_000)
SWAPPED = WrongLabels("swapped", 0.03)
KNOWN_AT = datetime(2026, 12, 1, tzinfo=UTC)
Days = list[dict[str, Coarse]]


@cache
def noisy(seed: int, days: int = 60) -> Days:
    """Draw a stream of which 3 % of the outcomes are recorded as their opposite, always."""
    return list(flipped_days(NOISY, SWAPPED, seed, days=days))


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


def plain_fits(found: Reference, parts: dict[str, Coarse], span: slice) -> Floats:
    """Give the log-likelihood of each share on a day by SciPy's root and a Cox-Reid term."""
    assert found.noise
    pairs = np.stack(found.noise.added_and_lost, axis=-1)
    fits = np.zeros(found.noise.shares.shape)
    for part in parts.values():
        cells = np.arange(part.counts.size)[span][part.counts[span] > 0]
        n, k, p = part.counts[cells], part.positives[cells], expit(found.curve[cells])
        for place in np.ndindex(fits.shape):
            rate = recorded(n, int(k.sum()), p, *pairs[place])
            fits[place] += (k * np.log(rate) + (n - k) * np.log(1.0 - rate)).sum()
            fits[place] += 0.5 * np.log((n * rate * (1.0 - rate)).sum())
    return fits - fits[:, :1]


def recorded(n: Ints, hits: int, p: Floats, added: float, lost: float) -> Floats:
    """Give the rates of recorded outcomes at the prior that makes as many positive as there are."""
    a, b = np.minimum(added, 0.95 * p), np.minimum(lost, 0.95 * (1.0 - p))
    own = logit((p - a) / (1.0 - a - b))

    def at(shift: float) -> Floats:
        return np.asarray(a + (1.0 - a - b) * expit(own + shift))

    return at(brentq(lambda shift: (n * at(shift)).sum() - hits, -9.0, 9.0, xtol=1e-12))


@pytest.mark.parametrize(
    ("world", "wrong", "low", "high"),
    [
        (NOISY, SWAPPED, 0.02, 0.04),
        (World(0.5, 5_000), WrongLabels("lost", 0.12), 0.09, 0.15),
        (World(0.3, 10_000), WrongLabels("added", 0.03), 0.02, 0.04),
    ],
)
def test_the_posterior_is_that_of_a_plain_sum(
    world: World, wrong: WrongLabels, low: float, high: float
) -> None:
    """28 days of reference and 60 after it, each with its own prior: to 2 % of the share.

    Each counts by its dispersion, and those after the reference for a nat at most, for a share or
    against it. The plain sum takes every score by itself; the detector merges neighbours.
    """
    days, detector = list(flipped_days(world, wrong, 1, days=60)), new_detector()
    found = fit_reference(days[:28])
    assert found.noise
    fits = np.zeros(found.noise.shares.shape)
    for parts, information in zip(days[:28], found.informations, strict=True):
        phi = 1.0 + (found.day_variances * information).max()
        fits += plain_fits(found, parts, found.known) / phi
    for t, parts in enumerate(days[28:]):
        detector, evidence = advance(detector, found, [FIRST + timedelta(t)], parts)
        phi = 1.0 + (detector.jitters * evidence.informations).max()
        said = plain_fits(found, parts, slice(None)) / phi
        most = np.maximum(said, -said * (found.noise.shares <= MOST_WRONG)).max(axis=1)
        fits += np.maximum(-1.0, said / np.maximum(1.0, most)[:, np.newaxis])

    likeliest = FAMILIES.index(wrong.family)
    weights = np.exp(fits[likeliest] - fits.max())
    expected = float((weights * found.noise.shares[likeliest]).sum() / weights.sum())

    learned = wrong_labels(found.noise, detector.noise)
    assert learned == WrongLabels(wrong.family, pytest.approx(expected, rel=0.02))
    assert low < expected < high


def test_the_curve_limits_what_can_be_wrong() -> None:
    """At most 0.95 times the outcomes that are rarest where the curve is known, or a fixed share.

    With 30 % positives, scores of few positives leave no room for added ones.
    """
    found = reference()
    assert found.noise
    p = expit(found.curve[found.known][found.counts.counts[found.known] > 0])

    swapped, lost, added = found.noise.shares

    assert swapped[-1] == pytest.approx(min(MOST_WRONG, 0.95 * min(p.min(), 1.0 - p.max())))
    assert lost[-1] == pytest.approx(min(MOST_LOST, 0.95 * (1.0 - p.max())))
    assert added[-1] == pytest.approx(min(MOST_WRONG, 0.95 * p.min()))
    assert 0.1 < lost[-1] < MOST_LOST


def test_days_differ_only_by_what_wrong_labels_do_not_explain() -> None:
    """A prior that moves bends the curve of lost positives, so days look as if they varied."""
    lost = WrongLabels("lost", 0.2)
    days = list(flipped_days(World(0.5, 20_000), lost, 2, days=0))
    found = fit_reference(days)
    judged_so = judged_with(found, lost)

    assert found.day_variances[0] > 0.003
    assert judged_so.day_variances[0] < 0.3 * found.day_variances[0]
    assert judged_with(found, None) is found


def test_an_alert_waits_while_lost_positives_explain_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the share is known a prior that moves looks like a drift; a drift is found.

    It waits no longer than `LONGEST`.
    """
    lost, few = WrongLabels("lost", 0.1), World(0.18, 2_000)
    days = list(flipped_days(few, lost, 73_023, days=365))[:98]
    found = [*detectors(fit_reference(days[:28]), days[28:])]
    begun = list(flipped_days(few, lost, 73_023, DRIFTS["slope 0.8"], days=120, start=60))
    drifted = follow_detector(fit_reference(begun[:28]), begun[28:100])

    assert any(2.99 < detector.evidence < 3.0 for detector in found)
    assert not any(detector.incident for detector in found)
    assert [opening.day - 60 <= 4 for opening in drifted] == [True]
    monkeypatch.setattr(label_change, "LONGEST", 0)
    assert any(of.incident for of in detectors(fit_reference(days[:28]), days[28:]))


def test_what_days_said_before_the_share_was_known_counts_as_far_as_they_say_it_with_it() -> None:
    """Evidence of weeks that were judged with right labels opens nothing on the day they end."""
    lost, few = WrongLabels("lost", 0.2), World(0.18, 2_000)
    days = list(flipped_days(few, lost, 91_006, days=365))[:98]
    reference = fit_reference(days[:28])
    found = [*detectors(reference, days[28:])]
    known = [wrong_labels(reference.noise, detector.noise) is not None for detector in found]

    assert any(2.99 < of.evidence < 3.0 for of, told in zip(found, known, strict=True) if told)
    assert not any(detector.incident for detector in found)


def test_lost_positives_are_no_drift() -> None:
    """A fifth is never recorded while the prior moves: taken for right labels they open one."""
    world, lost = World(0.5, 5_000), WrongLabels("lost", 0.2)
    days = list(flipped_days(world, lost, 4, days=100))
    found = fit_reference(days[:28])

    assert follow_detector(replace(found, noise=None), days[28:])
    assert follow_detector(found, days[28:]) == []


@pytest.mark.parametrize("drift", ["slope 0.8"])
def test_right_labels_leave_every_bit_as_it_was(drift: str) -> None:
    """Sums, evidence and incidents of 40 days are those of a reference that asks for no share."""
    days = list(stream(SOUND, DRIFTS.get(drift, Truth()), 5, days=40))
    found = fit_reference(days[:28])

    asked = list(followed(found, days[28:]))
    unasked = list(followed(replace(found, noise=None), days[28:]))

    assert not any(wrong_labels(found.noise, detector.noise) for detector in asked)
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
    wrong = wrong_labels(found.noise, before.noise)
    day = {WHOLE: Coarse(*(2 * getattr(days[59]["segment 0"], n) for n in ("counts", "positives")))}

    _, evidence = advance(before, found, [FIRST + timedelta(31)], day)

    with_share, without = (
        day_evidence(found, day, before.jitters, before.cross, rows=rows_of_day(found, day, of))
        for of in (wrong, None)
    )
    assert wrong
    assert wrong.share > 0.01
    assert evidence.ratios.tobytes() == with_share.ratios.tobytes()
    assert with_share.ratios != pytest.approx(without.ratios, abs=1e-3)
    near, far = (
        recovery_evidence(rows_of_day(found, day, of), 0, -0.2, -0.03) for of in (wrong, None)
    )
    assert near != pytest.approx(far, abs=1e-3)


def test_an_open_drift_teaches_nothing() -> None:
    """From the day after its opening on the sums of labels stand still, until it closes."""
    drift = DRIFTS[f"slope 0.8 for {130} days"]
    days = list(flipped_days(NOISY, SWAPPED, 1, drift, days=40, start=5))
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


def folded(days: list[Day], *, stops: tuple[int, ...] = ()) -> list[Verdict]:
    """Judge days after a reference of 28; at each stop go on from what is stored."""
    found, verdicts = fit_model_reference(days[:28], Limits()), list[Verdict]()
    for first, last in pairwise((28, *stops, len(days))):
        batch = judge(
            "ctr",
            days[first:last],
            references=[found],
            limits=Limits(),
            recent=days[max(0, first - 14) : first],
            detectors=detectors_again(verdicts[-2:]),
        )
        verdicts += [verdict for of_day in batch for verdict in of_day]
    return verdicts


def test_labels_are_learned_alike_however_days_arrive() -> None:
    """One call, days one by one from the store, and any stops give the same bytes of verdicts."""
    days = judged_days(noisy(1, 40))
    expected = whole_table(folded(days))

    for stops in (tuple(range(29, 68)), (50,)):
        assert whole_table(folded(days, stops=stops)).equals(expected)


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

    assert noisy_verdict.facts.wrong == WrongLabels("swapped", pytest.approx(0.03, abs=0.01))
    said = f"About {100 * noisy_verdict.facts.wrong.share:.2g} % of the outcomes seem to be wrong"
    assert any(sentence.startswith(said) for sentence in sentences(noisy_verdict))
    assert sound_verdict.facts.wrong is None
    assert not any("wrong" in sentence for sentence in sentences(sound_verdict))


def with_field(table: pa.Table, of: str, name: str, values: pa.Array) -> pa.Table:
    """Put other values into a field of a column."""
    column = table[of].combine_chunks()
    names = [field.name for field in column.type]
    fields = [values if each == name else pc.struct_field(column, each) for each in names]
    place = table.schema.get_field_index(of)
    return table.set_column(place, of, pa.StructArray.from_arrays(fields, names))


def test_a_store_of_one_family_goes_on_with_what_it_had_learned() -> None:
    """Its detectors hold a row of sums, its facts a share: those of swapped labels."""
    verdicts = folded(judged_days(noisy(1)))[-2:]
    sums, shares = [v.detector.noise[0] for v in verdicts], [0.03, None]
    table = with_field(whole_table(verdicts), "detector", "noise", pa.array(sums))
    table = with_field(table, "facts", "wrong", pa.array(shares))

    found = read_of_before(table)

    assert [v.facts.wrong for v in found] == [SWAPPED, None]
    for of_verdict, learned in zip(found, sums, strict=True):
        assert of_verdict.detector.noise[0].tobytes() == learned.tobytes()
        assert not of_verdict.detector.noise[1:].any()
        assert of_verdict.detector.noise.shape == no_sums().shape


def test_a_store_from_before_labels_were_learned_begins_with_the_reference() -> None:
    """Its detectors have no such column: nothing was learned of labels since the reference."""
    table = whole_table(folded(judged_days(noisy(1, 5))))
    place = table.schema.get_field_index("detector")
    kept = [field.name for field in table.schema.field(place).type if field.name != "noise"]
    old = pa.StructArray.from_arrays(
        [pc.struct_field(table["detector"].combine_chunks(), name) for name in kept], kept
    )

    verdicts = read_of_before(table.set_column(place, "detector", old))

    assert all(verdict.detector.noise.tobytes() == no_sums().tobytes() for verdict in verdicts)


def test_samples_and_classes_have_no_share() -> None:
    """Weights of a sample flip the two outcomes unequally, so labels count as right there."""
    days = judged_days(noisy(1, 0))
    sampled = [replace(day, class_weights=(10.0, 1.0)) for day in days]

    found, whole = fit_model_reference(sampled, Limits()), fit_model_reference(days, Limits())

    assert all(stream.noise is None for stream in found.streams.values())
    assert all(stream.noise is not None for stream in whole.streams.values())


@pytest.mark.parametrize(
    ("family", "highest", "least"),
    [
        ("swapped", MOST_WRONG, None),
        ("added", MOST_WRONG, None),
        ("swapped", 0.03, 0.027),
        ("added", 0.03, 0.027),
        ("lost", 0.3, 0.27),
    ],
)
def test_four_percent_or_more_is_something_else(
    family: Family, highest: float, least: float | None
) -> None:
    """Where 4 % or more fit best, the curve bends for another reason than labels.

    Of lost ones many are usual.
    """
    shares = np.tile(np.linspace(0.0, highest, SHARES), (len(FAMILIES), 1))
    learned = no_sums()
    learned[FAMILIES.index(family), :SHARES] = np.linspace(0.0, 60.0, SHARES)

    wrong = wrong_labels(label_noise.Noise(shares, no_sums()), learned)

    expected = least and WrongLabels(family, pytest.approx(least / 0.95, rel=0.06))
    assert wrong == expected


def test_labels_that_are_certainly_right_are_taken_for_right() -> None:
    """So certainly that every likelihood of wrong ones is less than the least float."""
    shares, learned = np.tile(np.linspace(0.0, 0.03, SHARES), (len(FAMILIES), 1)), no_sums()
    learned[:, 1:SHARES] = -2_000.0

    assert wrong_labels(label_noise.Noise(shares, no_sums()), learned) is None
