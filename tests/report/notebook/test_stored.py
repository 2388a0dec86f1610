"""`monitor.open_store`: what the daily job stored, as tidy frames."""

from datetime import date
from pathlib import Path

import pandas as pd
import pytest

import monitor
from monitor.report.notebook.stored import COLUMNS
from monitor.store.store import Store
from tests.conftest import DAY, DAY_BEFORE, ROWS, Project


def test_frames_hold_what_is_stored(project: Project) -> None:
    """Summaries, evaluations and verdicts of every day and segment."""
    path = project.folder / "store"
    found, store = monitor.open_store(path), Store(str(path))
    summaries, evaluations, verdicts = found.summaries(), found.evaluations(), found.verdicts()

    assert found.models() == ["ctr"]
    assert list(summaries.day.unique()) == [pd.Timestamp(DAY_BEFORE), pd.Timestamp(DAY)]
    assert summaries.predicted.sum() == 2 * ROWS
    assert set(summaries.segment) == {"DE", "FR", "other"}
    for e in store.read_evaluations("ctr", DAY)[0]:
        rows = evaluations[
            (evaluations.day == pd.Timestamp(DAY))
            & (evaluations.segment == e.segment)
            & (evaluations.window_days == e.window_days)
        ]
        stored = rows[rows.adjusted.isna()].set_index("measure")["value"]
        assert stored["prevalence"] == e.prevalence
        assert stored["matched"] == e.matched
    assert list(verdicts.state.unique()) == ["insufficient_data"]
    assert verdicts.reasons.str.contains("no reference").all()


def test_days_and_models_can_be_chosen(project: Project) -> None:
    """Days as dates, times or text, both ends included; other models are refused."""
    found = monitor.open_store(str(project.folder / "store"))

    assert set(found.summaries("ctr", first="2026-03-02").day) == {pd.Timestamp(DAY)}
    assert set(found.summaries("ctr", last=DAY_BEFORE).day) == {pd.Timestamp(DAY_BEFORE)}
    assert set(found.verdicts("ctr", first=pd.Timestamp(DAY)).day) == {pd.Timestamp(DAY)}
    with pytest.raises(monitor.ConfigError, match=r"no results of 'bids'; choose one of ctr\."):
        found.verdicts("bids")
    with pytest.raises(monitor.ConfigError, match="first is 'March', but must be a day"):
        found.verdicts(first="March")
    with pytest.raises(monitor.ConfigError, match="last is 20260301, but must be a day"):
        found.verdicts(last=20260301)  # type: ignore[arg-type]


def test_incidents_are_listed_by_segment(project: Project) -> None:
    """A store without a drift gives an empty frame with its columns."""
    found = monitor.open_store(str(project.folder / "store")).incidents()

    assert len(found) == 0
    assert tuple(found.columns) == COLUMNS["incidents"]


def test_other_places_are_refused(tmp_path: Path) -> None:
    """A folder without results is not a store."""
    with pytest.raises(monitor.ConfigError, match="is not a store with results"):
        monitor.open_store(str(tmp_path))
    with pytest.raises(monitor.ConfigError, match="is not a store with results"):
        monitor.open_store(str(tmp_path / f"{date.min}"))
