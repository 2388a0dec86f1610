"""Columns of every kind, crossed: the numbers of plain arrays, or an error that says what is wrong.

Each case draws the form of outcomes, of scores and of the other columns. A sound one has exactly
the numbers of the same rows as plain arrays; one with a fault is a DataError or a ConfigError.
"""

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import monitor
from monitor import metrics
from tests.support.cases import a_fifth

ROWS = 120
RNG = np.random.default_rng(8)
SCORES = RNG.integers(1, 1024, ROWS) / 1024  # whole in single precision and as decimals
OUTCOMES = (RNG.random(ROWS) < SCORES).astype(np.int64)
PARTS = np.array(["DE", "FR", "nan"])[RNG.integers(0, 3, ROWS)]
DAYS = np.array(["mon", "tue"])[RNG.integers(0, 2, ROWS)]
WHO = np.array([f"c{number}" for number in RNG.integers(0, 40, ROWS)])
WEIGHTS = RNG.integers(0, 3, ROWS)
OTHERS = {"segments": PARTS, "groups": DAYS, "entity": WHO, "sample_weight": WEIGHTS}
ORDER = RNG.permutation(ROWS)

Form = Callable[[Any], Any]
CONTAINERS: dict[str, Form] = {
    "list": lambda v: v.tolist(),
    "tuple": lambda v: tuple(v.tolist()),
    "array": lambda v: v,
    "objects": lambda v: v.astype(object),
    "one column": lambda v: v[:, None],
    "masked array of which nothing is masked": np.ma.array,
    "pandas": pd.Series,
    "pandas with an index of its own": lambda v: pd.Series(v, index=np.arange(ROWS) + 7),
    "pandas objects": lambda v: pd.Series(v, dtype=object),
    "frame": lambda v: pd.DataFrame({"a": v}),
    "polars": lambda v: pl.Series(v.tolist()),
    "frame of polars": lambda v: pl.DataFrame({"a": v.tolist()}),
    "arrow": lambda v: pa.array(v.tolist()),
    "arrow table": lambda v: pa.table({"a": v.tolist()}),
    "arrow chunks": lambda v: pa.chunked_array([v[:50].tolist(), v[50:].tolist()]),
}
# How outcomes are written, and the label that is positive.
LABELS: dict[str, tuple[Any, Any]] = {
    "integers": (OUTCOMES, None),
    "small integers": (OUTCOMES.astype(np.int8), None),
    "booleans": (OUTCOMES.astype(bool), None),
    "booleans with a label": (OUTCOMES.astype(bool), True),
    "floats": (OUTCOMES.astype(float), None),
    "floats with a label": (OUTCOMES.astype(float), 1),
    "decimals": (np.array([Decimal(int(y)) for y in OUTCOMES], dtype=object), None),
    "signs": (2 * OUTCOMES - 1, 1),
    "texts": (np.where(OUTCOMES == 1, "yes", "no"), "yes"),
    "texts in the other order": (np.where(OUTCOMES == 1, "fraud", "sound"), "fraud"),
    "digits": (OUTCOMES.astype(str), "1"),
}
CATEGORIES: dict[str, Form] = {
    "categories of pandas": lambda v: pd.Series(v).astype("category"),
    "categories of Polars": lambda v: pl.Series(v.tolist()).cast(pl.Categorical),
    "dictionary of Arrow": lambda v: pa.array(v.tolist()).dictionary_encode(),
}
NUMBERS: dict[str, Form] = {
    "double": lambda v: v,
    "single": lambda v: v.astype(np.float32),
    "decimals": lambda v: np.array([Decimal(float(s)) for s in v], dtype=object),
    "texts": lambda v: v.astype(str),
}


@cache
def expected(names: tuple[str, ...]) -> pd.DataFrame:
    """Evaluate plain arrays, with these other columns; a row of weight 2 is there twice."""
    counts = WEIGHTS if "sample_weight" in names else np.ones(ROWS, np.int64)
    others = {n: np.repeat(OTHERS[n], counts) for n in names if n != "sample_weight"}
    return monitor.evaluate(
        np.repeat(OUTCOMES, counts), np.repeat(SCORES, counts), **others
    ).to_frame()


