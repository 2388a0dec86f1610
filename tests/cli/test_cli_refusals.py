"""Calls that must fail: days without logs, several models, wrong paths."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from monitor.config import load_config
from monitor.pipeline.days.progress import Failure
from monitor.pipeline.verdicts.judging import Known, judge_days
from monitor.pipeline.verdicts.references import read_references
from monitor.store.store import Store
from tests.conftest import DAY, DAY_AFTER, DAY_BEFORE, Command, Project

PROGRAM = (sys.executable, "-c", "from monitor.cli import main; main()")


def program(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command as a program of its own."""
    call = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(call, text=True, check=False, stderr=subprocess.PIPE, **options)


def state(day: date) -> str:
    """Return the verdict of a day for all segments together."""
    return Store("store").read_verdicts("ctr", day)[0][0].state


class TestDays:
    """Which days can be processed, and which get a verdict."""

    @pytest.mark.parametrize(
        "call",
        [
            "run --day 2099-01-01",
            f"run --day {DAY} --as-of {DAY}",
            f"backfill --model ctr --from {DAY_BEFORE} --to 9999-12-31 --dry-run",
            f"backfill --model ctr --from 0001-01-01 --to {DAY}",
            "check --day 9999-12-31",
            "show --as-of 0001-01-01",
        ],
    )
    def test_days_without_whole_logs_are_wrong_calls(
        self, call: str, project: Project, command: Command
    ) -> None:
        """A day that is not over or out of range ends with code 2 and writes nothing."""
        before = files(project.folder)

        ended = command(*call.split())

        assert ended.code == 2
        assert ended.err.count("\n") == 1
        assert files(project.folder) == before

    def test_of_two_models_the_first_says_it(self, project: Project, command: Command) -> None:
        """An error in the call is reported once."""
        ads = '  ads:\n    predictions: {path: "p/{day}"}\n    outcomes: {path: "o/{day}"}\n'
        project.configure("models:\n", f"models:\n{ads}")

        ended = command("run", "--day", "2099-01-01")

        assert ended.code == 2
        assert ended.err.startswith("ads: as of ")
        assert ended.err.count("\n") == 1

    def test_a_missing_partition_is_an_incident(self, project: Project, command: Command) -> None:
        """A day without predictions is reported, at the end of the log and in a gap."""
        before = project.results()
        ended = command("run", "--day", DAY_AFTER)

        after = project.results()
        written = f"store/verdicts/ctr/{DAY_AFTER}.arrows.zst"
        assert ended.code == 3
        assert "no predictions of 2026-03-03 at" in ended.err
        assert state(DAY_AFTER) == "data_error"
        assert after.keys() - before.keys() == {written}
        assert {name: after[name] for name in before} == before
        (project.folder / written).unlink()
        later = date(2026, 3, 5)
        project.write("predictions", project.rows("predictions", later), later)
        assert command("run", "--day", DAY_AFTER).code == 3
        assert project.results().keys() == after.keys()
        assert state(DAY_AFTER) == "data_error"

    def test_a_complaint_about_a_day_to_come_is_removed(
        self, project: Project, command: Command
    ) -> None:
        """Failures of future days are removed from the store; other failures stay."""
        before = project.results()
        complaints = [Failure(date(2099, 1, 1), "to come"), Failure(DAY_AFTER, "broken")]
        config = load_config(project.folder / "monitor.yaml")
        as_of = date(2026, 3, 4)
        references = read_references(config, "ctr")
        judge_days(config, "ctr", references, DAY_AFTER, Known(as_of, complaints))
        polluted = project.results()

        assert command("run", "--day", DAY).code == 0

        healed = project.results()
        written = [f"store/verdicts/ctr/{day}.arrows.zst" for day in (DAY_AFTER, "2099-01-01")]
        assert polluted.keys() - before.keys() == set(written)
        assert healed.keys() - before.keys() == {written[0]}
        assert state(DAY_AFTER) == "data_error"

    def test_any_range_of_stored_days_may_be_judged(
        self, project: Project, command: Command
    ) -> None:
        """The first and the last possible day select all days and change nothing."""
        before = project.results()

        assert command("evaluate", "--from", "0001-01-01", "--to", "9999-12-31").code == 0

        assert project.results() == before


def files(folder: Path) -> dict[str, bytes]:
    """Read every file."""
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


