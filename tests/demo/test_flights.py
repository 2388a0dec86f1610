"""The demo's logs: real flights, a model without hindsight, and one drift of known size."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import expit, logit

from monitor.base.errors import ConfigError, DataError
from monitor.demo import flights as demo_flights
from monitor.demo.flights import DayOutcomes, FlightsLogs, flight_table, write_flights_logs
from tests.support.cases import some
from tests.support.flight_logs import flight_logs

if TYPE_CHECKING:
    from pathlib import Path

MODELS = ("flights", "flights-stretched", "flights-shifted")
FIRST_DAY, LAST_DAY = date(2013, 3, 1), date(2013, 12, 31)

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


def read(folder: Path) -> pd.DataFrame:
    """Return all rows of a folder by id, each with the day of its file."""
    paths = sorted(folder.iterdir())
    parts = [pq.ParquetFile(path).read() for path in paths]
    rows = pa.concat_tables(parts).to_pandas()
    rows["file"] = np.repeat([path.stem for path in paths], [len(part) for part in parts])
    return rows.set_index("prediction_id")


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


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Write the logs once."""
    return Written(*flight_logs(tmp_path_factory))


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


class TestFiles:
    """The layout, the types and the bytes."""

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


class TestStretch:
    """The second model drifts by a known amount from a known day."""

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

    def test_every_outcome_has_its_prediction_and_comes_after_it(
        self, plain: pd.DataFrame, outcomes: pd.DataFrame
    ) -> None:
        """No outcome is an orphan, and none is known when its flight is scored."""
        scored_at = plain["scored_at"].reindex(outcomes.index)
        wait = outcomes["observed_at"] - scored_at

        assert scored_at.isna().sum() == 0
        assert wait.min() > pd.Timedelta(0)
        assert wait.max() < pd.Timedelta(days=2)


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
        some(
            [
                (
                    {"flight": 1241, "dest": "TPA", "sched_dep_time": 2028},
                    "flight 2013-07-01-UA1241-EWR-TPA-2028 is in the table twice",
                ),
                (
                    # Down at 01:00 UTC + 33 h, at 10:00; 00:42 in San Juan is 04:42 UTC.
                    {"air_time": 1980.0},
                    (
                        "1 of 277,337 flights have an arrival that does not fit their departure "
                        "and time in the air, first -318 minutes on the ground (flight "
                        "2013-07-01-UA1244-EWR-SJU-2029)"
                    ),
                ),
                (
                    {"dep_delay": 31.0 + 200 * 24 * 60},  # landed 200 days later, in winter
                    "rows from 2013-03-01 to 2014-01-17, expected 2013-03-01 to 2014-01-01",
                ),
            ],
            2,
        ),
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
