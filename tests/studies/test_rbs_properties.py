"""The simulations of docs/rbs-properties.md, small: flat levels, exact gains, inequalities."""

import re

import numpy as np
import pytest

from studies.rbs import inequalities as theorem
from studies.rbs import samples
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "rbs-properties.md").read_text()


WORLDS = 150


@pytest.fixture(scope="module")
def sides() -> dict[str, np.ndarray]:
    """Both sides of every inequality in a few worlds."""
    return dict(theorem.both_sides(WORLDS))


@pytest.mark.parametrize("slope", [1.0, 0.6])
def test_levels_of_rbs_are_flat_and_those_of_ece_fall(slope: float) -> None:
    """From 100 to 100,000 rows the mean RBS moves by less than 2 %, ECE falls to 2/3 or less."""
    few = {name: samples.ESTIMATORS[name] for name in ("RBS", "ECE, 15 uniform bins")}
    found = samples.average(samples.population(slope), few, 200, 1)
    first, last = samples.SIZES[0], samples.SIZES[-1]
    fall = {name: found[name][last][0] / found[name][first][0] for name in found}

    # 200 samples of 100 rows leave an error of 0.4 % in the mean, ECE falls to 0.52 at least.
    assert fall["RBS"] == pytest.approx(1.0, abs=0.02)
    assert fall["ECE, 15 uniform bins"] < 2 / 3


def test_binned_improvement_is_biased() -> None:
    """Over 15 uniform bins of 100 rows the mean gain exceeds the true one by half and more."""
    p = samples.population(samples.SLOPE)
    name = "squared L2 error, 15 uniform bins"
    mean, error = samples.average(p, {name: samples.IMPROVEMENTS[name]}, 500, 4)[name][100]

    # 1.62 times the truth on the page, and 500 samples leave an error of 0.065 times it.
    assert mean - 4 * error > 1.2 * samples.true_improvements(p)[name]


def test_theorem_holds_and_controls_do_not(sides: dict[str, np.ndarray]) -> None:
    """No inequality of Theorem 3.1 is violated in any world; both controls are."""
    violations = {name: theorem.summary(both)[0] for name, both in sides.items()}

    assert len(sides) == 16
    assert {name for name, number in violations.items() if number} == set(theorem.CONTROLS)
    assert all(len(both) == WORLDS for both in sides.values())


def test_page_has_every_row_and_no_violation(sides: dict[str, np.ndarray]) -> None:
    """The page has a row for every estimator, improvement and inequality, with 0 violations."""
    rows = {
        line.split("|")[1].strip(): line.split("|")
        for line in re.findall(r"^\|.*", PAGE, re.MULTILINE)
    }

    assert {*samples.ESTIMATORS, *samples.IMPROVEMENTS} <= set(rows)
    for name in sides:
        if name in theorem.CONTROLS:
            assert int(rows[f"{name} (control)"][2]) > 0
        else:
            assert rows[name][2].strip() == "0"
