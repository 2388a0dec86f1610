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
