"""`recalibrate` of a model with classes: rows of the logs become a map, its file and its SQL."""

import json
from datetime import UTC, date, datetime, timedelta
from itertools import cycle
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import monitor
from monitor.base.errors import DataError
from monitor.config import load_config
from monitor.metrics.maps.class_map_file import ClassMapFile
from monitor.metrics.maps.vector_map import VECTOR_KINDS
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.run import run
from tests.conftest import Command
from tests.support.cases import some
from tests.support.class_logs import draw
from tests.support.workers import made_once

NAMES = ('sea "lion"', "o'cat", "dog, big")  # each needs quoting of another kind
FIRST, DAYS, ROWS = date(2026, 1, 1), 6, 1_200
CONFIG = """\
store: store
engine: {{kind: {engine}}}
models:
  pets:
    predictions:
      path: "{form}/predictions/{{day}}.parquet"
      classes: {classes}
      where: "kept"
    outcomes: {{path: "{form}/outcomes/{{day}}.parquet"}}
    settled_after: 1
    windows: [1]
  bids:
    predictions: {{path: "{form}/predictions/{{day}}.parquet", score: p_0}}
    outcomes: {{path: "{form}/outcomes/{{day}}.parquet"}}
"""
CLASSES = {
    "list": {"names": NAMES, "vector": "p"},
    "struct": {"names": NAMES, "vector": "p"},
    "map": {"names": NAMES, "vector": "p"},
    "columns": {"names": NAMES, "vector": ['p "0"', "p 1", "p_2"], "sums": "normalise"},
}


def column_of(form: str, vectors: np.ndarray) -> dict[str, object]:
    """Lay vectors out."""
    if form == "list":
        return {"p": pa.array(list(vectors))}
    if form == "columns":  # percent, which are divided by their sum
        return dict(zip(CLASSES[form]["vector"], 100.0 * vectors.T, strict=True))
    pairs = [list(zip(NAMES, row, strict=True)) for row in vectors]
    if form == "map":
        return {"p": pa.array(pairs, pa.map_(pa.string(), pa.float64()))}
    return {"p": pa.array([dict(each) for each in pairs])}


def write_logs(folder: Path, form: str, number: int) -> None:
    """Write a day; the logits are too large by 1 / 0.6, and a third of the outcomes come late."""
    rng, day = np.random.default_rng(number), FIRST + timedelta(days=number)
    vectors, labels = draw(rng, ROWS, slope=0.6)
    kept = rng.random(ROWS) < 0.9
    vectors[~kept] = vectors[~kept][:, ::-1]  # what the filter leaves out is wrong
    ids = np.array([f"{number}-{i}" for i in range(ROWS)])
    predictions = {"prediction_id": ids, "kept": kept, **column_of(form, vectors)}
    late = np.arange(ROWS) % 3 == 0
    said = np.array(NAMES, object)[labels]
    for kind, when, content in (
        ("predictions", day, predictions),
        ("outcomes", day, {"prediction_id": ids[~late], "outcome": said[~late]}),
        ("late", day + timedelta(days=1), {"prediction_id": ids[late], "outcome": said[late]}),
    ):
        path = folder / form / kind / f"{when}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(content), path)


def write_form(folder: Path, form: str) -> None:
    """Write all days; late outcomes join those of the day on which they came."""
    for number in range(DAYS):
        write_logs(folder, form, number)
    for number in range(DAYS + 1):
        name = f"{FIRST + timedelta(days=number)}.parquet"
        parts = [folder / form / kind / name for kind in ("outcomes", "late")]
        tables = [pq.read_table(part) for part in parts if part.exists()]
        pq.write_table(pa.concat_tables(tables), folder / form / "outcomes" / name)


def configure(
    folder: Path, form: str = "list", *, engine: str = "duckdb", **classes: object
) -> Path:
    """Write a configuration."""
    path = folder / f"{form}-{engine}-{'-'.join(classes)}.yaml"
    content = json.dumps(CLASSES[form] | classes)
    path.write_text(CONFIG.format(form=form, engine=engine, classes=content))
    return path


