"""The highest scores of many classes count as whole vectors do, as far as they can."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from monitor.base.errors import ConfigError, DataError
from monitor.config import Model, load_config
from monitor.days.summary import Summary, merge_summaries
from monitor.drift.classes.pairs import parts_of_pairs
from monitor.evaluation.evaluate import evaluate
from monitor.evaluation.score_errors import Settings
from monitor.logs import summarise_day
from monitor.metrics.beyond_binary.class_counts import ClassCounts
from monitor.metrics.core.tally import tally_on_grid
from monitor.report.classes import class_table
from monitor.store.summary_table import summary_of, summary_table
from monitor.words.vectors import vector_sentences
from tests.support.class_logs import draw

DAY, AS_OF = date(2026, 1, 1), date(2026, 1, 3)
NAMES = [f"c{k}" for k in range(20)]
LISTS, MAP = "classes: names, scores: scores", "scores: by_name"
COLUMNS = "classes: [name_0, name_1, name_2, name_3], scores: [p_0, p_1, p_2, p_3]"
OF_OUTCOME = ", outcome: [p_true, squares]"
MOST = 4  # scores of a row that are logged
Drawn = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def rows() -> Drawn:
    """Draw whole vectors, and the classes that came true."""
    return draw(np.random.default_rng(2), 800, 20)


def write(folder: Path, rows: Drawn, *, worst: int = 0) -> None:
    """Write the highest scores in every form, in any order; and whole vectors."""
    vectors, labels = rows
    rng = np.random.default_rng(3)
    order = rng.permuted(np.argsort(-vectors, axis=1)[:, :MOST], axis=1)
    scores, names = np.take_along_axis(vectors, order, axis=1), np.array(NAMES)[order]
    scores[:worst] = 0.9  # add up to more than 1
    ids = [str(i) for i in range(len(labels))]
    by_name = [list(zip(n, p, strict=True)) for n, p in zip(names, scores, strict=True)]
    predictions = {
        "prediction_id": ids,
        "whole": [*vectors],
        "names": [*names],
        "scores": [*scores],
        "by_name": pa.array(by_name, pa.map_(pa.string(), pa.float64())),
        **{f"name_{k}": names[:, k] for k in range(MOST)},
        **{f"p_{k}": scores[:, k] for k in range(MOST)},
        "p_true": vectors[np.arange(len(labels)), labels],
        "squares": (vectors**2).sum(axis=1),
    }
    outcomes = {"prediction_id": ids, "outcome": np.array(NAMES)[labels]}
    for kind, content in (("predictions", predictions), ("outcomes", outcomes)):
        (folder / kind).mkdir(exist_ok=True)
        pq.write_table(pa.table(content), folder / kind / f"{DAY}.parquet")


def model(folder: Path, classes: str, names: list[str] = NAMES, suffix: str = "parquet") -> Model:
    """Configure the classes of the log."""
    (folder / "monitor.yaml").write_text(
        "store: store\nmodels:\n  pets:\n"
        f'    predictions: {{path: "predictions/{{day}}.{suffix}", classes: {{names: {names}, '
        f'{classes}}}}}\n    outcomes: {{path: "outcomes/{{day}}.{suffix}"}}\n'
        "    settled_after: 0\n"
    )
    return load_config(folder / "monitor.yaml").model("pets")


def read(folder: Path, classes: str, names: list[str] = NAMES) -> Summary:
    """Summarise the day, and send it through the store."""
    summary = summarise_day("pets", model(folder, classes, names), DAY, as_of=AS_OF)
    return summary_of("pets", DAY, summary_table(summary))


def counts(summary: Summary) -> ClassCounts:
    """Give its counts of classes."""
    assert summary.classes
    return summary.classes


@pytest.mark.parametrize(
    ("form", "more"),
    [
        (LISTS, ""),
        (MAP, OF_OUTCOME),
    ],
    ids=lambda of: of[:9],
)
def test_what_the_highest_scores_say_is_what_whole_vectors_say(
    form: str, more: str, rows: Drawn, tmp_path: Path
) -> None:
    """The same pairs, outcomes and first choices; log and Brier score if the log has them."""
    write(tmp_path, rows)
    whole, top = read(tmp_path, "vector: whole"), read(tmp_path, f"top: {{{form}{more}}}")
    wanted, found = counts(whole), counts(top)

    for family in ("pairs", "third"):
        theirs, ours = getattr(wanted, family), getattr(found, family)
        assert [*theirs] == [*ours]
        for pair, part in theirs.items():
            np.testing.assert_array_equal(part.counts, ours[pair].counts)
            np.testing.assert_array_equal(part.positives, ours[pair].positives)
    np.testing.assert_array_equal(found.outcomes, wanted.outcomes)
    np.testing.assert_array_equal(found.raw.top.counts, wanted.raw.top.counts)
    assert parts_of_pairs(found, "pairs").keys() == parts_of_pairs(wanted, "pairs").keys()
    assert found.adjusted is None
    vectors, labels = rows
    logged = np.where(vectors >= np.sort(vectors, axis=1)[:, [-MOST]], vectors, 0.0)
    for k, one in found.raw.by_class.items():
        own = tally_on_grid((labels == k).astype(int), logged[:, k])
        np.testing.assert_array_equal(one.scores, own.scores)
        np.testing.assert_array_equal(one.counts, own.counts)
        np.testing.assert_array_equal(one.positives, own.positives)
    assert [*found.raw.by_class] == [*wanted.raw.by_class]
    if more:
        # The log's sum of squares may be rounded in its last digit.
        assert found.raw.brier is not None
        assert wanted.raw.brier is not None
        assert found.raw.brier.total == pytest.approx(wanted.raw.brier.total, rel=1e-9)
        assert found.raw.log == wanted.raw.log
    else:
        assert (found.raw.brier, found.raw.log) == (None, None)


def test_measures_that_need_whole_vectors_are_dashes_with_the_reason(
    rows: Drawn, tmp_path: Path
) -> None:
    """Of first choices and pairs all is measured."""
    write(tmp_path, rows)
    evaluated = {
        name: evaluate([read(tmp_path, classes)], window_days=1, settings=Settings(0.05, 100))[0]
        for name, classes in {"whole": "vector: whole", "top": f"top: {{{LISTS}}}"}.items()
    }
    whole, top = evaluated["whole"], evaluated["top"]

    assert whole.classes
    assert whole.raw
    assert top.classes
    assert top.raw
    assert (top.slope, top.raw.ece) == (whole.slope, whole.raw.ece)
    assert (top.classes.judged, top.classes.pairs) == (whole.classes.judged, whole.classes.pairs)
    assert (top.prior, top.null, top.classes.raw, top.classes.prior) == (None, None, None, None)
    assert (top.classes.by_class, len(whole.classes.by_class)) == ((), len(NAMES))
    said = vector_sentences(top.classes)
    assert said[0] == "Vectors of 20 classes, as logged: -. Prior: -."
    assert "The log has the highest scores of each row only" in said[1]
    shown = {name: Console(width=100) for name in evaluated}
    for name, of in evaluated.items():
        with shown[name].capture() as text:
            shown[name].print(class_table("classes", of))
        assert ("mean score  ECE raw" in text.get()) == (name == "whole")


def test_a_span_of_both_says_what_both_say(rows: Drawn, tmp_path: Path) -> None:
    """After whole vectors, days of the highest scores leave their measures out."""
    write(tmp_path, rows)
    whole = read(tmp_path, "vector: whole")
    top = replace(read(tmp_path, f"top: {{{MAP}}}"), days=(date(2026, 1, 2),))
    together = counts(merge_summaries([whole, top]))

    assert together.total == 2 * counts(whole).total
    assert together.judged == 2 * counts(whole).judged
    assert (together.raw.brier, together.adjusted) == (None, None)


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        ("top: {classes: names}", "scores: is missing; add it"),
        (f"top: {{{MAP}, classes: [a, b]}}", "classes lists 2 columns and scores 1"),
        ("top: {map: best}", "top.map: is called scores now; write scores: COLUMN"),
        (f"top: {{{LISTS}, outcome: [p_true]}}", "outcome must list two columns"),
        (f"top: {{{LISTS}}}, sums: normalise", "sums: normalise need the probabilities of all"),
        (f"top: {{{LISTS}}}, vector: whole", "needs either vector, one column for each"),
    ],
)
def test_settings_that_say_nothing_are_refused(classes: str, said: str, tmp_path: Path) -> None:
    """Each with what to write instead."""
    with pytest.raises(ConfigError, match=said):
        model(tmp_path, classes)


def test_rows_that_are_no_highest_scores_are_refused(rows: Drawn, tmp_path: Path) -> None:
    """An unknown class, too few scores, and scores that add up to more than 1."""
    write(tmp_path, rows, worst=3)
    few = COLUMNS.replace(", name_2, name_3", "").replace(", p_2, p_3", "")
    for classes, names, said in (
        (f"top: {{{LISTS}}}", NAMES, "3 of 800 vectors of probabilities do not add up to 1"),
        (f"top: {{{LISTS}}}", NAMES, "the highest scores may not add up to more than 1"),
        (f"top: {{{few}}}", NAMES, "must differ, be at least 3"),
        (f"top: {{{MAP}}}", NAMES[:10], "be listed in predictions.classes.names"),
    ):
        with pytest.raises(DataError) as refused:
            read(tmp_path, classes, names)
        assert said in str(refused.value)
