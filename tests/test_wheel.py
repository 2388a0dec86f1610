"""What pip installs: the wheel is built, checked, and tried where there is no checkout."""

import base64
import csv
import hashlib
import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata

from monitor.cli.assets import PARTS, SINGLE, shipped
from tests.conftest import Project
from tests.support.paths import ROOT
from tests.support.wheel import Installed, installed

OF_EVERY_KIND = (
    "alerts/alertmanager.yml",
    "alerts/calibration.rules.yml",
    "alerts/runbook.md",
    "alerts/templates/calibration.tmpl",
    "dags/calibration.py",
    "deploy/container/Dockerfile",
    "deploy/kubernetes/exporter.yaml",
    "deploy/mixin/mixin.libsonnet",
    "deploy/spark/calibration_run.py",
    "deploy/systemd/calibration-monitor.service",
    "grafana/dashboards/fleet.json",
    "grafana/dashboards/model.json",
    "grafana/dashboards/errors.json",
    "grafana/dashboards/data.json",
    "monitor.example.yaml",
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Build and install the wheel."""
    return installed(tmp_path_factory.mktemp("wheel"))


def test_the_wheel_is_well_formed(environment: Installed) -> None:
    """PyPI would take its metadata, and every file is the one that its record lists."""
    with zipfile.ZipFile(environment.wheel) as wheel:
        (about,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Metadata.from_email(wheel.read(about), validate=True)
        record = wheel.read(about.replace("METADATA", "RECORD")).decode().splitlines()
        listed = {name: digest for name, digest, _ in csv.reader(record) if digest}
        for name, digest in listed.items():
            found = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest())
            assert digest == f"sha256={found.rstrip(b'=').decode()}", name

        assert metadata.name == "calibration-monitor"
        assert metadata.description_content_type == "text/markdown"
        assert metadata.description == (ROOT / "README.md").read_text()
        assert set(wheel.namelist()) - set(listed) == {about.replace("METADATA", "RECORD")}


def test_the_wheel_holds_the_package_and_nothing_of_the_tests(environment: Installed) -> None:
    """Every module is in it, and no test, study, benchmark or compiled file."""
    with zipfile.ZipFile(environment.wheel) as wheel:
        names = set(wheel.namelist())
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "monitor").rglob("*.py")}
    tops = {name.split("/")[0] for name in names}

    assert modules <= names
    assert {top for top in tops if not top.endswith(".dist-info")} == {"monitor"}
    assert not [name for name in names if name.endswith((".pyc", ".nbi", ".nbc"))]


def test_the_commands_work(environment: Installed, project: Project) -> None:
    """What the workflow of a release runs with the wheel passes, and pages are written."""
    tried = environment.run(project.folder, "python", ROOT / "tools" / "try_release.py")
    page = environment.run(project.folder, "calibration-monitor", "report", "--out", "pages")

    assert tried.returncode == 0, tried.stderr
    assert page.returncode == 0, page.stderr
    assert (project.folder / "pages" / "models" / "ctr.html").is_file()


@pytest.fixture(scope="module")
def assets_of_wheel(environment: Installed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Let the installed program write its assets, twice: the second time nothing differs."""
    folder = tmp_path_factory.mktemp("assets")
    call = ("calibration-monitor", "assets", "--into", folder)
    for _ in range(2):
        ended = environment.run(folder, *call)
        assert ended.returncode == 0, ended.stderr
    written = {Path(line.removeprefix("written: ")) for line in ended.stdout.splitlines()}
    assert written == {path for path in folder.rglob("*") if path.is_file()}
    return folder


def test_assets_of_the_wheel_are_those_of_the_repository(assets_of_wheel: Path) -> None:
    """All files of the listed places come along, byte for byte, and something of every kind."""
    there = (path for path in assets_of_wheel.rglob("*") if path.is_file())
    written = {path.relative_to(assets_of_wheel).as_posix() for path in there}

    assert set(OF_EVERY_KIND) <= written
    assert set(shipped()) <= written
    for name in shipped():
        assert (assets_of_wheel / name).read_bytes() == (ROOT / name).read_bytes(), name


def test_the_wheel_of_assets_is_the_installed_one(
    environment: Installed, assets_of_wheel: Path
) -> None:
    """Put together again from what pip installed, it has every file of the wheel, byte for byte."""
    (again,) = assets_of_wheel.glob("*.whl")
    (ours, theirs) = (zipped(path) for path in (environment.wheel, again))
    (record,) = (name for name in ours if name.endswith("RECORD"))

    assert again.name == environment.wheel.name
    assert {n: c for n, c in theirs.items() if n != record} == {
        n: c for n, c in ours.items() if n != record
    }
    assert sorted(theirs[record].split()) == sorted(ours[record].split())


def zipped(path: Path) -> dict[str, bytes]:
    """Read every file of a wheel."""
    with zipfile.ZipFile(path) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist()}


def test_the_image_is_built_from_the_folder_of_assets(
    environment: Installed, assets_of_wheel: Path, tmp_path: Path
) -> None:
    """The step of the Dockerfile installs the program there, with nothing else at hand.

    The dependencies are left out: to load them takes minutes.
    """
    recipe = (assets_of_wheel / "deploy" / "container" / "Dockerfile").read_text()
    (step,) = re.findall(r"^RUN (python -m venv (?:.*\\\n)*.*)$", recipe, re.MULTILINE)
    left_out = {"PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PIP_NO_COMPILE": "1", "EXTRAS": "[s3]"}
    done = subprocess.run(
        ["/bin/sh", "-ec", step.replace("/opt/calibration-monitor", f"{tmp_path / 'env'}")],
        cwd=assets_of_wheel,
        env={"PATH": f"{environment.bin}:/usr/bin:/bin", **left_out},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    (program,) = (tmp_path / "env" / "bin").glob("calibration-monitor")
    (package,) = (tmp_path / "env" / "lib").glob("python*/site-packages/monitor")
    assert program.stat().st_mode & 0o100
    assert (package / "assets" / "constraints.txt").is_file()


def test_the_wheel_and_the_command_name_the_same_places() -> None:
    """What pyproject.toml puts into the wheel is what the command looks for in a checkout."""
    from tests.test_packaging import SETTINGS  # noqa: PLC0415 - one place reads the file

    wheel = SETTINGS["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]

    assert wheel == {place: f"monitor/assets/{place}" for place in (*PARTS, *SINGLE)}
