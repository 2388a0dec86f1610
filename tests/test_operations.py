"""What goes wrong around the program: what is said, and that nothing else happens.

The rows of the table "When something goes wrong" in docs/operate.md name these tests, and others.
"""

import os
import pwd
import re
import resource
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from time import sleep

import pytest
import yaml

from monitor.base.errors import DataError
from monitor.config import load_config
from monitor.export.http.app import Exporter
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.run import run
from monitor.store.lock import locked
from monitor.store.names import day_file
from monitor.store.store import Store
from tests.conftest import CONFIG, DAY, DAY_BEFORE, Command, Ended, Project
from tests.support.cases import some

ROOT = Path(__file__).parent.parent
PROGRAM = str(Path(sys.executable).with_name("calibration-monitor"))
NOBODY = pwd.getpwnam("nobody").pw_uid
SPAN = ("--from", DAY_BEFORE, "--to", DAY)
# Of each row of the table, by its first words: the file and the name of the test that plays it.
PLAYED = {
    "an old file of a log is deleted": (
        "pipeline/test_mornings_that_go_wrong.py",
        "test_whatever_happens_to_logs_the_newest_settled_day_is_judged",
    ),
    "predictions come late": (
        "pipeline/test_order_of_days.py", "test_a_day_that_was_missing_leaves_no_trace"),
    "a run is killed": (
        "pipeline/test_mornings_that_go_wrong.py", "test_a_run_finishes_what_one_before_it_left"),
    "two runs of a model at once": ("test_operations.py", "test_the_second_of_two_names_the_first"),
    "several commands at once": ("test_operations.py", "test_commands_at_once_leave_the_same"),
    "a volume is not mounted": (
        "test_operations.py", "test_a_store_that_is_not_mounted_is_said_and_not_replaced"),
    "a store loses the results": (
        "export/http/test_app.py", "test_results_that_are_gone_are_no_empty_store"),
    "the disk is full": (
        "export/http/test_probe.py", "test_a_full_disk_and_a_read_only_one_are_noticed"),
    "files of many days in a row": (
        "test_operations.py", "test_missing_files_of_days_in_a_row_are_one_command"),
    "a file of the store is damaged": (
        "pipeline/test_healing.py", "test_a_run_heals_what_it_needs"),
    "an older program meets": (
        "cli/test_upgrades.py", "test_a_store_that_a_newer_program_began_is_not_touched"),
    "the clock of the machine": ("test_operations.py", "test_a_wrong_clock_changes_no_result"),
    "a lock is left of another user": (
        "test_operations.py", "test_a_lock_of_another_user_is_named"),
    "a file stands where": (
        "test_operations.py", "test_a_file_where_a_folder_should_be_is_named"),
    "a value of a log contains": (
        "logs/test_values_in_sql.py", "test_a_day_with_every_strange_value_is_read"),
    "a path has": ("test_config_places.py", "test_every_path_is_whole"),
    "an address has a password": (
        "test_config_limits.py", "test_a_place_that_cannot_be_opened_keeps_its_password"),
    "a server answers a byte": ("test_deadline.py", "test_tables_are_waited_for_so_long"),
    "standard output is not": (
        "cli/test_streams.py", "test_characters_that_an_output_lacks_are_replaced"),
    "standard error is closed": (
        "cli/test_streams.py",
        "test_what_is_said_aside_does_not_decide_how_a_command_ends",
    ),
    "memory runs out": ("test_operations.py", "test_too_little_memory_for_a_library_is_said"),
    "`where`, the score, the outcome": (
        "pipeline/test_read_otherwise.py", "test_a_change_of_settings_is_no_drift"),
    "the values of the segments' column": (
        "pipeline/test_read_otherwise.py",
        "test_values_that_are_written_otherwise_are_told_with_their_names",
    ),
    "the model broke, or was replaced": (
        "drift/test_change_within.py",
        "test_the_verdict_does_not_call_such_a_reference_right",
    ),
    "an Airflow task runs": ("pipeline/test_scheduled.py", "test_are_those_of_the_run"),
    "a list or a number": ("test_operations.py", "test_a_limit_is_said_in_our_words"),
    "hundreds of models": ("test_operations.py", "test_many_models_are_no_aliases"),
}  # fmt: skip


def said(ended: Ended) -> str:
    """Give what a command said aside, on one line."""
    return " ".join(ended.err.split())


