"""Which outcomes a day reads, when it is settled, and which number of days is proposed."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.config import Model
from monitor.days.arrivals import LATEST, Delay
from monitor.days.settling import Settling
from monitor.days.summary import days_between
from monitor.words.advice import shorter_wait

DAY = date(2026, 3, 1)
NEVER = (0,) * 8
DELAY = Delay(tuple(days_between(DAY, DAY + timedelta(days=6))), (90, 8, 2, *NEVER), (100, *NEVER))


def model_of(settled_after: int, **more: object) -> Model:
    """Configure a model that waits so long."""
    outcomes = {"path": "o/{day}", **more}
    logs = {"predictions": {"path": "p/{day}"}, "outcomes": outcomes}
    return Model.model_validate({**logs, "settled_after": settled_after})


@given(wait=st.integers(0, 40), age=st.integers(-3, 80), absent=st.none() | st.integers(0, 40))
def test_all_questions_have_one_answer(wait: int, age: int, absent: int | None) -> None:
    """Whatever is asked about a day and a day of outcomes follows from the age of the outcomes."""
    settled_after = max(wait, absent or 0)
    means = {} if absent is None else {"absent_means": f"negative after {absent}d"}
    settling, seen_on = Settling(model_of(settled_after, **means)), DAY + timedelta(days=age)
    in_time, late = 0 <= age <= settled_after, settled_after < age <= settled_after + LATEST

    assert (seen_on in settling.due(DAY)) == (DAY in settling.read_by(seen_on)) == in_time
    assert settling.is_due(DAY, seen_on) == in_time
    assert (seen_on in settling.counted(DAY)) == (DAY in settling.counting(seen_on))
    assert (seen_on in settling.counted(DAY)) == (in_time or late)
    assert settling.is_over(DAY, seen_on) == (age > settled_after)
    assert settling.is_over(DAY, seen_on) == (settling.newest(seen_on) >= DAY)
    assert settling.are_counted(DAY, seen_on) == (age > settled_after + LATEST)
    assert settling.settles(DAY) == settling.last(DAY) + timedelta(days=1)
    concluded = settling.concluded(DAY)
    assert (concluded is None) == (absent is None)
    assert (seen_on in (concluded or ())) == (absent is not None and 0 <= age <= absent)


@pytest.mark.parametrize(
    ("waits", "more", "delay", "said"),
    [
        (28, {}, DELAY, "99 % of the outcomes of each kind arrive within 2 days, but settled_aft"),
        (28, {"absent_means": "negative after 5d"}, DELAY, "is 28; set it to 5 to have verdicts"),
        (2, {}, DELAY, None),
        (28, {}, None, None),
        (28, {}, Delay(DELAY.days[:3], DELAY.positives, DELAY.negatives), None),
        (28, {"duplicates": "latest", "time": "at"}, DELAY, None),
    ],
)  # fmt: skip
def test_check_proposes_the_wait_that_is_enough(
    waits: int, more: dict[str, object], delay: Delay | None, said: str | None
) -> None:
    """Of a week of delays; not below `absent_means`, and not where outcomes are corrected later."""
    model = model_of(waits, **more)
    corrected = model.outcomes.duplicates == "latest"
    least = model.outcomes.absent_means or 0
    proposed = shorter_wait(delay, model.settled_after, least, corrected=corrected)

    assert proposed is None if said is None else said in str(proposed)
