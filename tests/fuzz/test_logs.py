"""Random logs: read, or refused with code 3 and a message that names model and day."""

from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.damages import (
    DAY,
    DAY_AFTER,
    UNREADABLE,
    Command,
    Project,
    matches,
)
from tests.support.fuzzing import fuzzed

FILES = (("predictions", DAY), ("outcomes", DAY), ("outcomes", DAY_AFTER))
EDITS = st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=9)


@fuzzed(80)
@given(
    file=st.sampled_from(FILES), edits=EDITS, at_the_end=st.booleans(), cut=st.integers(0, 1 << 16)
)
def test_damaged_files_are_read_or_refused(
    file: tuple[str, date],
    edits: list[tuple[int, int]],
    at_the_end: bool,  # noqa: FBT001 - hypothesis passes it by name
    cut: int,
    project: Project,
    command: Command,
) -> None:
    """Whatever bytes a log loses or gains, the command succeeds or ends with code 3."""
    path = project.path(*file)
    sound = path.read_bytes()
    damaged = bytearray(sound)
    first = len(sound) - 700 if at_the_end else 0  # the footer is where most can go wrong
    for place, byte in edits:
        damaged[first + place % (len(sound) - first)] = byte
    path.write_bytes(damaged[: cut % 64 * len(sound) // 32 + 1])

    ended = command("check", "--day", DAY)

    path.write_bytes(sound)
    assert is_read_or_refused(ended), ended.err


@fuzzed(60)
@given(file=st.sampled_from(FILES), noise=st.binary(max_size=300))
@example(file=FILES[0], noise=b"PAR1PAR1")
def test_noise_is_refused(
    file: tuple[str, date], noise: bytes, project: Project, command: Command
) -> None:
    """A file of random bytes ends with code 3 and one line that names it."""
    path = project.path(*file)
    sound = path.read_bytes()
    path.write_bytes(noise)

    ended = command("check", "--day", DAY)

    path.write_bytes(sound)
    assert matches(ended.err, f"ctr 2026-03-02: {path}{UNREADABLE}\n")
    assert ended.code == 3


NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
# Types of Arrow, and values for them; a value that does not fit its type is left out.
TYPES = (
    pa.int8(), pa.uint64(), pa.int64(), pa.float32(), pa.float64(), pa.decimal128(20, 10),
    pa.bool_(), pa.string(), pa.large_string(), pa.binary(), pa.date32(), pa.timestamp("ns"),
    pa.timestamp("us", "UTC"), pa.timestamp("s", "Asia/Kolkata"), pa.time64("us"), pa.duration("s"),
    pa.list_(pa.int64()), pa.struct([("prediction_id", pa.int64())]), pa.null(),
    pa.dictionary(pa.int32(), pa.string()),
)  # fmt: skip
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64),
    st.integers(200, 240),  # ids of the project
    st.floats(width=32),
    st.floats(0, 1),
    st.text(max_size=5),
    st.sampled_from(["DE", "FR", "", "0", "1", "0.5", "nan", "\x00", b"\xff", NOON, NOON.date()]),
    st.just([1, None]),
    st.just({"prediction_id": 7}),
)
NAMES = ("prediction_id", "score", "country", "scored_at", "outcome", "observed_at")


def column_of(kind: pa.DataType, values: list[Any]) -> pa.Array:
    """Make a column of the values that fit its type; the others are null."""
    fitting = []
    for value in values:
        try:
            fitting.append(pa.scalar(value, kind).as_py() if value is not None else None)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            fitting.append(None)
    try:
        return pa.array(fitting, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.nulls(len(values), kind)


@fuzzed(120)
@given(
    file=st.sampled_from(FILES),
    columns=st.dictionaries(
        st.sampled_from(NAMES),
        st.tuples(st.sampled_from(TYPES), st.lists(VALUES, min_size=1, max_size=6)),
        max_size=3,
    ),
    extra=st.text(max_size=8),
)
def test_columns_of_any_type_are_read_or_refused(
    file: tuple[str, date],
    columns: dict[str, tuple[pa.DataType, list[Any]]],
    extra: str,
    project: Project,
    command: Command,
) -> None:
    """Whatever types and values some columns have, and whatever else is there, it ends well."""
    path = project.path(*file)
    sound = path.read_bytes()
    rows = project.rows(file[0])
    size = len(rows["prediction_id"])
    for name, (kind, values) in columns.items():
        rows[name] = column_of(kind, (values * size)[:size])
    rows |= {extra: pa.nulls(size)} if extra and extra not in rows else {}
    project.write(file[0], rows, file[1])

    ended = command("check", "--day", DAY)

    path.write_bytes(sound)
    assert is_read_or_refused(ended), ended.err


def is_read_or_refused(ended: Any) -> bool:
    """Say whether a command succeeded, or failed with messages that name model and day."""
    refused = all(line.startswith("ctr 2026-03-02: ") for line in ended.err.splitlines())
    return (ended.code, bool(ended.err)) in {(0, False), (3, True)} and refused
