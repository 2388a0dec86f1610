"""The demo's logs: real flights, a model without hindsight, and one drift of known size."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import expit, logit

from monitor.demo import flights as demo_flights
from monitor.demo.flights import DayOutcomes, FlightsLogs, flight_table, write_flights_logs
from monitor.errors import ConfigError, DataError
from tests.support.flight_logs import flight_logs

if TYPE_CHECKING:
    from pathlib import Path

HOME = ZoneInfo("America/New_York")
MODELS = ("flights", "flights-stretched", "flights-shifted")
FIRST_DAY, LAST_DAY, LAST_LANDING = date(2013, 3, 1), date(2013, 12, 31), date(2014, 1, 1)

MOMENT = pa.timestamp("us", tz="UTC")
PREDICTION_TYPES: dict[str, pa.DataType] = {
    "prediction_id": pa.string(),
    "score": pa.float64(),
    "scored_at": MOMENT,
    "origin": pa.string(),
    "carrier": pa.string(),
}
OUTCOME_TYPES: dict[str, pa.DataType] = {
    "prediction_id": pa.string(),
    "outcome": pa.int8(),
    "observed_at": MOMENT,
}

# The one flight whose clock time does not exist at its destination.
SKIPPED_HOUR = "2013-03-09-B635-JFK-PBI-2145"


@dataclass(frozen=True)
class Written:
    """The logs of one call, and its output."""

    root: Path
    result: FlightsLogs
    days: list[date]


def calendar(last: date) -> list[str]:
    """Return the names of the days from the first to ``last``."""
    return [str(FIRST_DAY + timedelta(number)) for number in range((last - FIRST_DAY).days + 1)]


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def read(folder: Path) -> pd.DataFrame:
    """Return all rows of a folder by id, each with the day of its file."""
    paths = sorted(folder.iterdir())
    parts = [pq.ParquetFile(path).read() for path in paths]
    rows = pa.concat_tables(parts).to_pandas()
    rows["file"] = np.repeat([path.stem for path in paths], [len(part) for part in parts])
    return rows.set_index("prediction_id")


def departures(flights: pd.DataFrame) -> pd.Series:
    """Return the moments of departure, from the schedule on New York's clocks and the delay."""
    hour, minute = divmod(flights["sched_dep_time"], 100)
    clock = flights[["month", "day"]].assign(year=2013, hour=hour, minute=minute)
    scheduled = pd.to_datetime(clock)
    return scheduled.dt.tz_localize(HOME) + pd.to_timedelta(flights["dep_delay"], unit="min")


