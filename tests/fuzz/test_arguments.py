"""Random calls of every command: they end with one of the documented exit codes."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.core import TyperGroup
from typer.main import get_command

from monitor.cli import app
from tests.conftest import Ended, Project
from tests.support.fuzzing import fuzzed

# `serve` runs until it is stopped, and `demo` takes minutes.
LEFT_OUT = {"serve", "demo"}
VALUES = st.one_of(
    st.sampled_from(
        ["ctr", "all", "DE", "1", "3", "0", "-1", "2026-03-01", "2026-03-02", "2026-13-01",
         "9999-12-31", "0001-01-01", "400d", "9d", "5m", "24h", "1e9", "nan", "monitor.yaml",
         "predictions", "store", "nowhere", "out.html", "out.prom", "out.om", "/dev/null", ".", "",
         "http://127.0.0.1:1", "http://u:p@127.0.0.1:1", "s3:/", "--", "-", "--json", "--help",
         "2026-03-01T00:00", "\udcff", "💥", "a\nb", "{day}", "%s", "[red]", "=", "99999999999"]
    ),
    st.text(st.characters(exclude_characters="\0"), max_size=6),
)  # fmt: skip


def commands() -> dict[tuple[str, ...], list[str]]:
    """List the commands with their options."""
    program = get_command(app)
    assert isinstance(program, TyperGroup)
    found = dict[tuple[str, ...], list[str]]()
    for name, command in program.commands.items():
        inner = command.commands if isinstance(command, TyperGroup) else {"": command}
        for last, one in inner.items():
            words = (name, last) if last else (name,)
            found[words] = [option for p in one.params for option in p.opts if option[0] == "-"]
    return {words: options for words, options in found.items() if words[0] not in LEFT_OUT}


COMMANDS = commands()


@st.composite
def calls(draw: st.DrawFn) -> list[str]:
    """Draw a command with some of its options, each with a value of its kind or of another."""
    words = draw(st.sampled_from(sorted(COMMANDS)))
    options = draw(st.lists(st.sampled_from(COMMANDS[words]), max_size=5))
    given = [part for option in options for part in (option, draw(VALUES))]
    return [*words, *given, *draw(st.lists(VALUES, max_size=2))]


@pytest.fixture
def fresh(project: Project) -> Callable[[], None]:
    """Give a function that makes the folder of the project as it was."""
    kept = project.folder.parent / "kept"
    shutil.copytree(project.folder, kept)

    def restore() -> None:
        for path in project.folder.iterdir():
            remove(path)
        shutil.copytree(kept, project.folder, dirs_exist_ok=True)

    return restore


def remove(path: Path) -> None:
    """Remove a file or a folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


@fuzzed(200)
@given(call=calls())
def test_every_call_ends_with_a_code_that_is_documented(
    call: list[str], fresh: Callable[[], None], command: Callable[..., Ended]
) -> None:
    """Whatever is written behind a command, its code is 0, 2 or 3, and an error has a message."""
    ended = command(*call)

    fresh()
    assert ended.code in {0, 2, 3}, ended.err
    assert bool(ended.err) or ended.code == 0
    assert "Traceback" not in ended.err
