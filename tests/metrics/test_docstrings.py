"""What the docstrings of the mathematics must say.

Every public function is checked for everything, unless it is named here as an exception.
"""

import ast
import re

from tests.support.paths import ROOT
from tests.support.public_names import HOMES, path_of

SHELVES = ROOT / "monitor" / "metrics"

# They prepare a sample or rename a result, and have no formula that another name would not give.
WITHOUT_FORMULA = {
    "bootstrap_intervals", "coarsen", "combine_lifts", "fit_slope", "from_cells", "has_intercept",
    "information_bins", "merge", "monitor_sizes", "paper_sizes", "tally", "tally_on_grid",
}  # fmt: skip
# Their formula is elementary or ours, so no article is named.
WITHOUT_SOURCE = WITHOUT_FORMULA | {
    "compare_levels", "fit_level", "fit_nested_maps", "fitted_score", "shift",
}  # fmt: skip
# Tallies, bins, sizes and maps are chosen, not estimated; a likelihood ratio is evidence itself.
WITHOUT_UNCERTAINTY = WITHOUT_SOURCE | {
    "accepted_intervals", "binomial_pvalues", "classwise_tallies", "conditional_log_ratio", "pava",
    "pava_bc", "quantile_bins", "remaining_error", "scale_variances", "standard_size",
    "top_label_tally", "uniform_bins",
}  # fmt: skip
READERS = {"reads_pairs", "takes_bins", "takes_rows", "takes_rows_by"}  # decorators of measures
RANGE = re.compile(
    r"\[-?\d|\(-?\d|ratio|at least|at most|above 0|unbounded|nats|logit|standard normal"
    r"|probability|exact|strictly increas|partition|of equal|slices",
    re.IGNORECASE,
)
SOURCE = re.compile(r"\[TCE|\[RBS|\b(1[89]|20)\d\d\b")


def definitions(path_name: str) -> dict[str, ast.stmt]:
    """Read the functions and classes on the first level of a module."""
    body = ast.parse(path_of(path_name).read_text()).body
    return {n.name: n for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef)}


PUBLIC = {name: definitions(home)[name] for name, home in HOMES.items()}
FUNCTIONS = {name: node for name, node in PUBLIC.items() if isinstance(node, ast.FunctionDef)}
RESULTS = {n: ast.get_docstring(c) or "" for n, c in PUBLIC.items() if isinstance(c, ast.ClassDef)}
ALL = {
    f"{path.stem}.{node.name}": node
    for path in sorted(SHELVES.rglob("*.py"))
    for node in ast.parse(path.read_text()).body
    if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    if {ast.unparse(d).partition("(")[0] for d in node.decorator_list} <= READERS  # not compiled
}


def docstring(name: str) -> str:
    """Read the docstring of a public function."""
    return ast.get_docstring(FUNCTIONS[name]) or ""


def section(text: str, title: str) -> str:
    """Give one section of a docstring, or nothing."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE)
    return found.group(1) if found else ""


def raises(node: ast.FunctionDef) -> bool:
    """Find out whether the function itself raises, or calls what only checks."""
    return any(
        isinstance(part, ast.Raise)
        or (isinstance(part, ast.Call) and re.match(r"_?check", ast.unparse(part.func)))
        for part in ast.walk(node)
    )


def is_interval(name: str) -> bool:
    """Find out whether a function gives an interval, which needs none itself."""
    return "interval" in name


def test_function_has_an_example() -> None:
    """A function that returns something shows how, in lines that run with the tests."""
    for name, node in ALL.items():
        returned = node.returns
        if returned is not None and ast.unparse(returned) not in {
            "None",
            "NoReturn",
            "Callable[P, R]",
        }:
            assert ">>> " in section(ast.get_docstring(node) or "", "Examples"), name


def test_function_explains_itself() -> None:
    """It has parameters with shapes or types, a result with its range, and a formula."""
    for name in sorted(FUNCTIONS.keys() - WITHOUT_FORMULA):
        text = docstring(name)
        described = section(text, "Parameters")

        for argument in (*FUNCTIONS[name].args.args, *FUNCTIONS[name].args.kwonlyargs):
            assert re.search(rf"^(\w+, )*{argument.arg}(, \w+)* : ", described, re.MULTILINE)
        # Several numbers come with a class that explains them.
        result = RESULTS.get(ast.unparse(FUNCTIONS[name].returns).removesuffix(" | None"), "")
        assert RANGE.search(section(text, "Returns") + result)
        # Formulas are in double backticks; a definition of a paper has one there too.
        assert "``" in section(text, "Notes"), name


def test_function_names_its_source() -> None:
    """A formula comes from a paper, from an article with its year, or is another's of ours."""
    for name in sorted(FUNCTIONS.keys() - WITHOUT_SOURCE):
        text = section(docstring(name), "Notes")
        built_on = FUNCTIONS.keys() - {name} & set(re.findall(r"`(\w+)`", text))

        assert SOURCE.search(text) or (is_interval(name) and built_on), name


def test_function_names_its_errors() -> None:
    """A function that raises, or calls what only checks, says when."""
    for name, node in FUNCTIONS.items():
        if raises(node) and name not in WITHOUT_FORMULA:
            assert "ValueError" in section(docstring(name), "Raises"), name


def test_measure_says_how_sure_it_is() -> None:
    """A number comes with its interval, with a p-value, or with the reason why it has neither."""
    for name in sorted(FUNCTIONS.keys() - WITHOUT_UNCERTAINTY):
        text = section(docstring(name), "Notes")

        assert is_interval(name) or re.search(r"\binterval", text, re.IGNORECASE), name
        known = {function.split(".")[1] for function in ALL}
        assert set(re.findall(r"`(\w+_interval)`", text)) <= known, (
            "an interval that is named exists"
        )


def test_exceptions_are_public_functions() -> None:
    """Every exception exists, and most functions are none."""
    assert set(FUNCTIONS) >= WITHOUT_UNCERTAINTY
    assert len(FUNCTIONS.keys() - WITHOUT_UNCERTAINTY) > 45
