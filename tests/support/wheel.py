"""The wheel, built once in a session, and an environment in which it is installed."""

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from tests.support.base_environment import share_compiled
from tests.support.paths import ROOT
from tools.try_index import PROGRAM, served


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel, whose dependencies are those of the tests.

    Attributes
    ----------
    wheel : Path
        What the build backend made.
    bin : Path
        Where its commands are.
    """

    wheel: Path
    bin: Path

    def run(self, folder: Path, *arguments: object) -> "subprocess.CompletedProcess[str]":
        """Run a command of the environment in a folder, with no path to the checkout."""
        program, *rest = map(str, arguments)
        environment = {
            k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL"))
        }
        return subprocess.run(
            [self.bin / program, *rest],
            cwd=folder,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
        )


def _date_as_in_checkout(package: Path) -> None:
    """Date modules as those of the checkout, because the compiler compares dates and sizes."""
    for place in package.rglob("*.py"):
        source = ROOT / "monitor" / place.relative_to(package)
        if source.exists():
            dated = source.stat()
            os.utime(place, ns=(dated.st_atime_ns, dated.st_mtime_ns))


def installed(folder: Path) -> Installed:
    """Build the wheel, and install it by name from an index into an environment of its own.

    Dependencies are not installed again, which would take minutes: a .pth file names the folder
    where the tests have them. Such a folder is searched for packages, but its own .pth files, one
    of which leads to the checkout, are not read. Compiled functions are found where the tests have
    compiled them.
    """
    build = (sys.executable, "-W", "ignore", "-m", "hatchling", "build", "-t", "wheel")
    subprocess.run([*build, "-d", folder / "dist"], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    python = folder / "env" / "bin" / "python"
    # What is imported is compiled then; to compile all that comes along takes longer.
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")
    with served([wheel]) as index:
        install = ("--python", python, "install", "--no-deps", "--no-compile", "--pre")
        subprocess.run([*pip, *install, "-i", index, PROGRAM], check=True)
    (packages,) = (folder / "env" / "lib").glob("python*/site-packages")
    _date_as_in_checkout(packages / "monitor")
    share_compiled(packages / "monitor")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return Installed(wheel, python.parent)
