"""`monitor.evaluate`: the numbers of the daily job for two columns."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
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
from monitor.report.notebook.arrays import buckets_by
from monitor.report.notebook.evaluating import SampleEvaluation

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


@pytest.mark.parametrize("kind", MISSING)
def test_rows_without_a_label_are_the_other_segment(kind: str) -> None:
    """Whatever kind of missing value a column has; the text "nan" is a text like any other."""
    found = monitor.evaluate([0, 1, 1] * 20, [0.2, 0.8, 0.6] * 20, segments=MISSING[kind]())
    assert {s: t.total for s, t in found.tallies.items()} == {
        "all": 60, "DE": 20, "nan": 20, "other": 20
    }  # fmt: skip


def test_groups_without_a_label_are_one_group() -> None:
    """None, NaN and NA among the days of rows are the same group, in `compare` too."""
    days = pd.Series(["a", None, np.nan, pd.NA, "b", pd.NaT] * 100, dtype=object)
    one = ["a", "c", "c", "c", "b", "c"] * 100
    columns = [0, 1, 1, 0, 1, 0] * 100, [0.2, 0.8, 0.6, 0.3, 0.7, 0.4] * 100
    found, expected = (monitor.evaluate(*columns, groups=groups) for groups in (days, one))
    assert found.whole.window_days == expected.whole.window_days == 3
    known, named = (monitor.compare((*columns, g), (*columns, g)) for g in (days, one))
    assert (known.verdict, known.evidence) == (named.verdict, named.evidence)


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
