"""The page about the measures: its examples run, and its tables are computed again.

`python -m tools.measure_tables` prints the tables for the page.
"""

import doctest
import inspect
import re

import pytest

import monitor.metrics
from tests.support.cases import some
from tests.support.paths import ROOT
from tests.support.public_names import HOMES
from tools.measure_tables.classes import CLASSES, REGRESSION
from tools.measure_tables.scores import SCORES
from tools.measure_tables.table import Table

PAGE = ROOT / "docs" / "metrics.md"
TABLES = [SCORES, CLASSES, REGRESSION]
FUNCTIONS = [name for name in HOMES if inspect.isfunction(getattr(monitor.metrics, name))]
# Needed to build a tally or to ask beforehand, and explained where they are.
NOT_ON_THE_PAGE = {"from_cells", "has_intercept"}


def test_examples_run() -> None:
    """Every example of the page prints what the page says."""
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)

    assert tried > 10
    assert failed == 0


@pytest.mark.parametrize(
    ("table", "name"),
    some([pytest.param(table, name, id=name) for table in TABLES for name in table.measures], 4),
)
def test_table_is_what_is_computed(table: Table, name: str) -> None:
    """Each row of a table is computed again to its printed digits, give or take the last one."""
    printed = table.printed_rows()[name]

    # The last digit may go either way where a mean lies between two.
    step = 10.0 ** -table.measures[name][1]
    assert [float(cell) for cell in printed] == pytest.approx(
        [float(cell) for cell in table.row(name)], abs=1.01 * step
    )


@pytest.mark.parametrize("table", TABLES)
def test_table_has_no_other_row(table: Table) -> None:
    """A table has the rows that are computed, in their order."""
    assert list(table.printed_rows()) == list(table.measures)


def test_every_public_function_is_on_the_page() -> None:
    """The page says when to use each public function, or what it gives."""
    text = PAGE.read_text()
    missing = {name for name in FUNCTIONS if f"`{name}`" not in text}

    assert missing == NOT_ON_THE_PAGE, f"say in docs/metrics.md when to use {missing}"


def test_the_page_names_functions_that_exist() -> None:
    """What the page calls like a function is public, and its examples import from one place."""
    text = PAGE.read_text()
    called = set(re.findall(r"`(\w+)\(", text))

    assert called <= {*HOMES}
    assert set(re.findall(r"from (monitor[\w.]*) import", text)) == {"monitor.metrics"}
