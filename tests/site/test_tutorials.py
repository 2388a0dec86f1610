"""The pages that take you by the hand: everything that they show runs, and prints what they say."""

import doctest
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from tests.conftest import run_command
from tests.support.first_logs import LOGS
from tests.support.flight_logs import flight_logs
from tests.support.pages import blocks, matches, run_block
from tests.support.paths import ROOT

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def fraud(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the steps of the page from top to bottom, and return the folder in which it ran."""
    folder = tmp_path_factory.mktemp("start") / "fraud"
    folder.mkdir()
    printed = ""
    for block in blocks(DOCS / "start.md"):
        if block.language == "console":
            continue
        if block.language == "text":
            assert matches(block.text, printed), f"{block.text}\n---\n{printed}"
        else:
            printed = run_block(block, folder)
    return folder


def test_the_steps_end_with_a_store(fraud: Path) -> None:
    """All its blocks ran, printed what the page shows, and left a store with 56 days."""
    assert len(list((fraud / "store" / "verdicts" / "fraud").iterdir())) == 56


def test_init_says_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each session, with the logs of its name; a refusal ends with code 3 and writes nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").symlink_to(flight_logs(tmp_path_factory)[0])
    shown = [block.text for block in blocks(DOCS / "start.md") if block.language == "console"]
    calls = [text.partition("\n")[0].removeprefix("$ ").split() for text in shown]
    assert [call[2] for call in calls[1:]] == [*LOGS]
    for text, call in zip(shown, calls, strict=True):
        if write := LOGS.get(call[2]):
            write(tmp_path / call[2])
        done = run_command(*call[1:])
        assert done.code == (3 if call[2] == "grown" else 0), done.err
        assert (tmp_path / "monitor.yaml").exists() == (done.code == 0)
        assert matches(text.partition("\n")[2], done.out + done.err), f"{done.out}\n{done.err}"
        (tmp_path / "monitor.yaml").unlink(missing_ok=True)


def test_the_notebook_prints_what_the_page_says(
    fraud: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Python of the page runs from top to bottom, with the store of the steps at hand."""
    name = "notebook.md"
    monkeypatch.chdir(fraud)
    plt.switch_backend("agg")
    text = "\n".join(block.text for block in blocks(DOCS / name) if block.language == "python")
    examples = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    said: list[str] = []
    failed, tried = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(
        examples, out=said.append
    )
    plt.close("all")

    assert tried > 8
    assert not failed, "".join(said)
