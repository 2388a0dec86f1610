"""One day of logs: large days, maturity, names of days, object stores, many segments."""

import uuid
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from monitor.base.errors import DataError
from monitor.base.files import looking_once
from monitor.config import Engine, Model
from monitor.config.checks import listed
from monitor.days.files import list_days, list_files
from monitor.days.summary import Awaited
from monitor.logs import Databases, newest_settled_day, summarise_day
from monitor.logs.engines.session import open_session
from monitor.metrics.core.grid import LAST_POSITION, OFFSETS_PER_CELL, locate
from monitor.metrics.core.tally import Tally
from monitor.store.store import Store
from tests.support.cases import a_fifth

DAY = date(2026, 3, 2)
LONG_AFTER = date(2026, 12, 31)
LENIENT = {"one_class": "accept", "no_outcomes": "accept", "empty_day": "accept"}


SEGMENTS = ("DE", "FR", "other")


ID_TYPES = {
    pa.int64(): lambda i: i - 20,
    pa.uint8(): lambda i: i,
    pa.string(): lambda i: f"é{i}",
    pa.binary(): lambda i: bytes([0, 255, i]),
    pa.uuid(): lambda i: uuid.UUID(int=i).bytes,
}


OUTCOME_TYPES = (pa.bool_(), pa.int8(), pa.int64(), pa.uint16(), pa.float32(), pa.float64())


def model_of(root: object, **changes: Any) -> Model:
    """Describe logs below a folder or a prefix."""
    described = {
        "predictions": {"path": f"{root}/predictions/{{day}}/*.parquet"},
        "outcomes": {"path": f"{root}/outcomes/{{day}}/*.parquet"},
        "segments": {"column": "country", "values": ["DE", "FR"]},
        "checks": listed(LENIENT),
    }
    return Model.model_validate({**described, **changes})


def write(root: object, name: str, **columns: Any) -> None:
    """Write one file, on disk or in an object store."""
    filesystem, path = fsspec.core.url_to_fs(f"{root}/{name}.parquet")
    filesystem.makedirs(path.rpartition("/")[0], exist_ok=True)
    with filesystem.open(path, "wb") as file:
        pq.write_table(pa.table(columns), file)


def after(days: int) -> date:
    """Return the day so many days after the one under test."""
    return DAY + timedelta(days=days)


# Scores on the borders of cells, and beyond the ends of the grid.
BORDERS = st.integers(0, 2**14).map(lambda cell: float(expit(cell / 512 - 16)))


SCORES = st.one_of(
    st.floats(0, 1), st.floats(0, 1, width=32), BORDERS, st.sampled_from([0.0, 0.5, 1.0, 1e-300])
)


ROWS = st.fixed_dictionaries(
    {
        "score": SCORES,
        "country": st.sampled_from(["DE", "FR", "IT", "", None]),
        "outcome": st.sampled_from([None, 0, 1]),
        "late": st.integers(0, 3),
        "copies": st.integers(1, 3),
        "file": st.integers(0, 1),
    }
)


