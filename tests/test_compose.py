"""The stack of compose.yml, as far as it can be tested without Docker and Grafana."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.paths import ROOT
from tests.support.servers import program_path

STACK = yaml.safe_load((ROOT / "compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = STACK["services"]


def mounts(service: str) -> dict[str, str]:
    """Return the mounts of a service: the path in the container and its source."""
    found = {}
    for volume in SERVICES[service]["volumes"]:
        # The source may be ${VARIABLE:-default}, which has colons of its own.
        parts = re.fullmatch(
            r"(\$\{\w+:-(?P<default>[^}]+)\}|(?P<plain>[^:]+)):([^:]+)(:ro)?", volume
        )
        assert parts is not None, volume
        found[parts[4]] = parts["default"] or parts["plain"]
    return found


def assembled(service: str, container: str, folder: Path) -> Path:
    """Copy the files that a service mounts below a folder to a folder of the test."""
    for place, source in mounts(service).items():
        if place.startswith(container) and source.startswith("./"):
            target = folder / Path(place).relative_to(container)
            target.parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
            copy(ROOT / source, target)
    return folder


@pytest.mark.parametrize("service", SERVICES)
def test_what_is_mounted_exists(service: str) -> None:
    """A source is a file of the repository, a declared volume, or what `make demo` makes."""
    for place, source in mounts(service).items():
        if source.startswith("./") and source != "./demo-data":
            assert (ROOT / source).exists(), place
        elif not source.startswith("./"):
            assert source in STACK["volumes"], place


@pytest.mark.parametrize("service", SERVICES)
def test_only_this_machine_is_answered(service: str) -> None:
    """Every port is published on the loopback address."""
    assert SERVICES[service]["ports"]
    for port in SERVICES[service]["ports"]:
        assert port.startswith("127.0.0.1:"), port


def test_images_are_pinned() -> None:
    """Every image has a fixed version."""
    for service in SERVICES.values():
        assert "build" in service or re.search(r":v?\d+\.\d+\.\d+$", service["image"])


def test_prometheus_accepts_its_configuration(tmp_path: Path) -> None:
    """With the rules where compose.yml mounts them, promtool accepts the configuration."""
    folder = assembled("prometheus", "/etc/prometheus", tmp_path)
    call = [program_path("promtool"), "check", "config", folder / "prometheus.yml"]
    checked = subprocess.run(call, check=False, capture_output=True, text=True)

    assert checked.returncode == 0, checked.stderr
    assert "1 rule files found" in checked.stdout
    assert "SUCCESS" in checked.stdout


def test_prometheus_and_the_exporter_agree() -> None:
    """Prometheus scrapes the ports on which the services listen, under the expected job."""
    configuration = yaml.safe_load((ROOT / "grafana" / "prometheus.yml").read_text())
    jobs = {job["job_name"]: job["static_configs"] for job in configuration["scrape_configs"]}
    managers = configuration["alerting"]["alertmanagers"][0]["static_configs"]
    listening = {
        f"{name}:{port.rpartition(':')[2]}"
        for name, service in SERVICES.items()
        for port in service["ports"]
    }
    asked = {t for static in [managers, *jobs.values()] for one in static for t in one["targets"]}

    assert asked <= listening
    assert jobs["calibration-monitor"][0]["targets"] == ["exporter:9645"]
