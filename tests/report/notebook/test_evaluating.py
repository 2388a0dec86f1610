"""`monitor.evaluate`: the numbers of the daily job for two columns."""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from math import isnan
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib import pyplot as plt
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import monitor
from monitor import CalibrationDisplay, metrics
from monitor.metrics import ece, monitor_sizes, pava_bc, rbs, tally_on_grid
from monitor.report.diagrams import draw_test_based
from monitor.report.notebook import frames
from monitor.report.notebook.arrays import buckets_by
from monitor.report.notebook.evaluating import SampleEvaluation
from tests.support.filled_store import CLASSES, FINAL, PROVISIONAL, evaluation

RNG = np.random.default_rng(5)
SCORES = 1.0 / (1.0 + np.exp(-RNG.normal(-1.0, 1.5, 4_000)))
OUTCOMES = (RNG.random(4_000) < SCORES).astype(np.int64)
COUNTRIES = RNG.choice(["DE", "FR"], 4_000)


@cache
def evaluated() -> SampleEvaluation:
    """Give the numbers of these columns."""
    return monitor.evaluate(OUTCOMES, SCORES, segments=COUNTRIES)


def value(
    found: pd.DataFrame, measure: str, adjusted: str | None = None, segment: str = "all"
) -> Any:
    """Take one row of a frame."""
    rows = found[(found.measure == measure) & (found.segment == segment)]
    rows = rows[rows.adjusted.isna() if adjusted is None else rows.adjusted == adjusted]
    assert len(rows) == 1
    return rows.iloc[0]


@pytest.mark.parametrize(
    "column",
    [
        list,
        pd.Series,
        pl.Series,
        pa.array,
        lambda values: pa.chunked_array([values[:7], values[7:]]),
        lambda values: pd.Series(values).astype("Float64"),
        lambda values: pd.DataFrame({"a": values})["a"],
    ],
    ids=["list", "pandas", "polars", "arrow", "arrow chunks", "nullable", "frame"],
)
def test_columns_of_every_kind_give_the_same(column: Callable[[Any], Any]) -> None:
    """Lists, and columns of pandas, Polars and Arrow, give the numbers of arrays."""
    found = monitor.evaluate(column(OUTCOMES), column(SCORES), segments=list(COUNTRIES))

    pd.testing.assert_frame_equal(found.to_frame(), evaluated().to_frame())


def test_the_order_of_rows_does_not_matter() -> None:
    """Reversed rows give the same numbers."""
    found = monitor.evaluate(OUTCOMES[::-1], SCORES[::-1], segments=COUNTRIES[::-1])

    pd.testing.assert_frame_equal(found.to_frame(), evaluated().to_frame())


def test_frame_holds_the_measures() -> None:
    """The numbers are those of the measures by themselves, for the whole and a segment."""
    t = tally_on_grid(OUTCOMES, SCORES)
    smallest, largest = monitor_sizes(t.total)
    found = evaluated().to_frame()

    assert value(found, "ece", "raw").value == ece(pava_bc(t, min_size=smallest, max_size=largest))
    assert value(found, "rbs", "raw").value == rbs(t)
    assert value(found, "predicted", segment="DE").value == (COUNTRIES == "DE").sum()
    slope = value(found, "slope")
    assert slope.low < 1.0 < slope.high
    assert set(found.columns) == {"segment", "measure", "adjusted", "value", "low", "high"}
    assert not found.duplicated(["segment", "measure", "adjusted"]).any()
    assert set(evaluated().segments) == {"DE", "FR"}
    assert evaluated().tallies["DE"].total == (COUNTRIES == "DE").sum()


# Columns of their own, and what is shown as another number: the value of an interval of ECE is ECE,
# and pairs have gauges, but no measures.
NOT_IN_ROWS = re.compile(r"window_days|days_present|.*_interval\.value|classes\.pairs")