@settings(deadline=None, max_examples=a_fifth(40))
@given(
    rows=st.lists(ROWS, min_size=1, max_size=60),
    id_type=st.sampled_from(list(ID_TYPES)),
    score_types=st.tuples(*[st.sampled_from([pa.float32(), pa.float64()])] * 2),
    outcome_types=st.tuples(*[st.sampled_from(OUTCOME_TYPES)] * 2),
    settled_after=st.integers(0, 3),
    orphans=st.integers(0, 3),
)
def test_a_day_equals_plain_python(
    rows: list[dict[str, Any]],
    id_type: pa.DataType,
    score_types: tuple[pa.DataType, ...],
    outcome_types: tuple[pa.DataType, ...],
    settled_after: int,
    orphans: int,
    duckdb: Databases,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Counts, cells and offsets are those of a dictionary, whatever types the files have.

    Outcomes arrive up to three days late, or too late to be read, and are logged up to three times.
    All days are read over one connection, as those of a run are.
    """
    root = tmp_path_factory.mktemp("day")
    name = ID_TYPES[id_type]
    for file, score_type in enumerate(score_types):
        part = [(i, row) for i, row in enumerate(rows) if row["file"] == file]
        write(
            root,
            f"predictions/{DAY}/{file}",
            prediction_id=pa.array([name(i) for i, _ in part], id_type),
            score=pa.array(
                np.array([row["score"] for _, row in part], score_type.to_pandas_dtype())
            ),
            country=pa.array([row["country"] for _, row in part], pa.string()),
        )
    logged = [
        (i, row["outcome"], row["late"])
        for i, row in enumerate(rows)
        for _ in range(row["copies"])
        if row["outcome"] is not None
    ] + [(200 + i, 1, 0) for i in range(orphans)]
    for late in range(4):
        for file, outcome_type in enumerate(outcome_types):
            part = [(i, outcome) for i, outcome, day in logged if day == late][file::2]
            write(
                root,
                f"outcomes/{after(late)}/{file}",
                prediction_id=pa.array([name(i) for i, _ in part], id_type),
                outcome=pa.array([outcome for _, outcome in part], pa.int64()).cast(outcome_type),
            )

    model = model_of(root, settled_after=settled_after)
    with looking_once():
        summary = summarise_day("ctr", model, DAY, as_of=LONG_AFTER, engine=duckdb)

    told_in_time = [r for r in rows if r["outcome"] is not None and r["late"] <= settled_after]
    # A day without a known outcome is never final, however old it is.
    assert summary.final == (bool(told_in_time) or not rows)
    assert summary.known_at == datetime.combine(after(settled_after + 1), datetime.min.time(), UTC)
    assert summary.rejected == ({"outcome_orphan": orphans} if orphans else {})
    for segment in SEGMENTS:
        own = [
            r for r in rows if (r["country"] if r["country"] in SEGMENTS else "other") == segment
        ]
        known = [r for r in own if r["outcome"] is not None and r["late"] <= settled_after]
        part = summary.segments[segment]
        assert part.predicted == len(own)
        assert part.tally.total == len(known)
        assert part.tally.total_positives == sum(row["outcome"] for row in known)
        scores = [score_types[r["file"]].to_pandas_dtype()(r["score"]) for r in known]
        assert_same_cells(part.tally, scores, [row["outcome"] for row in known])
        late = [score_types[r["file"]].to_pandas_dtype()(r["score"]) for r in own if r not in known]
        assert_awaited_cells(part.awaited, late)
        assert part.predicted == part.tally.total + part.awaited.counts.sum()


def assert_awaited_cells(found: Awaited, scores: list[float]) -> None:
    """Compare predictions without outcome with a dictionary, as far as the borders allow."""
    cells, offsets = locate(np.array(scores, np.float64))
    positions = cells * OFFSETS_PER_CELL + offsets
    beside = np.clip([positions - 1, positions + 1], 0, LAST_POSITION) // OFFSETS_PER_CELL
    assert found.counts.sum() == len(scores)
    if (beside == cells).all():
        counts = Counter(cells.tolist())
        assert found.cells.tolist() == sorted(counts)
        assert found.counts.tolist() == [counts[cell] for cell in sorted(counts)]


def assert_same_cells(tally: Tally, scores: list[float], outcomes: list[int]) -> None:
    """Compare with a dictionary of cells, filled row by row.

    The engine and numpy take logarithms that differ in the last bits, which is less than a
    hundred-thousandth of an offset. So rounding down may give the offset before or after, and a
    score at the border of two cells may lie in either.
    """
    cells, offsets = locate(np.array(scores, np.float64))
    positions = cells * OFFSETS_PER_CELL + offsets
    assert tally.cells is not None
    total = tally.cells.numbers @ tally.counts * OFFSETS_PER_CELL + tally.cells.offset_sums.sum()
    assert abs(total - positions.sum()) <= len(scores)
    beside = np.clip([positions - 1, positions + 1], 0, LAST_POSITION) // OFFSETS_PER_CELL
    if (beside == cells).all():
        counts = Counter(cells.tolist())
        positives = Counter(cells[np.array(outcomes, bool)].tolist())
        assert tally.cells.numbers.tolist() == sorted(counts)
        assert tally.counts.tolist() == [counts[cell] for cell in sorted(counts)]
        assert tally.positives.tolist() == [positives[cell] for cell in sorted(counts)]


@pytest.fixture(scope="module")
def large_day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a million predictions with long ids, in one file and shuffled in twenty."""
    root, rng = tmp_path_factory.mktemp("large"), np.random.default_rng(1)
    rows = 1_000_000
    logits = rng.normal(-2, 2, rows)
    numbers = pa.array(np.arange(rows)).cast(pa.string())
    ids = pa.compute.binary_join_element_wise("a-prediction-of-the-second-of-march", numbers, "-")
    tables = {
        "predictions": {
            "prediction_id": ids,
            "score": expit(logits),
            "country": pa.array(["DE", "FR", "IT"]).take(pa.array(rng.integers(0, 3, rows))),
        },
        "outcomes": {"prediction_id": ids, "outcome": rng.random(rows) < expit(logits)},
    }
    for kind, columns in tables.items():
        write(root / "whole", f"{kind}/{DAY}/0", **columns)
        shuffled = pa.table(columns).take(rng.permutation(rows))
        for file in range(20):
            part = shuffled.slice(file * 50_000, 50_000)
            write(
                root / "split",
                f"{kind}/{DAY}/{file}",
                **dict(zip(columns, part.columns, strict=True)),
            )
    return root


def test_a_large_day_leaves_the_same_bytes(large_day: Path, tmp_path: Path) -> None:
    """The stored summary does not depend on files, order of rows, threads or memory.

    The join needs more than 100 MB, so it spills to the disk.
    """
    stored = []
    for logs, engine in (
        ("whole", Engine(threads=1)),
        ("split", Engine(threads=2, memory_mb=100)),
    ):
        model = model_of(large_day / logs, settled_after=0)
        summary = summarise_day("ctr", model, DAY, as_of=LONG_AFTER, engine=engine)
        Store(str(tmp_path)).write_summary(summary)
        stored.append((tmp_path / f"summaries/ctr/{DAY}.parquet").read_bytes())
        assert summary.segments["DE"].predicted > 300_000

    assert stored[0] == stored[1]


def test_a_day_that_does_not_fit_names_the_setting() -> None:
    """Too little memory is a DataError of the day that does not name a file."""
    with (
        pytest.raises(DataError) as refusal,
        open_session("ctr 2026-03-02", Engine(threads=2, memory_mb=100)) as session,
    ):
        session.connection.execute("SELECT list(i) FROM range(100_000_000) AS numbers(i)")

    message = str(refusal.value)
    assert message.startswith(
        "ctr 2026-03-02: the day does not fit into engine.memory_mb, 100, with engine.threads, 2 ("
    )
    assert message.endswith(
        "); raise memory_mb or lower threads in the configuration, then rerun this day."
    )


def small_day(root: object, *, outcomes: dict[int, dict[int, int]]) -> None:
    """Write four predictions, and outcomes by days late and id."""
    write(
        root,
        f"predictions/{DAY}/0",
        prediction_id=[1, 2, 3, 4],
        score=[0.1, 0.4, 0.6, 0.9],
        country=["DE", "FR", "IT", "DE"],
    )
    for late, known in outcomes.items():
        write(
            root,
            f"outcomes/{after(late)}/0",
            prediction_id=pa.array(list(known), pa.int64()),
            outcome=pa.array(list(known.values()), pa.int8()),
        )


@pytest.mark.parametrize(
    ("settled_after", "as_of", "matched", "known_days", "final"),
    [
        (0, 1, 2, 1, True),  # settled on the day itself
        (2, 1, 2, 1, False),  # only the day itself is over
        (2, 2, 3, 2, False),
        (2, 3, 4, 3, True),  # the days are up
        (2, 9, 4, 3, True),
        (3, 2, 3, 2, False),
        (3, 3, 4, 3, True),  # a day is missing, but every outcome is in
    ],
)
def test_maturity(
    settled_after: int,
    as_of: int,
    matched: int,
    known_days: int,
    final: bool,  # noqa: FBT001 - a value of the table
    tmp_path: Path,
) -> None:
    """Outcomes of past days are read; a day is final when no more can arrive."""
    small_day(tmp_path, outcomes={0: {1: 0, 4: 1}, 1: {2: 0}, 2: {3: 1}, 3: {}})
    model = model_of(tmp_path, settled_after=settled_after)

    summary = summarise_day("ctr", model, DAY, as_of=after(as_of))

    assert sum(part.tally.total for part in summary.segments.values()) == matched
    assert summary.known_at == datetime(2026, 3, 2 + known_days, tzinfo=UTC)
    assert summary.final == final


@pytest.mark.parametrize(
    ("there", "as_of", "matched", "known_days"),
    [
        ((), 1, 0, 0),
        ((), 2, 0, 0),
        ((1,), 2, 1, 2),  # its own partition is late, the next one is not
        ((0,), 2, 2, 1),
        ((0,), 9, 2, 1),  # the time is up, but the log ends here
        ((0, 1), 9, 3, 2),
    ],
)
def test_missing_partitions_are_awaited(
    there: tuple[int, ...], as_of: int, matched: int, known_days: int, tmp_path: Path
) -> None:
    """Until its time is up, a day is provisional; it uses the known outcomes and counts the rest.

    Rows of a partition that is there have their outcome, all others are awaited.
    """
    known = {0: {1: 0, 4: 1}, 1: {2: 0}}
    small_day(tmp_path, outcomes={late: known[late] for late in there})
    model = model_of(tmp_path, settled_after=2)

    summary = summarise_day("ctr", model, DAY, as_of=after(as_of))

    parts = summary.segments.values()
    assert not summary.final
    assert sum(part.predicted for part in parts) == 4
    assert sum(part.tally.total for part in parts) == matched
    assert sum(part.awaited.counts.sum() for part in parts) == 4 - matched
    assert summary.known_at == datetime(2026, 3, 2 + known_days, tzinfo=UTC)


@pytest.mark.parametrize(
    ("there", "missing"), [((), 0), ((1,), 0), ((2,), 0), ((0, 2), 1)], ids=str
)
def test_a_day_whose_time_is_up_needs_its_partitions(
    there: tuple[int, ...], missing: int, tmp_path: Path
) -> None:
    """After its time, the day's own partition must exist, and no gap may precede another one."""
    small_day(tmp_path, outcomes={late: {} for late in there})
    model = model_of(tmp_path, settled_after=2)

    for as_of in (3, 9):
        with pytest.raises(DataError) as refusal:
            summarise_day("ctr", model, DAY, as_of=after(as_of))
        assert str(refusal.value).startswith(
            f"ctr {DAY}: no outcomes of {after(missing)} at {tmp_path}/outcomes/{after(missing)}"
        )
    assert summarise_day("ctr", model, DAY, as_of=after(2)).final is False


def test_a_day_without_outcomes_is_held_to_the_rest_of_the_contract(tmp_path: Path) -> None:
    """Predictions are checked before any outcome arrives: scores, ids and times."""
    times = {"predictions": "scored_at", "outcomes": "observed_at"}
    timed = {
        kind: {"path": f"{tmp_path}/{kind}/{{day}}/*.parquet", "time": time}
        for kind, time in times.items()
    }
    model = model_of(tmp_path, settled_after=1, **timed)
    columns = {"prediction_id": [1, 2], "country": ["DE", "FR"]}
    write(tmp_path, f"predictions/{DAY}/0", **columns, score=[0.1, 1.2], scored_at=["a", "b"])

    with pytest.raises(DataError, match=r"'scored_at' contains '[ab]', which is not a"):
        summarise_day("ctr", model, DAY, as_of=after(1))
    moment = datetime(2026, 3, 2, tzinfo=UTC)
    write(tmp_path, f"predictions/{DAY}/0", **columns, score=[0.1, 1.2], scored_at=[moment] * 2)
    with pytest.raises(DataError, match=r"1 of 2 scores lie outside \[0, 1\], first 1.2"):
        summarise_day("ctr", model, DAY, as_of=after(1))


def test_a_day_is_settled_when_its_last_partition_is_over(tmp_path: Path) -> None:
    """The newest settled day is the last whose outcomes have all had time to arrive."""
    for late in range(4):
        small_day(tmp_path, outcomes={late: {}})
        write(tmp_path, f"predictions/{after(late)}/0", prediction_id=[1])
    model = model_of(tmp_path, settled_after=1)
    found = [newest_settled_day("ctr", model, as_of=after(day)) for day in (2, 3, 4, 9)]

    assert found == [after(0), after(1), after(2), after(2)]
    with pytest.raises(DataError, match=r"^ctr: no day before 2026-03-03 has predictions at "):
        newest_settled_day("ctr", model, as_of=after(1))


@pytest.mark.parametrize(
    ("day", "zone", "known_at"),
    [
        (date(2026, 3, 28), "Europe/Berlin", "2026-03-28T23:00:00+00:00"),
        (date(2026, 3, 29), "Europe/Berlin", "2026-03-29T22:00:00+00:00"),  # a day of 23 hours
        (date(2026, 11, 1), "America/New_York", "2026-11-02T05:00:00+00:00"),  # and one of 25
        (date(2026, 3, 2), "Pacific/Kiritimati", "2026-03-02T10:00:00+00:00"),
        (date(2026, 3, 2), "Asia/Kathmandu", "2026-03-02T18:15:00+00:00"),
    ],
)
def test_a_day_ends_at_midnight_where_the_model_lives(
    day: date, zone: str, known_at: str, tmp_path: Path
) -> None:
    """Outcomes are known up to the end of their last day, in the model's time zone."""
    columns = {"prediction_id": [1, 2]}
    write(tmp_path, f"predictions/{day}/0", **columns, score=[0.1, 0.2], country=["DE", "DE"])
    write(tmp_path, f"outcomes/{day}/0", **columns, outcome=[0, 1])
    model = model_of(tmp_path, settled_after=0, time_zone=zone)

    assert summarise_day("ctr", model, day, as_of=LONG_AFTER).known_at.isoformat() == known_at


# Templates and file names: each name with its day, or None if it is not a day.
NAMES: dict[str, dict[str, date | None]] = {
    "{day}.parquet": {
        "2026-03-02.parquet": DAY,
        "2026-3-2.parquet": None,
        "2026-02-30.parquet": None,
        "2026-03-02.parquet.tmp": None,
        ".2026-03-02.parquet": None,
    },
    "{day:%Y/%m/%d}/part-*": {"2026/03/02/part-0": DAY, "2026/03/2/part-0": None},
    "{day:%Y/%m/%d}.parquet": {"2026/03/02.parquet": DAY, "2026/03-02.parquet": None},
    "year={day:%Y}/{day}": {"year=2026/2026-03-02": DAY, "year=2025/2026-03-02": None},
    "{day:%Y%m%d}": {"20260302": DAY, "2026032": None, "20261302": None},
    "{day:%y%j}": {"26061": DAY, "26367": None},
    "*/{day}/x": {"a/2026-03-02/x": DAY, "b/2026-03-02/x": DAY, "c/d/2026-03-02/x": None},
    "**/{day}": {"2026-03-02": DAY, "a/2026-03-03": after(1), "a/b/2026-03-04": after(2)},
    "r[0-9]-{day}": {"r7-2026-03-02": DAY, "rx-2026-03-02": None},
    "r[!0-9]?-{day}": {"rx7-2026-03-02": DAY, "r77-2026-03-02": None},
    "50%d (a+b)-{day}": {"50%d (a+b)-2026-03-02": DAY, "50%d (aab)-2026-03-03": None},
    "[[]{day}]{{day}}": {"[2026-03-02]{day}": DAY, "2026-03-02]{day}": None},
}


@pytest.mark.parametrize("template", NAMES)
def test_days_are_read_from_names(template: str, tmp_path: Path) -> None:
    """Days are listed if and only if the template would give that name on that day."""
    names = NAMES[template]
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    days = list_days(f"{tmp_path}/{template}")

    assert days == sorted({day for day in names.values() if day})
    for day in days:
        expected = [f"file://{tmp_path}/{name}" for name, of in names.items() if of == day]
        assert list_files(f"{tmp_path}/{template}", day) == expected


def test_an_empty_file_need_not_know_its_types(tmp_path: Path) -> None:
    """A day without outcomes may come from a tool that writes no types for empty columns."""
    small_day(tmp_path, outcomes={0: {1: 0, 4: 1}})
    nothing = pa.array([], pa.null())
    write(tmp_path, f"outcomes/{after(1)}/0", prediction_id=nothing, outcome=nothing)

    summary = summarise_day("ctr", model_of(tmp_path), DAY, as_of=LONG_AFTER)

    assert summary.final
    assert summary.segments["DE"].tally.total == 2


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")
def test_a_file_that_was_replaced_in_an_object_store_is_read_anew(bucket: str) -> None:
    """Nothing is cached between days: changed files are read again."""
    root, totals = f"{bucket}/again", []
    for outcomes in ({1: 0, 4: 1}, {1: 0, 2: 1, 3: 1}):
        small_day(root, outcomes={0: outcomes, 1: {}})
        summary = summarise_day("ctr", model_of(root), DAY, as_of=LONG_AFTER)
        totals.append(sum(part.tally.total for part in summary.segments.values()))

    assert totals == [2, 3]


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")
def test_damage_in_an_object_store_names_the_file(bucket: str) -> None:
    """A broken file is named by its URL."""
    root = f"{bucket}/damage"
    small_day(root, outcomes={0: {1: 0, 4: 1}, 1: {}})
    fsspec.filesystem("s3").pipe_file(f"{root}/outcomes/{DAY}/1.parquet", b"no Parquet")

    with pytest.raises(DataError) as failure:
        summarise_day("ctr", model_of(root), DAY, as_of=LONG_AFTER)

    message = str(failure.value)
    assert message.startswith(
        f"ctr 2026-03-02: {root}/outcomes/2026-03-02/1.parquet cannot be read as Parquet ("
    )
    assert message.endswith("); write the file again, then rerun this day.")


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")
@pytest.mark.usefixtures("bucket")
def test_a_bucket_that_is_not_there(project: Any, command: Callable[..., Any]) -> None:
    """A wrong bucket ends with code 3, names the place, and leaves the store as it was."""
    before = project.results()
    wrong = "s3://nowhere"
    project.configure('"outcomes/', f'"{wrong}/outcomes/')

    of_logs = command("run", "--day", DAY)

    assert of_logs.err == (
        f"ctr 2026-03-02: no outcomes of 2026-03-02 at {wrong}/outcomes/2026-03-02.parquet; "
        "wait for the log (a day without outcomes needs an empty file, unless outcomes.calendar "
        "leaves it out), or correct outcomes.path in the configuration.\n"
    )
    assert of_logs.code == 3
    project.configure(f'"{wrong}/outcomes/', '"outcomes/')
    project.configure("store: store", f"store: {wrong}/store")
    of_store = command("run", "--day", DAY, "--begin")
    assert of_store.code == 3
    assert of_store.err.startswith(f"store: {wrong}/store: cannot be written (")
    assert project.results() == before


def test_five_hundred_segments(tmp_path: Path) -> None:
    """Each row counts in its own segment; other values, and rows without one, count as other.

    With strata there are 4,509 parts of the day; the key of an invalid outcome needs 64 bits.
    """
    values = [f"s{number}" for number in range(500)]
    column = [*values, *values[:3], "unlisted", None]
    ids = np.arange(len(column))
    columns = {"prediction_id": ids, "score": ids / 1000, "country": column}
    write(tmp_path, f"predictions/{DAY}/0", **columns, slot=["h", "a"] * 252 + [None])
    outcomes = [*ids[:-1] % 2, 3]
    write(tmp_path, f"outcomes/{DAY}/0", prediction_id=ids, outcome=outcomes)
    segments = {"column": "country", "values": values}
    strata = {"column": "slot", "values": list("abcdefgh")}
    reject = {"reject": ["outcome_invalid"]}
    model = model_of(tmp_path, segments=segments, settled_after=0, checks=reject, strata=strata)

    summary = summarise_day("ctr", model, DAY, as_of=LONG_AFTER, engine=Engine())

    predicted = {name: part.predicted for name, part in summary.segments.items()}
    assert predicted == dict.fromkeys(values, 1) | dict.fromkeys(values[:3], 2) | {"other": 2}
    assert sum(part.tally.positives.sum() for part in summary.segments.values()) == 252
    assert summary.rejected == {"outcome_invalid": 1}
