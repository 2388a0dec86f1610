"""A change of labels is distinguished from a drift of the scores and from a shift of the prior."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import islice

import numpy as np
import pytest
from scipy.special import expit

from monitor.base.segment_names import WHOLE
from monitor.days.arrivals import Late
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.incidents.label_change import label_change
from monitor.drift.records.day_evidence import LABEL_KINDS, WrongLabels
from monitor.drift.records.detector import OUTCOMES_MISSING
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.words.next_steps import next_steps
from monitor.words.trust import trust
from monitor.words.verdict import sentences
from studies.drift.noise import flip
from studies.drift.worlds import Truth, World, stream, tilted
from tests.support.stored import detectors_again, stored_again

FIRST, KNOWN_AT = date(2026, 1, 1), datetime(2026, 12, 1, tzinfo=UTC)
REFERENCE, BEGINS, DAYS, ROWS = 28, 34, 46, 2_000


def days_of(what: str, size: float, *, until: int = DAYS) -> Iterator[Day]:
    """Draw days of half positive rows whose priors move; from `BEGINS` on something is wrong."""
    rng = np.random.default_rng(11)
    for t in range(DAYS):
        z, prior = rng.normal(-4.0 if "rare" in what else 0.0, 1.5, ROWS), rng.normal(0.0, 0.3)
        wrong = BEGINS <= t < until
        z *= 1.3 if wrong and "wider" in what else 1.0
        tilt = size if wrong and what == "slope" else 1.0
        prior += size if wrong and "prior" in what else 0.0
        positive, luck = rng.random(ROWS) < expit(tilt * z + prior), rng.random(ROWS)
        if wrong and what == "lost":
            positive &= luck >= size
        if wrong and "added" in what:
            positive |= luck < size
        cells = np.clip(np.rint((z - CENTRES[0]) / (CENTRES[1] - CENTRES[0])), 0, CENTRES.size - 1)
        bins = cells.astype(int)
        part = Coarse(*(np.bincount(b, minlength=CENTRES.size) for b in (bins, bins[positive])))
        yield Day(FIRST + timedelta(t), True, KNOWN_AT, 1.0, {(WHOLE, ""): part})


@cache
def verdicts(what: str, size: float, *, until: int = DAYS) -> tuple[Verdict, ...]:
    """Judge such days."""
    return tuple(judged(list(days_of(what, size, until=until))))


@pytest.mark.parametrize(("family", "size"), [("lost", 0.2), ("added", 0.15)])
def test_labels_that_change_are_named_with_their_size(family: str, size: float) -> None:
    """Ten days later the share is inside its interval; no map is offered, and people know why."""
    verdict = verdicts(family, size)[-1]

    labels, incident = verdict.labels, verdict.incident
    assert verdict.state == labels.kind == verdict.headline(incident).kind
    assert (labels.family, labels.share.low < size < labels.share.high) == (family, True)
    assert labels.share.high - labels.share.low < 0.1
    assert abs((incident.started - FIRST).days - BEGINS) <= 1
    said = " ".join(sentences(verdict))
    assert "the outcomes look as if" in said
    assert "the number of rows grew by about as much" in said
    assert trust(verdict).answer.startswith("Not the outcomes: labels")
    assert "recalibrate" not in f"{trust(verdict)} {next_steps(verdict)}"
    (stored,) = stored_again([verdict])
    carried = detectors_again([verdict])[verdict.segment].incident
    assert (stored.labels, carried and label_change(carried)) == (labels, labels)


@pytest.mark.parametrize(("what", "size"), [("slope", 0.75), ("prior", 1.5), ("prior", -1.5)])
def test_neither_scores_that_drift_nor_priors_that_move_are_labels(what: str, size: float) -> None:
    """A bent curve stays a calibration drift, and a shift of the prior opens nothing."""
    states = {verdict.state for verdict in verdicts(what, size)}

    assert not states.intersection(LABEL_KINDS)
    assert ("calibration_drift" in states) == (what == "slope")


@pytest.mark.parametrize(
    ("slope", "wrong", "seed"), [(1.0, WrongLabels("lost", 0.2), 4), (0.96, None, 3)]
)
def test_lost_labels_are_found_where_they_hardly_bend_the_curve(
    slope: float, wrong: WrongLabels | None, seed: int
) -> None:
    """Few scores are high. A tolerated slope looks more like lost labels than like no change.

    So what speaks for them waits just below the limit, until nothing else looks like them.
    """
    drawn = stream(World(0.05, 20_000, spread=1.5), Truth(tilted(slope)), seed, days=20, start=10)
    parts = [*islice(drawn, REFERENCE + 10), *flip(drawn, wrong, seed)]
    found = judged(
        [
            Day(FIRST + timedelta(t), True, KNOWN_AT, 1.0, {(WHOLE, ""): part["segment 0"]})
            for t, part in enumerate(parts)
        ]
    )

    waiting = [of for of in found if 2.99 < of.detector.evidence < 3.0]
    assert waiting
    carried = detectors_again(waiting[-1:])[WHOLE]
    assert carried.labels is not None
    assert carried.evidence == waiting[-1].detector.evidence
    assert {of.state for of in found[-12:]} - {"ok", "prior_shift"} == (
        {"labels_lost"} if wrong else set()
    )


@pytest.mark.parametrize(("what", "size"), [("rare prior", -0.6), ("prior", -0.6), ("prior", 1.5)])
def test_a_prior_that_fell_may_be_lost_labels_where_few_scores_are_high(
    what: str, size: float
) -> None:
    """Nothing opens, and the sentence says that it cannot be decided."""
    *_, verdict = verdicts(what, size)

    lost, said = verdict.facts.lost, " ".join(sentences(verdict))
    assert (verdict.state, verdict.incident) == ("prior_shift", None)
    assert (lost is not None) == ("of the positives are missing." in said) == ("rare" in what)
    assert lost is None or 0.25 < lost < 0.5  # all of 0.45, and what a week varies by


def test_the_incident_ends_when_the_outcomes_come() -> None:
    """Days whose outcomes are complete again close it, and with revised days it never was."""
    found = verdicts("lost", 0.35, until=BEGINS + 4)

    assert "labels_lost" in {verdict.state for verdict in found}
    assert found[-1].incident is None
    assert not [v for v in verdicts("lost", 0.0) if v.incident]


def with_fewer(kept: Callable[[Coarse], Coarse], *, since: int = BEGINS, until: int) -> list[Day]:
    """Let outcomes go missing on days whose priors move as before."""
    days = [*days_of("none", 0.0)]
    for t in range(since, until):
        part = kept(days[t].parts[WHOLE, ""])
        days[t] = replace(days[t], coverage=part.counts.sum() / ROWS, parts={(WHOLE, ""): part})
    return days


def missing(positives: float, negatives: float) -> Callable[[Coarse], Coarse]:
    """Lose the outcomes of shares of the positives and of the negatives."""
    rng = np.random.default_rng(12)

    def kept(part: Coarse) -> Coarse:
        hits = part.positives - rng.binomial(part.positives, positives)
        others = part.counts - part.positives
        return Coarse(hits + others - rng.binomial(others, negatives), hits)

    return kept


def judged(days: list[Day], **options: object) -> list[Verdict]:
    """Judge days against the first 28."""
    reference, known = fit_model_reference(days[:REFERENCE], Limits()), {d.day: d for d in days}
    folded = judge("m", days, references=[reference], limits=Limits(), recall=known.get, **options)
    return [verdict for (verdict, *_) in folded]


@pytest.mark.parametrize(("shares", "kind"), [((0.0, 0.5), "negative"), ((0.5, 0.0), "positive")])
def test_outcomes_that_go_missing_with_the_base_rate_are_undecided_until_they_come(
    shares: tuple[float, float], kind: str
) -> None:
    """The first line says so; it is open from the first day to the one on which they are back."""
    back = DAYS - 3
    found = judged(with_fewer(missing(*shares), until=back))

    opened = [verdict for verdict in found if verdict.state == "undecided"]
    assert 0 <= (opened[0].day - FIRST).days - BEGINS <= 3  # priors move by 0.3 by themselves
    assert [(verdict.day - FIRST).days for verdict in opened][-1] == back - 1
    last = opened[-1]
    assert last.incident.kind == OUTCOMES_MISSING
    assert (last.incident.started - FIRST).days == BEGINS
    assert not last.incident.urgent
    assert trust(last).answer.startswith("Perhaps: outcomes went missing as the base rate moved")
    assert "of the predictions have an outcome, 100 % in the reference" in trust(last).answer
    assert "recalibrate" not in f"{trust(last)} {next_steps(last)}"
    assert f"Missing {kind} outcomes look the same" in " ".join(sentences(last))
    assert found[back].incident is None
    (stored,) = stored_again([last])
    assert (stored.state, stored.facts.covered) == ("undecided", last.facts.covered)
    assert stored.missing_outcomes.started == last.incident.started


def test_they_are_back_however_late_others_come() -> None:
    """Days that were late a month ago say nothing of the level, but outcomes are there."""
    back = DAYS - 3
    days = with_fewer(missing(0.0, 0.5), until=back)
    days[back:] = [replace(day, late=Late(3, 0.5, 0.0, 11)) for day in days[back:]]

    assert judged(days)[-1].level_incident is None


@pytest.mark.parametrize(
    ("positives", "since"),
    [
        (0.25, BEGINS),  # and of the negatives, at random: the level stays
        (0.0, 2),  # as in the reference
    ],
)
def test_outcomes_that_go_missing_otherwise_open_nothing(positives: float, since: int) -> None:
    """A share that changes alone is said, and one that is usual is not."""
    found = judged(with_fewer(missing(positives, 0.25), since=since, until=DAYS))

    assert not [verdict for verdict in found if verdict.incident]
    said = "The share of known outcomes changed: 75 % of the predictions have an outcome"
    assert (said in " ".join(sentences(found[-1]))) == (since == BEGINS)


def test_few_missing_outcomes_explain_no_large_move_of_the_base_rate() -> None:
    """A tenth of the outcomes cannot be what moved the log-odds by 1.5."""
    days, kept = [*days_of("prior", 1.5)], missing(0.1, 0.1)
    for t in range(BEGINS, DAYS):
        part = kept(days[t].parts[WHOLE, ""])
        days[t] = replace(days[t], coverage=part.counts.sum() / ROWS, parts={(WHOLE, ""): part})

    *_, verdict = judged(days)

    assert (verdict.state, verdict.incident) == ("prior_shift", None)
    assert trust(verdict).answer.startswith("Not surely: the base rate moved, and 9")


def test_scores_and_labels_that_fit_nearly_as_well_are_both_said() -> None:
    """Below a hundred to one the drift stays one of the scores, and its sentences name labels."""
    verdict = verdicts("lost", 0.2)[-1]
    assert verdict.facts.labels
    close = replace(verdict.facts.labels, evidence=1.9)
    doubtful = replace(
        verdict, state="calibration_drift", facts=replace(verdict.facts, labels=close)
    )

    assert doubtful.incident
    assert doubtful.headline(doubtful.incident).kind not in LABEL_KINDS
    assert "It is not clear yet" in " ".join(sentences(doubtful))


@pytest.mark.parametrize(
    ("what", "size", "said"),
    [
        ("added", 0.06, "a curve that moved at one end alone looks the same"),
        ("added", 0.6, ""),  # such a curve is nearly flat: the scores say nothing any more
        ("added, wider", 0.15, ""),  # the scores spread otherwise, so the model has changed too
    ],
)
def test_a_drift_pages_where_labels_are_not_sure(what: str, size: float, said: str) -> None:
    """The verdict stays a drift of the scores, and at most adds that it may be the labels."""
    verdict = verdicts(what, size)[-1]

    assert verdict.state == "calibration_drift"
    assert verdict.labels is None
    assert (verdict.facts.labels is None) == (not said)
    assert said in " ".join(sentences(verdict))
