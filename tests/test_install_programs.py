"""tools/install-programs with stubs: nothing to do, no permission, and as root."""

import re
import shutil
import subprocess
from pathlib import Path

from tests.support.paths import ROOT

SCRIPT = ROOT / "tools" / "install-programs"
LISTED = re.findall(r'^packages="([^"]*)"', SCRIPT.read_text(), re.MULTILINE)[0]
PACKAGES = re.findall(r"([\w-]+)(?:=[\w-]+)?", LISTED)
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
