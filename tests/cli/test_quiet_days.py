"""Days without logs, new models, plans, and runs with an earlier date: what the commands say."""

import contextlib
import json
import shutil
from datetime import date, timedelta
from pathlib import Path

import pytest

from monitor.store.names import day_file
from tests.conftest import DAY, DAY_AFTER, DAY_BEFORE, Command, Project

SPAN = ("--from", DAY_BEFORE, "--to", "2026-03-12", "--as-of", "2026-03-14")
BACK = date(2026, 3, 11)  # the season begins again


@pytest.fixture
def season(project: Project) -> Project:
    """Write two more days of logs after a week without any, and accept such days."""
    for day in (BACK, BACK + timedelta(days=1)):
        for kind in ("predictions", "outcomes"):
            project.write(kind, project.rows(kind, day), day)
    project.write("outcomes", {"prediction_id": [], "outcome": []}, BACK + timedelta(days=2))
    project.path("outcomes", DAY_AFTER).unlink()  # the day after the last one of the season
    project.configure("windows:", "checks: {accept: [missing_day]}\n    windows:")
    return project


class TestQuietDays:
    """A model that does not score every day."""

    def test_an_off_season_is_no_error(self, season: Project, command: Command) -> None:
        """Days without a log are counted; the day before them is final, because none is due."""
        ended = command("backfill", *SPAN, "--json")

        (report,) = json.loads(ended.out)["reports"]
        assert (ended.code, ended.err) == (0, "")
        assert report["quiet"] == [f"2026-03-{day:02}" for day in range(3, 11)]
        days = [DAY_BEFORE, DAY, BACK, BACK + timedelta(days=1)]
        assert report["summarised"] == list(map(str, days))
        shown = json.loads(command("show", "--model", "ctr", "--json").out)["evaluations"]
        assert [e["final"] for e in shown] == [True] * 4
        assert season.results().keys() == {
            f"store/{day_file(kind, 'ctr', day)}"
            for kind in ("summaries", "evaluations", "verdicts")
            for day in (DAY_BEFORE, DAY, BACK, BACK + timedelta(days=1))
        }

    def test_a_log_that_comes_late_is_read(self, season: Project, command: Command) -> None:
        """If the log of a day that seemed quiet comes after all, the next run reads it."""
        command("backfill", *SPAN)
        season.write("outcomes", season.rows("outcomes", DAY_AFTER), DAY_AFTER)
        season.write("predictions", season.rows("predictions", DAY_AFTER), DAY_AFTER)
        season.write("outcomes", {"prediction_id": [], "outcome": []}, "2026-03-04")
        season.configure("checks:", "catch_up_days: 14\n    checks:")

        ended = command("run", "--day", BACK, "--as-of", "2026-03-14", "--json")
        later = command("run", "--as-of", "2026-03-14", "--json")

        assert (ended.code, later.code) == (0, 0)
        (report,) = json.loads(later.out)["reports"]
        assert {f"{DAY}", f"{DAY_AFTER}"} <= set(report["summarised"])

    def test_without_the_setting_they_are_errors(self, season: Project, command: Command) -> None:
        """The default is that every day has logs."""
        season.configure("accept: [missing_day]", "fail: [missing_day]")

        ended = command("backfill", *SPAN)

        assert ended.code == 3
        assert "8 days without predictions, first 2026-03-03, last 2026-03-10" in ended.err


class TestCalendars:
    """A model that says on which days it scores."""

    @pytest.mark.parametrize(
        "calendar",
        [
            "{closed: [2026-03-03, 2026-03-04/2026-03-10]}",
            "{weekdays: [mon, wed, thu], closed: [2026-03-04/2026-03-09]}",
        ],
    )
    def test_a_day_outside_is_silent(
        self, calendar: str, season: Project, command: Command
    ) -> None:
        """Days outside are counted, as with missing_day: accept; 2026-03-01 is a Sunday with logs.

        The same days leave the same bytes, and a run of such a day ends well too.
        """
        accepted = command("backfill", *SPAN)
        results = season.results()
        for path in (season.folder / "store").rglob("2*.*"):
            path.unlink()
        season.configure("checks: {accept: [missing_day]}", f"calendar: {calendar}")

        ended = command("backfill", *SPAN, "--json")
        alone = command("run", "--day", DAY_AFTER, "--as-of", "2026-03-14")

        (report,) = json.loads(ended.out)["reports"]
        assert (accepted.code, ended.code, ended.err, alone.code) == (0, 0, "", 0)
        assert report["quiet"] == [f"2026-03-{day:02}" for day in range(3, 11)]
        assert season.results() == results

    def test_a_day_inside_is_an_error(self, season: Project, command: Command) -> None:
        """Only the one day that the calendar includes is missing."""
        season.configure(
            "checks: {accept: [missing_day]}",
            "calendar: {closed: [2026-03-03/2026-03-09]}",
        )

        ended = command("backfill", *SPAN, "--json")

        (report,) = json.loads(ended.out)["reports"]
        assert ended.code == 3
        assert [failure["day"] for failure in report["failures"]] == ["2026-03-10"]
        assert len(report["quiet"]) == 7


