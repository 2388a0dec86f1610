"""Packaging: tested bounds, pins within them, and an environment that make can repair."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.support.paths import ROOT

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]
LINES = (ROOT / "constraints.txt").read_text().splitlines()
PIN = re.compile(r"([a-z0-9-]+)==([0-9a-z.!]+)")
EXTRAS = PROJECT["optional-dependencies"]
REQUIREMENTS = [
    requirement
    for line in (*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra))
    if (requirement := Requirement(line)).name != PROJECT["name"]
]

MAKE = shutil.which("make") or "make"  # without it, starting it fails


def pins() -> dict[str, Version]:
    """Read the pinned version of every package."""
    return {name: Version(version) for name, version in (line.split("==") for line in LINES)}


def test_constraints_are_pins_and_nothing_else() -> None:
    """Every line is a name and a version: no host, no URL, no path, no option, no name twice."""
    assert [line for line in LINES if not PIN.fullmatch(line)] == []
    assert [canonicalize_name(line.split("==")[0]) for line in LINES] == sorted(pins())


def test_every_dependency_is_pinned_within_its_bounds() -> None:
    """Each dependency of the project and of its extras has a lower bound, and a pin within it."""
    for requirement in REQUIREMENTS:
        pinned = pins()[canonicalize_name(requirement.name)]
        lower = [bound for bound in requirement.specifier if bound.operator in {">=", "=="}]

        assert len(lower) == 1
        assert pinned in requirement.specifier
        assert Version(lower[0].version) <= pinned


def test_the_extra_for_development_has_all_others() -> None:
    """The environment for the tests contains every extra that a user may install."""
    (own,) = (
        requirement
        for line in EXTRAS["dev"]
        if (requirement := Requirement(line)).name == PROJECT["name"]
    )

    assert own.extras == EXTRAS.keys() - {"dev"}


def test_the_layers_are_those_that_lint_enforces() -> None:
    """CONTRIBUTING.md shows the layers of the contract, with the DAGs next to the command."""
    (contract,) = (
        contract
        for contract in SETTINGS["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers" and contract["containers"] == ["monitor"]
    )
    drawn = (ROOT / "CONTRIBUTING.md").read_text().partition("`make lint` enforces it:\n")[2]
    layers = [line.strip().split(", ") for line in drawn.partition("\n## ")[0].split("\n") if line]

    assert layers == [
        ["cli", "dags"],
        *(layer.split(" | ") for layer in contract["layers"][1:]),
    ]


def make(folder: Path, python: str) -> "subprocess.CompletedProcess[str]":
    """Let make set up the demo in a folder that has only a Makefile, with a stub of Python."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder / name)
    stub(folder / "python", python)
    return subprocess.run(
        [MAKE, "--no-print-directory", f"PYTHON={folder / 'python'}", ".venv/demo.stamp"],
        cwd=folder,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )


def stub(path: Path, does: str) -> None:
    """Write a program that notes its arguments in the folder of the Makefile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho $* >>calls\n{does}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("code", [0, 2])
def test_pip_installs_where_uv_does_not_work(code: int, tmp_path: Path) -> None:
    """Both install the same into the same environment."""
    stub(tmp_path / ".venv" / "bin" / "python", "")
    stub(tmp_path / ".venv" / "bin" / "uv", f"exit {code}")
    pip = "-m pip --quiet --disable-pip-version-check"
    same = "--constraint constraints.txt --editable .[demo]"

    ended = make(tmp_path, "exit 1")

    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "calls").read_text().splitlines() == [
        f"{pip} --version",
        f"{pip} install uv",
        f"pip install --quiet --python .venv/bin/python {same}",
        *([f"{pip} install {same}"] if code else []),
    ]
