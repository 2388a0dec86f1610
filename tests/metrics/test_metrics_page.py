"""The page about the measures: its examples run, and its tables are computed anew.

`python -m tests.support.page_tables` prints the tables for the page.
"""

import ast
import doctest
import re

import pytest

from tests.support.page_classes import CLASSES, REGRESSION
from tests.support.page_scores import SCORES
from tests.support.page_tables import PAGE, Table
from tests.support.paths import ROOT

SOURCES = ROOT / "monitor" / "metrics"
TABLES = [SCORES, CLASSES, REGRESSION]

# Explained in full where they are, but parts of what the page names.
PARTS = {
    "cumulative.log10_tail_of_maximum", "cumulative.log10_tail_of_range",
    "resampling.resample", "resampling.subsample", "grid.locate", "grid.representative_scores",
    "hosmer_lemeshow.log10_chi_squared_tail",
    "log_score.surprises", "samples.checked", "samples.unchecked", "skce.mean_distance",
    "spiegelhalter.two_sided_log10_p",
}  # fmt: skip


def functions_explained() -> list[str]:
    """Name the public functions, as `file.function`, whose docstring says what they return."""
    return [
        f"{path.stem}.{node.name}"
        for path in sorted(SOURCES.rglob("*.py"))
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and not node.decorator_list
        and any(word in (ast.get_docstring(node) or "") for word in ("Returns", "Notes"))
    ]


def test_examples_run() -> None:
    """Every example of the page prints what the page says."""
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)

    assert tried > 10
    assert failed == 0


@pytest.mark.parametrize(
    ("table", "name"),
    [pytest.param(table, name, id=name) for table in TABLES for name in table.measures],
)
def test_table_is_what_is_computed(table: Table, name: str) -> None:
    """Each row of a table is computed anew to its printed digits, give or take the last one."""
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


def test_every_function_is_on_the_page() -> None:
    """Every function that a docstring explains in full is named on the page with its file."""
    text = PAGE.read_text()
    names = [name for name in functions_explained() if name not in PARTS]

    assert len(names) > 60
    missing = [name for name in names if f"`{name}`" not in text]
    assert not missing, f"say in docs/metrics.md when to use {missing}"


def test_no_function_is_excused_in_vain() -> None:
    """What is left out of the page exists, and is not on it."""
    text = PAGE.read_text()

    assert set(functions_explained()) >= PARTS
    assert not [name for name in PARTS if f"`{name}`" in text]


def test_links_of_the_page_lead_somewhere() -> None:
    """Files that the page points at exist."""
    for target in re.findall(r"\]\(([^)#:]+)\)", PAGE.read_text()):
        assert (PAGE.parent / target).exists(), target
