"""What studies of the verdict share: options, processes, and their place in the page."""

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

PAGE = Path(__file__).parents[2] / "docs" / "drift-simulations.md"
CHUNK = 2  # streams that a process is given at once
Task = TypeVar("Task")
Result = TypeVar("Result")


def read_options(
    about: str, *, streams: int, of: str = "of each world and drift", parts: Sequence[str] = ()
) -> argparse.Namespace:
    """Read the command line of a study: `streams`, `workers`, `write`, and `only` one of parts."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--streams", type=int, default=streams, help=of)
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--only", choices=parts, default="", help="one table")
    return parser.parse_args()


@contextmanager
def in_processes(
    watch: Callable[[Task], Result], workers: int
) -> Iterator[Callable[[Iterable[Task]], list[Result]]]:
    """Give a function that watches streams in so many processes, results in their order."""
    with ProcessPoolExecutor(workers) as processes:
        yield lambda tasks: list(processes.map(watch, tasks, chunksize=CHUNK))


def publish(text: str, begin: str, end: str, *, write: bool) -> None:
    """Print the tables of a study, and put them between their markers of the page."""
    print(text)
    if write:
        PAGE.write_text(replace_section(PAGE.read_text(), text, begin, end))


def replace_section(page: str, text: str, begin: str, end: str) -> str:
    """Put text between the markers of the page."""
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        msg = f"{PAGE} lacks the markers {begin} and {end}: put them where the tables belong."
        raise SystemExit(msg)
    return f"{before}{begin}\n\n{text}\n{end}{after}"