def one_hot(flights: pd.DataFrame, *, seen: pd.DataFrame) -> np.ndarray:
    """Return a column of ones and one column for each category of the flights seen."""
    columns = [np.ones(len(flights))]
    flights, seen = (table.assign(hour=table["sched_dep_time"] // 100) for table in (flights, seen))
    for name in ("carrier", "origin", "dest", "hour"):
        columns += [flights[name] == category for category in sorted(set(seen[name]))]
    weekdays = pd.to_datetime(flights[["month", "day"]].assign(year=2013)).dt.strftime("%a")
    columns += [
        weekdays == weekday for weekday in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    ]
    return np.column_stack(columns).astype(np.float64)


def kinds_of(flights: pd.DataFrame) -> tuple[np.ndarray, pd.DataFrame]:
    """Return the number of each flight's schedule, as the model sees it, and a flight of each."""
    weekdays = pd.to_datetime(flights[["month", "day"]].assign(year=2013)).dt.day_of_week
    schedule = [flights[name] for name in ("carrier", "origin", "dest")]
    alike = flights.groupby([*schedule, flights["sched_dep_time"] // 100, weekdays], sort=False)
    numbers = alike.ngroup()
    return numbers.to_numpy(), flights[~numbers.duplicated().to_numpy()]


def spoil_after_february(raw: pd.DataFrame) -> pd.DataFrame:
    """Return the table with nonsense for what happened to the flights of 1 March to 30 December."""
    later = (raw["month"] > 2) & ~((raw["month"] == 12) & (raw["day"] == 31))
    nonsense = np.random.default_rng(2013).uniform(-1000, 1000, size=len(raw))
    happened = ["dep_delay", "arr_time", "air_time"]
    spoilt = {name: raw[name].where(~later, nonsense) for name in happened}
    return raw.assign(arr_delay=raw["arr_delay"].where(~later), **spoilt)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Write the logs once."""
    return Written(*flight_logs(tmp_path_factory))


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Write the logs once more, from the table with nonsense from March on."""
    root = tmp_path_factory.mktemp("spoilt")
    table = spoil_after_february(flight_table())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo_flights, "flight_table", lambda: table)
        return Written(root, write_flights_logs(root), [])


@pytest.fixture(scope="module")
def plain(written: Written) -> pd.DataFrame:
    """Return the predictions of the model as it was trained."""
    return read(written.root / "predictions" / "flights")


@pytest.fixture(scope="module")
def stretched(written: Written) -> pd.DataFrame:
    """Return the predictions of the model that drifts."""
    return read(written.root / "predictions" / "flights-stretched")


@pytest.fixture(scope="module")
def outcomes(written: Written) -> pd.DataFrame:
    """Return the outcomes."""
    return read(written.root / "outcomes")


@pytest.fixture(scope="module")
def flights() -> pd.DataFrame:
    """Return the raw flights from March on, by ids made here one by one."""
    raw = flight_table()
    raw = raw[raw["month"] >= 3]
    ids = [
        f"2013-{row.month:02}-{row.day:02}-{row.carrier}{row.flight}-{row.origin}-{row.dest}"
        f"-{row.sched_dep_time:04}"
        for row in raw.itertuples()
    ]
    return raw.set_axis(ids)


@pytest.fixture(scope="module")
def arrivals(flights: pd.DataFrame, outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return the raw flights that arrived, with their outcomes."""
    return flights.join(outcomes, how="inner")


class TestCounts:
    """Every flight is in the logs, once."""

    def test_every_flight_from_march_on_is_predicted_by_both_models(
        self,
        flights: pd.DataFrame,
        plain: pd.DataFrame,
        stretched: pd.DataFrame,
    ) -> None:
        """Both models score exactly the 284,821 flights of the raw table from March on."""
        assert 284_821 == len(flights) == len(plain) == len(stretched)
        assert set(flights.index) == set(plain.index) == set(stretched.index)

    def test_every_flight_that_arrived_has_its_outcome(
        self, flights: pd.DataFrame, outcomes: pd.DataFrame
    ) -> None:
        """The outcomes are exactly the 277,337 flights with an arrival delay, late above 15."""
        delays = flights["arr_delay"].dropna()

        assert 277_337 == len(delays) == len(outcomes)
        assert set(delays.index) == set(outcomes.index)
        assert ((delays > 15) == (outcomes["outcome"].loc[delays.index] == 1)).all()
        assert {0, 1} == set(outcomes["outcome"])

    def test_no_id_comes_twice(
        self, plain: pd.DataFrame, stretched: pd.DataFrame, outcomes: pd.DataFrame
    ) -> None:
        """Over all days, an id names one prediction of a model and at most one outcome."""
        assert plain.index.is_unique
        assert stretched.index.is_unique
        assert outcomes.index.is_unique

    def test_a_prediction_lies_in_the_file_of_its_flights_day(
        self, plain: pd.DataFrame, stretched: pd.DataFrame
    ) -> None:
        """The file's day is the day that the flight's id begins with."""
        assert (plain.index.str[:10] == plain["file"]).all()
        assert (stretched.index.str[:10] == stretched["file"]).all()

    def test_the_segments_are_those_of_the_flight(
        self, flights: pd.DataFrame, plain: pd.DataFrame
    ) -> None:
        """Origin and carrier are copied from the raw table."""
        assert flights["origin"].equals(plain["origin"].loc[flights.index])
        assert flights["carrier"].equals(plain["carrier"].loc[flights.index])

    def test_the_result_tells_what_is_there(self, written: Written) -> None:
        """The returned numbers are those counted in the raw table."""
        raw = flight_table()
        delays = raw.loc[raw["month"] <= 2, "arr_delay"].dropna()

        assert written.result.models == MODELS
        assert (written.result.first_day, written.result.last_day) == (FIRST_DAY, LAST_DAY)
        assert (written.result.predictions, written.result.outcomes) == (284_821, 277_337)
        assert 50_009 == len(delays) == written.result.training_flights
        assert (delays > 15).sum() == 11_419
        assert written.result.training_prevalence == 11_419 / 50_009

    def test_the_late_share_of_a_day_ranges_from_4_to_79_percent(
        self, written: Written, outcomes: pd.DataFrame
    ) -> None:
        """The calmest and the worst day are these, counted from the files by flight's day."""
        by_day = outcomes["outcome"].groupby(outcomes.index.str[:10]).agg(["size", "sum", "mean"])
        lowest, highest = by_day["mean"].idxmin(), by_day["mean"].idxmax()

        assert (lowest, *by_day.loc[lowest, ["size", "sum"]]) == ("2013-10-02", 973, 37)
        assert (highest, *by_day.loc[highest, ["size", "sum"]]) == ("2013-03-08", 798, 632)
        assert DayOutcomes(date(2013, 10, 2), arrived=973, late=37) == written.result.calmest
        assert DayOutcomes(date(2013, 3, 8), arrived=798, late=632) == written.result.worst
        assert written.result.calmest.late_share == 37 / 973

    def test_every_day_is_reported_once_and_in_order(self, written: Written) -> None:
        """The callback sees each of the 306 scored days."""
        assert len(written.days) == 306
        assert calendar(LAST_DAY) == [str(day) for day in written.days]


class TestFiles:
    """The layout, the types and the bytes."""

    def test_there_is_a_file_for_every_day_and_nothing_else(self, written: Written) -> None:
        """Predictions go to 31 December, outcomes to 1 January, and no leftovers lie about."""
        expected = {f"outcomes/{day}.parquet" for day in calendar(LAST_LANDING)} | {
            f"predictions/{model}/{day}.parquet" for model in MODELS for day in calendar(LAST_DAY)
        }

        assert expected == set(contents(written.root))

    @pytest.mark.parametrize(
        ("folder", "types"),
        [
            ("predictions/flights", PREDICTION_TYPES),
            ("predictions/flights-stretched", PREDICTION_TYPES),
            ("outcomes", OUTCOME_TYPES),
        ],
    )
    def test_every_file_has_the_exact_types_order_and_compression(
        self, written: Written, folder: str, types: dict[str, pa.DataType]
    ) -> None:
        """Names, types and their order are the contract's, rows go by id, nothing is null."""
        for path in (written.root / folder).iterdir():
            file = pq.ParquetFile(path)
            table = file.read()
            ids = table["prediction_id"].to_numpy().tolist()
            group = file.metadata.row_group(0)

            assert pa.schema(types).equals(table.schema, check_metadata=True)
            assert sorted(ids) == ids
            assert sum(column.null_count for column in table.columns) == 0
            assert {"ZSTD"} == {group.column(i).compression for i in range(group.num_columns)}

    def test_a_day_on_which_no_flight_landed_has_an_empty_typed_file(
        self, flights: pd.DataFrame, spoilt: Written
    ) -> None:
        """When only flights of 31 December arrive, each earlier day has a file without rows."""
        tables = {path.stem: pq.read_table(path) for path in (spoilt.root / "outcomes").iterdir()}
        filled = {day for day, table in tables.items() if len(table) > 0}
        arrived = flights.loc[flights.index.str.startswith("2013-12-31"), "arr_delay"].count()

        assert calendar(LAST_LANDING) == sorted(tables)
        assert {"2013-12-31", "2014-01-01"} == filled
        assert arrived == sum(len(table) for table in tables.values()) == spoilt.result.outcomes
        assert all(table.schema.equals(pa.schema(OUTCOME_TYPES)) for table in tables.values())

    def test_writing_again_gives_the_same_bytes(self, written: Written, tmp_path: Path) -> None:
        """A second run, over a file that was damaged, leaves the same bytes everywhere."""
        damaged = tmp_path / "outcomes" / "2013-07-04.parquet"
        damaged.parent.mkdir()
        damaged.write_bytes(b"half a file")

        result = write_flights_logs(tmp_path)

        assert written.result == result
        assert contents(written.root) == contents(tmp_path)

    def test_a_failed_write_leaves_the_old_file_and_no_other(
        self, written: Written, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A disk that fills up half-way through a file changes nothing that can be read."""

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        before = contents(written.root)
        monkeypatch.setattr("os.fsync", full)

        with pytest.raises(DataError, match="No space left"):
            write_flights_logs(written.root)

        assert before == contents(written.root)


class TestScores:
    """The model knows only the schedule and two months."""

    def test_scores_are_those_of_a_logistic_regression_fitted_by_hand(
        self, flights: pd.DataFrame, plain: pd.DataFrame
    ) -> None:
        """Newton's method on the schedule of January and February gives every score.

        The minimised function is the sum of the log losses plus half the squared length of the
        weights, the intercept not counted. Tolerance: scores are rounded to six decimals, and both
        fits end within 1e-9 of the optimum.
        """
        raw = flight_table()
        seen = raw[(raw["month"] <= 2) & raw["arr_delay"].notna()]
        alike, kinds = kinds_of(seen)
        x, total = one_hot(kinds, seen=seen), np.bincount(alike)
        late = np.bincount(alike, weights=seen["arr_delay"] > 15)
        penalty = np.diag([0.0] + [1.0] * (x.shape[1] - 1))
        weights = np.zeros(x.shape[1])
        for _ in range(8):
            p = expit(x @ weights)
            gradient = x.T @ (total * p - late) + penalty @ weights
            curved = (x * (total * p * (1 - p))[:, None]).T @ x + penalty
            weights -= np.linalg.solve(curved, gradient)

        alike, kinds = kinds_of(flights)
        expected = expit(one_hot(kinds, seen=seen) @ weights)[alike]

        np.testing.assert_allclose(plain["score"].loc[flights.index], expected, rtol=0, atol=6e-7)

    def test_no_later_flight_and_no_fact_of_the_flight_itself_moves_a_score(
        self, written: Written, spoilt: Written
    ) -> None:
        """With nonsense for all that happened from March on, the predictions keep their bytes."""
        assert spoilt.result.predictions == 284_821
        assert contents(written.root / "predictions") == contents(spoilt.root / "predictions")

    def test_the_flights_of_february_do_move_the_scores(
        self, plain: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The test before this one can fail: turning round February's delays moves every score."""
        raw = flight_table()
        delays = raw["arr_delay"].where(raw["month"] != 2, -raw["arr_delay"])
        moved_delays = raw.assign(arr_delay=delays)
        tables: dict[Path, pa.Table] = {}
        monkeypatch.setattr(demo_flights, "flight_table", lambda: moved_delays)
        monkeypatch.setattr(demo_flights, "write_log", tables.__setitem__)

        write_flights_logs(tmp_path)
        folder = tmp_path / "predictions" / "flights"
        scored = pa.concat_tables(tables[path] for path in sorted(tables) if path.parent == folder)
        moved = scored.to_pandas().set_index("prediction_id")["score"] != plain["score"]

        assert moved.all()

    def test_scores_can_be_used_as_probabilities(
        self, plain: pd.DataFrame, stretched: pd.DataFrame
    ) -> None:
        """No score comes near 0 or 1; these are the ends of the fit and of the stretch."""
        assert (plain["score"].min(), plain["score"].max()) == (0.034286, 0.693392)
        assert (stretched["score"].min(), stretched["score"].max()) == (0.004768, 0.786783)

    def test_a_flight_is_scored_when_its_day_begins_in_new_york(self, plain: pd.DataFrame) -> None:
        """All flights of a day are scored at its midnight, in winter 5 h behind UTC, else 4."""
        midnight = " 00:00:00.000000"
        local = plain["scored_at"].dt.tz_convert(HOME)
        scored_at = plain.groupby("file")["scored_at"].first()

        assert (local.dt.strftime("%Y-%m-%d %H:%M:%S.%f") == plain["file"] + midnight).all()
        assert pd.Timestamp("2013-03-10 05:00", tz="UTC") == scored_at["2013-03-10"]
        assert pd.Timestamp("2013-03-11 04:00", tz="UTC") == scored_at["2013-03-11"]


class TestStretch:
    """The second model drifts by a known amount from a known day."""

    def test_until_the_end_of_may_both_models_say_the_same(
        self, plain: pd.DataFrame, stretched: pd.DataFrame
    ) -> None:
        """Up to 31 May the files of both models hold equal rows."""
        before = plain["file"] < "2013-06-01"

        assert before.sum() == 85_960
        assert plain[before].equals(stretched[before])

    def test_from_june_on_the_logits_are_longer_by_six_tenths(
        self, plain: pd.DataFrame, stretched: pd.DataFrame
    ) -> None:
        """From 1 June each logit is 1.6 times the model's.

        Tolerance: each score is off by half of 1e-6 from rounding. An error in the plain score
        grows at most 1.6 times on its way through the stretch: s (1 - s) <= p (1 - p) there.
        """
        after = plain["file"] >= "2013-06-01"
        score, drifted = plain["score"][after], stretched["score"][after]
        slope = logit(score) @ logit(drifted) / (logit(score) @ logit(score))

        np.testing.assert_allclose(drifted, expit(1.6 * logit(score)), rtol=0, atol=1.3e-6)
        assert pytest.approx(slope, abs=1e-6) == 1.6

    def test_nothing_but_the_score_differs(
        self, plain: pd.DataFrame, stretched: pd.DataFrame
    ) -> None:
        """Both models score the same flights at the same moments."""
        assert plain.drop(columns="score").equals(stretched.drop(columns="score"))


class TestArrivals:
    """An outcome is known when the flight has arrived, not before."""

    def test_the_clocks_at_the_destination_show_the_logged_time(
        self, arrivals: pd.DataFrame
    ) -> None:
        """For every flight but one, the moment seen at the destination is the raw arrival time.

        The one logged 2:03 in the hour that was skipped on 10 March: there the clocks showed 3:03.
        """
        zones = arrivals.groupby("dest")["dest_zone"].agg("first")
        zones[["BQN", "PSE", "SJU", "STT"]] = "Etc/GMT+4"
        shown = pd.concat(
            group["observed_at"].dt.tz_convert(zones[destination]).dt.strftime("%H%M").astype(int)
            for destination, group in arrivals.groupby("dest")
        )
        other = shown[shown != arrivals["arr_time"].loc[shown.index] % 2400]

        assert other.to_dict() == {SKIPPED_HOUR: 303}
        assert arrivals["arr_time"][SKIPPED_HOUR] == 203

    def test_the_rest_of_the_journey_is_taxiing(self, arrivals: pd.DataFrame) -> None:
        """Between departure and arrival lie the flight and 5 to 235 minutes on the ground.

        At each destination the middle flight spends 19 to 38 minutes on the ground. A time zone
        that is wrong by an hour would put some destination outside.
        """
        journey = (arrivals["observed_at"] - departures(arrivals)) / pd.Timedelta(minutes=1)
        on_ground = journey - arrivals["air_time"]
        middle = on_ground.groupby(arrivals["dest"]).median()

        assert (on_ground.min(), on_ground.max()) == (5, 235)
        assert len(middle) == 104
        assert (middle.min(), middle.max()) == (19, 38)

    def test_an_outcome_lies_in_the_file_of_the_day_on_which_it_was_seen(
        self, outcomes: pd.DataFrame
    ) -> None:
        """The file's day is New York's date at the arrival."""
        local = outcomes["observed_at"].dt.tz_convert(HOME).dt.strftime("%Y-%m-%d")

        assert (local == outcomes["file"]).all()

    def test_flights_that_land_after_midnight_are_in_the_next_days_file(
        self, outcomes: pd.DataFrame
    ) -> None:
        """The file is that of the flight's day or, for 23,442 flights, of the next."""
        behind = pd.to_datetime(outcomes["file"]) - pd.to_datetime(outcomes.index.str[:10])

        assert behind.dt.days.value_counts().to_dict() == {0: 253_895, 1: 23_442}
        assert "2014-01-01" in set(outcomes["file"])

    def test_every_outcome_has_its_prediction_and_comes_after_it(
        self, plain: pd.DataFrame, outcomes: pd.DataFrame
    ) -> None:
        """No outcome is an orphan, and none is known when its flight is scored."""
        scored_at = plain["scored_at"].reindex(outcomes.index)
        wait = outcomes["observed_at"] - scored_at

        assert scored_at.isna().sum() == 0
        assert wait.min() > pd.Timedelta(0)
        assert wait.max() < pd.Timedelta(days=2)

    @pytest.mark.parametrize(
        ("prediction_id", "observed_at"),
        [
            # 09:00 + 4 min is 14:04 UTC, 617 min in the air; 14:38 in Honolulu, 10 h behind UTC.
            ("2013-03-01-HA51-JFK-HNL-0900", "2013-03-02 00:38"),
            # 21:15 + 53 min is 02:08 UTC, 196 min; 01:55 in San Juan, 4 h behind in July too.
            ("2013-07-01-DL347-JFK-SJU-2115", "2013-07-02 05:55"),
            # 06:55 + 5 min is 11:00 UTC, 280 min; 09:04 in Phoenix, 7 h behind in July too.
            ("2013-07-01-US334-EWR-PHX-0655", "2013-07-01 16:04"),
            # 16:15 + 14 min is 20:29 UTC, 418 min; 19:54 in Anchorage, 8 h behind in July.
            ("2013-07-06-UA887-EWR-ANC-1615", "2013-07-07 03:54"),
            # 23:59 + 18 min is 05:17 UTC, 186 min; 04:43 in Aguadilla, 4 h behind.
            ("2013-12-01-B6839-JFK-BQN-2359", "2013-12-02 08:43"),
            # 20:54 - 14 min is 00:40 UTC, 321 min; "2400" in Los Angeles, 7 h behind.
            ("2013-10-01-B6523-JFK-LAX-2054", "2013-10-02 07:00"),
            # 19:35 + 1137 min is 18:32 UTC the next day, 74 min; 16:07 in Columbus, 4 h behind.
            ("2013-06-15-MQ3535-JFK-CMH-1935", "2013-06-16 20:07"),
            # The night the clocks go back, hours later in Los Angeles than in New York:
            # 20:40 - 2 min is 00:38 UTC, 341 min; 00:10 in Los Angeles, still 7 h behind.
            ("2013-11-02-B6523-JFK-LAX-2040", "2013-11-03 07:10"),
            # The night they go forward: 02:03 in Palm Beach by clocks still 5 h behind.
            (SKIPPED_HOUR, "2013-03-10 07:03"),
        ],
    )
    def test_arrivals_worked_out_by_hand(
        self, outcomes: pd.DataFrame, prediction_id: str, observed_at: str
    ) -> None:
        """These arrivals were converted by hand from the raw rows in the comments."""
        assert pd.Timestamp(observed_at, tz="UTC") == outcomes["observed_at"][prediction_id]


class TestRefusals:
    """Missing or contradictory data are named with the remedy, and nothing is written."""

    @pytest.mark.parametrize("package", ["pandas", "sklearn"])
    def test_a_missing_package_is_named_with_the_command_to_install_it(
        self, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without a package of the extra, a ConfigError says what to install."""
        monkeypatch.setitem(sys.modules, package, None)

        with pytest.raises(ConfigError) as caught:
            write_flights_logs(tmp_path / "logs")

        assert (
            f"The flights demo needs the package {package}, which cannot be imported; "
            "run: pip install 'calibration-monitor[demo]'"
        ) == str(caught.value)
        assert not (tmp_path / "logs").exists()

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            (
                {"flight": 1241, "dest": "TPA", "sched_dep_time": 2028},
                "flight 2013-07-01-UA1241-EWR-TPA-2028 is in the table twice",
            ),
            (
                # Down at 01:00 UTC + 33 h, at 10:00; 00:42 in San Juan is 04:42 UTC.
                {"air_time": 1980.0},
                (
                    "1 of 277,337 flights have an arrival that does not fit their departure and "
                    "time in the air, first -318 minutes on the ground (flight "
                    "2013-07-01-UA1244-EWR-SJU-2029)"
                ),
            ),
            (
                {"dep_delay": 31.0 + 200 * 24 * 60},  # landed 200 days later, in winter
                "rows from 2013-03-01 to 2014-01-17, expected 2013-03-01 to 2014-01-01",
            ),
        ],
        ids=["flight twice", "impossible arrival", "day out of range"],
    )
    def test_a_table_that_contradicts_itself_is_refused(
        self,
        changes: dict[str, object],
        message: str,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """After a change to one flight, a DataError names what cannot be right."""
        changed = flight_table()
        scheduled = (changed["month"] == 7) & (changed["day"] == 1) & (changed["flight"] == 1244)
        changed.loc[scheduled & (changed["dest"] == "SJU"), [*changes]] = [*changes.values()]
        monkeypatch.setattr(demo_flights, "flight_table", lambda: changed)

        with pytest.raises(DataError) as caught:
            write_flights_logs(tmp_path / "logs")

        told = f"flights-2013.parquet: {message}; install calibration-monitor again."
        assert told == str(caught.value)
        assert not (tmp_path / "logs").exists()

    def test_importing_the_module_loads_none_of_the_extra(self) -> None:
        """A command line that lists the demo does not pay for its packages."""
        code = (
            "import sys, monitor.demo.flights;"
            "print(sorted({'pandas', 'sklearn'} & set(sys.modules)))"
        )

        shown = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

        assert shown.stdout.strip() == b"[]"
