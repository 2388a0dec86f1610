"""A model with classes and segments from its logs to the verdict of a segment, gauges and page."""

import json
from collections.abc import Callable
from datetime import date, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from monitor.config import Config
from monitor.export.snapshot_reader import Reader
from monitor.export.text import exposition, lines
from monitor.pipeline.verdicts import references
from monitor.store.names import stem
from monitor.store.store import Store
from tests.support.class_logs import NAMES, REFERENCE, configure_classes, draw, run_days, write_day

FIRST = date(2026, 1, 1)
DAYS = [FIRST + timedelta(days=number) for number in range(22)]
BROKEN = DAYS[16]  # from then on the logits of one segment are too large by 1 / 0.5
SHARES = {"DE": 0.7, "FR": 0.1, "IT": 0.2}
SEGMENTS = (
    "segments:",
    "  - {column: country, primary: true, values: [DE, FR]}",
    "  - {column: device, top: 5}",
    "  - {cross: [country, device]}",
)


def configure(folder: Path, store: str = "whole") -> Config:
    """Configure the model with a store of its own."""
    return configure_classes(folder, store, *SEGMENTS, REFERENCE)


def stored(folder: Path, store: str, last: date = DAYS[-1]) -> dict[str, bytes]:
    """Read what the days up to one stored."""
    return {
        f"{kind}/{path.name}": path.read_bytes()
        for kind in ("summaries", "columns", "evaluations", "verdicts")
        for path in (folder / store / kind / "pets").iterdir()
        if stem(path.name) <= f"{last}"
    }


def rows_of_day(day: date, rows: int = 2_500) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Draw the rows of all countries, each with class priors of its own."""
    rng = np.random.default_rng(day.toordinal())
    vectors, labels, countries = list[np.ndarray](), list[np.ndarray](), list[str]()
    for country, share in SHARES.items():
        weights = np.exp(rng.normal(0.0, 0.5, 3))
        off = country == "FR" and day >= BROKEN
        drawn = draw(rng, round(rows * share), slope=0.5 if off else 1.0, priors=list(weights))
        vectors.append(drawn[0])
        labels.append(drawn[1])
        countries += [country] * len(drawn[1])
    return np.concatenate(vectors), np.concatenate(labels), countries


def devices(countries: list[str]) -> dict[str, list[str]]:
    """Spread the rows of each country over devices."""
    return {"country": countries, "device": [f"d{place % 3}" for place in range(len(countries))]}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the logs, and process all days in one call."""
    folder = tmp_path_factory.mktemp("pets")
    for day in DAYS:
        vectors, labels, countries = rows_of_day(day)
        outcomes = pa.array(np.array(NAMES)[labels])
        write_day(folder / "logs", day, vectors, outcomes, more=devices(countries))
    run_days(configure(folder), DAYS[0], DAYS[-1], jobs=2)
    return folder