class TestNewModels:
    """A model whose first day has not settled."""

    @pytest.fixture
    def new(self, project: Project) -> Project:
        """Wait thirty days for outcomes, and forget what is stored."""
        project.configure("windows:", "settled_after: 30\n    windows:")
        for path in sorted((project.folder / "store").rglob("*.*")):
            path.unlink()
        return project

    @pytest.mark.usefixtures("new")
    @pytest.mark.parametrize(("more", "processed"), [((), []), (("--unsettled",), [[f"{DAY}"]])])
    def test_it_is_no_error(
        self, more: tuple[str, ...], processed: list[list[str]], command: Command
    ) -> None:
        """A run says when the first day settles and when the first verdict is possible."""
        call = ("run", "--as-of", DAY_AFTER, *more)
        ended, told = command(*call), json.loads(command(*call, "--json").out)

        assert ended.code == 0
        assert "Its first day, 2026-03-01, settles on 2026-04-01." in ended.out
        assert "The first verdict is possible on 2026-04-29" in ended.out
        assert told["new_models"][0]["settles"] == "2026-04-01"
        assert [report["summarised"][1:] for report in told["reports"]] == processed


class TestPlans:
    """`backfill --dry-run`."""

    def test_the_run_does_what_the_plan_says(self, season: Project, command: Command) -> None:
        """Days summarised, left alone, without logs, failed and evaluated are the same."""
        season.configure("accept: [missing_day]", "fail: [missing_day]")
        assert command("run", "--day", DAY_BEFORE, "--as-of", "2026-03-14").code == 0
        plan = json.loads(command("backfill", *SPAN, "--dry-run", "--json").out)["plans"][0]
        before = season.results()
        text = command("backfill", *SPAN, "--dry-run").out
        assert season.results() == before

        ended = command("backfill", *SPAN, "--json")

        (report,) = json.loads(ended.out)["reports"]
        assert plan["summarise"] == report["summarised"] == ["2026-03-11", "2026-03-12"]
        assert plan["unchanged"] == report["unchanged"] == [f"{DAY_BEFORE}"]
        assert plan["failures"] == report["failures"]
        # The second day is final; by the settings of now it lacks outcomes, so it stays as it is.
        assert len(plan["failures"]) == 9
        assert plan["evaluate"] == report["evaluated"]
        assert "would summarise 2 days (2026-03-11 to 2026-03-12)" in text
        assert "fail: ctr: 8 days without predictions" in text


class TestAnEarlierDate:
    """`--as-of` before outcomes that are stored already."""

    def test_final_days_are_kept(self, project: Project, command: Command) -> None:
        """A final day stays final; --recompute makes it provisional again."""
        missing = project.rows("outcomes")
        project.write("outcomes", {k: v[:30] for k, v in missing.items()})
        project.write("outcomes", {k: v[30:] for k, v in missing.items()}, DAY_AFTER)
        assert command("run", "--day", DAY, "--as-of", "2026-03-04").code == 0
        final = project.results()
        early = ("run", "--day", DAY, "--as-of", DAY_AFTER)
        span = ("--from", DAY, "--to", DAY, "--as-of", DAY_AFTER)
        plan = json.loads(command("backfill", *span, "--dry-run", "--json").out)["plans"][0]

        kept = command(*early)

        assert plan["kept"] == [f"{DAY}"]
        assert "kept 1 final days, first 2026-03-02" in kept.out
        assert project.results() == final
        assert command("backfill", *span, "--recompute").code == 0
        assert project.results() != final
        (_, newest) = json.loads(command("show", "--model", "ctr", "--json").out)["evaluations"]
        assert (newest["final"], newest["matched"]) == (False, 30)