def changed(record: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Change every number of a record in turn, and name it."""
    for field in fields(record) if is_dataclass(record) else ():
        of_field, name = getattr(record, field.name), f"{path}{field.name}"
        if not field.compare:
            continue
        if isinstance(of_field, (int, float)) and not isinstance(of_field, bool):
            yield name, replace(record, **{field.name: of_field + 1})
        elif isinstance(of_field, tuple):
            for i, one in enumerate(of_field):
                for inner, other in changed(one, f"{name}[{i}]."):
                    others = (*of_field[:i], other, *of_field[i + 1 :])
                    yield inner, replace(record, **{field.name: others})
        else:
            for inner, other in changed(of_field, f"{name}."):
                yield inner, replace(record, **{field.name: other})


def test_every_number_of_an_evaluation_is_in_the_frame() -> None:
    """Whatever number changes, the rows change: a field that is added later has a measure too."""
    full = replace(
        evaluation(1, PROVISIONAL), map_gain=evaluation(1, FINAL).map_gain, classes=CLASSES
    )
    rows = [*frames.rows_of(full)]
    silent = {name for name, other in changed(full) if [*frames.rows_of(other)] == rows}

    assert len(rows) > 50
    assert not [name for name in silent if not NOT_IN_ROWS.fullmatch(name)]


def test_groups_keep_priors_apart() -> None:
    """Two groups whose priors differ: pooled they look like a slope, apart they do not."""
    logits = np.concatenate([SCORES, SCORES])
    shifted = np.log(SCORES / (1 - SCORES)) + 2.5
    outcomes = np.concatenate([OUTCOMES, RNG.random(4_000) < 1.0 / (1.0 + np.exp(-shifted))])
    apart = monitor.evaluate(outcomes, logits, groups=np.repeat(["a", "b"], 4_000)).whole.slope
    pooled = monitor.evaluate(outcomes, logits).whole.slope

    assert apart is not None
    assert pooled is not None
    assert apart.low < 1.0 < apart.high
    assert pooled.high < 1.0


def test_few_rows_have_no_interval() -> None:
    """One row of one class has a prevalence and no intercept; a table is shown all the same."""
    found = monitor.evaluate([1], [0.3])
    frame = found.to_frame()

    assert value(frame, "prevalence").value == 1.0
    assert isnan(value(frame, "tce_published", "raw").low)
    assert "shift" not in set(frame.measure)
    assert "100.00 %" in found._repr_html_()


def test_text_of_the_data_is_escaped() -> None:
    """A segment called <script> is shown as text."""
    shown = monitor.evaluate([1, 0], [0.3, 0.6], segments=["<script>", "b"])._repr_html_()

    assert "&lt;script&gt;" in shown
    assert "<script" not in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((SCORES, OUTCOMES), r"y_true holds the outcomes .*, in this order; .* neither 0 nor 1"),
        (([0, 1], [0.1, 1.7]), "1 of 2 scores are not numbers in .*first 1.7 at row 1"),
        (([0, None], [0.1, 0.2]), "1 of 2 values of y_true are missing; leave out"),
        (([0, 1], [0.1, None]), "1 of 2 scores are not numbers"),
        (([0, 1], ["a", "b"]), "y_prob must be numbers, got 'a' at row 0"),
        (([[0, 1], [1, 0]], [0.1, 0.2]), r"y_true has the shape \(2, 2\), but must be one column"),
        (([0, 1], [0.1]), "one length"),
        (([], []), "have no rows"),
    ],
)
def test_wrong_columns_are_refused(arguments: tuple[Any, Any], message: str) -> None:
    """The message says which column is wrong, and how."""
    with pytest.raises(monitor.DataError, match=message):
        monitor.evaluate(*arguments)


@pytest.mark.parametrize(
    ("labels", "message"),
    [(["a"], r"2 scores, but labels of shape \(1,\)"), (["all", "b"], "called 'all'")],
)
def test_wrong_labels_are_refused(labels: list[str], message: str) -> None:
    """Segments need a label for each row, and none may have the name of the whole."""
    with pytest.raises(monitor.DataError, match=message):
        monitor.evaluate([0, 1], [0.1, 0.2], segments=labels)


MISSING: dict[str, Callable[[], Any]] = {
    "None": lambda: ["DE", "nan", None] * 20,
    "NaN among objects": lambda: pd.Series(["DE", "nan", np.nan] * 20, dtype=object),
    "NaT among objects": lambda: pd.Series(["DE", "nan", pd.NaT] * 20, dtype=object),
    "NA among objects": lambda: pd.Series(["DE", "nan", pd.NA] * 20, dtype=object),
    "strings": lambda: pd.Series(["DE", "nan", None] * 20, dtype="string"),
    "strings of Arrow": lambda: pd.Series(["DE", "nan", None] * 20, dtype="string[pyarrow]"),
    "categories": lambda: pd.Series(["DE", "nan", None] * 20, dtype="category"),
    "Polars": lambda: pl.Series(["DE", "nan", None] * 20),
    "Arrow": lambda: pa.array(["DE", "nan", None] * 20),
}
OF_NUMBERS: dict[str, Callable[[], Any]] = {
    "floats": lambda: np.array([1.0, 2.0, np.nan] * 20),
    "integers": lambda: pd.Series([1, 2, None] * 20, dtype="Int64"),
    "days": lambda: pd.to_datetime(pd.Series(["2026-03-01", "2026-03-02", None] * 20)),
    "spans": lambda: pd.to_timedelta(pd.Series(["1 day", "2 days", None] * 20)),
}


@pytest.mark.parametrize("kind", MISSING)
def test_rows_without_a_label_are_the_other_segment(kind: str) -> None:
    """Whatever kind of missing value a column has; the text "nan" is a text like any other."""
    found = monitor.evaluate([0, 1, 1] * 20, [0.2, 0.8, 0.6] * 20, segments=MISSING[kind]())
    assert {s: t.total for s, t in found.tallies.items()} == {
        "all": 60, "DE": 20, "nan": 20, "other": 20
    }  # fmt: skip


@pytest.mark.parametrize("kind", OF_NUMBERS)
def test_numbers_and_times_without_a_value_are_the_other_segment(kind: str) -> None:
    """The two values have names of their own, and neither is the name of a missing value."""
    found = monitor.evaluate([0, 1, 1] * 20, [0.2, 0.8, 0.6] * 20, segments=OF_NUMBERS[kind]())
    assert sorted(t.total for t in found.tallies.values()) == [20, 20, 20, 60]
    assert found.tallies["other"].total == 20
    assert not {"nan", "NaT", "<NA>", "None"} & {*found.tallies}


def test_groups_without_a_label_are_one_group() -> None:
    """None, NaN and NA among the days of rows are the same group, in `compare` too."""
    days = pd.Series(["a", None, np.nan, pd.NA, "b", pd.NaT] * 100, dtype=object)
    one = ["a", "c", "c", "c", "b", "c"] * 100
    columns = [0, 1, 1, 0, 1, 0] * 100, [0.2, 0.8, 0.6, 0.3, 0.7, 0.4] * 100
    found, expected = (monitor.evaluate(*columns, groups=groups) for groups in (days, one))
    assert found.whole.window_days == expected.whole.window_days == 3
    known, named = (monitor.compare((*columns, g), (*columns, g)) for g in (days, one))
    assert (known.verdict, known.evidence) == (named.verdict, named.evidence)


def test_wrong_level_is_refused() -> None:
    """A level of 5 is not 5 %."""
    with pytest.raises(monitor.ConfigError, match="alpha is 5, but must be above 0 and below 1"):
        monitor.evaluate([0, 1], [0.1, 0.2], alpha=5)


def test_says_which_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pandas everything but the frames works."""
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)

    assert evaluated().whole.matched == 4_000
    with pytest.raises(monitor.ConfigError, match=r"pip install 'calibration-monitor\[notebook\]'"):
        evaluated().to_frame()