def test_a_lock_of_another_user_is_named() -> None:
    """It is the lock that cannot be opened, and nothing is wrong with the store."""
    folder = Path(mkdtemp())
    folder.chmod(0o755)
    lock = folder / "lock"
    lock.touch(mode=0o000)  # which stops all but root
    try:
        child = os.fork()
        if child == 0:
            if os.getuid() == 0:
                os.setuid(NOBODY)
            try:
                with locked(lock, what="m"):
                    os._exit(1)
            except DataError as error:
                os._exit(0 if str(error).startswith(f"{lock}: this lock is of another") else 2)
            except BaseException:  # noqa: BLE001 - of the child, which has no other way to say it
                os._exit(3)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        lock.unlink()
        folder.rmdir()


@pytest.mark.parametrize("kind", some(["summaries", "evaluations", "verdicts", "runs"], 2))
def test_a_file_where_a_folder_should_be_is_named(
    project: Project, command: Command, kind: str
) -> None:
    """Which one, and not only the store."""
    folder = project.folder / "store" / kind / "ctr"
    folder.rename(project.folder / "elsewhere")
    folder.write_text("")
    ended = command("backfill", *SPAN, "--again")
    assert ended.code == 3
    assert f"{folder} is a file where a folder should be" in said(ended)


@pytest.mark.parametrize(("segments", "rule"), [
    ({"column": "c", "values": [f"v{i}" for i in range(501)]},
     "models.ctr.segments.values: must have at most 500 items, and has 501"),
    ([{"column": "c", "top": 300}], "models.ctr.segments.0.top: must be at most 100, got 300"),
    ([{"column": "c", "values": ["x" * 201]}],
     "models.ctr.segments.0.values.0: must be at most 200 characters long"),
])  # fmt: skip
def test_a_limit_is_said_in_our_words(
    project: Project, command: Command, segments: object, rule: str
) -> None:
    """With the key, the limit and what was given."""
    config = yaml.safe_load(CONFIG)
    config["models"]["ctr"]["segments"] = segments
    (project.folder / "monitor.yaml").write_text(yaml.safe_dump(config))
    ended = command("show")
    assert ended.code == 2
    assert rule in said(ended)


def test_many_models_are_no_aliases(project: Project, command: Command) -> None:
    """A file with more than it may have says what to do, and nothing of aliases without any."""
    config = yaml.safe_load(CONFIG)
    model = config["models"]["ctr"]
    config["models"] = {f"m{i}": {**model, "windows": [1, 7, 28]} for i in range(700)}
    text = yaml.dump(config, Dumper=type("Plain", (yaml.SafeDumper,), {
        "ignore_aliases": lambda _self, _data: True}))  # fmt: skip
    (project.folder / "monitor.yaml").write_text(text)
    ended = command("show")
    assert ended.code == 2
    assert "use a folder with one file for each" in said(ended)
    assert "alias" not in said(ended)


def test_missing_files_of_days_in_a_row_are_one_command(project: Project, command: Command) -> None:
    """As a full disk leaves them."""
    days = [DAY + timedelta(days=number) for number in range(1, 5)]
    for day in days:
        project.write("predictions", project.rows("predictions", day), day)
        project.write("outcomes", project.rows("outcomes", day), day)
    span = ("--from", days[0], "--to", days[-2])
    assert command("backfill", *span).code == 0
    for kind in ("evaluations", "verdicts"):
        for day in days[:-1]:
            (project.folder / "store" / day_file(kind, "ctr", day)).unlink()

    ended = command("check", "--store")

    assert ended.code == 3
    assert len(re.findall("calibration-monitor evaluate", said(ended))) == 2
    assert f"--model ctr --from {days[0]} --to {days[-2]}" in said(ended)
    assert command("evaluate", *span).code == 0
    assert command("check", "--store").code == 0


def test_a_long_value_is_cut_in_tables(project: Project, command: Command) -> None:
    """At 40 characters; documents have it whole."""
    long = "x" * 150
    project.configure("values: [DE, FR]", f"values: [DE, {long}]")
    rows = project.rows("predictions")
    project.write("predictions", {**rows, "country": [long, "DE"] * 20})
    assert command("backfill", "--from", DAY, "--to", DAY).code == 0
    shown = command("show")
    assert f"{'x' * 39}…" in shown.out
    table = [line for line in shown.out.splitlines() if "x" * 39 in line]
    assert not any("x" * 41 in line for line in table if "…" in line)
    assert long in command("show", "--json").out


