"""What every function of the mathematics says of itself."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.support.paths import ROOT

MEASURES = ROOT / "monitor" / "metrics"

# Files of a measure, and in them functions that only serve one: they say less of themselves.
MEASURE_FILES = [
    "bounds", "brier", "corp", "cox", "cumulative", "discrimination", "ece", "estimation_error",
    "hosmer_lemeshow", "intercept", "log_score", "multiclass", "regression",
    "row_scores", "skce", "smooth_ece", "spiegelhalter", "tce", "tce_at_size", "null_reference",
    "t_test",
]  # fmt: skip
# Files of what measures are made of: bins, tests, intervals and maps. They have no interval.
PART_FILES = [
    "acceptance", "binning", "binomial", "bootstrap", "ece_interval", "intervals",
    "variance_scaling",
]  # fmt: skip
SERVANTS = {
    "binning.monitor_sizes", "binning.paper_sizes", "bootstrap.bootstrap_intervals",
    "bootstrap.choose_method", "brier.mean_loss",
    "cumulative.log10_tail_of_maximum", "cumulative.log10_tail_of_range",
    "ece_interval.forgiven_ece", "ece_interval.join_neighbours", "ece_interval.pava_bc_ece",
    "hosmer_lemeshow.log10_chi_squared_tail", "intercept.has_intercept", "log_score.surprises",
    "multiclass.classwise_tallies", "multiclass.top_label_tally", "regression.check_positive",
    "regression.checked_moments", "skce.mean_distance", "spiegelhalter.from_sums",
    "spiegelhalter.two_sided_log10_p", "tce_at_size.standard_size",
}  # fmt: skip
RANGE = re.compile(
    r"\[-?\d|\(-?\d|ratio|at least|at most|above 0|unbounded|nats|logit|standard normal"
    r"|probability",
    re.IGNORECASE,
)


def named(kind: type[ast.FunctionDef | ast.ClassDef]) -> Iterator[tuple[str, ast.stmt]]:
    """Give what is public on the first level of every file, as `file.name`."""
    for path in sorted(MEASURES.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, kind) and not node.name.startswith("_"):
                yield f"{path.stem}.{node.name}", node


# Without the compiled ones, which are parts of others.
FUNCTIONS = {name: node for name, node in named(ast.FunctionDef) if not node.decorator_list}
RESULTS = {name.split(".")[1]: ast.get_docstring(node) for name, node in named(ast.ClassDef)}
SAYING_MUCH = [
    name
    for name, node in FUNCTIONS.items()
    if name.split(".")[0] in MEASURE_FILES + PART_FILES
    and name not in SERVANTS
    and ast.unparse(node.returns or ast.Constant(None)) != "None"  # but checks, which only refuse
]
OF_MEASURES = [name for name in SAYING_MUCH if name.split(".")[0] in MEASURE_FILES]
SOURCE = re.compile(r"\[TCE|\[RBS|\b(1[89]|20)\d\d\b")


def docstring(name: str) -> str:
    """Read what a function says of itself."""
    return ast.get_docstring(FUNCTIONS[name]) or ""


def section(text: str, title: str) -> str:
    """Give one section of a docstring, or nothing."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE)
    return found.group(1) if found else ""


def raises(node: ast.FunctionDef) -> bool:
    """Tell whether the function itself raises, or what its file or another has for checks."""
    return any(
        isinstance(part, ast.Raise)
        or (isinstance(part, ast.Call) and re.match(r"_?check", ast.unparse(part.func)))
        for part in ast.walk(node)
    )


def test_nothing_is_named_in_vain() -> None:
    """The files and the servants exist, and there are measures."""
    assert all(any(MEASURES.rglob(f"{name}.py")) for name in MEASURE_FILES + PART_FILES)
    assert set(FUNCTIONS) >= SERVANTS
    assert len(OF_MEASURES) > 30
    assert len(SAYING_MUCH) > len(OF_MEASURES) + 15


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_has_an_example(name: str) -> None:
    """Whatever gives something back shows how, in lines that run with the tests."""
    returned = FUNCTIONS[name].returns
    if returned is not None and ast.unparse(returned) not in {"None", "NoReturn", "Callable[P, R]"}:
        assert ">>> " in section(docstring(name), "Examples")


@pytest.mark.parametrize("name", SAYING_MUCH)
def test_measure_explains_itself(name: str) -> None:
    """A measure has parameters with shapes or types, a result with its range, a formula."""
    text = docstring(name)
    described = section(text, "Parameters")

    for argument in (*FUNCTIONS[name].args.args, *FUNCTIONS[name].args.kwonlyargs):
        assert re.search(rf"^(\w+, )*{argument.arg}(, \w+)* : ", described, re.MULTILINE)
    # Several numbers come with a class that explains them.
    result = RESULTS.get(ast.unparse(FUNCTIONS[name].returns), "")
    assert RANGE.search(section(text, "Returns") + result)
    # Formulas stand in double backticks; what a definition number stands for has one too.
    assert "``" in section(text, "Notes")


@pytest.mark.parametrize("name", SAYING_MUCH)
def test_measure_names_its_source(name: str) -> None:
    """A formula comes from a paper, from an article with its year, or from our function that does.

    The last is for intervals, which are mostly those of others, moved.
    """
    text = section(docstring(name), "Notes")
    ours = {function.split(".")[1] for function in SAYING_MUCH} - {name.split(".")[1]}
    built_on = ours & set(re.findall(r"`(\w+)`", text))

    assert SOURCE.search(text) or (name.startswith("intervals.") and built_on)


@pytest.mark.parametrize("name", SAYING_MUCH)
def test_measure_names_its_errors(name: str) -> None:
    """A function that raises, or calls what only refuses, says when."""
    if raises(FUNCTIONS[name]):
        assert "ValueError" in section(docstring(name), "Raises")


@pytest.mark.parametrize("name", OF_MEASURES)
def test_measure_says_how_sure_it_is(name: str) -> None:
    """A number comes with its interval, with a p-value, or with the reason why it has neither."""
    text = section(docstring(name), "Notes")

    assert re.search(r"\binterval", text, re.IGNORECASE), "say where its interval comes from"
    known = {function.split(".")[1] for function in FUNCTIONS}
    assert set(re.findall(r"`(\w+_interval)`", text)) <= known, "an interval that is named exists"
