"""The Dockerfile, as far as it can be tried without Docker: linted, and its parts run."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.exporting import COMMAND, fill, serving
from tests.support.paths import ROOT

FOLDER = ROOT / "deploy" / "container"
RECIPE = FOLDER / "Dockerfile"
BIN = Path(sys.executable).parent
UNWANTED = shutil.ignore_patterns("__pycache__", "shots")  # as in Dockerfile.dockerignore


def instructions(word: str) -> list[str]:
    """List what follows each instruction of one kind, with continued lines joined."""
    text = re.sub(r"^#.*\n", "", RECIPE.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [" ".join(found.split()) for found in re.findall(rf"^{word} (.*)$", text, re.MULTILINE)]


def test_hadolint_finds_no_fault() -> None:
    """The linter of Dockerfiles, with a shell checker inside, has nothing to say."""
    checked = subprocess.run(
        [BIN / "hadolint", "--failure-threshold", "info", RECIPE],
        check=False,
        capture_output=True,
        text=True,
    )

    assert (checked.returncode, checked.stdout) == (0, "")


def test_the_linter_would_find_one(tmp_path: Path) -> None:
    """A Dockerfile of the newest image and an unpinned package does not pass."""
    (tmp_path / "Dockerfile").write_text("FROM python:latest\nRUN pip install numpy\n")
    checked = subprocess.run(
        [BIN / "hadolint", tmp_path / "Dockerfile"], check=False, capture_output=True
    )

    assert checked.returncode == 1


def test_what_is_let_in_is_there() -> None:
    """All is copied that the ignore file lets in: what the repository has, or a wheel."""
    assert instructions("COPY")[0] == ". ."
    assert [word for word in sources() if not (ROOT / word).exists()] == []
    assert "!*.whl" in let_in()


def let_in() -> list[str]:
    """List the exceptions of the ignore file."""
    lines = (FOLDER / "Dockerfile.dockerignore").read_text().split()
    return [line for line in lines if line.startswith("!")]


def sources() -> list[str]:
    """List what is copied from the repository."""
    return [line[1:] for line in let_in() if "*" not in line]


def test_the_program_can_be_built_from_what_is_copied(tmp_path: Path) -> None:
    """In a folder that holds no more than the image's build does, pip builds the wheel."""
    for name in sources():
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / "source" / name, ignore=UNWANTED)
        else:
            (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / "source" / name)
    build = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path)
    built = subprocess.run(
        [sys.executable, "-m", "pip", *build, tmp_path / "source"],
        check=False,
        capture_output=True,
        text=True,
    )

    assert built.returncode == 0, built.stderr
    assert len(list(tmp_path.glob("calibration_monitor-*.whl"))) == 1


def test_it_runs_without_rights() -> None:
    """The last user is a number that is not root's, as Kubernetes needs it to verify that."""
    uid, _, gid = instructions("USER")[-1].partition(":")

    assert int(uid) == int(gid) == 10001
    assert f"--uid {uid} " in " ".join(instructions("RUN"))


def test_its_command_is_one_of_the_program() -> None:
    """Entry point and default arguments are a call that the program understands."""
    program, arguments = json.loads(instructions("ENTRYPOINT")[0]), instructions("CMD")[-1]
    command, *options = json.loads(arguments)
    manual = subprocess.run(
        [COMMAND, command, "--help"], check=True, capture_output=True, text=True
    ).stdout

    assert program == [COMMAND.name]
    assert [option for option in options if option.startswith("--") and option not in manual] == []


def test_the_health_check_asks_the_exporter(tmp_path: Path) -> None:
    """The very command of the image passes, and fails once the configuration is broken."""
    program, *arguments = json.loads(instructions("HEALTHCHECK")[0].partition(" CMD ")[2])
    fill(tmp_path)
    with serving(tmp_path) as (_, where):
        asked = [word.replace("127.0.0.1:9645", where) for word in arguments]
        call = [BIN / program, *asked]
        sound = subprocess.run(call, check=False, capture_output=True)
        (tmp_path / "monitor.yaml").write_text("models: none")
        broken = subprocess.run(call, check=False, capture_output=True)

    assert asked != arguments
    assert (sound.returncode, broken.returncode) == (0, 1)