def test_plots_the_reliability_diagram_of_a_segment() -> None:
    """It draws the rows of the segment into new axes, or into those that it gets."""
    plt.switch_backend("agg")
    drawn = evaluated().plot(segment="DE")
    figure = plt.figure()
    given = evaluated().plot(figure.add_subplot(), scale="logit")

    assert drawn.get_title(loc="left").startswith("TCE ")
    assert drawn.get_figure() is not figure
    assert given.get_figure() is figure
    assert any(
        f"{evaluated().tallies['DE'].total:,} predictions" in t.get_text() for t in drawn.texts
    )
    assert drawn.collections
    plt.close("all")
    with pytest.raises(monitor.ConfigError, match="no segment 'IT'; choose one of all, DE, FR"):
        evaluated().plot(segment="IT")


def test_entities_widen_intervals_and_are_named() -> None:
    """Each row four times is about as much as once, however entities are written, in any order.

    To 25 %: buckets know a variance to 18 %, and so a width to 9 %.
    """
    who = np.tile(np.arange(4_000), 4)
    outcomes, scores = np.tile(OUTCOMES, 4), np.tile(SCORES, 4)
    countries, order = np.tile(COUNTRIES, 4), RNG.permutation(16_000)
    found = monitor.evaluate(outcomes, scores, segments=countries, entity=who)
    text = [f"{one}" for one in who[order]]
    again = monitor.evaluate(outcomes[order], scores[order], segments=countries[order], entity=text)

    assert again.to_frame().equals(found.to_frame())
    for segment, once in {"all": evaluated().whole, **evaluated().segments}.items():
        e = found.whole if segment == "all" else found.segments[segment]
        for one, other in ((once.shift, e.shift), (once.slope, e.slope)):
            assert other.high - other.low == pytest.approx(one.high - one.low, rel=0.25)
    shown = found._repr_html_()
    assert "count entities, not rows: the 16,000 outcomes of the sample vary as much as" in shown
    assert "count entities" not in evaluated()._repr_html_()


