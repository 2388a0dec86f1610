"""Whether the store can be written, tried on disks that are really full or read-only."""

import subprocess
import sys
from pathlib import Path

import pytest

from monitor.export.http.app import Exporter
from monitor.export.http.probe import NAME, Probe
from monitor.store.store import Store
from tests.support.exporting import fill, serving
from tests.support.paths import ROOT
from tests.support.servers import get

# Mounts a disk of 1 MB over the place of a store, fills it, and empties it again.
ON_A_SMALL_DISK = """
import sys
from pathlib import Path
from subprocess import run
from monitor.export.http.probe import Probe

store, now = Path(sys.argv[1]), [0.0]
run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", store], check=True)
probe, found = Probe(clock=lambda: now[0]), []
ballast = store / "ballast"
for fill in (lambda: None, lambda: ballast.write_bytes(bytes(2**20)), ballast.unlink):
    try:
        fill()
    except OSError:
        pass
    now[0] += 60
    found.append(probe.can_write(str(store)))
run(["mount", "-o", "remount,ro", store], check=True)
now[0] += 60
found.append(probe.can_write(str(store)))
print(found, sorted(path.name for path in store.rglob("*")))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Fill a folder for one test."""
    return fill(tmp_path)


def test_a_full_disk_and_a_read_only_one_are_noticed(tmp_path: Path) -> None:
    """On a real disk: with space, full, with space again, read-only; nothing is left on it."""
    unshare = ["unshare", "--map-root-user", "--mount", sys.executable, "-c", ON_A_SMALL_DISK]
    told = subprocess.run(
        [*unshare, tmp_path], cwd=ROOT, check=False, capture_output=True, text=True
    )

    assert told.returncode == 0, told.stderr
    assert told.stdout == "[True, False, True, False] ['probe']\n"
    assert told.stderr.count(f"store: {tmp_path}: cannot be written (OSError: ") == 2


def test_it_is_tried_once_a_minute(tmp_path: Path) -> None:
    """What was found is repeated for a minute; then it is tried again."""
    store, now = tmp_path / "store", [0.0]
    store.mkdir()
    probe = Probe(clock=lambda: now[0])
    found = [probe.can_write(str(store))]
    (store / "probe").rmdir()
    (store / "probe").touch()  # a file, where a folder is needed
    for second in (59.0, 60.0):
        now[0] = second
        found.append(probe.can_write(str(store)))

    assert found == [True, True, False]


def test_the_server_says_it_only_if_it_is_asked_to(folder: Path) -> None:
    """Without the option there is no such gauge, and nothing is written."""
    without = Exporter(folder / "monitor.yaml").text().decode()
    untouched = not (folder / "store" / "probe").exists()
    with serving(folder, "--probe-store") as (_, where):
        asked, alone = get(where)[1], get(where, f"/metrics?name[]={NAME}")[1]

    assert untouched
    assert NAME not in without
    assert asked.startswith(without)
    assert alone.splitlines()[1:] == [f"# TYPE {NAME} gauge", f"{NAME} 1.0"]


def test_it_is_in_the_way_of_nothing(folder: Path) -> None:
    """Results, models and locks are as without it, and a response comes although it fails."""
    store = Store(str(folder / "store"))
    before = store.models(), store.names("fraud")
    (folder / "store" / "probe").touch()
    text = Exporter(folder / "monitor.yaml", probe=Probe()).text()

    assert (store.models(), store.names("fraud")) == before
    assert text.endswith(f"{NAME} 0.0\n".encode())