@pytest.fixture(scope="module")
def pets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the logs in four forms, and process the days of one of them."""

    def make(folder: Path) -> None:
        for form in CLASSES:
            write_form(folder, form)
        config = load_config(configure(folder))
        task = Task("pets", FIRST, FIRST + timedelta(days=DAYS - 1), FIRST + timedelta(days=30))
        report = run(config, task, clock=lambda: datetime(2026, 3, 1, tzinfo=UTC))
        assert report.failures == ()

    return made_once(tmp_path_factory, "class-maps", make)


def call(path: Path, *more: object) -> tuple[object, ...]:
    """Begin a call."""
    return ("recalibrate", "--config", path, "--model", "pets", *more)


def test_the_repair_of_a_stretched_model(pets: Path, tmp_path: Path, command: Command) -> None:
    """It finds the temperature from the rows that the summaries count, and says how many."""
    out = tmp_path / "map.json"
    ended = command(*call(configure(pets), "--out", out))
    said, found = " ".join(ended.out.split()), monitor.read_map(out)

    assert (ended.code, ended.err) == (0, "")
    assert isinstance(found, ClassMapFile)
    assert found.map.kind == "temperature"
    assert found.map.classes == NAMES
    # 6,500 rows know the slope to 0.015.
    assert found.map.parameters[0] == pytest.approx(0.6, abs=0.05)
    assert found.training.days == DAYS
    assert 0.85 * ROWS * DAYS < found.training.read < 0.95 * ROWS * DAYS  # what the filter keeps
    assert found.training.outcomes == found.training.read == sum(found.training.by_class)
    assert found.gains.shape_log_loss.low > 0.0
    for words in (
        f"{found.training.read:,} rows were read",
        "Worth it: a temperature.",
        "Whatever the class priors do, its shape gains",
        "so the first choice stays.",
        f"written: {out}",
    ):
        assert words in said


def test_every_form_of_logs_gives_the_same_map(pets: Path, command: Command) -> None:
    """Lists, structs, maps, and columns of percent."""
    found = [
        json.loads(command(*call(configure(pets, form), "--kind", "vector", "--json")).out)["map"]
        for form in CLASSES
    ]

    for other in found[1:3]:
        assert other == found[0]
    # Percent are divided by their sum, which moves the last digits.
    np.testing.assert_allclose(
        found[3]["map"]["parameters"], found[0]["map"]["parameters"], rtol=1e-6
    )


@pytest.mark.parametrize(
    ("form", "kind"),
    some(zip(cycle(CLASSES), VECTOR_KINDS[1:]), 2),
)
def test_sql_gives_the_same_probabilities(
    pets: Path, tmp_path: Path, form: str, kind: str, command: Command
) -> None:
    """DuckDB computes what Python does from the log as it is, under the names of the classes.

    Both take logarithms, whose sums of up to 30 round at 1e-14; so do the exponentials of them.
    """
    out = tmp_path / "map.json"
    ended = command(*call(configure(pets, form), "--kind", kind, "--sql", "--out", out))
    log = pets / form / "predictions" / f"{FIRST}.parquet"
    with duckdb.connect() as session:
        query = f"SELECT {ended.out} FROM read_parquet('{log}')"  # noqa: S608
        answer = session.execute(query)
        names, rows = [column[0] for column in answer.description], answer.fetchall()
    given = pq.read_table(pets / "list" / "predictions" / f"{FIRST}.parquet")["p"]

    assert ended.code == 0
    assert "the map that you asked for" in ended.err.lower() or "worth it" in ended.err.lower()
    assert names == list(NAMES)
    np.testing.assert_allclose(
        rows, monitor.apply_map(np.array(given.to_pylist()), out), rtol=1e-12
    )


def test_sql_refuses_what_python_refuses(pets: Path, command: Command) -> None:
    """NULL where a probability is missing or outside [0, 1], or the row does not sum to 1."""
    ended = command(*call(configure(pets), "--kind", "vector", "--sql", "--column", "q"))
    rows = [
        [0.2, 0.3, 0.5],
        [0.2, None, 0.8],
        [0.2, float("nan"), 0.8],
        [1.2, -0.1, -0.1],
        [0.1] * 3,
    ]
    with duckdb.connect() as session:
        query = f"SELECT {ended.out} FROM (SELECT unnest(?::DOUBLE[][]) AS q)"  # noqa: S608
        first, *others = session.execute(query, [rows]).fetchall()

    assert sum(first) == pytest.approx(1.0, abs=1e-12)
    assert others == [(None, None, None)] * 4


def test_maps_of_scores_and_of_vectors_are_not_confused(
    pets: Path, tmp_path: Path, command: Command
) -> None:
    """A map knows its classes; other shapes and sums are refused with what to do."""
    out = tmp_path / "map.json"
    command(*call(configure(pets), "--out", out))

    for scores, message in (
        ([0.2, 0.3], "the map is of vectors of 3 classes"),
        ([[0.2, 0.8]], "the scores have the shape"),
        ([[0.2, 0.2, 0.2]], "1 of 1 vectors do not sum to 1 within 0.0001, first 0.6 at row 0"),
        ([[0.2, float("nan"), 0.8]], "missing or outside"),
    ):
        with pytest.raises(DataError, match=message):
            monitor.apply_map(scores, out)


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (
            ("--kind", "platt"),
            2,
            "--kind platt: is no kind of map for pets, which predicts classes",
        ),
        (("--follow-prior",), 2, "--follow-prior: pets predicts classes"),
        (("--segment", "DE"), 2, "--segment DE is not configured"),
        (("--part", "age = 5"), 2, "--part: pets predicts classes"),
        (("--to", "2025-01-01"), 3, "no final day with outcomes is stored to 2025-01-01"),
        (("--to", "2026-01-02"), 3, "on 2 days, too few for a map that holds on other days"),
    ],
)
def test_refusals(
    pets: Path, more: tuple[str, ...], code: int, message: str, command: Command
) -> None:
    """Each refusal names the option or the days."""
    ended = command(*call(configure(pets), *more))

    assert ended.code == code
    assert message in " ".join(ended.err.split())


def test_refused_settings(pets: Path, command: Command) -> None:
    """Other classes than were counted, a column of several, a column that is gone."""
    for path, more, code, message in (
        (configure(pets, names=NAMES[::-1]), (), 3, "were counted with other classes"),
        (
            configure(pets, "columns"),
            ("--column", "p"),
            2,
            "the probabilities of pets are in several",
        ),
        (configure(pets, vector="q"), (), 3, "'q'"),
    ):
        ended = command(*call(path, *more))
        assert ended.code == code, ended.err
        assert message in " ".join(ended.err.split())