def test_rows_without_an_entity_are_independent() -> None:
    """None of them hangs together with another, as in the daily job."""
    nobody = monitor.evaluate(OUTCOMES, SCORES, entity=[None] * 4_000)

    assert nobody.whole.design_effect < 1.6  # 64 buckets know it to 18 %
    assert nobody.whole.raw.ece == evaluated().whole.raw.ece
    with pytest.raises(monitor.DataError, match="4,000 scores, but labels of shape"):
        monitor.evaluate(OUTCOMES, SCORES, entity=[1])


def test_the_bucket_of_an_entity_is_that_of_the_logs() -> None:
    """Of integers, of text, and of whole floats, as pandas has integers with gaps."""
    for entity, text in (([7], "7"), (["x"], "x"), ([7.0], "7")):
        held = buckets_by([1], [0.4], entity, None)
        expected = int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:8], 16) % 64
        assert next(iter(held.values())).buckets.tolist() == [expected]


LABELS = np.where(OUTCOMES == 1, "yes", "no")
BOTH = np.column_stack([1.0 - SCORES, SCORES])


@pytest.mark.parametrize(
    ("y_true", "y_prob", "pos_label"),
    [
        (LABELS, SCORES, "yes"),
        (list(LABELS), BOTH, "yes"),
        (pd.DataFrame({"a": LABELS}), pd.DataFrame({"p": SCORES}), "yes"),
        (
            pd.Series(LABELS, dtype="category"),
            pl.DataFrame({"no": 1.0 - SCORES, "p": SCORES}),
            "yes",
        ),
        (np.where(OUTCOMES == 1, 7, 3), SCORES, 7),
        (OUTCOMES, BOTH, None),
        (OUTCOMES[:, None], SCORES[:, None], 1),
    ],
)
def test_labels_frames_and_both_columns_are_one_sample(
    y_true: Any, y_prob: Any, pos_label: Any
) -> None:
    """Texts, frames of one column and the matrix of `predict_proba` give the same numbers."""
    found = monitor.evaluate(y_true, y_prob, pos_label=pos_label, segments=COUNTRIES)

    pd.testing.assert_frame_equal(found.to_frame(), evaluated().to_frame())


