"""The Dockerfile, as far as it can be tried without Docker: linted, and its parts run."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.support.exporting import fill, serving
from tests.support.paths import ROOT

FOLDER = ROOT / "deploy" / "container"
RECIPE = FOLDER / "Dockerfile"
BIN = Path(sys.executable).parent


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


def test_it_runs_without_rights() -> None:
    """The last user is a number that is not root's, as Kubernetes needs it to verify that."""
    uid, _, gid = instructions("USER")[-1].partition(":")

    assert int(uid) == int(gid) == 10001
    assert f"--uid {uid} " in " ".join(instructions("RUN"))


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