def outcomes_and_label(draw: Any) -> tuple[Any, Any, list[Any]]:
    """Draw how outcomes are written: the column, `pos_label`, and the labels, negative first."""
    values, positive = LABELS[draw(st.sampled_from([*LABELS]))]
    is_text = values.dtype.kind == "U"
    form = draw(st.sampled_from([*CONTAINERS, *(CATEGORIES if is_text else ())]))
    labels = [*dict.fromkeys([values[OUTCOMES == 0][0], values[OUTCOMES == 1][0]])]
    plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
    return (CONTAINERS | CATEGORIES)[form](values), positive, plain


def scores_and_labels(draw: Any, names: list[Any]) -> tuple[Any, dict[str, Any]]:
    """Draw how scores are written: a column, or both columns of a matrix."""
    number = NUMBERS[draw(st.sampled_from([*NUMBERS]))]
    form = draw(st.sampled_from([*CONTAINERS, "matrix", "named", "named in Arrow", "listed"]))
    if form in CONTAINERS:
        return CONTAINERS[form](number(SCORES)), {}
    columns = {names[0]: number(1 - SCORES), names[1]: number(SCORES)}
    if form == "matrix":  # in the sorted order of the labels
        return np.column_stack([columns[name] for name in sorted(names)]), {}
    order = draw(st.permutations(names))
    if form == "listed":
        return np.column_stack([columns[name] for name in order]).tolist(), {"labels": order}
    if form == "named":
        return pd.DataFrame({name: columns[name] for name in order}), {}
    whole = {name: int(name) if isinstance(name, float | Decimal) else name for name in order}
    return pa.table({str(whole[name]): columns[name].tolist() for name in order}), {}


@settings(max_examples=a_fifth(150), deadline=None, derandomize=True)
@given(st.data())
def test_sound_columns_give_the_numbers_of_plain_arrays(data: st.DataObject) -> None:
    """Whatever holds them, whatever the labels are, and in whatever order the columns are."""
    y_true, positive, names = outcomes_and_label(data.draw)
    y_prob, labels = scores_and_labels(data.draw, names)
    others = data.draw(st.lists(st.sampled_from([*OTHERS]), unique=True).map(sorted))
    columns = {
        name: CONTAINERS[data.draw(st.sampled_from([*CONTAINERS]))](OTHERS[name]) for name in others
    }
    found = monitor.evaluate(y_true, y_prob, pos_label=positive, **labels, **columns)

    pd.testing.assert_frame_equal(found.to_frame(), expected(tuple(others)))


def put(values: Any, value: Any) -> list[Any]:
    """Put a value into a column."""
    return [*values[:3].tolist(), value, *values[4:].tolist()]