class TestOutput:
    """The output arrives, or the command reports an error."""

    @pytest.mark.parametrize("call", ["show --model ctr --json", "--help"])
    @pytest.mark.usefixtures("project")
    def test_a_full_device(self, call: str) -> None:
        """It ends with code 3 and one line."""
        with Path("/dev/full").open("w") as full:
            ended = program(*call.split(), stdout=full)

        said = json.loads(ended.stderr)["error"]["messages"] if "--json" in call else [ended.stderr]
        assert [message.strip() for message in said] == [
            (
                "the output cannot be written (No space left on device); free some space, then run "
                "again."
            )
        ]
        assert ended.returncode == 3

    @pytest.mark.usefixtures("project")
    def test_nobody_reads(self) -> None:
        """If the reader closes the pipe, the command ends at once without a message."""
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "w") as closed:
            ended = program("show", "--model", "ctr", stdout=closed)

        assert ended.stderr == ""
        assert ended.returncode == 128 + signal.SIGPIPE


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("more", [(), ("--json",)], ids=["for people", "for machines"])
def test_progress_is_drawn_on_a_terminal(more: tuple[str, ...]) -> None:
    """Each phase has a bar, which ends with all days done; with --json nothing is shown."""
    ours, theirs = pty.openpty()
    call = ["backfill", "--model", "ctr", "--from", f"{DAY_BEFORE}", "--to", f"{DAY}", "--again"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    done = subprocess.Popen(
        [*PROGRAM, *call, *more], stdout=subprocess.PIPE, stderr=theirs, env=environment
    )
    os.close(theirs)
    parts = list[bytes]()
    with suppress(OSError):  # once the other end is closed
        while part := os.read(ours, 4096):
            parts.append(part)
    done.communicate()
    os.close(ours)
    shown = b"".join(parts).decode()

    assert done.returncode == 0
    assert [f"ctr {phase}" in shown for phase in ("summarise", "evaluate", "judge")] == (
        [not more] * 3
    )
    assert (shown.count("2/2") >= 3) == (not more)
    assert bool(shown) == (not more)


def without_privileges(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command as an ordinary user, because root ignores file permissions."""
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0:
        return program(*arguments)
    assert setpriv, "modes of files do not bind root; install setpriv (util-linux), or be another"
    lost = "-dac_override,-dac_read_search"
    call = [setpriv, f"--bounding-set={lost}", f"--inh-caps={lost}", *PROGRAM]
    return subprocess.run(
        [*call, *map(str, arguments)], text=True, check=False, stderr=subprocess.PIPE
    )


# The path without permission, the call, the exit code, and the message.
UNREADABLE = (
    "{folder}/predictions: may not be read by this user; grant read and execute permission, then "
    "run again."
)
UNWRITABLE = (
    ": cannot be written (PermissionError: Permission denied); free some space or grant write "
    "permission, or choose another place, then run again."
)
FORBIDDEN: dict[str, tuple[str, int, str, int, str]] = {
    "a folder of logs": ("predictions", 0o000, f"check --day {DAY}", 3, UNREADABLE),
    "a file of logs": (
        *(f"predictions/{DAY}.parquet", 0o000, f"check --day {DAY}", 3),
        (
            "ctr 2026-03-02: {folder}/predictions/2026-03-02.parquet may not be read by this user; "
            "grant read permission, then rerun this day."
        ),
    ),
    "the configuration": (
        *("monitor.yaml", 0o000, f"check --day {DAY}", 2),
        (
            "monitor.yaml: may not be read by this user; grant read permission, or name another "
            "file with --config."
        ),
    ),
    "writing into the store": (
        *("store/runs/ctr", 0o555, f"run --day {DAY}", 3),
        f"store: {{folder}}/store{UNWRITABLE}",
    ),
    "writing the demo": (".", 0o555, "demo", 3, f"--into demo-data{UNWRITABLE}"),
}


@pytest.mark.parametrize("case", FORBIDDEN)
def test_what_is_forbidden_is_said(case: str, project: Project) -> None:
    """If the user lacks permission, the message says where, and which to grant."""
    place, mode, call, code, expected = FORBIDDEN[case]
    path, before = project.folder / place, project.results()
    usual = path.stat().st_mode
    path.chmod(mode)

    ended = without_privileges(*call.split())

    path.chmod(usual)
    message = ended.stderr.strip().splitlines()[-1].replace(str(project.folder), "{folder}")
    assert (ended.returncode, message) == (code, expected)
    assert project.results() == before


def test_part_of_a_day_is_not_taken_for_the_whole(project: Project) -> None:
    """If one of several folders of a day is not readable, the day fails."""
    for country in ("DE", "FR"):
        project.write("predictions", project.rows("predictions"), f"{country}/{DAY}")
    project.configure("predictions/{day}", "predictions/*/{day}")
    (project.folder / "predictions/FR").chmod(0o000)

    ended = without_privileges("check", "--day", DAY)

    (project.folder / "predictions/FR").chmod(0o755)
    message = ended.stderr.strip().replace(str(project.folder), "{folder}")
    assert (ended.returncode, message) == (3, UNREADABLE.replace(":", "/FR:"))


class TestPlaces:
    """A path leads to something unexpected."""

    def test_a_pipe_in_place_of_a_log(self, project: Project, command: Command) -> None:
        """It is rejected without waiting."""
        path = project.path("predictions")
        path.unlink()
        os.mkfifo(path)

        ended = command("check", "--day", DAY)

        assert ended.err == (
            f"ctr {DAY}: {path} is not a regular file; replace it with a Parquet file, then rerun "
            "this day.\n"
        )
        assert ended.code == 3

    def test_a_folder_in_place_of_a_log(self, project: Project, command: Command) -> None:
        """The message says that it is a folder, and what to configure."""
        path = project.path("predictions")
        path.rename(project.folder / "part.parquet")
        path.mkdir()
        (project.folder / "part.parquet").rename(path / "part.parquet")

        ended = command("check", "--day", DAY)
        project.configure("predictions/{day}.parquet", "predictions/{day}.parquet/*.parquet")

        assert ended.err == (
            f"ctr {DAY}: {path} is a folder; name the files in it with predictions.path in the "
            f"configuration, such as /*.parquet, then rerun this day.\n"
        )
        assert ended.code == 3
        assert command("check", "--day", DAY).code == 0

    def test_a_link_to_nothing_is_no_store(self, project: Project, command: Command) -> None:
        """The message for a store whose disk is not mounted names the store."""
        shutil.rmtree(project.folder / "store")
        (project.folder / "store").symlink_to("unmounted")

        ended = command("run", "--day", DAY)

        assert ended.err == (
            f"store: {project.folder}/store is a link to nothing; name a folder for the store in "
            "the configuration.\n"
        )
        assert ended.code == 2

    def test_a_damaged_note_means_that_all_is_stale(
        self, project: Project, command: Command
    ) -> None:
        """Whatever the note of a killed run contains, all days are judged again and it is removed.

        The note says which verdicts may be wrong; an unreadable note may mean any.
        """
        before, note = project.results(), project.folder / "store/runs/ctr/stale.json"
        damaged = project.folder / f"store/verdicts/ctr/{DAY_BEFORE}.arrows.zst"
        for nonsense in ('{"first": "soon"}', '{"first": 7}', "[]", "no JSON", ""):
            note.write_text(nonsense)
            damaged.unlink()

            assert command("run", "--day", DAY).code == 0

            assert json.loads(note.read_text())["first"] is None
            assert project.results() == before

    def test_a_file_in_place_of_the_demo(self, project: Project, command: Command) -> None:
        """The demo needs a folder, and says so before it starts."""
        before = files(project.folder)

        ended = command("demo", "--into", "monitor.yaml")

        assert ended == (2, "", "--into monitor.yaml: is a file; name a folder.\n")
        assert files(project.folder) == before


class TestErrorsForPrograms:
    """With --json errors are JSON too."""

    @pytest.mark.parametrize(
        ("call", "code", "kind", "part"),
        [
            (f"run --day {DAY_AFTER} --json", 3, "data", "no predictions of 2026-03-03"),
            ("run --model bids --json", 2, "configuration", "there is no model 'bids'"),
            ("where --json", 2, "configuration", "--model"),
            ("run --jobs many --json", 2, "configuration", "--jobs"),
        ],
    )
    @pytest.mark.usefixtures("project")
    def test_an_error_is_one_json_document(
        self, call: str, code: int, kind: str, part: str, command: Command
    ) -> None:
        """Standard error holds one document with the code, whose fault it is, and each message."""
        ended = command(*call.split())

        error = json.loads(ended.err)["error"]
        assert (ended.code, error["exit_code"], error["kind"]) == (code, code, kind)
        assert len(error["messages"]) == 1
        assert part in error["messages"][0]


def test_days_with_the_same_fault_are_reported_once(project: Project, command: Command) -> None:
    """Many days without predictions make one message, with their number and the first and last."""
    for day in range(4, 14):
        project.write("outcomes", project.rows("outcomes"), date(2026, 3, day))
    span = ("--model", "ctr", "--from", DAY, "--to", "2026-03-12", "--as-of", "2026-03-14")
    ended = command("backfill", *span, "--json")

    assert ended.code == 3
    assert json.loads(ended.err)["error"]["messages"] == [
        (
            "ctr: 10 days without predictions, first 2026-03-03, last 2026-03-12; wait for the "
            "log, correct predictions.path, or, if the model does not score every day, write its "
            "calendar or list missing_day under checks.accept."
        )
    ]