def test_the_other_label_has_the_other_column() -> None:
    """Of a matrix the column of the positive label is taken, in the order of the labels."""
    found = monitor.evaluate(LABELS, BOTH, pos_label="no").whole

    assert found.positives == OUTCOMES.size - OUTCOMES.sum()
    assert found.mean_score == pytest.approx(1.0 - SCORES.mean(), abs=1e-6)  # grid of scores


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_true": LABELS}, r"labels 'no', 'yes'; say which .* pos_label='yes'"),
        ({"y_true": LABELS, "pos_label": "ja"}, r"pos_label is 'ja', but .* 'no', 'yes'"),
        ({"y_true": SCORES, "y_prob": OUTCOMES}, "look swapped"),
        ({"y_true": COUNTRIES, "y_prob": np.full((4_000, 3), 1 / 3)}, "labels= in the order"),
        ({"sample_weight": SCORES}, r"weights are whole numbers: how many rows"),
        ({"sample_weight": [1, 2]}, "2 weights for columns of 4000 rows"),
        ({"sample_weight": ["a"] * 4_000}, "sample_weight must be numbers, got 'a' at row 0"),
    ],
)
def test_what_does_not_fit_is_named(arguments: dict[str, Any], message: str) -> None:
    """The message says what to give."""
    with pytest.raises(monitor.DataError, match=message):
        monitor.evaluate(**{"y_true": OUTCOMES, "y_prob": SCORES, **arguments})


def test_weights_are_rows() -> None:
    """A row of weight 3 is three rows, and one of weight 0 is none."""
    weights = RNG.integers(0, 4, OUTCOMES.size)
    repeated = [np.repeat(column, weights) for column in (OUTCOMES, SCORES, COUNTRIES)]

    found = monitor.evaluate(OUTCOMES, SCORES, segments=COUNTRIES, sample_weight=weights)
    expected = monitor.evaluate(repeated[0], repeated[1], segments=repeated[2])
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())


def test_a_matrix_is_of_classes() -> None:
    """Labels of the columns, whole numbers and a frame's names give the measures of vectors."""
    vectors = RNG.dirichlet([1.0, 1.0, 1.0], 2_000)
    numbers = (RNG.random((2_000, 1)) > vectors.cumsum(axis=1)).sum(axis=1)
    names = np.array(["bird", "cat", "dog"])
    found = monitor.evaluate(names[numbers], vectors).to_frame()

    for other in (
        monitor.evaluate(names[numbers], pd.DataFrame(vectors, columns=names)),
        monitor.evaluate(names[numbers], vectors[:, [2, 0, 1]], labels=["dog", "bird", "cat"]),
    ):
        same = other.to_frame().set_index(["measure", "adjusted"]).value
        assert same["rbs[cat]"].tolist() == found[found.measure == "rbs[cat]"].value.tolist()
    assert monitor.evaluate(numbers, vectors).whole.matched == 2_000
    squares = ((vectors - np.eye(3)[numbers]) ** 2).sum(axis=1).mean()
    # Sums are fixed-point: 9 digits.
    assert value(found, "vector_rbs", "raw").value == pytest.approx(np.sqrt(squares), rel=1e-6)
    for name in ("segments", "entity"):
        with pytest.raises(monitor.ConfigError, match=f"cannot be divided by {name}"):
            monitor.evaluate(numbers, vectors, **{name: numbers})


