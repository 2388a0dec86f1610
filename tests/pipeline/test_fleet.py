"""Many models over several processes: the same bytes, and no process outlives its parent."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import psutil
import pytest

from monitor.config import Config, load_config
from monitor.pipeline.runs.fleet import of_models
from tests.conftest import Ended, Project
from tests.support import fleet_calls
from tests.support.servers import PATIENCE

LOGS = '{predictions: {path: "p/{day}"}, outcomes: {path: "o/{day}"}}'


@pytest.fixture
def four(tmp_path: Path) -> Config:
    """Configure four models, a to d."""
    models = "".join(f"  {name}: {LOGS}\n" for name in "abcd")
    (tmp_path / "monitor.yaml").write_text(
        f"store: store\nengine: {{threads: 4, memory_mb: 1000}}\nmodels:\n{models}"
    )
    return load_config(tmp_path / "monitor.yaml")


def test_processes_share_the_memory_of_the_engine(four: Config) -> None:
    """Every process gets its share, and the configuration of its model alone."""
    done = list(of_models(fleet_calls.memory_of, four, [*"abcd"], jobs=2))
    alone = list(of_models(fleet_calls.memory_of, four, [*"abcd"], jobs=1))
    few = list(of_models(fleet_calls.memory_of, four, [*"ab"], jobs=4))

    assert sorted(one.result or () for one in done) == [(name, 1, 500, 1) for name in "abcd"]
    assert [one.result for one in alone] == [(name, 1, 1000, 4) for name in "abcd"]
    assert sorted(one.result or () for one in few) == [(name, 2, 500, 1) for name in "ab"]


def test_a_process_that_dies_takes_only_its_model(four: Config) -> None:
    """The others are done, and the message names the model and what to lower."""
    done = {one.model: one for one in of_models(fleet_calls.end_one, four, [*"abcd"], jobs=2)}

    assert [done[name].result for name in "ad"] == ["a", "d"]
    assert str(done["c"].error) == "c: is wrong; mend it."
    assert "b: its process was ended by the system" in str(done["b"].error)
    assert "engine.memory_mb" in str(done["b"].error)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_processes_end_with_their_parent(four: Config, how: signal.Signals) -> None:
    """They release what they hold, however the command ends."""
    folder = Path(four.store).parent
    call = [sys.executable, "-m", "tests.support.fleet_calls", str(folder / "monitor.yaml")]
    with subprocess.Popen(call, stderr=subprocess.DEVNULL) as parent:
        until = monotonic() + PATIENCE
        while len(pids := read_numbers(folder)) < 2 and monotonic() < until:
            sleep(0.05)
        parent.send_signal(how)
        parent.wait(PATIENCE)
    workers = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    _, alive = psutil.wait_procs(workers, timeout=PATIENCE)

    assert len(pids) == 2
    assert not [one for one in alive if one.status() != psutil.STATUS_ZOMBIE]
    assert len(list(folder.glob("*.released"))) == 2


def read_numbers(folder: Path) -> list[int]:
    """Read the numbers of the processes that have begun."""
    return [int(text) for path in folder.glob("*.pid") if (text := path.read_text())]


def test_models_in_processes_leave_the_same_bytes(
    project: Project, command: Callable[..., Ended]
) -> None:
    """Two processes write what one writes; each model has its line, and all have a summary."""
    text = (project.folder / "monitor.yaml").read_text()
    models = text.partition("models:\n")[2]
    more = models.replace("  ctr:", "  ads:") + models.replace("  ctr:", "  fraud:")
    project.configure(models, models + more)
    found = {}
    for jobs in (1, 2):
        call = ("backfill", "--from", "2026-03-01", "--to", "2026-03-02", "--again")
        ended = command(*call, "--jobs", jobs)
        assert ended.code == 0, ended.err
        found[jobs] = project.results()

    assert found[1] == found[2]
    assert len(found[1]) == 3 * len([name for name in found[1] if "/ctr/" in name])
    assert ended.out.splitlines()[-1].startswith("3 models processed: days summarised 6, ")
