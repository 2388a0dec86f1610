from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, get_args, get_type_hints

import numpy as np

from monitor.days.arrivals import Late
from monitor.drift.incidents.detecting import new_detector
from monitor.drift.records.day_evidence import KINDS, DayEvidence, Family, LabelChange, WrongLabels
from monitor.drift.records.detector import (
    LEVEL_KINDS,
    NOT_COMPARABLE,
    Incident,
    LevelWatch,
    OwnFit,
    Quarter,
    Worse,
)
from monitor.drift.records.facts import (
    MAY_BE_LATE,
    NOT_ALIKE,
    ClassFacts,
    ClassShift,
    Detectable,
    Facts,
    Fault,
    LastingShift,
    Level,
    Obstacle,
    OneDay,
    Others,
    ReferenceChange,
    ScoreMap,
    Scores,
    Together,
    Unlike,
    WorstPair,
)
from monitor.drift.records.lack import Lack
from monitor.drift.records.mix import MovedMix, MovedShare, NewValue
from monitor.drift.records.places import Condition, Explanation, Place, Where
from monitor.drift.records.verdict import OF_LABELS, STATES, UNCHANGED, UNJUDGED, Verdict
from monitor.metrics.core.estimate import Estimate
from monitor.store.verdict_table import verdict_table, verdicts_of
from monitor.words.verdict import sentences

OBSTACLES: tuple[Obstacle, ...] = get_args(Obstacle)
WITHOUT = {  # what keeps a day from being judged, by its state
    "insufficient_data": [o for o in OBSTACLES[1:] if o not in NOT_ALIKE],
    "not_comparable": sorted(NOT_ALIKE),
}
DAY = date(2026, 3, 7)
OWNER = "ctr", DAY
SEEDS = 1_000


