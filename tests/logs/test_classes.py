"""Vectors of class probabilities: read in any shape, counted exactly, or refused."""

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from monitor.base.errors import ConfigError, DataError
from monitor.config import Engine, Model, load_config
from monitor.days.summary import Summary
from monitor.logs import summarise_day
from monitor.logs.days.looking import what_looks_wrong
from monitor.logs.statement import class_rows
from monitor.metrics.beyond_binary.class_counts import UNIT
from monitor.metrics.beyond_binary.class_pairs import adjusted_vectors
from monitor.metrics.beyond_binary.class_priors import fit_class_weights
from monitor.metrics.beyond_binary.multiclass import classwise_tallies, top_label_tally
from monitor.metrics.core.coarse import coarsen
from monitor.metrics.core.tally import tally_on_grid
from monitor.store.store import Store
from monitor.store.summary_table import summary_of, summary_table
from tests.support.class_logs import NAMES, draw, write_day

DAY, AS_OF = date(2026, 1, 1), date(2026, 1, 3)
LIST = "names: [cat, dog, fish], vector: p"
COLUMNS = "names: [cat, dog, fish], vector: [p_cat, p_dog, p_fish]"


def model(folder: Path, classes: str = LIST, *, suffix: str = "parquet", more: str = "") -> Model:
    """Configure logs of a folder."""
    (folder / "monitor.yaml").write_text(
        "store: store\nmodels:\n  pets:\n"
        f'    predictions: {{path: "predictions/{{day}}.{suffix}", classes: {{{classes}}}}}\n'
        f'    outcomes: {{path: "outcomes/{{day}}.{suffix}"}}\n    settled_after: 0\n{more}'
    )
    return load_config(folder / "monitor.yaml").model("pets")


def read(folder: Path, classes: str = LIST, **settings: Any) -> Summary:
    """Summarise the day."""
    return summarise_day("pets", model(folder, classes, **settings), DAY, as_of=AS_OF)


def as_bytes(summary: Summary, folder: Path) -> bytes:
    """Store a summary, and read its bytes."""
    Store(str(folder)).write_summary(summary)
    return (folder / f"summaries/pets/{DAY}.parquet").read_bytes()


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    """Draw a day, rounded so that CSV holds the same numbers."""
    vectors, labels = draw(np.random.default_rng(7), 600, priors=[3, 1, 1])
    vectors = vectors.round(6)
    vectors[:, 0] = 1.0 - vectors[:, 1] - vectors[:, 2]
    return vectors, labels


