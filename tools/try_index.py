"""Installs built archives as people will: by name, from an index of packages.

    python tools/try_index.py dist

serves the folder on 127.0.0.1, installs the program by its name into a new environment, what it
needs from the usual index, and tries it (tools/try_release.py): once from the wheel, and once
from the source archive.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

PROGRAM = "calibration-monitor"
HERE = Path(__file__).parent


class Quiet(SimpleHTTPRequestHandler):
    """A list of files is what PEP 503 asks of an index; requests are not printed."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def served(archives: Iterable[Path]) -> Iterator[str]:
    """Serve archives of the program as an index of packages (PEP 503), and give its address."""
    with TemporaryDirectory() as name:
        project = Path(name, PROGRAM)
        project.mkdir()
        for archive in archives:
            shutil.copy(archive, project)
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=name))
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            server.server_close()


def try_archive(archive: Path, index: str, folder: Path) -> None:
    """Install one of the archives that an index has, and run the program."""
    version = archive.name.removesuffix(".tar.gz").split("-")[1]
    kind = "--only-binary" if archive.suffix == ".whl" else "--no-binary"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    pip = (python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
    wanted = ("--find-links", f"{index}{PROGRAM}/", kind, PROGRAM, f"{PROGRAM}=={version}")
    subprocess.run([*pip, *wanted], check=True)
    subprocess.run([python, HERE / "try_release.py"], check=True)


def main() -> None:
    """Try every archive of a folder."""
    archives = sorted(Path(sys.argv[1]).iterdir())
    with served(archives) as index:
        for archive in archives:
            with TemporaryDirectory() as name:
                try_archive(archive, index, Path(name, "env"))
            print(f"{archive.name}: installed from an index, and it finds the drift", flush=True)


if __name__ == "__main__":
    main()
