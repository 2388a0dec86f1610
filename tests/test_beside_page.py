"""docs/airflow.md, "Without Airflow": the programs that it is for can read what it shows."""

import ast
import re
import subprocess

import pytest
import yaml

from monitor.read.failing import GROUPS
from tests.support.paths import ROOT
from tests.support.servers import program_path

_, _, PAGE = (ROOT / "docs" / "airflow.md").read_text().partition("## Without Airflow")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
YAML = [yaml.safe_load(text) for language, text in BLOCKS if language == "yaml"]


def test_groups_are_those_of_the_program() -> None:
    """The table lists each group, with its states."""
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE, re.MULTILINE))

    assert rows.keys() == GROUPS.keys()
    for group, states in GROUPS.items():
        assert {*re.findall(r"`(\w+)`", rows[group])} == states - {"unreadable", ""}


@pytest.mark.parametrize("source", [text for language, text in BLOCKS if language == "python"])
def test_python_is_python(source: str) -> None:
    """Each example can be compiled."""
    ast.parse(source)


def test_prometheus_reads_what_the_collector_is_given(tmp_path: pytest.TempPathFactory) -> None:
    """The collector's receiver takes a configuration of Prometheus as it is."""
    (collector,) = (part for part in YAML if "receivers" in part)
    path = f"{tmp_path}/prometheus.yml"
    with open(path, "w") as file:  # noqa: PTH123
        yaml.safe_dump(collector["receivers"]["prometheus"]["config"], file)

    ended = subprocess.run(
        [program_path("promtool"), "check", "config", path], capture_output=True, check=False
    )

    assert ended.returncode == 0, ended.stderr