def test_frame_has_brier_and_auc() -> None:
    """They are scikit-learn's, but for the grid of scores."""
    found = evaluated().to_frame()

    # A cell is a thousandth of its odds wide.
    brier = value(found, "brier", "raw")
    assert brier.value == pytest.approx(brier_score_loss(OUTCOMES, SCORES), rel=1e-3)
    assert brier.low < brier.value < brier.high
    area = value(found, "auc")
    assert area.value == pytest.approx(roc_auc_score(OUTCOMES, SCORES), abs=1e-3)
    held = monitor.evaluate(OUTCOMES, SCORES, entity=np.arange(4_000) // 4).to_frame()
    assert isnan(value(held, "auc").low)


def test_the_table_and_the_diagram_show_one_number() -> None:
    """TCE of the diagram is that of the column `TCE raw` and of the frame, digit for digit."""
    plt.switch_backend("agg")
    axes = evaluated().plot()
    shown = re.match(r"TCE ([\d.]+ %):", axes.get_title(loc="left"))
    assert shown

    head, whole, *_ = str(evaluated()).splitlines()
    assert "TCE raw" in head
    assert f"  {shown[1]}  " in whole
    assert shown[1] in evaluated()._repr_html_()
    assert [text for text in axes.texts if text.get_text().startswith("raw scores: 4,000 ")]
    published = value(evaluated().to_frame(), "tce_published", "raw").value
    assert shown[1] == f"{100 * published:.3g} %"


def test_a_diagram_shows_itself_once() -> None:
    """The axes are a picture as the last line of a cell; pyplot does not show it again."""
    plt.switch_backend("agg")
    plt.close("all")
    axes = evaluated().plot()
    assert len(plt.get_fignums()) == 1

    assert axes._repr_png_().startswith(b"\x89PNG")
    assert plt.get_fignums() == []
    assert draw_test_based(evaluated().tallies["DE"])._repr_png_().startswith(b"\x89PNG")


def many_segments() -> SampleEvaluation:
    """Evaluate more segments than there are lines."""
    return monitor.evaluate(OUTCOMES, SCORES, segments=np.arange(4_000) % 30)


@pytest.mark.parametrize(
    "make",
    [
        many_segments,
        lambda: evaluated().whole,
        lambda: repr(evaluated()),
        lambda: metrics.tally(OUTCOMES, SCORES),
        lambda: metrics.uniform_bins(OUTCOMES, SCORES, 500),
        lambda: metrics.confidence_band(OUTCOMES, SCORES),
        lambda: metrics.fit_nested_maps(OUTCOMES, SCORES),
        lambda: metrics.tce(OUTCOMES, SCORES),
        lambda: metrics.cumulative_differences(OUTCOMES, SCORES),
        lambda: metrics.corp(OUTCOMES, SCORES),
        lambda: metrics.coarsen(OUTCOMES, SCORES),
        lambda: monitor.compare((OUTCOMES, SCORES), (OUTCOMES, SCORES)),
        lambda: monitor.compare((OUTCOMES, SCORES), (OUTCOMES, SCORES)).reference,
    ],
)
def test_print_is_ten_lines(make: Callable[[], Any]) -> None:
    """No result is a wall of fields."""
    text = str(make())

    assert 0 < len(text.splitlines()) <= 10
    assert len(text) <= 1_600


RESULTS = [
    public
    for module in (monitor, metrics)
    for name in module.__all__
    if is_dataclass(public := getattr(module, name))
]


@pytest.mark.parametrize("public", RESULTS, ids=lambda public: public.__name__)
@pytest.mark.parametrize(
    "value",
    [np.arange(1e4), "word " * 10_000, tuple(range(10_000)), {str(i): i for i in range(10_000)}],
    ids=["array", "text", "members", "mapping"],
)
def test_no_public_class_is_a_wall(public: Any, value: Any) -> None:
    """Whatever its fields hold: every class that `monitor` and `monitor.metrics` offer."""
    record = object.__new__(public)
    for field in fields(public):
        object.__setattr__(record, field.name, value)

    assert 0 < len(repr(record).splitlines()) <= 10


def test_display_of_predictions_and_of_an_estimator() -> None:
    """Both are the diagram of `evaluate`; a pipeline and other labels too."""
    plt.switch_backend("agg")
    given = CalibrationDisplay.from_predictions(LABELS, SCORES, pos_label="yes")
    assert given.ax_.get_title(loc="left") == evaluated().plot().get_title(loc="left")
    assert given._repr_png_().startswith(b"\x89PNG")

    X = np.log(SCORES / (1.0 - SCORES))[:, None]  # noqa: N806 - scikit-learn's name
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:2_000], LABELS[:2_000])
    shown = CalibrationDisplay.from_estimator(fitted, X[2_000:], LABELS[2_000:])
    assert shown.evaluation.whole.positives == OUTCOMES[2_000:].sum()
    other = CalibrationDisplay.from_estimator(fitted, X[2_000:], LABELS[2_000:], pos_label="no")
    assert other.evaluation.whole.positives == 2_000 - OUTCOMES[2_000:].sum()
    with pytest.raises(monitor.ConfigError, match="has no predict_proba or is not fitted"):
        CalibrationDisplay.from_estimator(LinearRegression(), X, OUTCOMES)