def test_one_call_or_three_leave_the_same_bytes(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the calls and the jobs; later calls take the fit that the first one kept.

    A drift opens in the second call, and goes on in the third.
    """
    config, last = configure(logs, "parts"), DAYS[20]
    run_days(config, DAYS[0], DAYS[17])
    monkeypatch.setattr(references, "fit_model_reference", None)
    run_days(config, DAYS[18], DAYS[19])
    run_days(config, last, last)
    verdicts, _ = Store(config.store).read_verdicts("pets", last)

    assert any(v.incident and DAYS[17] < v.incident.opened < last for v in verdicts)
    Store(config.store).drop_carried("pets", last)  # which the newest file holds
    assert stored(logs, "parts") == stored(logs, "whole", last)


def test_the_segment_is_named_and_the_others_are_not(logs: Path) -> None:
    """A tenth of the rows drifts: its verdict says how, and whose classes were how frequent."""
    found = {v.segment: v for v in Store(configure(logs).store).read_verdicts("pets", DAYS[-1])[0]}
    said = " ".join(found["FR"].reasons)

    assert list(found)[:5] == ["all", "third choices", "DE", "FR", "other"]
    assert {*list(found)[5:]} == {"cat against dog", "cat against fish", "dog against fish"}
    assert found["FR"].state == "calibration_drift"
    assert found["FR"].incident.kind == "too_extreme"
    assert abs((found["FR"].incident.started - BROKEN).days) <= 3
    assert found["FR"].slope.low < 0.5 < found["FR"].slope.high
    assert "The first choice was right in " in said
    assert "prevalence" not in said.lower()
    assert not found["DE"].incident
    assert not found["other"].incident


def test_measures_of_a_segment_are_those_of_its_first_choices(logs: Path) -> None:
    """And the slope that its pairs share; vectors are measured for the whole only."""
    week = {
        e.segment: e
        for e in Store(configure(logs).store).read_evaluations("pets", DAYS[-1])[0]
        if e.window_days == 7
    }
    right, rows = 0, 0
    for day in DAYS[-7:]:
        vectors, labels, countries = rows_of_day(day)
        mine = np.array(countries) == "FR"
        right += int((vectors.argmax(axis=1) == labels)[mine].sum())
        rows += int(mine.sum())

    assert [*week] == ["all", "DE", "FR", "other"]
    assert (week["FR"].positives, week["FR"].matched) == (right, rows)
    assert week["FR"].raw is not None
    assert (week["FR"].prior, week["FR"].classes) == (None, None)
    assert week["DE"].slope is not None
    assert week["FR"].slope.high < 0.8 < week["DE"].slope.low
    assert sum(e.matched for name, e in week.items() if name != "all") == week["all"].matched


def test_gauges_show_and_page_have_segments_and_pairs(
    logs: Path, command: Callable[..., Any]
) -> None:
    """People and Prometheus see both."""
    config = configure(logs)
    text = exposition([lines(Reader(config, most_segments=50).snapshots()["pets"])]).decode()
    place = ("--config", logs / "whole.yaml", "--model", "pets")
    whole, segment = (command("show", *place, *more) for more in ((), ("--segment", "FR")))
    page = command("report", *place, "--out", logs / "pets.html")

    assert 'calibration_slope{maturity="final",model="pets",segment="FR",window="7d"}' in text
    assert 'calibration_verdict{model="pets",segment="FR",state="calibration_drift"} 1.0' in text
    assert 'calibration_left_out{model="pets",of="pairs"} 0.0' in text
    assert (whole.code, segment.code, page.code) == (0, 0, 0), segment.err
    assert "FR" in whole.out
    assert "scores are too extreme" in " ".join(segment.out.split())
    assert "Segments and pairs of classes</h2>" in (logs / "pets.html").read_text()


def test_where_flags_the_segment_and_no_pair(logs: Path, command: Callable[..., Any]) -> None:
    """All pairs of FR drift; it has a tenth of the rows, so the whole has no drift to explain."""
    configure(logs)
    ended = command("where", "--config", logs / "whole.yaml", "--model", "pets", "--json")
    found = json.loads(ended.out)
    places = {(p["column"], p["value"]): p for p in found["segments"]}

    assert ended.code == 0, ended.err
    assert {*places} == {
        *(("country", name) for name in ("DE", "FR", "other")),
        *(("pair", f"{a} against {b}") for a, b in combinations(NAMES, 2)),
        *(("device", f"d{place}") for place in range(3)),
        *(("country x device", f"{c} x d{i}") for c in ("DE", "FR", "other") for i in range(3)),
    }
    flagged = {key for key, place in places.items() if place["flagged"]}
    assert ("country", "FR") in flagged
    assert flagged <= {("country", "FR"), *(("country x device", f"FR x d{i}") for i in range(3))}
    assert places["country", "FR"]["slope"]["low"] < 0.5 < places["country", "FR"]["slope"]["high"]


def test_a_search_of_the_logs_names_the_segment(logs: Path, command: Callable[..., Any]) -> None:
    """Over all its pairs, each with constants of its own; no device, and no column of scores."""
    configure(logs)
    ended = command(
        *("where", "--config", logs / "whole.yaml", "--model", "pets"), "--search", "--json"
    )
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    (part,) = found["parts"]

    assert found["columns"] == ["country", "device"]
    assert [(c["column"], c["value"]) for c in part["conditions"]] == [("country", "FR")]
    assert part["kind"] == "too_extreme"
    assert part["slope"]["low"] < 0.5 < part["slope"]["high"]