def test_too_little_memory_for_a_library_is_said(project: Project) -> None:
    """Loading stops at some point, and the exit code is that of data."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (150_000 * 1024,) * 2)

    done = subprocess.run(
        [PROGRAM, "run", "--day", f"{DAY}"],
        cwd=project.folder, preexec_fn=limit, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "run out of memory while it loaded the libraries" in " ".join(done.stderr.split())


@pytest.mark.parametrize("call", some([
    ("run",), ("check", "--store"), ("show",), ("prune", "--keep", "400d"), ("store", "compact"),
    ("evaluate", *SPAN), ("textfile", "--into", "out.prom"), ("backfill", *SPAN, "--dry-run"),
], 2), ids=lambda call: call[0])  # fmt: skip
def test_a_store_that_is_not_mounted_is_said_and_not_replaced(
    project: Project, command: Command, call: tuple[object, ...]
) -> None:
    """What is there stays as it is: nothing, or an empty folder."""
    (project.folder / "store").rename(project.folder / "elsewhere")
    if call[0] in ("show", "run"):
        (project.folder / "store").mkdir()
    ended = command(*call)
    begun = [path for path in (project.folder / "store").rglob("*") if path.is_file()]
    assert begun == []
    if call[0] != "backfill":
        assert ended.code == 3
        assert "is no store: neither store.json nor a result is there" in said(ended)


def test_only_who_is_told_begins_a_store(project: Project, command: Command) -> None:
    """And says so, once."""
    (project.folder / "store").rename(project.folder / "elsewhere")
    first = command("backfill", *SPAN)
    again = command("backfill", *SPAN)
    assert (first.code, again.code) == (0, 0)
    assert "is new, and begins here" in first.out
    assert "begins here" not in again.out
    (project.folder / "store").rename(project.folder / "third")
    assert command("run", "--day", DAY).code == 3
    begun = command("run", "--day", DAY, "--begin")
    assert (begun.code, "begins here" in begun.out) == (0, True)


def test_every_row_of_the_page_is_played() -> None:
    """By a test that is there; and each of them has its row."""
    page = (ROOT / "docs" / "operate.md").read_text()
    table = page.partition("## When something goes wrong\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")][1:]
    beginnings = [*PLAYED]
    assert len(rows) == len(beginnings)
    for row, beginning in zip(rows, beginnings, strict=True):
        assert row.startswith(beginning)
        file, name = PLAYED[beginning]
        assert f"def {name}(" in (ROOT / "tests" / file).read_text()


def test_the_second_of_two_names_the_first(project: Project, command: Command) -> None:
    """Without waiting it ends, and has changed nothing."""
    before = project.results()
    with Store(str(project.folder / "store")).locked("ctr"):
        ended = command("run", "--day", DAY, "--no-wait")
    assert ended.code == 3
    assert f"process {os.getpid()}" in said(ended)
    assert project.results() == before


def test_commands_at_once_leave_the_same(project: Project, command: Command) -> None:
    """Two that write, one that reads, and scrapes meanwhile."""
    before = project.results()
    exporter = Exporter(project.folder / "monitor.yaml")
    calls = [
        ("run", "--day", f"{DAY}"), ("backfill", *map(str, SPAN), "--again"), ("show", "--json"),
    ]  # fmt: skip
    running = [
        subprocess.Popen(
            [PROGRAM, *call], cwd=project.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        for call in calls
    ]
    while any(process.poll() is None for process in running):
        assert b"calibration_model_results_readable" in exporter.text()
        sleep(0.05)
    said_by = [process.communicate()[0].decode() for process in running]
    assert [process.returncode for process in running] == [0] * 3, said_by
    assert project.results() == before
    assert command("check", "--store").code == 0


def test_a_wrong_clock_changes_no_result(project: Project) -> None:
    """A year ahead or behind."""
    before = project.results()
    config = load_config(project.folder / "monitor.yaml")
    task = Task("ctr", DAY_BEFORE, DAY, DAY + timedelta(days=2))
    for days in (-365, 365):
        now = datetime(2026, 3, 5, tzinfo=UTC) + timedelta(days=days)
        assert run(config, task, clock=lambda now=now: now).failures == ()
        assert project.results() == before
