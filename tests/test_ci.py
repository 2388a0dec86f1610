"""What a new maintainer needs: a licence, a security page, and CI that runs the checks."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# BaseLoader keeps `on` and 3.11 as the strings they are in the file.
WORKFLOW: dict[str, Any] = yaml.load(
    (ROOT / ".github" / "workflows" / "ci.yml").read_text(),
    Loader=yaml.BaseLoader,  # noqa: S506 - it builds nothing but strings, lists and mappings
)
(JOB,) = WORKFLOW["jobs"].values()
MAKEFILE = (ROOT / "Makefile").read_text()
VERSIONS = JOB["strategy"]["matrix"]["python"]
INSTALLING = "$(MAKE) --no-print-directory --jobs=2 setup programs"


def commands(target: str) -> list[str]:
    """Read what `make` runs for a target."""
    (recipe,) = re.findall(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    return [line.strip().removeprefix("@") for line in recipe.splitlines()]


def test_the_workflow_runs_the_checks_of_the_project() -> None:
    """The last step runs a part of the checks, with the Python that was just set up."""
    *_, last = JOB["steps"]

    assert last["run"] == "make ${{ matrix.part }}"
    assert last["env"] == {"PYTHON": "python"}
    assert "PYTHON ?=" in MAKEFILE


def test_the_parts_are_the_whole() -> None:
    """Each test is in one of two parts; .ci/run runs these and the third, beside each other."""
    called = {part: commands(part) for part in ("test", *JOB["strategy"]["matrix"]["part"])}
    installing, lint, every, *_ = called.pop("test")
    every = every.partition(";")[0]

    assert installing == called["slow"].pop(0) == INSTALLING
    assert commands("programs") == ["sh tools/install-programs"]
    assert called.pop("lint")
    assert lint.startswith("$(MAKE) --no-print-directory lint > ")
    assert called == {"quick": [f'{every} -m "not slow"'], "slow": [f"{every} -m slow"]}
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert (ROOT / ".ci" / "run").read_text().endswith("\nexec make test\n")


@pytest.mark.parametrize(("lint", "tests"), [(0, 0), (0, 1), (2, 0), (2, 1)])
def test_both_parts_must_be_right(lint: int, tests: int, tmp_path: Path) -> None:
    """`make test` fails if the checks of the code or the tests fail, and shows what both say."""
    (recipe,) = re.findall(r"^test:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    parts = {
        "make": f'[ "${{2#--jobs}}" = "$2" ] || exit 0; sleep 0.2; echo style; exit {lint}',
        "bin/python": f"echo dots; exit {tests}",
    }
    for name, script in parts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "Makefile").write_text(f"MAKE := ./make\nVENV := .\nBIN := bin\ntest:\n{recipe}")

    make = shutil.which("make") or "make"
    alone = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    ended = subprocess.run(
        [make, "test"], cwd=tmp_path, env=alone, capture_output=True, text=True, check=False
    )

    assert bool(ended.returncode) == bool(lint or tests)
    assert ended.stdout == "dots\n" + ("make lint:\nstyle\n" if lint else "")


def test_the_workflow_may_only_read() -> None:
    """Its token cannot write to the repository, and the checkout does not keep it."""
    (checkout,) = (s for s in JOB["steps"] if s.get("uses", "").startswith("actions/checkout@"))

    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert "permissions" not in JOB
    assert checkout["with"]["persist-credentials"] == "false"


def test_the_workflow_tests_the_oldest_version_and_a_newer_one() -> None:
    """The matrix holds the lower bound of pyproject.toml and at least one version above it."""
    assert VERSIONS[0] == PROJECT["requires-python"].removeprefix(">=")
    assert len(set(VERSIONS)) >= 2
    (setup,) = (s for s in JOB["steps"] if s.get("uses", "").startswith("actions/setup-python@"))
    assert setup["with"] == {"python-version": "${{ matrix.python }}"}