@pytest.fixture(scope="module")
def stored(rows: tuple[np.ndarray, np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Summarise the day from a list column."""
    folder = tmp_path_factory.mktemp("list")
    write_day(folder, DAY, rows[0], pa.array(np.array(NAMES)[rows[1]]))
    return as_bytes(read(folder), folder / "store")


@pytest.mark.parametrize(
    ("labels", "counted"),
    [
        ([0.0, 1.0, 2.0, None], [1, 1, 1]),  # as pandas writes integers with gaps
        ([0.0, 1.0, 2.0, float("nan")], [1, 1, 1]),
        ([0.0, 1.0, 1.5, float("inf")], [1, 1, 0]),
        (["cat", "1", "1.5", "-1"], [1, 1, 0]),
    ],
)
def test_only_whole_numbers_are_positions(
    labels: list[Any], counted: list[int], tmp_path: Path
) -> None:
    """A gap or a fraction is an invalid outcome, not the nearest class."""
    vectors = np.full((4, 3), 1 / 3)
    write_day(tmp_path, DAY, vectors, pa.array(labels))

    found = read(tmp_path, more="    checks: {reject: [outcome_invalid]}\n")

    assert found.classes is not None
    assert found.classes.outcomes.tolist() == counted
    assert found.rejected == {"outcome_invalid": 4 - sum(counted)}


def test_neither_order_nor_batches_nor_memory_matter(
    rows: tuple[np.ndarray, np.ndarray],
    stored: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Shuffled rows, read in small batches that are not kept, leave the same bytes."""
    order = np.random.default_rng(1).permutation(len(rows[0]))
    write_day(tmp_path, DAY, rows[0][order], pa.array(np.array(NAMES)[rows[1][order]]))
    monkeypatch.setattr(class_rows, "VALUES_AT_A_TIME", 90)
    monkeypatch.setattr(class_rows, "VALUES_KEPT", 0)

    assert as_bytes(read(tmp_path), tmp_path / "store") == stored


def test_counts_are_those_of_plain_numpy(
    rows: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    """First choices, classes against the rest, pairs and vector sums, of both readings."""
    vectors, labels = rows
    write_day(tmp_path, DAY, vectors, pa.array(np.array(NAMES)[labels]))
    summary = summary_of("pets", DAY, summary_table(read(tmp_path)))
    found = summary.classes
    assert found is not None
    weights = fit_class_weights(lambda: [(vectors, labels)], 3)
    moved = adjusted_vectors(vectors, weights)

    top = top_label_tally(labels, vectors)
    assert summary.segments["all"].tally.total_positives == top.total_positives
    assert found.outcomes.tolist() == np.bincount(labels).tolist()
    for reading, scores in ((found.raw, vectors), (found.adjusted, moved)):
        for k, exact in enumerate(classwise_tallies(labels, scores)):
            assert reading.by_class[k].total_positives == exact.total_positives
            # A cell keeps its mean in logit: 2e-7 relative.
            np.testing.assert_allclose(reading.by_class[k].mean_score, exact.mean_score, rtol=1e-6)
        brier = ((scores - np.eye(3)[labels]) ** 2).sum(axis=1)
        log = -np.log(scores[np.arange(len(labels)), labels])
        for sums, values in ((reading.brier, brier), (reading.log, log)):
            # Each row is rounded to 2**-33.
            np.testing.assert_allclose(sums.total / UNIT, values.sum(), atol=len(labels) / UNIT)
    two = np.sort(np.argsort(vectors, axis=1)[:, -2:], axis=1)
    for (a, b), pair in found.pairs.items():
        chosen = (two == [a, b]).all(axis=1) & np.isin(labels, [a, b])
        score = vectors[chosen, a] / (vectors[chosen, a] + vectors[chosen, b])
        expected = coarsen(tally_on_grid(labels[chosen] == a, score))
        assert pair.counts.tolist() == expected.counts.tolist()
        assert pair.positives.tolist() == expected.positives.tolist()


BAD = {
    "sum": ("first 0.9 (id 2026-01-01-3); set predictions.classes.sums to normalise", LIST),
    "labels": ("if several classes may come true at once, log a row of score and outcome", LIST),
    "negative": ("vectors have a probability outside [0, 1], first -0.1", LIST),
    "percent": ("if they are percent or votes, set predictions.classes.sums to normalise", LIST),
    "logits": ("if they are logits, log their softmax", LIST),
    "null": ("(null, NaN, or all 0), first without 'dog' (id 2026-01-01-3)", LIST),
    "zero": ("are incomplete (null, NaN, or all 0)", f"{LIST}, sums: normalise"),
    "label": ("1 of 40 outcomes are none of predictions.classes.names, first zebra", LIST),
    "case": ("first CAT (id 2026-01-01-0); did you mean 'cat'?", LIST),
    "counted from 1": ("positions of classes are counted from 0; if the log counts from 1", LIST),
    "length": ("contains 3 probabilities, but predictions.classes.names has 2 classes", ""),
    "field": ("it lacks 'fish' and has besides them 'fisch'", LIST),
    "key": ("names (missing: fish; further: fisch)", LIST),
    "column": ("have no column 'p_fish'", COLUMNS),
}


Rows = tuple[np.ndarray, list[Any]]


def damaged(wrong: str, vectors: np.ndarray, labels: np.ndarray) -> Rows:
    """Damage vectors or outcomes."""
    names = [NAMES[k] for k in labels]
    third = {
        "sum": [0.5, 0.3, 0.1],
        "labels": [0.9, 0.4, 0.3],
        "negative": [-0.1, 0.6, 0.5],
        "null": [0.5, np.nan, 0.5],
        "zero": [0.0, 0.0, 0.0],
    }
    if wrong in third:
        vectors[3] = third[wrong]
    whole: dict[str, Rows] = {
        "percent": (vectors * 100, names),
        "logits": (np.log(vectors.clip(1e-9)), names),
        "label": (vectors, [*names[:3], "zebra", *names[4:]]),
        "case": (vectors, ["CAT", *names[1:]]),
        "counted from 1": (vectors, (labels + 1).tolist()),
    }
    return whole.get(wrong, (vectors, names))


@pytest.mark.parametrize("wrong", BAD)
def test_wrong_vectors_are_refused(wrong: str, tmp_path: Path) -> None:
    """The message says what is wrong with which value."""
    vectors, outcomes = damaged(wrong, *draw(np.random.default_rng(5), 40))
    forms = {"field": "struct", "column": "columns", "key": "map"}
    form = forms.get(wrong, "list")
    names = ("cat", "dog", "fisch") if wrong in forms else NAMES
    write_day(tmp_path, DAY, vectors, pa.array(outcomes), form=form, names=names)
    said, classes = BAD[wrong]

    with pytest.raises(DataError) as refused:
        read(tmp_path, classes or "names: [cat, dog], vector: p")

    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("classes", "more", "said"),
    [
        ("names: [cat, cat], vector: p", "", "names must differ, but 'cat' is listed twice"),
        ("names: [a, b], vector: [p, p]", "", "vector must differ, but 'p' is listed twice"),
        ("names: [cat, dog]", "", "needs either vector, one column for each class"),
        ("names: [cat, dog], vector: [a]", "", "vector lists 1 columns and names 2 classes"),
        (f"{LIST}, watch: [cow]", "", "watch lists cow, which names does not"),
        (LIST, "    segments: [{column: pair, top: 3}]\n", "must not name a column 'pair'"),
        (LIST, "    segments: {column: {sql: pair}, values: [x]}\n", "name a column 'pair'"),
        (
            LIST,
            "    segments: {column: a, values: [x, cat against fish]}\n",
            "must not list 'cat against fish', because it is the name of a pair",
        ),
    ],
)
def test_wrong_settings_are_refused(classes: str, more: str, said: str, tmp_path: Path) -> None:
    """The configuration explains itself."""
    with pytest.raises(ConfigError, match=said):
        model(tmp_path, classes, more=more)


def noticed(folder: Path, vectors: np.ndarray, labels: np.ndarray, classes: str) -> list[str]:
    """Write a day, and give what looks wrong about it."""
    write_day(folder, DAY, vectors, pa.array([NAMES[k] for k in labels]))
    found = read(folder, classes)
    remarks = what_looks_wrong("pets", model(folder, classes), DAY, found, engine=Engine())
    return [remark.sentence for remark in remarks]


@pytest.mark.parametrize("form", ["list", "columns"])
def test_probabilities_that_rounding_left_beyond_an_end(form: str, tmp_path: Path) -> None:
    """They are that end: a softmax gives 1.0000001 and -1e-9."""
    labels = pa.array(["cat", "dog", "fish"] * 4)
    right = np.tile([[1.0, 0.0, 0.0], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]], (4, 1))
    beyond = right + np.tile([[1e-7, -1e-7, 0.0], [0.0, 0.0, 0.0], [-1e-9, 0.0, 1e-7]], (4, 1))
    classes = LIST if form == "list" else COLUMNS
    stored = []
    for name, vectors in (("right", right), ("beyond", beyond)):
        write_day(tmp_path / name, DAY, vectors, labels, form=form)
        stored.append(as_bytes(read(tmp_path / name, classes), tmp_path / f"{name}-store"))

    assert stored[0] == stored[1]


def test_decisions_are_noticed(tmp_path: Path) -> None:
    """Vectors of 0 and 1 are valid, but no probabilities, unless they are always right."""
    vectors, labels = draw(np.random.default_rng(5), 400)
    choices = vectors.argmax(axis=1)
    right = np.mean(choices == labels)

    (said,) = noticed(tmp_path, np.eye(3)[choices], labels, LIST)
    assert (
        f"came true for {100 * right:.0f} % of the outcomes, so they seem to be decisions" in said
    )
    assert noticed(tmp_path, np.eye(3)[labels], labels, LIST) == []


@pytest.mark.parametrize("kind", ["labels", "votes", "percent", "rounded"])
def test_probabilities_of_labels_are_noticed(kind: str, tmp_path: Path) -> None:
    """Vectors that are divided by their sum may be those of labels that come true together."""
    vectors, labels = draw(np.random.default_rng(5), 400)
    given = {
        "labels": np.sqrt(vectors),
        "votes": vectors * 17.0,
        "percent": vectors * 100.0,
        "rounded": vectors.round(2),
    }

    said = noticed(tmp_path, given[kind], labels, f"{LIST}, sums: normalise")
    sums = given[kind].sum(axis=1)
    share = np.mean(sums > 1.1)
    assert len(said) == (kind == "labels")
    if said:
        assert said[0].startswith(
            f"{100 * share:.0f} % of the vectors hold probabilities that add up to more than 1.1 "
            f"(median {np.median(sums[sums > 1.1]):.3g})"
        )


def test_names_in_another_order_are_noticed(tmp_path: Path) -> None:
    """A list of probabilities says nothing of its order, but the outcomes do."""
    vectors, labels = draw(np.random.default_rng(5), 400)
    write_day(tmp_path, DAY, vectors, pa.array([NAMES[k] for k in labels]))
    noticed = [
        what_looks_wrong(
            "pets", model(tmp_path, f"names: {names}, vector: p"), DAY, found, engine=Engine()
        )
        for names in ("[cat, dog, fish]", "[dog, fish, cat]")
        for found in [read(tmp_path, f"names: {names}, vector: p")]
    ]

    assert [[remark.key for remark in found] for found in noticed] == [
        [],
        ["predictions.classes.names"],
    ]
    assert "the class with the highest score came true for " in noticed[1][0].sentence