MASK = np.arange(ROWS) == 3
PLAIN = {"y_true": OUTCOMES, "y_prob": SCORES}
TEXTS = {"y_true": np.where(OUTCOMES == 1, "yes", "no"), "pos_label": "yes"}
BOTH = np.column_stack([1 - SCORES, SCORES])
THREE = np.column_stack([SCORES / 2, SCORES / 2, 1 - SCORES])
# What is wrong, and a word that the message has.
FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    **{
        f"{name} is {kind}": ({name: put(values, value)}, word)
        for name, values, word in (("y_true", OUTCOMES, "y_true"), ("y_prob", SCORES, "y_prob"))
        for kind, value in {
            "None": None, "NaN": float("nan"), "NA": pd.NA, "NaT": pd.NaT, "a list": [1, 2],
            "a text": "much", "infinite": float("inf"), "complex": 0.5 + 1j, "too large": 1.5,
            "a missing decimal": Decimal("NaN"), "too small": -0.25,
        }.items()
    },
    **{
        f"masked {name}": ({name: np.ma.array(values, mask=MASK)}, "missing")
        for name, values in PLAIN.items()
    },
    **{
        f"{name} {kind}": ({name: value}, name)
        for name in PLAIN
        for kind, value in {
            "None": None, "one number": 1, "a text": "price", "a generator": (0 for _ in "ab"),
            "a dictionary": {"a": 1}, "a set": {0, 1}, "rows of two lengths": [[1], [1, 2]],
            "of 3 dimensions": np.zeros((2, 2, 2)), "lazy": pl.LazyFrame({"a": [1]}),
            "2 rows": np.zeros((2, ROWS // 2)), "shorter": np.zeros(ROWS - 1),
        }.items()
    },
    "swapped": ({"y_true": SCORES, "y_prob": OUTCOMES}, "swapped"),
    "swapped frames": (
        {"y_true": pd.DataFrame({"p": SCORES}), "y_prob": pd.DataFrame({"y": OUTCOMES})},
        "swapped",
    ),
    "scores in another order": (
        {"y_true": pd.Series(OUTCOMES), "y_prob": pd.Series(SCORES).iloc[ORDER]},
        r"y_prob.loc\[y_true.index\]",
    ),
    "segments in another order": (
        {"y_true": pd.Series(OUTCOMES), "segments": pd.Series(PARTS).iloc[ORDER]},
        r"segments.loc\[y_true.index\]",
    ),
    "nothing": ({"y_true": [], "y_prob": []}, "no rows"),
    "nothing of classes": ({"y_true": [], "y_prob": np.zeros((0, 3))}, "no rows"),
    "no row with a weight": ({"sample_weight": np.zeros(ROWS)}, "no rows"),
    "half a row": ({"sample_weight": put(WEIGHTS, 0.5)}, "whole numbers"),
    "less than no row": ({"sample_weight": put(WEIGHTS, -1)}, "whole numbers"),
    "a missing weight": ({"sample_weight": put(WEIGHTS, None)}, "whole numbers"),
    "more rows than memory": ({"sample_weight": put(WEIGHTS, 10**15)}, "rows, more than"),
    "one weight": ({"sample_weight": 2}, "sample_weight"),
    "no such label": ({**TEXTS, "pos_label": "ja"}, "pos_label is 'ja'"),
    "a label of another type": ({"pos_label": "1"}, "pos_label is '1'"),
    "two labels": ({"pos_label": [0, 1]}, "pos_label is"),
    "a missing label": ({"pos_label": float("nan")}, "pos_label is nan"),
    "no label": ({**TEXTS, "pos_label": None}, "say which one is positive"),
    "labels of one column": ({"labels": [0, 1]}, "labels are those of"),
    "labels without the positive one": ({**TEXTS, "y_prob": BOTH, "labels": ["a", "no"]}, "labels"),
    "columns that do not sum to 1": ({"y_prob": np.column_stack([SCORES, SCORES])}, "sum to 1"),
    "an unknown column": (
        {**TEXTS, "y_true": ["yes"] * ROWS, "y_prob": BOTH},
        "which of the two columns",
    ),
    "one label of many": ({"y_prob": THREE, "pos_label": 1}, "pos_label is for"),
    "segments of classes": ({"y_prob": THREE, "segments": PARTS}, "divided by segments"),
    "a missing class": ({"y_prob": THREE, "y_true": put(OUTCOMES, None)}, "missing"),
    "a class that is NaN": ({"y_prob": THREE, "y_true": put(OUTCOMES, float("nan"))}, "missing"),
    "a class without a column": (
        {"y_prob": pd.DataFrame(THREE, columns=["no", "cat", "dog"]), "y_true": TEXTS["y_true"]},
        "the label 'yes'",
    ),
    "a masked vector": ({"y_prob": np.ma.array(THREE, mask=np.eye(ROWS, 3))}, "not numbers"),
    "classes that do not sum to 1": ({"y_prob": 2 * THREE / 3}, "sum to 1"),
    "two classes of one name": ({"y_prob": THREE, "labels": [0, 0, 1]}, "each once"),
    "one segment": ({"segments": "DE"}, "labels"),
    "segments of two columns": ({"segments": np.column_stack([PARTS, PARTS])}, "one column"),
    "segments of two lengths": ({"segments": [[1], [1, 2]] * (ROWS // 2)}, "differ in length"),
    "half a sign": ({"segments": np.where(MASK, "\ud800", "DE")}, "surrogates"),
    "a level in words": ({"alpha": "0.05"}, "alpha is '0.05'"),
    "no level": ({"alpha": None}, "alpha is None"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(fault: str) -> None:
    """The message has the name of the argument, or what is wrong with it."""
    arguments, word = FAULTS[fault]
    with pytest.raises((monitor.DataError, monitor.ConfigError), match=word) as refused:
        monitor.evaluate(**(PLAIN | arguments))
    assert "np." not in str(refused.value)


@pytest.mark.parametrize(
    "fault", [name for name, (arguments, _) in FAULTS.items() if arguments.keys() <= PLAIN.keys()]
)
def test_compare_names_it_too(fault: str) -> None:
    """A fault of outcomes or scores is one of that sample; a matrix of classes is a fault here."""
    given_columns = PLAIN | FAULTS[fault][0]
    sample = given_columns["y_true"], given_columns["y_prob"]
    with pytest.raises((monitor.DataError, monitor.ConfigError), match="before"):
        monitor.compare(sample, (OUTCOMES, SCORES))


@pytest.mark.parametrize("names", [["dog", "cat", "bird"], ["2", "0", "1"], [2, 0, 1]])
@pytest.mark.parametrize("frame", ["pandas", "Polars", "Arrow"])
@pytest.mark.parametrize("weighted", [False, True])
def test_classes_are_those_of_the_named_columns(
    names: list[Any], frame: str, *, weighted: bool
) -> None:
    """In whatever order the columns are, and with weights: the names of a frame say which is whose.

    A file may name them by texts where the labels are numbers.
    """
    numbers = (RNG.random((ROWS, 1)) > THREE.cumsum(axis=1)).sum(axis=1)
    labels = [int(name) if str(name).isdigit() else name for name in names]
    y_true = [labels[number] for number in numbers]
    columns = {
        str(name) if frame != "pandas" else name: THREE[:, k] for k, name in enumerate(names)
    }
    made = {"pandas": pd.DataFrame, "Polars": pl.DataFrame, "Arrow": pa.table}[frame](columns)
    options = {"sample_weight": WEIGHTS} if weighted else {}

    found = monitor.evaluate(y_true, made, **options)
    plain = monitor.evaluate(y_true, THREE, labels=labels, **options)
    pd.testing.assert_frame_equal(found.to_frame(), plain.to_frame())
    assert found.whole.matched == (WEIGHTS.sum() if weighted else ROWS)


def test_compare_takes_other_labels() -> None:
    """With `pos_label`, as its message says."""
    rows = np.tile(np.arange(ROWS), 10)
    texts, numbers = (TEXTS["y_true"][rows], SCORES[rows]), (OUTCOMES[rows], SCORES[rows])
    found = monitor.compare(texts, texts, pos_label="yes")
    plain = monitor.compare(numbers, numbers)

    assert (found.verdict, found.evidence) == (plain.verdict, plain.evidence)
    with pytest.raises(monitor.DataError, match="before: y_true has the labels 'no', 'yes'"):
        monitor.compare(texts, texts)


@pytest.mark.parametrize("measure", ["ece", "tally", "tce", "brier", "auc", "smooth_ece", "skce"])
def test_measures_refuse_masked_values_and_complex_scores(measure: str) -> None:
    """A masked value is not there, and of a complex number a part would be lost."""
    function = getattr(metrics, measure)
    with pytest.raises(ValueError, match="1 of 120 values of y_true are masked"):
        function(np.ma.array(OUTCOMES, mask=MASK), SCORES)
    with pytest.raises(ValueError, match="1 of 120 values of y_prob are masked"):
        function(OUTCOMES, np.ma.array(SCORES, mask=MASK))
    with pytest.raises(ValueError, match="y_prob holds probabilities"):
        function(OUTCOMES, SCORES + 0j)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: monitor.evaluate(OUTCOMES, SCORES).plot(scale="log"), "scale is 'log'"),
        (lambda: monitor.evaluate(OUTCOMES, SCORES).plot("DE"), "named by segment="),
        (lambda: monitor.CalibrationDisplay.from_predictions(OUTCOMES, SCORES, scale="log"), "log"),
        (lambda: monitor.compare((OUTCOMES, SCORES), (OUTCOMES, SCORES), alpha="1"), "alpha is"),
        (lambda: monitor.apply_map(SCORES, None), "calibration_map is None"),
        (lambda: monitor.apply_map(SCORES, monitor.CalibrationMap("line")), "kind of a map"),
        (lambda: monitor.apply_map(SCORES, monitor.CalibrationMap("platt")), "has 1 parameters"),
        (lambda: monitor.read_map(None), "path is None"),
        (lambda: monitor.open_store(None), "path is None"),
        (
            lambda: monitor.apply_map(
                np.ma.array(SCORES, mask=MASK), monitor.CalibrationMap("identity")
            ),
            "missing or outside",
        ),
    ],
)
def test_wrong_arguments_are_named(call: Callable[[], Any], message: str) -> None:
    """Of the other functions too."""
    with pytest.raises((monitor.DataError, monitor.ConfigError), match=message):
        call()
