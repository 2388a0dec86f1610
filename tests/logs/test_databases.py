"""Rows of a real PostgreSQL give the bytes of Parquet files, and its address stays secret."""

import socket
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from adbc_driver_postgresql import dbapi
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.base.errors import ConfigError, DataError
from monitor.base.files import looking_once
from monitor.config import Engine, Model, load_config
from monitor.export.table import write as write_table
from monitor.logs import days_of, describe_inputs, summarise_day
from monitor.logs.engines.session import Session
from monitor.logs.sources import queries
from monitor.logs.sources.source import open_log
from tests.conftest import run_command
from tests.logs.test_shapes import (
    DAYS,
    LONG_AFTER,
    OBSERVED,
    ROWS,
    SCORED,
    SHAPES,
    Root,
    as_parquet,
    stored_with,
    table_of,
)
from tests.support.cases import a_fifth, some
from tests.support.postgresql import postgresql
from tests.support.undescribed import history, put, stacked
from tests.support.warehouse_logs import (
    AS_OF,
    LAST,
    cases,
    content,
    model_of_rows,
    tables,
)
from tests.support.warehouse_logs import FIRST as DAY_ONE

ENGINE = Engine(threads=1, memory_mb=200)
PASSWORD = "pa:ss/w@rd %?#"  # noqa: S105 - every sign that an address writes in another way
ADDRESS = "MONITOR_TEST_WAREHOUSE"

