"""The logs of the demo, which take seconds to write: written once, for all tests that read them."""

import pickle
from datetime import date
from pathlib import Path

import pytest

from monitor.demo.flight_classes import write_class_logs
from monitor.demo.flights import FlightsLogs, write_flights_logs
from tests.support.workers import made_once

RESULT = "result.pickle"


def flight_logs(factory: pytest.TempPathFactory) -> tuple[Path, FlightsLogs, list[date]]:
    """Return the folder of the logs, what writing them gave, and the days that it told of."""
    folder = made_once(factory, "flights", _write)
    return folder / "logs", *pickle.loads((folder / RESULT).read_bytes())  # noqa: S301 - our own


def class_logs(factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the logs of the model with classes."""
    return made_once(factory, "flight-classes", write_class_logs)


def _write(folder: Path) -> None:
    days: list[date] = []
    result = write_flights_logs(folder / "logs", on_day=days.append)
    (folder / RESULT).write_bytes(pickle.dumps((result, days)))
