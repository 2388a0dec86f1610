"""How long a person waits for a command: CPU time of fresh processes, beside what they start with.

    .venv/bin/python -m bench.commands [--rounds 7] [--beside CHECKOUT]

Writes 40 days of a small model (those of `bench.metrics_start`), processes them once so that
everything is compiled, and calls each command in turn with programs that only import. With
`--beside` the commands of another checkout run in the same rounds, on a copy of the same folder.
The least CPU time of each counts, because other work on the machine only adds to it. For what a
command spends on importing, run `python -X importtime`; the largest packages of
`show` are printed at the end.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.metrics_start import COMMAND, FIRST_DAY, LAST_DAY, RUN, SHOW, write_project

HERE = Path(__file__).parent.parent
COMMANDS: dict[str, list[object]] = {"--help": ["--help"], "show": [*SHOW], "run": [*RUN]}
BASES = {
    "an empty program": "pass",
    "import typer": "import typer",
    "import numpy, pyarrow": "import numpy, pyarrow",
}
IMPORTED = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\w+)")
MOST = 12  # packages that are listed


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--beside", type=Path, help="the top folder of another checkout")
    given = parser.parse_args()
    checkouts = [HERE, given.beside.resolve()] if given.beside else [HERE]
    with tempfile.TemporaryDirectory(prefix="commands-bench-") as name:
        folders = dict(zip(checkouts, worlds(Path(name), checkouts), strict=True))
        least = measure(folders, given.rounds)
        empty, numpy = least["an empty program", HERE], least["import numpy, pyarrow", HERE]
        for title, checkout in least:
            of = "" if title in BASES else f" of {checkout.name}"
            took = least[title, checkout]
            beyond = (took - empty) / (numpy - empty)
            print(f"{title + of:32} {took:6.3f} s  {beyond:5.2f} x import numpy, pyarrow")
        for title in COMMANDS if given.beside else ():
            ratio = least[title, HERE] / least[title, checkouts[1]]
            print(f"{title}: {ratio:.2f} of what the other checkout takes")
        print("imports of show, ms of their own:", imported(HERE, folders[HERE]))


def worlds(top: Path, checkouts: list[Path]) -> Iterator[Path]:
    """Process the days once by each checkout, in a folder of its own."""
    (top / "made").mkdir()
    write_project(top / "made")
    for number, checkout in enumerate(checkouts):
        folder = shutil.copytree(top / "made", top / f"{number}")
        days = ["--model", "ctr", "--from", FIRST_DAY, "--to", LAST_DAY]
        cpu_seconds(checkout, folder, COMMAND, ["backfill", *days])
        for arguments in COMMANDS.values():
            cpu_seconds(checkout, folder, COMMAND, arguments)
        yield folder


def measure(folders: dict[Path, Path], rounds: int) -> dict[tuple[str, Path], float]:
    """Call everything in turn; give the least CPU seconds by title and checkout."""
    took: dict[tuple[str, Path], list[float]] = {}
    for _ in range(rounds):
        for title, code in BASES.items():
            took.setdefault((title, HERE), []).append(cpu_seconds(HERE, folders[HERE], code, []))
        for title, arguments in COMMANDS.items():
            for checkout, folder in folders.items():
                seconds = cpu_seconds(checkout, folder, COMMAND, arguments)
                took.setdefault((title, checkout), []).append(seconds)
    return {key: min(seconds) for key, seconds in took.items()}


def started(checkout: Path, folder: Path, call: list[object]) -> subprocess.Popen[str]:
    """Start Python with the sources of a checkout and a compiler cache of its own."""
    own = {"PYTHONPATH": str(checkout), "NUMBA_CACHE_DIR": str(folder / "cache")}
    own["PYTHONDONTWRITEBYTECODE"] = ""  # modules are compiled once, as in an installation
    return subprocess.Popen(  # noqa: S603
        [sys.executable, *map(str, call)],
        env=os.environ | own | {"OMP_NUM_THREADS": "1"},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def cpu_seconds(checkout: Path, folder: Path, code: str, arguments: list[object]) -> float:
    """Run a program to its end; give its CPU seconds."""
    child = started(checkout, folder, ["-c", code, *arguments])
    told = child.stderr.read() if child.stderr else ""
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status:
        sys.exit(f"a program failed: {code} {arguments}\n{told}")
    return usage.ru_utime + usage.ru_stime


def imported(checkout: Path, folder: Path) -> str:
    """List the packages that `show` imports, with the time of their own modules."""
    call = ["-X", "importtime", "-c", COMMAND, *COMMANDS["show"]]
    _, told = started(checkout, folder, call).communicate()
    own: dict[str, int] = {}
    for microseconds, package in IMPORTED.findall(told):
        own[package] = own.get(package, 0) + int(microseconds)
    largest = sorted(own, key=lambda package: -own[package])[:MOST]
    return ", ".join(f"{package} {own[package] / 1000:.0f}" for package in largest)


if __name__ == "__main__":
    main()
