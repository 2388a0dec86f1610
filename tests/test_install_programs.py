"""tools/install-programs with stubs: nothing to do, no permission, and as root."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.paths import ROOT

SCRIPT = ROOT / "tools" / "install-programs"
LISTED = re.findall(r'^packages="([^"]*)"', SCRIPT.read_text(), re.MULTILINE)[0]
PACKAGES = re.findall(r"([\w-]+)(?:=[\w-]+)?", LISTED)
PROGRAMS = re.findall(r"(?:[\w-]+=)?([\w-]+)", LISTED)
POLICY = "/usr/sbin/policy-rc.d"
ORDINARY = ("cat", "chmod", "mktemp", "rm")
AS_ROOT = {"id": "echo 0"}
OPTIONS = "--yes --no-install-recommends -o DPkg::Lock::Timeout=300"


def run(
    folder: Path, *arguments: str, ci: str = "", **programs: str
) -> "subprocess.CompletedProcess[str]":
    """Run the script where only the given programs exist, and note which it starts.

    Its rule that forbids services to start lies in that world too.
    """
    world = folder / "world"
    world.mkdir()
    for name in ORDINARY:
        (world / name).symlink_to(shutil.which(name) or name)
    for name, does in {"apt-get": "exit 9", **programs}.items():
        (world / name).write_text(f"#!/bin/sh\necho {name} $* >>'{folder}/called'\n{does}\n")
        (world / name).chmod(0o755)
    text = SCRIPT.read_text()
    assert text.count(POLICY) == 1
    (folder / "script").write_text(text.replace(POLICY, str(folder / "policy")))
    return subprocess.run(
        ["/bin/sh", folder / "script", *arguments],
        env={"PATH": str(world), "TMPDIR": str(folder)} | ({"CI": ci} if ci else {}),
        capture_output=True,
        text=True,
        check=False,
    )


def called(folder: Path) -> list[str]:
    """List the calls of programs, each with its arguments."""
    log = folder / "called"
    return [line.strip() for line in log.read_text().splitlines()] if log.exists() else []


def test_is_silent_where_all_is_there(tmp_path: Path) -> None:
    """With every program installed it prints nothing and starts no other program."""
    ended = run(tmp_path, **dict.fromkeys(PROGRAMS, ""))

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert called(tmp_path) == []


def test_explains_itself_to_others_than_root(tmp_path: Path) -> None:
    """Without root it prints one line with the remedy, succeeds, and installs nothing."""
    there, *missing = PACKAGES
    ended = run(tmp_path, id="echo 1000", **{there: ""})

    assert ended.returncode == 0
    assert len(missing) >= 3
    assert ended.stdout.startswith(
        f"not installed: {' '.join(missing)}; the tests that drive them will fail"
    )
    assert ended.stdout.endswith(f"sudo apt-get install {' '.join(missing)}\n")
    assert ended.stdout.count("\n") == 1
    assert called(tmp_path) == ["id -u"]


def test_installs_what_is_missing_as_root(tmp_path: Path) -> None:
    """As root it installs exactly the missing packages without a question, and prints one line."""
    there, *missing = PACKAGES
    apt = '[ "$DEBIAN_FRONTEND $RUNLEVEL" = "noninteractive 1" ] || exit 7; echo much to say'

    ended = run(tmp_path, **AS_ROOT, **{there: "", "apt-get": apt})

    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith(f"installing {' '.join(missing)} with apt-get")
    assert ended.stdout.count("\n") == 1
    assert called(tmp_path) == [
        "id -u",
        "apt-get update",
        f"apt-get install {OPTIONS} {' '.join(missing)}",
    ]


def test_installs_a_program_that_it_is_asked_for(tmp_path: Path) -> None:
    """An argument is an additional program; only the tests with Celery need Redis."""
    ended = run(
        tmp_path, "redis-server", **AS_ROOT, **dict.fromkeys(PROGRAMS, ""), **{"apt-get": "true"}
    )

    assert ended.returncode == 0
    assert called(tmp_path)[-1] == f"apt-get install {OPTIONS} redis-server"
    assert "redis-server" not in PACKAGES
    assert "sh tools/install-programs redis-server\n" in (ROOT / "Makefile").read_text()


def test_no_service_is_started(tmp_path: Path) -> None:
    """During the installation a rule forbids services; afterwards it and the log are removed."""
    apt = f"'{tmp_path}/policy'; echo $? >>'{tmp_path}/answers'"

    run(tmp_path, **AS_ROOT, **{"apt-get": apt})

    assert (tmp_path / "answers").read_text().split() == ["101", "101"]
    assert {path.name for path in tmp_path.iterdir()} == {"world", "script", "called", "answers"}


def test_a_rule_of_this_machine_stays(tmp_path: Path) -> None:
    """An existing rule of the machine applies and stays."""
    (tmp_path / "policy").write_text("of this machine\n")

    run(tmp_path, **AS_ROOT, **{"apt-get": "true"})

    assert (tmp_path / "policy").read_text() == "of this machine\n"


@pytest.mark.parametrize("ci", ["", "true"])
def test_leaves_the_judgement_of_a_failure_to_the_tests(tmp_path: Path, ci: str) -> None:
    """The output of apt-get is shown with its meaning; the script succeeds, in CI too."""
    apt = '[ "$1" = update ] || { echo "E: no room" >&2; exit 100; }'

    ended = run(tmp_path, ci=ci, **AS_ROOT, **{"apt-get": apt})

    assert ended.returncode == 0
    assert ended.stderr == (
        f"E: no room\napt-get could not install {' '.join(PACKAGES)}; "
        "the tests that drive them will fail.\n"
    )
    assert not (tmp_path / "policy").exists()


def test_an_update_that_fails_does_not_keep_from_installing(tmp_path: Path) -> None:
    """If a package source is not reachable, the others may suffice, and no error is shown."""
    ended = run(tmp_path, **AS_ROOT, **{"apt-get": '[ "$1" = install ]'})

    assert (ended.returncode, ended.stderr) == (0, "")
    assert [call.split()[:2] for call in called(tmp_path)[1:]] == [
        ["apt-get", "update"],
        ["apt-get", "install"],
    ]
