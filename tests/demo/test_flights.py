"""The demo's logs: real flights, a model without hindsight, and one drift of known size."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
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

    import pandas as pd

MODELS = ("flights", "flights-stretched", "flights-shifted")
FIRST_DAY, LAST_DAY = date(2013, 3, 1), date(2013, 12, 31)


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
