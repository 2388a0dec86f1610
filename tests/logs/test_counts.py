"""Counts that somebody else's statement made of the rows: the same bytes, and no contradictions."""

import json
import re
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import deltalake
import duckdb as engine
import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pyiceberg.catalog
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from monitor.base.errors import ConfigError, DataError
from monitor.config import Model
from monitor.config.apart import COUNTS, complaints_of
from monitor.config.apart import SETTINGS as APART_SETTINGS
from monitor.days.summary import Summary, whole
from monitor.logs import Databases, parts_to_search, summarise_day, what_looks_wrong
from monitor.logs.engines.session import Session
from monitor.logs.sources.source import open_log
from monitor.logs.statement.counts_table import NAMES
from monitor.store.sealing import sealed_table
from monitor.store.summary_table import summary_table

PAGE = Path(__file__).parents[2] / "docs" / "counts.md"
SCHEMA = json.loads((PAGE.parent / "counts.schema.json").read_text())
STATEMENT = re.search(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]  # type: ignore[index]
DAY, WAIT, ROWS = date(2026, 3, 1), 7, 3000
LATE = DAY + timedelta(days=30)
SEGMENTS = {"segments": {"column": "country", "values": ["DE", "FR"]}}
STRATA = {"strata": {"column": "device", "values": ["phone"]}}
REJECT = {"checks": {"reject": ["score_missing", "score_out_of_range", "outcome_invalid"]}}
Row = dict[str, Any]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a day of predictions, some of them wrong, and its outcomes by the day they came."""
    root, rng = tmp_path_factory.mktemp("rows"), np.random.default_rng(5)
    scores: list[float | None] = [*rng.beta(0.4, 4, ROWS)]
    scores[:6] = [None, 1.5, 0.0, 1.0, 1e-12, -0.2]
    outcome = (rng.random(ROWS) < np.array(scores, float)).astype(int)
    outcome[20:23] = 2
    predictions = pa.table(
        {
            "prediction_id": np.arange(ROWS),
            "score": pa.array(scores, pa.float64()),
            "country": rng.choice(np.array(["DE", "FR", "XX", "other", None], object), ROWS),
            "device": rng.choice(np.array(["phone", "tv"], object), ROWS),
            "scored_on": pa.array([DAY] * ROWS),
        }
    )
    seen_on = rng.integers(0, WAIT + 3, ROWS)  # of some after the day has settled
    pq.write_table(predictions, root / f"p-{DAY}.parquet")
    for wait in range(WAIT + 3):
        own, day = seen_on == wait, DAY + timedelta(days=wait)
        of_day = {"prediction_id": np.arange(ROWS)[own], "outcome": outcome[own]}
        table = pa.table({**of_day, "seen_on": pa.array([day] * int(own.sum()), pa.date32())})
        pq.write_table(table, root / f"o-{day}.parquet")
    return root


def of_rows(logs: Path, **settings: Any) -> Model:
    """Describe the logs of rows."""
    described = {
        name: {"path": f"{logs}/{name[0]}-{{day}}.parquet", **settings.pop(name, {})}
        for name in BOTH
    }
    return Model.model_validate({**described, "settled_after": WAIT, **REJECT, **settings})


BOTH = "predictions", "outcomes"


def of_counts(folder: Path, **settings: Any) -> Model:
    """Describe the log of counts in a folder."""
    predictions = {"format": "counts", "path": f"{folder}/c-{{day}}.parquet"}
    outcomes = {"in_predictions": True, **settings.pop("outcomes", {})}
    described = {"predictions": predictions, "outcomes": outcomes, "settled_after": WAIT}
    return Model.model_validate({**described, **REJECT, **settings})


def count(logs: Path, known_until: date, *, strata: bool = False) -> pa.Table:
    """Run the statement of the page over the raw logs."""
    statement = STATEMENT.replace(f"{DAY + timedelta(days=WAIT)}", f"{known_until}")
    if strata:
        statement = re.sub(r"p\.country AS segment", r"\g<0>, p.device AS stratum", statement)
        statement = re.sub(r"status, segment,", r"status, segment, stratum,", statement)
    with engine.connect() as connection:
        for name in BOTH:
            connection.read_parquet(f"{logs}/{name[0]}-*.parquet").create_view(name)
        return connection.sql(statement).to_arrow_table()


def write(folder: Path, rows: pa.Table | Sequence[Row]) -> None:
    """Write the counts of the day."""
    table = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist([*rows])
    pq.write_table(table, folder / f"c-{DAY}.parquet")


def content(summary: Summary) -> bytes:
    """Give what the store writes of a day."""
    return sealed_table(summary_table(summary))


@pytest.mark.parametrize("as_of", [DAY + timedelta(days=3), LATE], ids=["awaiting", "settled"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        SEGMENTS,
        {**SEGMENTS, **STRATA},
        {"outcomes": {"absent_means": f"negative after {WAIT}d"}},
    ],
    ids=["plain", "segments", "strata", "absent"],
)
def test_counts_leave_the_bytes_of_their_rows(
    settings: dict[str, Any], as_of: date, logs: Path, tmp_path: Path, duckdb: Databases
) -> None:
    """The statement of the page counts as ours does, on a day that waits and on one that is final.

    A logarithm of the page is the natural one, so an offset may differ by one; here none does.
    """
    known_until = min(as_of, DAY + timedelta(days=WAIT + 1)) - timedelta(days=1)
    counts = count(logs, known_until, strata="strata" in settings)
    write(tmp_path, counts)

    ours = summarise_day("m", of_rows(logs, **settings), DAY, as_of=as_of, engine=duckdb)
    read = summarise_day("m", of_counts(tmp_path, **settings), DAY, as_of=as_of, engine=duckdb)

    assert content(read) == content(ours)
    assert ours.final == (as_of == LATE)
    assert ours.rejected == read.rejected != {}


def row(**changed: Any) -> Row:
    """Make a row of counts."""
    usual = {"version": 1, "day": DAY, "known_until": DAY + timedelta(days=WAIT)}
    of_cell = {"status": "matched", "segment": "DE", "cell": 9000, "rows": 9, "positives": 4}
    return {**usual, **of_cell, "offset_sum": 5, **changed}


def other(**changed: Any) -> list[Row]:
    """Make two rows, of which the second is changed."""
    return [row(), row(**{"cell": 9001, **changed})]


IMPOSSIBLE: dict[str, tuple[list[Row], str]] = {
    "more positives": (other(positives=10), "have more positives than rows, first status matched"),
    "negative": (other(rows=-1, positives=-1), "are negative or missing"),
    "unlabelled": (other(status="unlabelled"), "have positives, though no outcome counts there"),
    "no rows": (other(rows=None), "are negative or missing"),
    "no positives": (other(positives=None), "are negative or missing"),
    "too many": (other(rows=2**41), "more than 1,099,511,627,776 rows"),
    "status": (other(status="fine"), "unknown status, first status fine.*write one of matched, "),
    "no status": (other(status=None), "unknown status, first status None"),
    "cell": (other(cell=16384), "have a cell out of range, .*cell 16384.*write cells 0 to 16383"),
    "no cell": (other(cell=None), "have a cell out of range"),
    "offsets": (other(offset_sum=9 * 2**20), "have an offset_sum that so many rows cannot have"),
    "twice": ([row(), row(cell=1), row()], "1 rows of counts are there twice, .*cell 9000"),
    "another day": (other(day=LATE), f"the counts of {DAY} have rows of {LATE}"),
    "two ends": (other(known_until=DAY), f"the values {DAY}, 2026-03-08 of known_until"),
    "no end": (other(known_until=None), "the values None, 2026-03-08 of known_until"),
    "newer": ([row(version=2)], "have version 2, .*reads version 1.*; upgrade calibration-monitor"),
    "older": ([row(version=0)], "have version 0, .*; count again as docs/counts.md says"),
    "text": ([row(rows="many")], "column 'rows' of the counts is string, and not all of it is int"),
    "fraction": ([row(rows=1.5)], "column 'rows' of the counts is double, and not all of it is"),
    "no column": ([{k: v for k, v in row().items() if k != "cell"}], "have no column 'cell'"),
    "interval": (
        [{"segment": "FR", "score_from": 0.4, "score_to": 0.3, "rows": 9, "positives": 4}],
        "have no interval of probabilities, first status matched, .*score_from 0.4",
    ),
    "percent": (
        [{"segment": "FR", "score_from": 10.0, "score_to": 30.0, "rows": 9, "positives": 4}],
        "have no interval of probabilities.*write 0 <= score_from <= score_to <= 1",
    ),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_counts_that_cannot_be_true_stop_the_day(
    case: str, tmp_path: Path, duckdb: Databases
) -> None:
    """The message says what, where, which value, and what to do."""
    rows, said = IMPOSSIBLE[case]
    write(tmp_path, rows)

    with pytest.raises(DataError, match=rf"^m {DAY}: .*{said}") as raised:
        summarise_day("m", of_counts(tmp_path, **SEGMENTS), DAY, as_of=LATE, engine=duckdb)

    assert f"c-{DAY}.parquet" in str(raised.value)
    assert str(raised.value).endswith("rerun this day.") or case == "no column"


def test_rows_that_only_other_rows_show_to_be_wrong_are_checked(
    tmp_path: Path, duckdb: Databases
) -> None:
    """They stop the day, or are left out and counted, as `checks` says; unlabelled ones wait."""
    wrong = {"prediction_repeated": 4, "outcome_orphan": 3, "outcome_late": 2}
    of_status = [row(status=name, cell=0, rows=n, positives=0) for name, n in wrong.items()]
    late = row(status="unlabelled", segment=None, rows=5, positives=0)
    write(tmp_path, [row(), *of_status, late])

    with pytest.raises(DataError) as raised:
        summarise_day("m", of_counts(tmp_path), DAY, as_of=LATE, engine=duckdb)
    checks = {"checks": {"reject": [*wrong]}}
    read = summarise_day("m", of_counts(tmp_path, **checks), DAY, as_of=LATE, engine=duckdb)

    first, *_ = str(raised.value).splitlines()
    assert first.startswith(f"m {DAY}: 4 of 18 predictions share their id with another")
    assert read.rejected == wrong
    assert (whole(read).predicted, whole(read).tally.total) == (14, 9)
    assert read.left_out["the check outcome_orphan"] == (3, 14)


def test_outcomes_that_are_not_counted_yet_keep_a_day_provisional(
    tmp_path: Path, duckdb: Databases
) -> None:
    """A file that nobody has written again since the day settled is not taken for final."""
    waiting = row(status="unlabelled", positives=0)
    for counted, final in ((DAY + timedelta(days=WAIT - 1), False), (LATE, True)):
        write(tmp_path, [{**each, "known_until": counted} for each in (row(), waiting)])

        read = summarise_day("m", of_counts(tmp_path), DAY, as_of=LATE, engine=duckdb)

        assert read.final == final
        assert read.known_at.date() == min(counted, DAY + timedelta(days=WAIT)) + timedelta(days=1)


INTERVALS = [(0.0, 0.1, 500, 20), (0.1, 0.3, 200, 40), (0.3, 0.3, 50, 16), (0.3, 1.0, 90, 60)]


def test_intervals_of_a_scorecard_are_read_and_their_limits_said(
    tmp_path: Path, duckdb: Databases
) -> None:
    """Four columns of CSV suffice; each score stands in the middle of its interval."""
    names = "score_from", "score_to", "rows", "positives"
    columns = dict(zip(names, map(list, zip(*INTERVALS, strict=True)), strict=True))
    pa.csv.write_csv(pa.table(columns), tmp_path / f"{DAY}.csv")
    predictions = {"format": "counts", "path": f"{tmp_path}/{{day}}.csv"}
    model = of_counts(tmp_path, predictions=predictions)

    read = summarise_day("m", model, DAY, as_of=LATE, engine=duckdb)
    (remark,) = what_looks_wrong("m", model, DAY, read, engine=duckdb)

    tally = whole(read).tally
    between = 1 / (1 + np.sqrt(0.9 / 0.1 * 0.7 / 0.3))  # in log-odds
    # A score of the tally is known to one part in 2**20 of a cell, 4e-9 of log-odds.
    assert tally.scores == pytest.approx([0.05, between, 0.3, 0.65], abs=1e-9)
    assert tally.counts.tolist() == [500, 200, 50, 90]
    assert tally.positives.tolist() == [20, 40, 16, 60]
    assert read.final
    assert remark.sentence.startswith(
        "the scores are known as 4 intervals only, to within 0.67 of log-odds, and less well in 2 "
        "that begin at 0 or end at 1: no error inside an interval is seen, "
    )


@pytest.mark.parametrize("stored", ["delta", "iceberg", "iceberg without its catalog"])
def test_counts_in_a_table_are_read_by_day(
    stored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, duckdb: Databases
) -> None:
    """Of a folder of Delta Lake or Iceberg, or a table of a catalog, the newest version counts."""
    rows = pa.Table.from_pylist([row(), row(day=DAY + timedelta(days=1), known_until=LATE, rows=7)])
    predictions = {"format": "counts", "day": "day"}
    if stored == "delta":
        deltalake.write_deltalake(tmp_path / "counts", rows.slice(0, 1))
        deltalake.write_deltalake(tmp_path / "counts", rows, mode="overwrite")
        predictions["path"] = f"{tmp_path}/counts/"
    else:
        place = f"sqlite:///{tmp_path}/catalog.db"
        catalog = SqlCatalog("lake", uri=place, warehouse=f"file://{tmp_path}")
        monkeypatch.setattr(pyiceberg.catalog, "load_catalog", {"lake": catalog}.__getitem__)
        catalog.create_namespace("ml")
        catalog.create_table("ml.counts", rows.schema).append(rows)
        predictions |= {"connection": "lake", "path": "ml.counts"}
        if "without" in stored:
            folder = catalog.load_table("ml.counts").location().removeprefix("file://")
            predictions |= {"connection": None, "path": f"{folder}/"}

    model = of_counts(tmp_path, predictions=predictions)
    read = [
        summarise_day("m", model, DAY + timedelta(days=i), as_of=LATE, engine=duckdb)
        for i in range(2)
    ]

    assert [whole(summary).predicted for summary in read] == [9, 7]


def test_counts_of_a_query_need_a_connection_and_a_day() -> None:
    """The message names what lacks."""
    query = {"format": "counts", "sql": "SELECT 1"}
    for given, said in (
        ({}, "sql needs connection, day too"),
        ({"connection": "W", "day": "day", "path": "counts/"}, "is for files; remove it"),
    ):
        with pytest.raises(ValueError, match=said):
            of_counts(PAGE, predictions={**query, **given})


REFUSED: dict[str, dict[str, Any]] = {
    "predictions.id": {"id": "key"},
    "predictions.where": {"where": "rows > 5"},
    "predictions.explode": {"explode": "list"},
    "predictions.duplicates": {"duplicates": "keep_identical"},
    "predictions.entity": {"entity": "customer"},
    "predictions.weight": {"weight": "w"},
    "predictions.score_means": {"score_means": "percent"},
    "predictions.classes": {"classes": {"names": ["a", "b", "c"], "vector": "v"}},
}


@pytest.mark.parametrize("setting", REFUSED)
def test_settings_of_single_rows_are_refused(setting: str, tmp_path: Path) -> None:
    """The message names both settings and the reason."""
    counts = {"format": "counts", "path": f"{tmp_path}/{{day}}.parquet", **REFUSED[setting]}

    with pytest.raises(ValueError, match=rf"{COUNTS} cannot be combined with .*{setting}"):
        of_counts(tmp_path, predictions=counts)


def test_outcomes_beside_counts_are_refused(tmp_path: Path) -> None:
    """Counts hold the outcomes; the message shows the line to write."""
    counts = {"format": "counts", "path": "c/{day}.parquet"}
    beside = {"in_predictions": False, "path": "o/{day}.parquet"}
    with pytest.raises(ValueError, match=r"so write outcomes: \{in_predictions: true\}"):
        of_counts(tmp_path, outcomes=beside)
    with pytest.raises(ValueError, match=r"counts is for predictions.*in_predictions: true"):
        Model.model_validate({"predictions": {"path": "p/{day}"}, "outcomes": counts})
    assert not complaints_of({name: name == COUNTS for name in APART_SETTINGS})


def test_a_search_of_rows_is_refused(tmp_path: Path, duckdb: Databases) -> None:
    """Counts have no rows to search."""
    with pytest.raises(ConfigError, match="m: a search reads single rows"):
        parts_to_search("m", of_counts(tmp_path), ["device"], [DAY], duckdb)


def test_spark_does_not_read_counts(tmp_path: Path) -> None:
    """The message has the setting to change."""
    write(tmp_path, [row()])
    session = Session("m", engine.connect(), spark=object())
    with pytest.raises(
        ConfigError, match=r"format: counts is read by DuckDB only; set engine\.kind"
    ):
        open_log(session, of_counts(tmp_path), "predictions", [DAY])


def _is_valid(each: Row) -> bool:
    """Check a row as JSON has it; a sum of DuckDB is a decimal number."""
    as_json = json.loads(
        json.dumps(each, default=lambda v: f"{v}" if isinstance(v, date) else int(v))
    )
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(as_json)


def test_the_schema_and_the_page_say_the_same(logs: Path) -> None:
    """What the statement writes is valid; columns and statuses stand on the page."""
    rows = count(logs, DAY + timedelta(days=WAIT)).to_pylist()
    interval = dict(zip(("score_from", "score_to", "rows", "positives"), INTERVALS[0], strict=True))
    wrong: Sequence[Row] = (row(cell=16384), row(status="fine"), row(version=2), {"rows": 1})

    assert all(map(_is_valid, [*rows, row(), interval]))
    assert not any(map(_is_valid, wrong))
    page = PAGE.read_text()
    missing = [name for name in (*SCHEMA["properties"], *NAMES) if f"`{name}`" not in page]
    assert not missing