def revise(project: Project, command: Command) -> None:
    """Judge a day while its outcomes arrive, then when they have; break and mend another."""
    project.write("predictions", project.rows("predictions", DAY_AFTER), DAY_AFTER)
    broken = project.rows("predictions", DAY_AFTER) | {"score": [1.5] * 40}
    outcomes = project.rows("outcomes", DAY_AFTER)
    project.write("outcomes", {k: v[:20] for k, v in outcomes.items()}, DAY_AFTER)
    call = ("run", "--day", DAY_AFTER, "--as-of")
    assert command(*call, "2026-03-04").code == 0
    project.write("outcomes", {k: v[20:] for k, v in outcomes.items()}, "2026-03-04")
    assert command(*call, "2026-03-05").code == 0
    later = date(2026, 3, 4)
    project.write("outcomes", project.rows("outcomes", later), "2026-03-05")
    project.write("predictions", broken | {"prediction_id": list(range(40))}, later)
    assert command("run", "--day", later, "--as-of", "2026-03-06").code == 3
    rows = project.rows("predictions", later)
    project.write("predictions", rows, later)
    assert command("run", "--day", later, "--as-of", "2026-03-09").code == 0


@pytest.fixture(scope="module")
def revised_once(
    finished_project: Path, tmp_path_factory: pytest.TempPathFactory, command: Command
) -> Path:
    """Say something else of two days than was said before."""
    folder = tmp_path_factory.mktemp("revised") / "project"
    shutil.copytree(finished_project, folder)
    with contextlib.chdir(folder):
        revise(Project(folder), command)
    return folder


@pytest.fixture
def revised(revised_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a copy of the revised project, and change to its folder."""
    shutil.copytree(revised_once, tmp_path / "revised")
    monkeypatch.chdir(tmp_path / "revised")
    return Project(tmp_path / "revised")


class TestRevisions:
    """What was known on a morning, after it was said otherwise."""

    @pytest.mark.usefixtures("revised")
    def test_what_was_known_on_a_morning(self, command: Command) -> None:
        """Each morning shows the verdicts as a run on it left them, whatever came later."""
        broken = {"2026-03-03": True, "2026-03-04": "data_error"}
        for morning, known in {
            "2026-03-04": {"2026-03-03": False},
            "2026-03-05": {"2026-03-03": True},
            "2026-03-06": broken,
            "2026-03-08": broken,
            "2026-03-09": {"2026-03-03": True, "2026-03-04": True},
        }.items():
            ended = command("show", "--model", "ctr", "--as-of", morning, "--json")

            said = {one["day"]: one for one in json.loads(ended.out)["revisions"]}
            newer = {day: one for day, one in said.items() if day > f"{DAY}"}
            assert {
                day: one["state"] if one["state"] == "data_error" else one["final"]
                for day, one in newer.items()
            } == known, morning
        text = command("show", "--model", "ctr", "--as-of", morning)
        assert f"as known on the morning of {morning}" in " ".join(text.out.split())

    @pytest.mark.usefixtures("revised")
    def test_every_revision_is_kept(self, command: Command) -> None:
        """The list has what was said first, until which run, and what stands now."""
        ended = command("show", "--model", "ctr", "--revisions", "--json")

        listed = [
            (one["day"], one["until"], one["final"], one["state"])
            for one in json.loads(ended.out)["revisions"]
        ]
        quiet = "insufficient_data"  # there is no reference yet
        assert listed == [
            ("2026-03-03", "2026-03-05", False, quiet),
            ("2026-03-03", None, True, quiet),
            ("2026-03-04", "2026-03-09", False, "data_error"),
            ("2026-03-04", None, True, quiet),
        ]

    def test_the_same_run_again_revises_nothing(self, revised: Project, command: Command) -> None:
        """A verdict that says the same is no revision."""
        folder = revised.folder / "store/revisions"
        before = {path: path.read_bytes() for path in folder.rglob("2*.*")}

        assert command("run", "--day", "2026-03-04", "--as-of", "2026-03-12").code == 0

        assert {path: path.read_bytes() for path in folder.rglob("2*.*")} == before
        assert len(before) == 2


@pytest.mark.usefixtures("project")
def test_few_outcomes_show_a_dash_with_a_reason(command: Command) -> None:
    """Of 40 outcomes, 14 of them 1, neither ECE nor TCE is shown as 0, nor as a number in JSON."""
    ended = command("show", "--windows", "1", "--model", "ctr")
    e = json.loads(command("show", "--model", "ctr", "--json").out)["evaluations"][-1]

    lines = [line.replace(" %", "%").split() for line in ended.out.splitlines()]
    (row,) = [line for line in lines if line[:1] == [f"{DAY}"]]
    assert row[1] == "40"
    assert row[5:] == ["-"] * 4
    assert "too few outcomes to say: of the rarer kind ECE needs 20, TCE 100" in ended.out
    assert e["raw"]["ece"] is e["prior"]["ece"] is e["prior"]["tce_published"] is None
    assert e["raw"]["rbs"] > 0
    assert e["too_few"] == (
        "ECE and TCE: too few outcomes to say, 14 of the rarer kind; ECE needs 20, TCE 100"
    )
