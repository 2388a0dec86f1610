"""Outcomes that come once a week: what a day waits for, when it is final, and what is an error."""

import json
from datetime import date, timedelta

import pytest

from monitor.base.errors import ConfigError
from monitor.config import load_config
from monitor.logs import newest_settled_day
from tests.conftest import Command, Project

FIRST = date(2026, 3, 2)  # a Monday
DAYS = [FIRST + timedelta(days=i) for i in range(9)]
FRIDAYS = [date(2026, 3, 6), date(2026, 3, 13), date(2026, 3, 20)]
SPAN = ("--from", FIRST, "--to", DAYS[-1], "--as-of", "2026-03-19")


@pytest.fixture
def weekly(project: Project) -> Project:
    """Write predictions of nine days, whose outcomes come on the Friday of a week or the next."""
    for old in (*project.folder.glob("predictions/*"), *project.folder.glob("outcomes/*")):
        old.unlink()
    reviewed = {friday: {"prediction_id": [], "outcome": []} for friday in FRIDAYS}
    for day in DAYS:
        project.write("predictions", project.rows("predictions", day), day)
        friday = next(friday for friday in FRIDAYS if friday >= day)
        for column, values in reviewed[friday].items():
            values.extend(project.rows("outcomes", day)[column])
    for friday in FRIDAYS[:2]:
        project.write("outcomes", reviewed[friday], friday)
    text = (project.folder / "monitor.yaml").read_text()
    config = text.replace(", time: scored_at", "").replace(", time: observed_at", "")
    (project.folder / "monitor.yaml").write_text(config)
    return project


def calendar(project: Project, value: str) -> None:
    """Set the calendar of outcomes, and how long a day waits."""
    project.configure('outcomes/{day}.parquet"', f'outcomes/{{day}}.parquet", calendar: {value}')
    project.configure("windows:", "settled_after: 7\n    windows:")


def test_days_without_a_file_are_no_error(weekly: Project, command: Command) -> None:
    """Every day is final once the Friday within its week has come."""
    calendar(weekly, "{weekdays: [fri]}")

    ended = command("backfill", *SPAN, "--json")

    (report,) = json.loads(ended.out)["reports"]
    assert (ended.code, ended.err) == (0, "")
    assert report["summarised"] == list(map(str, DAYS))
    shown = json.loads(command("show", "--model", "ctr", "--json").out)["evaluations"]
    assert [e["final"] for e in shown][-len(DAYS) :] == [True] * len(DAYS)


def test_a_missing_day_of_the_calendar_is_an_error(weekly: Project, command: Command) -> None:
    """A Friday without a file, before one that has one, stops the days that wait for it."""
    calendar(weekly, "{weekdays: [fri]}")
    weekly.path("outcomes", FRIDAYS[0]).unlink()
    weekly.write("outcomes", {"prediction_id": [], "outcome": []}, "2026-03-07")

    ended = command("check", "--day", DAYS[2], "--as-of", "2026-03-19")

    assert ended.code != 0
    assert "2026-03-04: no outcomes of 2026-03-06 at" in ended.err


def test_nothing_settles_before_the_last_day_of_its_calendar(weekly: Project) -> None:
    """The newest settled day is not one whose Friday is still to come."""
    calendar(weekly, "{weekdays: [fri]}")
    model = load_config(weekly.folder / "monitor.yaml").model("ctr")

    assert newest_settled_day("ctr", model, as_of=date(2026, 3, 31)) == DAYS[-1]
    weekly.path("outcomes", FRIDAYS[1]).unlink()
    assert newest_settled_day("ctr", model, as_of=date(2026, 3, 31)) == date(2026, 3, 5)


def test_outcomes_beside_scores_have_no_calendar(weekly: Project) -> None:
    """With in_predictions there is no partition of outcomes."""
    weekly.configure(
        'outcomes: {path: "outcomes/{day}.parquet"',
        "outcomes: {in_predictions: true, calendar: {weekdays: [fri]}",
    )
    with pytest.raises(ConfigError, match="the outcomes have no calendar; remove it"):
        load_config(weekly.folder / "monitor.yaml").model("ctr")


@pytest.mark.parametrize("rounds", [1, 2])
def test_init_asks_where_few_rounds_do_not_show_the_day_of_the_week(
    weekly: Project, command: Command, rounds: int
) -> None:
    """A file that its own check refuses would be a guess; what to write is in the reason."""
    (weekly.folder / "monitor.yaml").unlink()
    if rounds == 1:
        weekly.path("outcomes", FRIDAYS[1]).unlink()
    ended = command("init", "predictions", "outcomes")
    written = (weekly.folder / "monitor.yaml").read_text()

    assert ended.code == 0
    assert "calendar: TODO" in written
    assert "{weekdays: [fri]}" in written
    assert "to decide: outcomes.calendar: Outcomes have come on 2026-03-06" in " ".join(
        (ended.out + ended.err).split()
    )

    weekly.configure("calendar: TODO", "calendar: {weekdays: [fri]}")
    assert command("check", "--as-of", "2026-03-14").code == (0 if rounds == 2 else 3)
