"""The sentences about a map: each case says what holds, and what would help."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.core.estimate import Estimate
from monitor.metrics.maps.calibration_map import CalibrationMap, Kind
from monitor.metrics.maps.choosing import Candidate, Choice
from monitor.metrics.maps.fitting import FittedMap
from monitor.metrics.maps.map_file import Gain, Gains, Level, MapFile, Training
from monitor.words.maps import formula, map_sentences

FIRST, LAST = date(2026, 3, 1), date(2026, 3, 28)
GAIN = Gain(0.02, 0.01, 0.03)
SETTLES = (
    "which may be chance (standard error 0.0010). About 40 more days like these would settle "
    "it. An intercept alone gained 0.0020"
)
NOTHING = (
    "no shape gained anything over the scores as they are, and an intercept gained 0.0020 (95 % "
    "0.0000 to 0.0040). More days like these would not change that."
)


def candidate(kind: Kind, shape: float, level: float = 0.0, error: float = 0.001) -> Candidate:
    """Make a family that gained so much from shape and level."""
    parameters = {"platt": (0.6,), "beta": (0.4, 0.8)}.get(kind, ())
    fitted = FittedMap(CalibrationMap(kind, 0.1, parameters, (), (0.01, 0.9)), 0.05)
    gains = [Estimate.normal(value, error) for value in (shape + level, shape + level)]
    parts = [Estimate.normal(value, error) for value in (shape, level)]
    return Candidate(kind, fitted, *gains, *parts)


def choice(*found: Candidate, chosen: int, worth_it: bool, settle: int | None = 0) -> Choice:
    """Choose one of the candidates; the best is the one with the best shape."""
    best = max(found[1:], key=lambda c: c.shape.value)
    return Choice(found, found[chosen], best, worth_it, 28, settle)


def sentences(found: Choice, *, asked: bool = False, gains: bool = True) -> str:
    """Give the sentences as one text."""
    content = MapFile(
        "bids",
        "all",
        found.chosen.fitted.map,
        Training(FIRST, LAST, 28, 9_000, 900),
        Level("outcomes", FIRST, LAST, 0.05),
        None,
        Gains(*[GAIN] * 4) if gains else None,
        "1.0",
    )
    said = map_sentences(found, content, worth_it=found.worth_it, asked=asked, extrapolated=0.012)
    return " ".join(said)


IDENTITY = candidate("identity", 0.0)
INTERCEPT = candidate("intercept", 0.0, 0.002)


def test_a_map_that_is_worth_it() -> None:
    """It says what is gained, from what, what the map does, and where it extrapolates."""
    platt = candidate("platt", 0.02, 0.01)
    beta = candidate("beta", 0.0204, 0.01)

    assert sentences(choice(IDENTITY, INTERCEPT, platt, beta, chosen=2, worth_it=True)) == (
        "Worth it: an intercept and a slope (platt). On days left out it gained 0.0300 nats of log "
        "loss for each prediction (95 % 0.0280 to 0.0320 on as many days to come) and 0.0300 of "
        "the Brier score (95 % 0.0280 to 0.0320). Of that, 0.0200 comes from the shape (95 % "
        "0.0180 to 0.0220), which stays whatever the prior does, and 0.0100 from the level (95 % "
        "0.0080 to 0.0120), which a move of the prior takes away. The shape of beta gained 0.0004 "
        "more, less than its standard error, so the simpler map is taken. It multiplies the "
        "log-odds of a score by 0.600 and adds +0.100. Its level is fitted to the outcomes of "
        "2026-03-01 to 2026-03-28 (standard error 0.050). It keeps the order of all scores. Below "
        "0.01 and above 0.9, where 1.2 % of the scores lie, it extrapolates."
    )


def test_an_unsure_level_names_the_remedy() -> None:
    """If only the shape is sure, following the prior is named, unless the map does so."""
    platt = replace(candidate("platt", 0.02), log_loss=Estimate.normal(0.03, 0.1))
    found = choice(IDENTITY, INTERCEPT, platt, chosen=2, worth_it=True)

    assert "--follow-prior gives the map the newest level" in sentences(found)
    assert "--follow-prior" not in sentences(found, gains=False)


@given(
    st.sampled_from(["intercept", "platt", "beta"]),
    *(st.floats(-0.05, 0.05) for _ in range(2)),
    *(st.floats(1e-4, 0.05) for _ in range(2)),
)
def test_worth_it_has_its_reason_where_it_looks_otherwise(
    kind: Kind, shape: float, level: float, error: float, error_of_shape: float
) -> None:
    """Beside an interval that reaches below 0, and nowhere else; not of a map that is not."""
    drawn = candidate(kind, shape, level, error)
    drawn = replace(drawn, shape=Estimate.normal(shape, error_of_shape))
    found = choice(IDENTITY, INTERCEPT, drawn, chosen=2, worth_it=True)
    reason = "It is worth it although that interval reaches below 0, because "

    assert (reason in sentences(found)) == (drawn.log_loss.low < 0.0)
    assert reason not in sentences(replace(found, worth_it=False), asked=True)


@pytest.mark.parametrize(
    ("platt", "settle", "expected"),
    [
        (candidate("platt", 0.0003), 40, SETTLES),
        (candidate("platt", 0.0003), 400, "Even a year more of such days would not settle it."),
        (candidate("platt", -0.0003), None, NOTHING),
    ],
)
def test_no_map(platt: Candidate, settle: int | None, expected: str) -> None:
    """It says by how much the best shape missed, and how many days would settle it."""
    found = choice(IDENTITY, INTERCEPT, platt, chosen=0, worth_it=False, settle=settle)

    assert sentences(found).startswith("No map is worth it: ")
    assert expected in sentences(found)


def test_a_shape_whose_level_loses() -> None:
    """A sure shape with a level that lost is no map, but may be one that follows the prior."""
    found = choice(IDENTITY, INTERCEPT, candidate("platt", 0.02, -0.05), chosen=2, worth_it=False)

    assert "with the level of the other days it lost 0.0300" in sentences(found)
    assert "A map that follows the prior may be worth it (--follow-prior)." in sentences(found)


def test_a_map_that_was_asked_for() -> None:
    """It is given, and called not worth it; an intercept has no shape."""
    found = choice(IDENTITY, INTERCEPT, candidate("platt", 0.0), chosen=1, worth_it=False)

    said = sentences(found, asked=True)
    assert said.startswith("The map that you asked for, an intercept, is not worth it.")
    assert "All of it is the level: 0.0020" in said


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (CalibrationMap("intercept", -0.25), "It adds -0.250 to the log-odds of a score."),
        (
            CalibrationMap("beta", 0.5, (0.4, 1.2)),
            "Its log-odds are 0.400 ln(s) - 1.200 ln(1 - s) +0.500, s the score.",
        ),
        (
            CalibrationMap("spline", 0.0, (1.0, 1.0), (0.0, 1.0)),
            "It bends the log-odds of a score at 2 knots.",
        ),
    ],
)
def test_formulas(found: CalibrationMap, expected: str) -> None:
    """Each family says what it does to a score."""
    assert formula(found) == expected
