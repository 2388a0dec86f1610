"""An environment as `pip install .` makes it: the program with its base dependencies only."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

from numba.core import caching
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.paths import ROOT

PROGRAM = "calibration-monitor"
DRIVER = """
import contextlib, io, json, sys, traceback

def ended(arguments):
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["calibration-monitor", *arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        except BaseException:
            traceback.print_exc()
            code = 1
    return [code, out.getvalue(), err.getvalue()]

if __name__ == "__main__":
    from monitor.cli import main
    results = [ended(arguments) for arguments in json.load(sys.stdin)]
    json.dump(results, sys.stdout)
"""


@dataclass(frozen=True)
class BaseEnvironment:
    """An environment that has only what the program needs without extras.

    Attributes
    ----------
    python : Path
        Its interpreter.
    distributions : frozenset of str
        What is installed in it.
    """

    python: Path
    distributions: frozenset[str]

    def python_ended(
        self, folder: Path, *arguments: str | Path, given: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """Run its Python in a folder, with no path to another environment."""
        return subprocess.run(
            [self.python, *arguments],
            cwd=folder,
            env=self.variables,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )

    def commands_ended(
        self, folder: Path, calls: Iterable[Sequence[object]]
    ) -> list[tuple[int, str, str]]:
        """Run commands in one process: exit code, standard output and standard error of each."""
        driver = self.python.parent / "driver.py"
        driver.write_text(DRIVER)
        given = json.dumps([[*map(str, call)] for call in calls])
        done = self.python_ended(folder, driver, given=given)
        assert done.returncode == 0, done.stderr
        return [(code, out, err) for code, out, err in json.loads(done.stdout)]

    @property
    def variables(self) -> dict[str, str]:
        """Its environment variables, which lead to no other Python."""
        return {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL"))}


def base_environment(folder: Path) -> BaseEnvironment:
    """Make an environment whose packages are links to those of the tests, and nothing else.

    Compiled functions of the program are found where the tests have compiled them.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    (packages,) = (folder / "env" / "lib").glob("python*/site-packages")
    needed = base_distributions()
    for name in needed:
        for place in _tops(distribution(name), whole=name != PROGRAM):
            (packages / place.name).symlink_to(place)
    _link_package(packages / "monitor")
    share_compiled(packages / "monitor")
    python = folder / "env" / "bin" / "python"
    script = python.with_name(PROGRAM)
    script.write_text(f"#!{python}\nfrom monitor.cli import main\nmain()\n")
    script.chmod(0o755)
    return BaseEnvironment(python, frozenset(needed))


def _link_package(package: Path) -> None:
    """Link what the wheel puts into its package: the modules, and the files of other folders."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    included = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    places = {path.relative_to(ROOT): path for path in (ROOT / "monitor").iterdir()}
    places |= {Path(place): ROOT / source for source, place in included.items()}
    for place, source in places.items():
        (package.parent / place).parent.mkdir(parents=True, exist_ok=True)
        (package.parent / place).symlink_to(source)


def share_compiled(package: Path) -> None:
    """Let the compiler, which keeps functions by the path of their file, find what tests keep."""
    cache = Path(os.environ["NUMBA_CACHE_DIR"])
    name = caching._CacheLocator.get_suitable_cache_subpath  # noqa: SLF001 - the only way to it
    for source in (ROOT / "monitor").rglob("*.py"):
        place = package / source.relative_to(ROOT / "monitor")
        ours, theirs = (cache / name(f"{path}") for path in (source, place))
        if not theirs.exists():
            ours.mkdir(parents=True, exist_ok=True)
            theirs.symlink_to(ours)


def base_distributions() -> set[str]:
    """List the program and what it needs without extras, directly or not."""
    needed, looked_at = {PROGRAM}, set[str]()
    while waiting := needed - looked_at:
        name = waiting.pop()
        looked_at.add(name)
        requirements = map(Requirement, distribution(name).requires or ())
        needed |= {canonicalize_name(r.name) for r in requirements if not r.marker or _applies(r)}
    return needed


def _applies(requirement: Requirement) -> bool:
    return requirement.marker is not None and requirement.marker.evaluate({"extra": ""})


def _tops(of: Distribution, *, whole: bool) -> set[Path]:
    """List the files and folders of a distribution beside each other: modules, data, metadata."""
    root = Path(str(of.locate_file("")))
    names = {file.parts[0] for file in of.files or () if file.parts[0] not in ("..", "__pycache__")}
    return {root / name for name in names if whole or name.endswith(".dist-info")}