class Drawn:
    """What a verdict may be made of, drawn at random."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def one_of(self, values: Any) -> Any:
        """Take one of several values."""
        return values[int(self.rng.integers(len(values)))]

    def maybe(self, value: Any) -> Any:
        """Take a value, or none."""
        return self.one_of([value, None])

    def number(self, scale: float = 1.0) -> float:
        """Draw a number of either sign."""
        return float(self.rng.normal(0.0, scale))

    def share(self) -> float:
        """Draw a ratio in [0, 1]."""
        return float(self.rng.random())

    def day(self) -> date:
        """Draw a day before the one that is judged."""
        return DAY - timedelta(days=int(self.rng.integers(1, 300)))

    def estimate(self) -> Estimate:
        """Draw an estimate with its interval."""
        return Estimate.normal(self.number(), self.share())


def incident_of(drawn: Drawn, kinds: Sequence[str] = KINDS) -> Incident:
    """Draw an open drift."""
    arrays = np.zeros(4), np.zeros(4), np.zeros(6)
    days = [drawn.day() for _ in range(4)]
    sizes = [drawn.number(3.0) for _ in range(4)]
    slope = drawn.maybe(drawn.share())
    worse = Worse(
        drawn.day(), abs(drawn.number(9.0)), 2, drawn.one_of(KINDS), drawn.number(3.0), slope
    )
    weeks = Quarter(drawn.day(), np.arange(3), np.zeros(3), drawn.one_of([True, False]))
    gradual, last = drawn.one_of([True, False]), (drawn.maybe(weeks), drawn.maybe(worse))
    return Incident(*days, drawn.one_of(kinds), *sizes, *arrays, gradual, *last)


def level_of(drawn: Drawn, kinds: Sequence[str]) -> LevelWatch:
    """Draw what is open of the level."""
    incident = replace(incident_of(drawn, kinds), unexplained=drawn.number())
    return LevelWatch(incident=incident)


def scores_of(drawn: Drawn) -> Scores:
    """Draw what the scores did."""
    shares = [drawn.one_of([*(drawn.share() for _ in range(6)), 0.0, 1.0]) for _ in range(6)]
    like = drawn.one_of([None, *get_args(ScoreMap)])
    spreads = drawn.maybe((drawn.share() + 0.1, drawn.share() + 0.1)) or (None, None)
    spread_before, spread = spreads
    by = drawn.one_of([100.0, 0.01])
    return Scores(*shares, like, by, spread_before=spread_before, spread=spread)


def classes_of(drawn: Drawn) -> ClassFacts:
    """Draw what the classes of a week say."""
    shifts = [
        ClassShift(f"class {number}", drawn.share(), drawn.share())
        for number in range(int(drawn.rng.integers(0, 9)))
    ]
    worst = WorstPair(
        "cat against dog",
        drawn.one_of(KINDS),
        drawn.maybe(drawn.estimate()),
        drawn.maybe(drawn.estimate()),
        drawn.one_of([True, False]),
    )
    others = Others(
        int(drawn.rng.integers(0, 2_000)), drawn.one_of(["", "a"]), drawn.maybe(drawn.estimate())
    )
    return ClassFacts(
        tuple(shifts),
        drawn.share(),
        drawn.share(),
        drawn.share(),
        drawn.maybe(worst),
        drawn.maybe(others),
        drawn.one_of([None, "", "class 1"]),
        *drawn.one_of([(None, None), (0.6, 0.9)]),
    )


def where_of(drawn: Drawn) -> Where:
    """Draw where a drift sits."""
    places = tuple(
        Place(
            "device",
            f"value {number}",
            100,
            change=drawn.maybe(drawn.estimate()),
            flagged=drawn.one_of([True, False]),
        )
        for number in range(int(drawn.rng.integers(0, 9)))
    )
    conditions = (Condition("device", "tv"), Condition("country", "FR"))
    explanation = Explanation(
        conditions[: int(drawn.rng.integers(1, 3))],
        drawn.share(),
        drawn.maybe(drawn.estimate()),
        drawn.maybe(drawn.estimate()),
        drawn.share(),
    )
    return Where("too_extreme", drawn.estimate(), places, drawn.maybe(explanation))


def lack_of(drawn: Drawn) -> Lack:
    """Draw what days lack, of one stream, of a configured reference, or of a map."""
    there, file = int(drawn.rng.integers(0, 300)), drawn.one_of(["", "map.json"])
    named = drawn.one_of([(), (DAY, DAY)])
    of = drawn.one_of(get_args(get_type_hints(Lack)["of"]))
    return Lack(of, there, 300, drawn.share() < 0.5, named, file if named else "")


def facts_of(drawn: Drawn, state: str) -> Facts:
    """Draw facts that a state may come with."""
    obstacle = drawn.one_of(WITHOUT[state]) if state in WITHOUT else None
    late = Late(
        int(drawn.rng.integers(0, 9)), drawn.share(), drawn.share(), drawn.maybe(drawn.day().day)
    )
    return Facts(
        obstacle="logs failed" if state == "data_error" else obstacle,
        complaint="ctr: no outcomes." if state == "data_error" else "",
        lack=drawn.maybe(lack_of(drawn)),
        coverage=drawn.one_of([None, 0.0, float("nan"), drawn.share()]),
        reference=tuple(sorted([drawn.day(), drawn.one_of([DAY, drawn.day()])])),
        false_alert_days=int(drawn.rng.integers(1, 5_000)),
        faults=tuple(fault for fault in get_args(Fault) if drawn.share() < 0.5),
        moved=drawn.one_of(get_args(Level)),
        lift=drawn.maybe(drawn.number()),
        lasting=drawn.maybe(LastingShift(drawn.estimate(), drawn.day())),
        prevalence=drawn.maybe(drawn.share()),
        late=late if obstacle in MAY_BE_LATE else drawn.maybe(late),
        classes=drawn.maybe(classes_of(drawn)),
        awaits=lack_of(drawn),
        alone=drawn.maybe(drawn.number()),
        wrong=drawn.maybe(WrongLabels(drawn.one_of(get_args(Family)), 0.5 * drawn.share())),
        today=drawn.one_of([None, None, None, drawn.number(2.0) or None]),
        one_day=drawn.one_of([None, None, None, OneDay(40.0, drawn.one_of([*KINDS, "place"]))]),
        scores=drawn.one_of([scores_of(drawn), scores_of(drawn), None]),
        labels=labels_of(drawn, state),
        unlike=unlike_of(drawn, of_whole=True)
        if obstacle == "read otherwise"
        else unlike_of(drawn, of_whole=False)
        if drawn.share() < 0.2
        else (),
        mix=mix_of(drawn) if drawn.share() < 0.2 else None,
        changed=changed_within(drawn, state),
    )


def labels_of(drawn: Drawn, state: str) -> LabelChange | None:
    """Draw how labels changed: what a state of labels says, or what might be as likely."""
    if state not in (*OF_LABELS, "calibration_drift"):
        return None
    family = "added" if state == "labels_added" else "lost"
    evidence = drawn.share() + (2.0 if state in OF_LABELS else 0.0)
    changed = LabelChange(family, Estimate(0.2, 0.17, 0.23), evidence)
    return changed if state in OF_LABELS else drawn.maybe(changed)


def unlike_of(drawn: Drawn, *, of_whole: bool) -> tuple[Unlike, ...]:
    """Draw what was read otherwise."""
    streams = ("all",) if of_whole else ("DE", "other")
    return (Unlike(streams, ("predictions.where",), DAY, drawn.day(), DAY),)


def changed_within(drawn: Drawn, state: str) -> ReferenceChange | None:
    """Draw a change where the state is about it, and sometimes beside a graver state."""
    if state in UNCHANGED:
        return None
    return changed_of(drawn) if state == "reference_changed" or drawn.share() < 0.2 else None


def changed_of(drawn: Drawn) -> ReferenceChange:
    """Draw a change among the days of a reference."""
    return ReferenceChange(
        drawn.day(), drawn.day(), drawn.one_of(KINDS), *(drawn.maybe(1.0) for _ in range(2))
    )


def mix_of(drawn: Drawn) -> MovedMix:
    """Draw shares that moved far."""
    names = drawn.one_of([("other",), ("", "DE"), ("DE", "FR", "IT", "AT", "PL", "other")])
    shares = tuple(
        MovedShare(name, 0.1, 0.1 + 0.1 * drawn.share(), drawn.one_of([0.0, drawn.share()]))
        for name in names
    )
    return MovedMix(shares, drawn.one_of([(), (NewValue("de", 40),)]), 100)


def verdict_of(drawn: Drawn) -> Verdict:
    """Draw a verdict as the fold may give it."""
    state = drawn.one_of([*STATES, "prior_shift"])
    bent = state in ("calibration_drift", "undecided", "improved", *OF_LABELS)
    incident = incident_of(drawn) if bent else None
    level = LevelWatch()
    if incident and state == "improved":
        fit = OwnFit(DAY, drawn.number(), np.zeros(6), slope=drawn.maybe(drawn.estimate()))
        incident = replace(incident, own=replace(fit, improved=True))
    if state == "level_drift":
        level = level_of(drawn, LEVEL_KINDS)
    elif state == "undecided" and drawn.one_of([True, False]):
        incident, level = None, level_of(drawn, NOT_COMPARABLE)
    elif state == "calibration_drift" and drawn.one_of([True, False]):
        level = level_of(drawn, LEVEL_KINDS)
    share = drawn.one_of([drawn.share(), 0.0])
    drawn_verdict = Verdict(
        model="ctr",
        segment=drawn.one_of(["all", "DE"]),
        day=DAY,
        final=state not in UNJUDGED,
        known_at=datetime(2026, 3, 9, tzinfo=UTC),
        state=state,
        reasons=(),
        evidence=drawn.maybe(DayEvidence(*[np.zeros(4)] * 7, unknown_share=share)),
        detector=replace(new_detector(), incident=incident, level=level),
        limit=drawn.one_of([3.0, 2.5, 7.0]),
        shift=drawn.maybe(drawn.estimate()),
        level_change=drawn.maybe(drawn.estimate()),
        slope=drawn.maybe(drawn.estimate()),
        reference_prevalence=drawn.one_of([drawn.share(), float("nan")]),
        reference_slope=drawn.maybe(drawn.estimate()),
        reference_intercept=drawn.maybe(drawn.estimate()),
        detectable=drawn.maybe(
            Detectable(
                *(drawn.share() for _ in range(6)),
                together=drawn.maybe(Together(28, drawn.share(), drawn.share(), drawn.share())),
            )
        ),
        reached=drawn.maybe(drawn.number()),
        where=drawn.maybe(where_of(drawn)),
        awaited=drawn.maybe(DAY),
        facts=facts_of(drawn, state),
    )
    if not (scores := drawn_verdict.facts.scores):
        return drawn_verdict
    return replace(drawn_verdict, reference_prevalence=scores.outcomes_before)


def test_what_is_stored_is_worded_as_what_was_judged() -> None:
    """Whatever a verdict says, its row holds all that the sentences are made of."""
    drawn = [verdict_of(Drawn(seed)) for seed in range(SEEDS)]

    stored = verdicts_of(verdict_table(drawn, about={}), *OWNER)

    assert [sentences(verdict) for verdict in stored] == [sentences(verdict) for verdict in drawn]
    assert all(map(sentences, drawn))
    assert len({sentence for verdict in drawn for sentence in sentences(verdict)}) > 2 * SEEDS
    assert {verdict.facts.obstacle for verdict in drawn} == {None, *OBSTACLES}


def test_the_sentences_that_were_said_are_a_record() -> None:
    """What a row says is read as it was stored, also if the words are others now."""
    said = replace(verdict_of(Drawn(1)), reasons=("As it was said then.",))

    (stored,) = verdicts_of(verdict_table([said], about={}), *OWNER)

    assert stored.reasons == said.reasons