# How the queries write the times, and the setting that dates the rows.
QUERIES: dict[str, tuple[str, str]] = {
    "a time": ("scored_at", "observed_at"),
    "a time without zone": ("scored_at AT TIME ZONE 'UTC'", "observed_at AT TIME ZONE 'UTC'"),
    "a date": ("(scored_at AT TIME ZONE 'UTC')::date", "(observed_at AT TIME ZONE 'UTC')::date"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a PostgreSQL with the rows of all shapes."""
    folder = tmp_path_factory.mktemp("server")
    with postgresql(folder, "warehouse", PASSWORD) as address:
        known = [row for row in ROWS if row["observed_at"]]
        write(address, "scores", table_of(ROWS, SCORED))
        write(address, "outcomes", table_of(known, OBSERVED))
        write(address, "together", table_of(ROWS, [*SCORED, "outcome", "observed_at"]))
        yield address


@pytest.fixture
def database(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name the database in the environment."""
    monkeypatch.setenv(ADDRESS, server)
    return server


def write(address: str, name: str, table: pa.Table) -> None:
    """Write a table of a database."""
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest(name, table, mode="replace")
        connection.commit()


def change(address: str, *statements: str) -> None:
    """Change a database."""
    with psycopg.connect(address) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def log(sql: str, day: str, **settings: str) -> dict[str, str]:
    """Configure the rows of a query."""
    return {"format": "sql", "sql": sql, "connection": ADDRESS, "day": day, **settings}


def of_tables(scored_at: str = "scored_at", observed_at: str = "observed_at") -> dict[str, Any]:
    """Configure both tables, with the columns that date their rows."""
    scored = f"SELECT *, {scored_at} AS at FROM scores"  # noqa: S608
    observed = f"SELECT *, {observed_at} AS at FROM outcomes;"  # noqa: S608
    return {"predictions": log(scored, "at"), "outcomes": log(observed, "at")}


WAREHOUSE = Engine(kind="warehouse", threads=1, memory_mb=200)


@looking_once()
def bytes_of(config: dict[str, Any], folder: Path, engine: Engine = ENGINE) -> list[bytes]:
    """Summarise days as a run does, which connects once for what it asks of all days."""
    return stored_with(engine, config, folder)


CHOSEN: dict[str, dict[str, Any]] = {
    "actions": {"action": "blocked"},
    "probabilities": {"label_rate": "rate"},
    "actions and probabilities of outcomes, in strata": {
        "action": "blocked",
        "label_rate": {"outcomes": "rate"},
        "segments": None,
        "strata": {"column": "country", "values": ["DE", "FR"]},
    },
}


@pytest.mark.parametrize("case", CHOSEN)
def test_what_chooses_outcomes_travels_too(case: str, database: str, tmp_path: Path) -> None:
    """The columns of `action` and `label_rate` give the bytes of files."""
    known = [row for row in ROWS if row["observed_at"]]
    tables = {
        "chosen_scores": table_of(ROWS, SCORED)
        .append_column("rate", pa.array([(1 + i % 9) / 16 for i in range(len(ROWS))]))
        .append_column("blocked", pa.array([i % 3 == 1 for i in range(len(ROWS))])),
        "chosen_outcomes": table_of(known, OBSERVED).append_column(
            "rate", pa.array([(1 + i % 5) / 8 for i in range(len(known))])
        ),
    }
    of_queries, of_files = {}, {}
    sections = ("predictions", "scored_at"), ("outcomes", "observed_at")
    for (name, table), (section, at) in zip(tables.items(), sections, strict=True):
        write(database, name, table)
        (tmp_path / f"{name}.parquet").write_bytes(as_parquet(table))
        of_queries[section] = log(f"SELECT * FROM {name}", at)  # noqa: S608
        of_files[section] = {"path": f"{tmp_path}/{name}.parquet", "day": at}

    there, here = (
        bytes_of({**logs, **CHOSEN[case]}, tmp_path / kind)
        for kind, logs in (("database", of_queries), ("files", of_files))
    )

    assert there == here


# How columns of tables are written in a query, and what `init` must make of them.
WRITTEN = {
    "score": ("score", "score::real AS score", "score::numeric AS score"),
    "request_id": ("request_id", "replace(request_id, '-', '')::numeric AS request_id"),
    "at": ("{0}", "({0} AT TIME ZONE 'UTC') AS {0}", "{0}::date AS {0}"),
}


@pytest.mark.parametrize("seed", some(range(4), 2))
def test_init_reads_queries_as_it_reads_files(
    seed: int, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The columns and the wait are those of the files; numeric gets its cast; check passes."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(seed)
    logs = history(delay=0.8 * (seed % 2), rows=150)
    tables = {name: stacked(days.values()) for name, days in vars(logs).items()}
    score, key, at = (str(rng.choice(WRITTEN[name])) for name in WRITTEN)
    for name, columns in tables.items():
        write(database, f"some_{name}", pa.table(columns))
        put(tmp_path / "logs" / f"{name}.parquet", columns)
    queries = (
        f"SELECT {score}, {key}, {at.format('scored_at')} FROM some_predictions",  # noqa: S608
        f"SELECT label, {key}, {at.format('observed_at')} FROM some_outcomes;",  # noqa: S608
    )

    of_files = run_command("init", "logs", "--out", "files.yaml")
    of_queries = run_command("init", *queries, "--connection", ADDRESS)

    assert (of_files.code, of_queries.code) == (0, 0), of_queries.err
    files, rows = (
        next(iter(yaml.safe_load(Path(name).read_text())["models"].values()))
        for name in ("files.yaml", "monitor.yaml")
    )
    assert rows["predictions"]["connection"] == ADDRESS
    for section, key in (("predictions", "score"), ("outcomes", "outcome")):
        for name in ("id", key, "day"):
            assert rows[section][name] == files[section][name]
    assert rows["settled_after"] == files["settled_after"]
    assert ("::numeric::double precision" in rows["predictions"]["sql"]) == ("numeric" in score)
    assert ", logs of 2026-" in of_queries.out  # what check prints
    told = Path("monitor.yaml").read_text() + of_queries.out + of_queries.err
    assert not any(part in told for part in (PASSWORD, quote(PASSWORD, safe="")))


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (("SELECT 1 AS x", "--connection", ADDRESS), "gives no date and no timestamp"),
        (("SELECT * FROM nothing", "--connection", ADDRESS), 'relation "nothing" does not exist'),
        (("SELECT 1 AS x",), "name the environment variable that holds the address"),
        (("SELECT 1", "--connection", "postgresql://me:hidden@h/x"), "not the address itself"),
        (("SELECT 1", "--connection", "NO_SUCH_VARIABLE"), "NO_SUCH_VARIABLE is not set"),
    ],
)
def test_what_init_cannot_read_is_said(
    call: tuple[str, ...], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One message with what to do, and no part of an address."""
    monkeypatch.chdir(tmp_path)

    ended = run_command("init", *call)

    assert ended.code in (2, 3)
    assert expected in " ".join(ended.err.split())
    assert "hidden" not in ended.out + ended.err


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("kind", QUERIES)
def test_queries_leave_the_bytes_of_files(kind: str, tmp_path: Path) -> None:
    """Whatever dates the rows, a summary has the bytes that files give."""
    config = of_tables(*QUERIES[kind])

    files = SHAPES["one file with a date"](Root(f"{tmp_path}/files"))
    expected = bytes_of(files, tmp_path / "files")
    assert bytes_of(config, tmp_path / "query") == expected
    assert bytes_of(config, tmp_path / "counted", WAREHOUSE) == expected


@pytest.mark.usefixtures("database")
def test_a_table_that_is_updated_leaves_the_bytes_of_files(tmp_path: Path) -> None:
    """Scores and outcomes may be columns of one query, and logs of different kinds may meet."""
    files = SHAPES["a file for each day"](Root(f"{tmp_path}/files"))
    together = {
        "predictions": log("SELECT * FROM together", "scored_at", time="scored_at"),
        "outcomes": {"in_predictions": True, "time": "observed_at"},
    }
    mixed = files | {
        "predictions": log("SELECT * FROM scores -- all of them", "scored_at", time="scored_at")
    }

    expected = bytes_of(files, tmp_path / "a")
    assert bytes_of(together, tmp_path / "b") == bytes_of(mixed, tmp_path / "c") == expected
    assert bytes_of(together, tmp_path / "d", WAREHOUSE) == expected
    with pytest.raises(ConfigError, match=r"no connection in common; .*engine\.kind: duckdb"):
        bytes_of(mixed, tmp_path / "e", WAREHOUSE)


CHANGES = (
    "UPDATE changing SET outcome = 1 - outcome WHERE prediction_id = {}",
    "INSERT INTO changing SELECT * FROM changing WHERE prediction_id = {}",
    "DELETE FROM changing WHERE prediction_id = {}",
)


@pytest.mark.parametrize("settings", [{}, {"changed": "touched"}], ids=["rows", "changed"])
def test_a_change_is_noticed_on_its_day_only(settings: dict[str, str], database: str) -> None:
    """A day is read again if one of its rows changed, even if count and times stay as they were."""
    change(
        database,
        "DROP TABLE IF EXISTS changing",
        "CREATE TABLE changing AS SELECT *, timestamp '2026-01-01' AS touched FROM outcomes",
    )
    model = Model.model_validate(
        {
            "predictions": log("SELECT * FROM scores", "scored_at"),
            "outcomes": log("SELECT * FROM changing", "observed_at", **settings),
            "settled_after": 1,
        }
    )

    @looking_once()
    def described() -> list[Any]:
        return [describe_inputs(model, day, [day])[1] for day in DAYS[:3]]

    row = next(row for row in ROWS if row["observed_at"] and row["observed_at"].date() == DAYS[1])
    touch = "UPDATE changing SET touched = '2025-12-31' WHERE prediction_id = {}"  # not the newest
    before = described()
    assert described() == before
    for statement in CHANGES:
        change(database, *(s.format(row["prediction_id"]) for s in (touch, statement)))
        after = described()
        assert [old == new for old, new in zip(before, after, strict=True)] == [True, False, True]
        before = after


def test_both_logs_are_read_in_one_snapshot(database: str) -> None:
    """What is written while a run reads is not there for it, neither on this nor another day."""
    change(database, "DROP TABLE IF EXISTS growing", "CREATE TABLE growing AS TABLE outcomes")
    logs = of_tables() | {"outcomes": log("SELECT * FROM growing", "observed_at")}
    model = Model.model_validate({"settled_after": 1, **logs})

    with looking_once():
        before = summarise_day("ctr", model, DAYS[0], as_of=LONG_AFTER, engine=ENGINE)
        change(database, "DELETE FROM growing", "DELETE FROM scores WHERE FALSE")
        again = summarise_day("ctr", model, DAYS[0], as_of=LONG_AFTER, engine=ENGINE)

    assert again.segments["all"].tally.total == before.segments["all"].tally.total > 0
    assert days_of(model, "outcomes") == []


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("name", ["counted", "newest", "total"])
def test_the_column_of_the_day_may_have_any_name(name: str) -> None:
    """Also one that a column of the query for days might have."""
    usual, named = (
        Model.model_validate(of_tables() | {"predictions": log(f"SELECT {sql}", day)})
        for day, sql in (("at", AS_AT), (name, AS_AT.replace(" at ", f" {name} ")))
    )
    assert days_of(named, "predictions") == days_of(usual, "predictions")


@pytest.mark.usefixtures("database")
def test_a_day_that_a_filter_leaves_nothing_of_is_empty_there_too() -> None:
    """With the message of rows that are read here."""
    described = of_tables()
    described["predictions"]["where"] = "score > 2"
    model, said = Model.model_validate({"settled_after": 1, **described}), list[str]()
    for engine in (ENGINE, WAREHOUSE):
        with pytest.raises(DataError) as refusal, looking_once():
            summarise_day("ctr", model, DAYS[0], as_of=LONG_AFTER, engine=engine)
        said.append(str(refusal.value))
    assert "the log contains no valid prediction" in said[0]
    assert said[0] == said[1]


AS_AT = "scored_at AS at FROM scores"
REFUSED = {
    "numeric": (
        f"SELECT prediction_id, score::numeric AS score, {AS_AT}",
        "column 'score' of the predictions is numeric; write score::double precision AS score in",
    ),
    "money": (
        f"SELECT prediction_id, (score * 100)::numeric::money AS score, {AS_AT}",
        "column 'score' of the predictions is money; write score::numeric::double precision AS",
    ),
    "infinity": (
        "SELECT prediction_id, score, timestamptz 'infinity' AS at FROM scores",
        "of the query holds the time infinity, which is no time; leave out these rows with isfini",
    ),
    "infinity of a date": (
        "SELECT prediction_id, score, date '-infinity' AS at FROM scores",
        "column 'at' of the query holds the time infinity",
    ),
    "days as text": (
        "SELECT prediction_id, score, scored_at::text AS at FROM scores",
        "column 'at' of the predictions is VARCHAR, must be a date or a timestamp; convert it in",
    ),
    "no day": (
        "SELECT prediction_id, score, NULLIF(scored_at, scored_at) AS at FROM scores",
        "180 rows of the predictions at MONITOR_TEST_WAREHOUSE have no day, because column 'at' is",
    ),
    "an unknown column": (
        f"SELECT prediction_id, scor AS score, {AS_AT}",
        'in MONITOR_TEST_WAREHOUSE failed: column "scor" does not exist (SQLSTATE 42703); correct',
    ),
    "a column twice": (
        f"SELECT *, 1 AS score, {AS_AT}",
        "gives two columns score; upper and lower case do not differ; give one of them another",
    ),
    "a change of the database": (
        "WITH gone AS (DELETE FROM scores RETURNING *) SELECT *, scored_at AS at FROM gone",
        "failed: WITH clause containing a data-modifying statement must be at the top level (",
    ),
    "two queries": ("SELECT 1; DROP TABLE scores", "failed: syntax error at or near"),
    "a value that cannot be converted": (
        f"SELECT prediction_id, CAST(country AS float) AS score, {AS_AT}",
        "invalid input syntax for type double precision",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_query_must_not_give_is_named(case: str, database: str) -> None:
    """The message has the column or what the server says, and what to write instead."""
    sql, expected = REFUSED[case]
    model = Model.model_validate({**of_tables(), "predictions": log(sql, "at")})

    with pytest.raises(DataError) as refusal:
        summarise_day("ctr", model, DAYS[0], as_of=LONG_AFTER, engine=ENGINE)

    assert expected in str(refusal.value)
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM scores").fetchone() == (180,)


@pytest.mark.usefixtures("database")
def test_spark_does_not_read_a_query() -> None:
    """The message has the setting to change."""
    model = Model.model_validate(of_tables())
    with pytest.raises(ConfigError, match=r"format: sql is read by DuckDB only; set engine\.kind"):
        open_log(Session("ctr", duckdb.connect(), spark=object()), model, "predictions", DAYS[:1])


def test_a_missing_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an address nothing is tried."""
    monkeypatch.delenv(ADDRESS, raising=False)
    with pytest.raises(ConfigError, match=f"the environment variable {ADDRESS} is not set"):
        days_of(Model.model_validate(of_tables()), "predictions")


def test_a_server_that_does_not_answer_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that is accepted and never answered ends, too."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        monkeypatch.setenv(
            ADDRESS, f"postgresql://me:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/x"
        )
        monkeypatch.setenv("PGCONNECT_TIMEOUT", "2")  # the shortest
        with pytest.raises(DataError, match="no server answered"):
            days_of(Model.model_validate(of_tables()), "predictions")


@pytest.mark.usefixtures("database")
def test_a_query_is_waited_for_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that works, or sends, without end."""
    with looking_once():
        snapshot = queries.take_snapshot(ADDRESS)
        monkeypatch.setattr(queries, "LONGEST", 0.5)
        monkeypatch.setattr(queries, "END_SECONDS", 0.1)
        with pytest.raises(DataError, match=r"gave no whole answer within 0\.5 seconds"):
            queries.ask(ADDRESS, snapshot, "SELECT pg_sleep(60)")


TOKENS = st.text("0123456789abcdef", min_size=8, max_size=8)
SIGNS = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=3)
FORMS = [
    "postgresql://{user}:{secret}@{place}/{name}",
    "postgresql://{user}:{secret}@{place}/{name}?password={secret}",
    "postgresql://{secret}@{place}",
    "postgresql://{place}/{secret}",
    "postgres:/{user}:{secret}@{place}",
    "{user}:{secret}@{place}",
    "user={user} password={secret} host=127.0.0.1 port=1",
    "user={user} password='{secret} host=127.0.0.1",
    "password = {secret} host=127.0.0.1 port=1",
    "{secret}",
    "postgresql://{place}/?{secret}=1",
    "postgresql://{place}/?sslmode={secret}",
    "postgresql://{user}:%{secret}@{place}/{name}",
    "postgresql://{user}:{secret}@{place}:{secret}/{name}",
    "postgresql://127.0.0.1:1/{secret}?connect_timeout={secret}",
]


@st.composite
def secrets(draw: st.DrawFn) -> tuple[str, list[str]]:
    """Draw a password of any signs, and parts of it that no other text has by chance."""
    tokens = [draw(TOKENS), draw(TOKENS)]
    return draw(SIGNS) + tokens[0] + draw(SIGNS) + tokens[1] + draw(SIGNS), tokens


def told(error: BaseException) -> str:
    """Give everything that a log could show of an error, with all that it is linked to."""
    shown, linked = list[str](), [error]
    while linked:
        one = linked.pop()
        shown += [str(one), repr(one), *traceback.format_exception(one)]
        linked += [other for other in (one.__cause__, one.__context__) if other]
    return "\n".join(shown)


@given(drawn=secrets(), form=st.sampled_from(FORMS), escaped=st.booleans())
@settings(max_examples=a_fifth(50), deadline=None)
def test_no_text_has_a_part_of_an_address(
    server: str, drawn: tuple[str, list[str]], form: str, *, escaped: bool
) -> None:
    """Whatever an address is, an error about it holds neither its password nor another part."""
    secret, tokens = drawn
    place = server.rpartition("@")[2].partition("/")[0]
    written = quote(secret, safe="") if escaped else secret
    address = form.format(user="zq_user", secret=written, place=place, name="zq_name")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ADDRESS, address)
        with pytest.raises(DataError) as refusal:
            days_of(Model.model_validate(of_tables()), "predictions")

    shown = told(refusal.value)
    assert [part for part in (*tokens, "zq_user", "zq_name", place) if part in shown] == []


@given(drawn=secrets())
@settings(max_examples=6, deadline=None)
def test_no_message_of_the_server_has_a_part_of_an_address(
    server: str, drawn: tuple[str, list[str]]
) -> None:
    """A query that finds out what the address says fails without showing it."""
    secret, tokens = drawn
    asking = "('x' || current_setting('application_name'))::int", "current_user::text::date"
    for value in asking:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(ADDRESS, f"{server}?application_name={quote(secret, safe='')}")
            with pytest.raises(DataError, match="an error that is not shown") as refusal:
                queries.ask(ADDRESS, None, f"SELECT {value} AS value")
        assert not any(token in told(refusal.value) for token in tokens)


COMPLAINTS = [
    ({"connection": "postgresql://me:hush@h/x"}, "predictions.connection: must be the name of an"),
    ({"connection": None}, "predictions: format: sql needs connection too"),
    ({"sql": " ; "}, "predictions.sql: must be a query, such as SELECT id"),
    ({"day": None}, "predictions: format: sql needs day too"),
    ({"path": "p/{day}.parquet"}, "predictions.path: is for files; remove it, because the rows"),
    ({"format": "parquet"}, "predictions: sql needs format: sql"),
    ({"day": {"column": "a", "field": "b"}}, "day and changed must be columns of the query; give"),
]


@pytest.mark.parametrize(("settings", "expected"), COMPLAINTS)
def test_settings_of_a_query_are_checked(
    settings: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    """What is missing or too much is named; an address in the place of a name is not shown."""
    logs = of_tables()
    logs["predictions"] = {k: v for k, v in (logs["predictions"] | settings).items() if v}
    if settings.get("format"):
        logs["predictions"] |= {"path": "p/{day}.parquet", "day": None}
    path = tmp_path / "monitor.yaml"
    path.write_text(yaml.safe_dump({"store": "store", "models": {"ctr": logs}}))
    with pytest.raises(ConfigError) as refusal:
        load_config(path).model("ctr")

    assert expected in str(refusal.value)
    assert "hush" not in str(refusal.value)


def place(name: str) -> dict[str, str]:
    """Say where a log is in the database."""
    return {"format": "sql", "sql": f"SELECT * FROM w_{name}", "connection": ADDRESS}  # noqa: S608


@pytest.fixture(scope="module")
def counted(server: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the logs of the array as files and as tables, where times have a zone."""
    folder = tmp_path_factory.mktemp("counted")
    for name, table in tables().items():
        pq.write_table(table, folder / f"{name}.parquet")
        write(server, f"w_{name}", table)
    return folder


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("number", some(range(len(cases())), 6))
def test_rows_that_are_counted_there_leave_the_bytes_of_files(number: int, counted: Path) -> None:
    """Of a day that is final and of one that waits, with what is left out and why."""
    case = cases()[number]
    there, here = (
        model_of_rows(case, at)
        for at in (place, lambda name: {"path": f"{counted}/{name}.parquet"})
    )
    with looking_once():
        for day in (DAY_ONE, LAST):
            theirs = summarise_day("m", there, day, as_of=AS_OF, engine=WAREHOUSE)
            ours = summarise_day("m", here, day, as_of=AS_OF, engine=ENGINE)
            assert content(theirs) == content(ours), case
            assert theirs.unlisted == ours.unlisted, case
            for setting, (rows, of) in ours.left_out.items():
                left, all_rows = theirs.left_out[setting]
                assert left == rows, (case, setting)
                assert all_rows == of or "where" not in setting, (case, setting)
            assert sum(theirs.rejected.values()) > 0


TYPED = "SELECT *, 0.5::float8 AS size, '1' AS at_text FROM w_predictions"
NOT_COUNTED: dict[str, tuple[dict[str, Any], str]] = {
    "a number in a text": (
        {"segments": {"column": "size", "values": ["0.5"]}},
        "segments.column is double; cast it to text in the query under sql, or set engine.kind:",
    ),
    "a time in a text": (
        {"predictions": {"time": "at_text"}},
        "predictions.time is string; cast it to a timestamp",
    ),
    "an entity": (
        {"predictions": {"entity": "device"}},
        "predictions.entity: counts do not say .*; or set engine.kind: duckdb, which brings",
    ),
    "a missing column": ({"predictions": {"score": "odds"}}, "no column 'odds'"),
    "a filter": (
        {"outcomes": {"where": "regexp_matches(version, 'v')"}},
        "may mean something else in postgres",
    ),
}


@pytest.mark.usefixtures("database", "counted")
@pytest.mark.parametrize("case", NOT_COUNTED)
def test_what_cannot_be_counted_there_is_refused(case: str) -> None:
    """With the setting, the reason, and what works instead."""
    changed, said = NOT_COUNTED[case]
    logs = {
        "predictions": log(TYPED, "scored_on"),
        "outcomes": log("SELECT * FROM w_outcomes", "seen_on", time="observed_at"),
    }
    logs = {kind: of | changed.get(kind, {}) for kind, of in logs.items()}
    model = Model.model_validate({**changed, **logs, "settled_after": 3})
    with pytest.raises((ConfigError, DataError), match=said):
        summarise_day("m", model, DAY_ONE, as_of=AS_OF, engine=WAREHOUSE)


@pytest.mark.usefixtures("database")
def test_results_are_written_into_a_database(database: str) -> None:
    """The rows of the same models and days are replaced, and the driver's words stay inside."""
    days = DAY_ONE, LAST
    row = {"model": "it's", "day": LAST, "known_at": datetime(2026, 3, 13, tzinfo=UTC)}
    place = f"postgresql:{ADDRESS}"
    for state in ("sound", "drift"):
        assert (
            write_table(
                place, [row | {"state": state, "slope": 1.5}], ["it's"], days, queries.replace_rows
            )
            == 1
        )
    assert (
        write_table(place, [{"model": "other", "day": LAST}], ["other"], days, queries.replace_rows)
        == 1
    )

    with psycopg.connect(database) as connection:
        asked = "SELECT model, day, known_at, state, slope, ece FROM calibration_results ORDER BY 1"
        kept = connection.execute(asked.encode()).fetchall()
        connection.execute(b"DROP TABLE calibration_results")
    assert kept[0] == (*row.values(), "drift", 1.5, None)
    assert [model for model, *_ in kept] == ["it's", "other"]
    with pytest.raises(ConfigError, match="NO_SUCH_VARIABLE is not set; set it to the address"):
        write_table("postgresql:NO_SUCH_VARIABLE", [], [], days, queries.replace_rows)
