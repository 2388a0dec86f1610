"""tools/install-programs where it has nothing to do, or may not; with root it is what CI runs."""

import re
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "tools" / "install-programs"
PACKAGES = re.findall(r'^packages="([^"]*)"', SCRIPT.read_text(), re.MULTILINE)[0].split()


def run(folder: Path, **programs: str) -> "subprocess.CompletedProcess[str]":
    """Run the script in a world that has only the given programs, and notes which it starts."""
    for name, does in {"apt-get": "exit 9", **programs}.items():
        (folder / name).write_text(f"#!/bin/sh\necho {name} >>'{folder}/called'\n{does}\n")
        (folder / name).chmod(0o755)
    return subprocess.run(
        ["/bin/sh", SCRIPT], env={"PATH": str(folder)}, capture_output=True, text=True, check=False
    )


def test_is_silent_where_all_is_there(tmp_path: Path) -> None:
    """With every program installed it says nothing and starts no other program."""
    ended = run(tmp_path, **dict.fromkeys(PACKAGES, ""))

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert not (tmp_path / "called").exists()


def test_explains_itself_to_others_than_root(tmp_path: Path) -> None:
    """Who is not root gets one line with the remedy, success, and no attempt to install."""
    there, *missing = PACKAGES
    ended = run(tmp_path, id="echo 1000", **{there: ""})

    assert ended.returncode == 0
    assert len(missing) >= 3
    assert ended.stdout.startswith(
        f"not installed: {' '.join(missing)}; the tests that drive them are skipped"
    )
    assert ended.stdout.endswith(f"sudo apt-get install {' '.join(missing)}\n")
    assert ended.stdout.count("\n") == 1
    assert (tmp_path / "called").read_text() == "id\n"
