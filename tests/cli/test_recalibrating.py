"""`recalibrate`: the map of a stretched model from its stored summaries, and what it refuses."""

import json
import shutil
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import duckdb
import numpy as np
import pytest

import monitor
from monitor.days.summary import whole
from monitor.store.store import Store
from tests.conftest import Command
from tests.support.two_models import DAYS, SETTLED_AFTER, STRETCH, TOO_EXTREME_FROM, first_day


@pytest.fixture
def call(two_models: Path) -> tuple[str, ...]:
    """Begin the call for the model that became too extreme."""
    return ("recalibrate", "--config", str(two_models / "monitor.yaml"), "--model", "fraud")


def test_the_repair_of_a_drift(
    call: tuple[str, ...], today: date, tmp_path: Path, command: Command
) -> None:
    """From the start of the open drift on, it finds the slope that undoes the stretch."""
    out = tmp_path / "map.json"
    told = json.loads(command(*call, "--out", out, "--json").out)
    begun = first_day(today) + timedelta(days=TOO_EXTREME_FROM)
    found = monitor.read_map(out)

    assert told["worth_it"]
    assert told["written"] == str(out)
    assert told["since_drift"]
    assert abs((found.training.first - begun).days) <= 3
    assert found.training.last == today - timedelta(days=SETTLED_AFTER + 1)
    assert found.replaces is not None
    assert found.replaces.first == first_day(today)
    assert found.gains is not None
    assert found.gains.shape_log_loss.low > 0.0
    # Eight days of 1,200 predictions know the slope to 0.03.
    scores = np.array([0.1, 0.5, 0.9])
    repaired = np.diff(
        np.log(monitor.apply_map(scores, out) / (1 - monitor.apply_map(scores, out)))
    )
    assert repaired == pytest.approx(np.log(9.0) / STRETCH, abs=0.35)


def test_no_map_is_worth_it_on_sound_days(
    call: tuple[str, ...], today: date, tmp_path: Path, command: Command
) -> None:
    """Before the drift nothing is proposed and nothing is written; a kind is written on request."""
    out, first = tmp_path / "map.json", first_day(today)
    days = ("--from", f"{first}", "--to", f"{first + timedelta(days=18)}")
    ended = command(*call, *days, "--out", out)
    assert "No map is worth it" in ended.out
    assert "not written" in ended.out
    assert not out.exists()

    asked = command(*call, *days, "--out", out, "--kind", "platt")

    assert "The map that you asked for" in asked.out
    assert monitor.read_map(out).map.kind == "platt"


def test_sql_gives_the_same_probabilities(
    call: tuple[str, ...], tmp_path: Path, command: Command
) -> None:
    """`--sql` prints one expression on standard output; DuckDB computes what Python does."""
    out, scores = tmp_path / "map.json", np.linspace(0.001, 0.999, 101)
    ended = command(*call, "--kind", "spline", "--sql", "--column", "p", "--out", out)
    with duckdb.connect() as session:
        rows = session.execute(
            f"SELECT {ended.out} FROM (SELECT unnest(?::DOUBLE[]) AS p)",  # noqa: S608
            [scores.tolist()],
        ).fetchall()

    assert "spline" in ended.err
    np.testing.assert_allclose([row[0] for row in rows], monitor.apply_map(scores, out), rtol=1e-12)


def test_the_level_follows_the_prior(
    call: tuple[str, ...], two_models: Path, today: date, tmp_path: Path, command: Command
) -> None:
    """With `--follow-prior` the shape stays, and the level is that of the newest outcomes."""
    paths = [tmp_path / "plain.json", tmp_path / "followed.json"]
    last = first_day(today) + timedelta(days=26)  # the last day with twice the odds
    days = ("--from", f"{last - timedelta(days=7)}", "--to", f"{last}")
    for path, extra in zip(paths, ((), ("--follow-prior",)), strict=True):
        assert command(*call, *days, "--kind", "platt", *extra, "--out", path).code == 0
    plain, followed = map(monitor.read_map, paths)

    assert followed.map.parameters == plain.map.parameters
    assert followed.training == plain.training
    assert followed.level.source == "outcomes"
    assert followed.level.last == today - timedelta(days=SETTLED_AFTER + 1)
    assert followed.level.first == followed.level.last - timedelta(days=6)
    # Over those days the mapped scores are right on average, but that groups of scores are fitted.
    store, missing = Store(str(two_models / "store")), 0.0
    for age in range(7):
        day, _ = store.read_summary("fraud", followed.level.last - timedelta(days=age))
        found = whole(day).tally
        mapped = monitor.apply_map(found.scores, followed)
        missing += float((found.positives - found.counts * mapped).sum())
    assert missing == pytest.approx(0.0, abs=0.1)  # outcomes, of some hundreds
    assert plain.map.level > followed.map.level  # the odds of the plain one were twice as high


def test_the_level_of_scores_if_outcomes_are_old(
    two_models: Path, today: date, tmp_path: Path, command: Command
) -> None:
    """If only an old reference has outcomes, the newest scores say where the prior is."""
    folder = tmp_path / "copy"
    shutil.copytree(two_models / "store", folder / "store")
    (folder / "monitor.yaml").write_text((two_models / "monitor.yaml").read_text())
    store, high = Store(str(folder / "store")), first_day(today) + timedelta(days=24)
    for day in store.days("summaries", "fraud"):
        summary, _ = store.read_summary("fraud", day)
        if day > high:  # the newest day has twice the odds
            (folder / "store" / "summaries" / "fraud" / f"{day}.parquet").unlink()
        elif day > first_day(today) + timedelta(days=13):
            store.write_summary(replace(summary, final=False))
    out = tmp_path / "map.json"
    call = ("recalibrate", "--config", folder / "monitor.yaml", "--model", "fraud")
    days = ("--from", f"{first_day(today)}", "--to", f"{high}")

    ended = command(*call, *days, "--kind", "intercept", "--follow-prior", "--out", out)
    found = monitor.read_map(out)

    assert ended.code == 0, ended.err
    assert found.level.source == "scores"
    assert found.level.first == found.level.last == high
    # Twice the odds, on scores that were right before.
    assert found.map.level == pytest.approx(np.log(2.0), abs=4 * found.level.standard_error)
    assert "suggest if only the prior moved" in " ".join(ended.out.split())


@pytest.mark.parametrize(
    ("extra", "code", "message"),
    [
        (("--kind", "cubic"), 2, "--kind cubic: is no kind of map; choose one of auto, intercept"),
        (("--segment", "IT"), 2, "--segment IT is not configured"),
        (("--from", "2013-02-01", "--to", "2013-01-01"), 2, "is after --to"),
        (("--to", "2013-01-01"), 3, "no final day with outcomes is stored"),
    ],
)
def test_refusals(
    call: tuple[str, ...], extra: tuple[str, ...], code: int, message: str, command: Command
) -> None:
    """Each refusal names the option or the days."""
    ended = command(*call, *extra)

    assert ended.code == code
    assert message in " ".join(ended.err.split())


def test_too_few_days_are_refused(call: tuple[str, ...], today: date, command: Command) -> None:
    """Two days are too few to leave some out."""
    first = first_day(today) + timedelta(days=DAYS - 10)
    ended = command(*call, "--from", f"{first}", "--to", f"{first + timedelta(days=1)}")

    assert ended.code == 3
    assert "on 2 days, too few for a map that holds on other days" in " ".join(ended.err.split())
