"""Measures this monitor and other tools on the same logs, and writes docs/comparison.md.

    python -m studies.peers.run                    # a quarter of an hour, 8 GB of environments
    python -m studies.peers.run --only netcal      # one tool; the others keep their numbers

makes an environment for each tool below `--environments` (default: .venv/peers) with pip and the
files of studies/peers/environments, draws the logs of world.py, runs every tool on both, keeps
the answers in run.json, and writes the tables of the page below its mark.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from studies.peers import ours
from studies.peers.tables import MARK, tables
from studies.peers.world import LOGS, Log, write_log

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE, KEPT = ROOT / "docs" / "comparison.md", HERE / "run.json"
PEERS = sorted(path.stem for path in (HERE / "environments").glob("*.txt"))
OURS = "calibration-monitor"


def environment(name: str, folder: Path) -> Path:
    """Make the environment of a tool, unless it is there, and return its Python."""
    python = folder / name / "bin" / "python"
    if not python.exists():
        wanted = HERE / "environments" / f"{name}.txt"
        subprocess.run([sys.executable, "-m", "venv", str(folder / name)], check=True)  # noqa: S603
        install = [str(python), "-m", "pip", "install", "--quiet", "--requirement", str(wanted)]
        subprocess.run(install, check=True)  # noqa: S603
    return python


def ask(name: str, log: Log, folder: Path, environments: Path) -> dict[str, Any]:
    """Run a tool on a log, and return its answer."""
    if name == OURS:
        return dict(ours.answer(log, folder))
    out = folder / f"{name}.json"
    worker = f"studies.peers.{name}_worker"
    command = [str(environment(name, environments)), "-m", worker, str(folder), str(out)]
    ended = subprocess.run(  # noqa: S603
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        sys.exit(f"{name} failed on the log {log.name}:\n{ended.stderr[-2000:]}")
    return dict(json.loads(out.read_text()))


def main() -> None:
    """Measure, keep the answers, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=[OURS, *PEERS], default=[OURS, *PEERS])
    parser.add_argument("--logs", nargs="*", choices=LOGS, default=list(LOGS))
    parser.add_argument("--environments", type=Path, default=ROOT / ".venv" / "peers")
    options = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        for log in map(LOGS.__getitem__, options.logs):
            folder = Path(name, log.name)
            write_log(log, folder)
            for tool in options.only:
                print(f"{log.name}: {tool}", flush=True)
                found = ask(tool, log, folder, options.environments)
                kept.setdefault(tool, {})[log.name] = found
                KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    text, _, _ = PAGE.read_text().partition(MARK)
    PAGE.write_text(text + MARK + "\n" + tables(kept))


if __name__ == "__main__":
    main()
