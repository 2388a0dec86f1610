"""What a container gets, by the files of its control groups."""

from pathlib import Path

import pytest

from monitor.base.machine import cores, memory_to_use
from monitor.config.schema import Engine

VERSION_2 = "0::/system.slice/monitor.service\n"
VERSION_1 = "4:memory:/box/7\n1:cpu,cpuacct:/box/7\n0::/\n"


@pytest.mark.parametrize(
    ("groups", "files", "allowed", "memory"),
    [
        (VERSION_2, {}, None, None),
        (VERSION_2, {"cpu.max": "max 100000", "memory.max": "max"}, None, None),
        (VERSION_2, {"cpu.max": "100000 100000", "memory.max": "800000000"}, 1, 400),
        # The narrowest of the folder and of those around it counts.
        (
            VERSION_2,
            {"memory.max": "2000000000", "system.slice/monitor.service/memory.max": "1000000000"},
            None,
            500,
        ),
        (VERSION_2, {"memory.max": "1000"}, None, 100),
        (
            VERSION_1,
            {
                "memory/box/7/memory.limit_in_bytes": "1200000000",
                "cpu,cpuacct/cpu.cfs_quota_us": "50000",
                "cpu,cpuacct/cpu.cfs_period_us": "100000",
            },
            1,
            600,
        ),
        (VERSION_1, {"cpu,cpuacct/cpu.cfs_quota_us": "-1"}, None, None),
    ],
)
def test_a_container_gets_what_its_control_group_says(
    tmp_path: Path, groups: str, files: dict[str, str], allowed: int | None, memory: int | None
) -> None:
    """`None` is what the machine itself has."""
    of_process, none = tmp_path / "cgroup", tmp_path / "none"
    of_process.write_text(groups)
    for name, text in files.items():
        file = tmp_path / "limits" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")
    limits = tmp_path / "limits"
    assert cores(of_process, limits) == (allowed or cores(none, none))
    assert memory_to_use(of_process, limits) == (memory or memory_to_use(none, none))


def test_null_is_what_the_machine_gives() -> None:
    """A number in the configuration counts, nothing and `null` are measured."""
    assert Engine.model_validate({"threads": None, "memory_mb": None}) == Engine()
    assert Engine(threads=3, memory_mb=200).threads == 3
