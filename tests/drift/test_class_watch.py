"""Scores of single classes: a break is told with the class, what priors or inputs move is not."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cache, partial
from itertools import islice, product
from math import log

import numpy as np
import pytest

from monitor.base.segment_names import WHOLE
from monitor.drift.classes.class_scores import BELOW, ClassScores, fit_class_scores, gains_of_day
from monitor.drift.classes.class_watch import Rest, advance_classes, decide_classes
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.detector import CLASS_PLACE, LEVEL_KINDS, Incident, LevelWatch
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from monitor.words.trust import trust
from monitor.words.verdict import sentences
from studies.classes.breaks import (
    BREAKS,
    FIRST,
    LEAST,
    LIMIT,
    REFERENCE,
    WORLDS,
    Change,
    Moves,
    against_the_rest,
    biased,
    stream,
)
from studies.classes.worlds import Rows, day_of_pairs
from tests.support.cases import some
from tests.support.stored import stored_again

FOUR = WORLDS[1]
AFTER = 10
SLOW = {
    "half of the last class but one labelled as the first": AFTER,
    "clipped to 0.02 to 0.8": AFTER,  # few outcomes are at the ends
}
CONFUSED = ("the last two", "a fifth of")
WEAK = ["clipped to 0.02 to 0.8"]  # its second day may as well be the first
Vectors = tuple[np.ndarray, np.ndarray]


@cache
def drawn() -> Sequence[Vectors]:
    """Draw a reference of four classes, and the days after it."""
    return [*islice(stream(FOUR, Moves(), 3), REFERENCE + AFTER)]


@cache
def fitted() -> ClassScores:
    """Fit the reference, which is the same before any break."""
    reference = fit_class_scores([against_the_rest(*day) for day in drawn()[:REFERENCE]])
    assert reference is not None
    return reference


def broken(name: str) -> Iterator[Vectors]:
    """Break the days after the reference."""
    change: Change = BREAKS[name][0]
    rng = np.random.default_rng(5)
    for vectors, labels in drawn()[REFERENCE:]:
        moved, outcomes = change(rng, vectors.copy(), labels)
        yield moved / moved.sum(axis=1, keepdims=True), outcomes


def follow(
    reference: ClassScores, days: Iterator[Rest], watch: LevelWatch | None = None
) -> Iterator[LevelWatch]:
    """Follow days; give the watch after each."""
    watch, kept = watch or LevelWatch(), list[tuple]()
    for t, rest in enumerate(days):
        kept.insert(0, (FIRST + timedelta(days=t), rest))
        watch = advance_classes(watch, reference, *kept[0])
        back = partial(iter, [*kept])
        watch = decide_classes(watch, reference, kept[0], enough=LIMIT, least=LEAST, back=back)
        yield watch


def opened(name: str) -> tuple[int, Incident] | None:
    """Give the day on which a break was found, counted from 1, and its incident."""
    days = (against_the_rest(*day) for day in broken(name))
    for number, watch in enumerate(follow(fitted(), days), 1):
        if watch.incident:
            return number, watch.incident
    return None


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_is_told_with_the_class(name: str) -> None:
    """Each is found within five days, but for few outcomes that are relabelled."""
    found = opened(name)

    assert found is not None
    day, incident = found
    right = BREAKS[name][1]
    assert day <= SLOW.get(name, 5)
    classes = {f"class {k % 4}" for k in right}
    assert not right or incident.of_class in classes
    if name.startswith(CONFUSED):
        assert {incident.of_class, incident.other_class} == classes
    else:
        assert incident.other_class in {None, *classes}
    assert (incident.start_low, incident.start_high) == (
        FIRST,
        FIRST + timedelta(days=int(name in WEAK)),
    )
    assert (incident.kind in LEVEL_KINDS) == name.startswith("logit")
    assert (incident.place is not None) == (incident.kind == CLASS_PLACE)


@pytest.mark.parametrize("name", ["the first class is 0", "logit of the second class + 1.5"])
def test_a_class_that_is_watched_no_more_may_have_broken(name: str) -> None:
    """The newest day does not count it; the days before raise the alert all the same."""
    first, *more = [against_the_rest(*day) for day in islice(broken(name), 3)]
    without = [{of: part for of, part in day.items() if not of.endswith("0")} for day in more]
    reference, days = (
        fitted(),
        [(FIRST + timedelta(days=t), of) for t, of in enumerate([first, *without])],
    )
    watch = LevelWatch()
    for day in days:
        watch = advance_classes(watch, reference, *day)

    after = decide_classes(
        watch, reference, days[-1], enough=0.0, least=LEAST, back=lambda: days[::-1]
    )

    assert after.incident is not None
    assert after.incident.opened == days[-1][0]


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("logit of the second class + 0.7", -0.7),
        ("logit of the second class - 0.7", 0.7),
        ("logit of the second class + 1.5", -1.5),
    ],
)
def test_a_class_that_is_off_is_measured(name: str, size: float) -> None:
    """Only odds beyond two are urgent; the size is within four standard errors."""
    found = opened(name)

    assert found is not None
    incident = found[1]
    assert abs(incident.size - size) < 4.0 * incident.size_error
    assert incident.unexplained is not None
    assert abs(incident.unexplained) > abs(incident.size) / 2.0
    assert incident.urgent == (abs(size) > 1.0)


def test_a_class_that_is_off_pages_after_two_days_in_a_row() -> None:
    """A day beyond odds of two and one below say no more together than the second one."""
    sizes, rng = (1.5, 0.5, 1.5, 1.5), np.random.default_rng(5)
    days = [
        against_the_rest(vectors / vectors.sum(axis=1, keepdims=True), labels)
        for size, day in zip(sizes, drawn()[REFERENCE:], strict=False)
        for vectors, labels in [biased(size)(rng, day[0].copy(), day[1])]
    ]
    incidents = [watch.incident for watch in follow(fitted(), iter(days))]

    assert [incident and incident.urgent for incident in incidents] == [None, False, False, True]
    assert abs(incidents[1].size) > LEAST[1]
    assert incidents[3].worse is not None


@pytest.mark.parametrize(
    ("world", "moves"),
    some(
        product(
            WORLDS,
            [Moves(priors=0.8, prior_jump=log(5.0), gone=True), Moves(inputs=0.5, input_jump=1.0)],
        ),
        3,
    ),
)
def test_priors_alone_and_inputs_alone_are_silent(world: object, moves: Moves) -> None:
    """A class five times as frequent, one that is gone, inputs that jump: no incident."""
    small = WORLDS[WORLDS.index(world)]._replace(rows=600)
    days = [against_the_rest(*day) for day in islice(stream(small, moves, 11), REFERENCE + 80)]
    reference = fit_class_scores(days[:REFERENCE])
    assert reference is not None

    last = [*follow(reference, iter(days[REFERENCE:]))][-1]
    assert last.incident is None
    assert last.ended is None
    assert last.evidence < LIMIT


def test_a_break_that_is_over_closes() -> None:
    """The first class is left out for a week; two weeks later it is over, and dated."""
    days = [against_the_rest(*day) for day in [*broken("the first class is 0")][:7]]
    sound = [against_the_rest(*day) for day in islice(stream(FOUR, Moves(), 9), 14)]
    watches = [*follow(fitted(), iter([*days, *sound]))]

    open_then = watches[6].incident
    assert open_then.place.rows == 7 * FOUR.rows
    assert watches[-1].incident is None
    ended = watches[-1].ended
    assert ended.started == FIRST
    assert ended.reason == "recovered"


def test_parts_with_priors_of_their_own_are_judged_below_all_scores_only() -> None:
    """Over segments only an outcome at a score that the reference never had contradicts."""
    days = [against_the_rest(*day) for day in drawn()[:REFERENCE]]
    apart = fit_class_scores(days, places=(BELOW,))
    assert apart.adjusted is None
    dropped = against_the_rest(*next(broken("the first class is 0")))

    gains = gains_of_day(apart, dropped)
    assert (gains[1, 0, BELOW] > 100.0).all()
    others = [place for place in range(gains.shape[2]) if place != BELOW]
    assert not gains[:, :, others].any()


def days_of(vectors: Sequence[Vectors], top: int = 0) -> list[Day]:
    """Count days as the daily job does, of the highest scores or of all."""
    counted = []
    for t, (scores, labels) in enumerate(vectors):
        day = day_of_pairs(Rows(FIRST + timedelta(days=t - REFERENCE), scores, labels))
        counted.append(Day(**{**vars(day), "rest": {WHOLE: against_the_rest(scores, labels, top)}}))
    return counted


@cache
def judged(name: str, top: int = 0) -> tuple[Verdict, ...]:
    """Judge four days after a break; give the verdicts of the whole, read back from a table."""
    days = days_of([*drawn()[:REFERENCE], *islice(broken(name), 4)], top)
    reference = fit_model_reference(days[:REFERENCE], Limits())
    told = [
        whole
        for whole, *_ in judge(
            *("pets", days[REFERENCE:]),
            references=[reference],
            limits=Limits(),
            recall={day.day: day for day in days}.get,
        )
    ]
    return tuple(stored_again(told))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("the first class is 0", "class 0 comes true in 4"),
        ("logit of the second class + 1.5", "the scores of class 1 are 4."),
        ("the last two classes changed places", "The only other class that is off is class 3"),
        (
            "the last two classes changed places",
            "class 2 against class 3 is worst this week: slope 0.",
        ),
    ],
)
def test_the_verdict_of_the_whole_names_the_class(name: str, said: str) -> None:
    """It is a page that says which class, at which scores, and what to look at."""
    last = [v for v in judged(name) if v.incident and v.incident.of_class][-1]

    assert last.state == "level_drift"
    assert last.incident.urgent
    assert said in " ".join(sentences(last))
    assert last.incident.of_class in trust(last).answer
    assert ("Look at how the scores" in trust(last).step) == (last.incident.place is not None)


def test_outcomes_among_the_two_highest_stand_beside_what_they_promise() -> None:
    """Of all rows of the week after a class was left out."""
    name = "the first class is 0"
    last, days = judged(name)[-1], [*islice(broken(name), 4)]
    vectors, labels = (np.concatenate(of) for of in zip(*days, strict=True))
    highest = np.argsort(-vectors, axis=1, kind="stable")[:, :2]
    among = (highest == labels[:, np.newaxis]).any(axis=1).mean()
    promised = np.take_along_axis(vectors, highest, 1).sum(axis=1).mean()
    found = last.facts.of_classes

    assert found.among == pytest.approx(among, abs=1e-12)
    assert found.promised == pytest.approx(promised, abs=1e-8)
    assert promised - among > 0.3
    said = f"{100 * among:.1f} % of the rows; their scores promise {100 * promised:.1f} %."
    assert f"One of these two came true in {said}" in " ".join(sentences(last))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "the first class is 0",
            "class 0 comes true in 46 % of the rows where its score is not among the highest",
        ),
        ("20 % uniform vectors", "comes true in 47 % of the rows where its score is 0.25 (26 %"),
        ("logit of the second class + 1.5", "the scores of class 1 are 4."),
    ],
)
def test_of_the_highest_scores_only_the_class_is_named(name: str, said: str) -> None:
    """Two of four are logged; the others are places of their own, beside the curve."""
    last = [v for v in judged(name, 2) if v.incident and v.incident.of_class][-1]

    assert said in " ".join(sentences(last))
