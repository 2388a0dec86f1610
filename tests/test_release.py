"""A release: what the workflow may do, what it pins, and the two checks that it runs."""

import re
from typing import Any

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from tests.support.paths import ROOT
from tests.test_ci import PROJECT
from tools.check_release import problems
from tools.try_release import main as try_release

WORKFLOWS = ROOT / ".github" / "workflows"
RELEASE: dict[str, Any] = yaml.load(
    (WORKFLOWS / "release.yml").read_text(),
    Loader=yaml.BaseLoader,  # noqa: S506 - it builds nothing but strings, lists and mappings
)
JOBS = RELEASE["jobs"]
CHANGELOG = "# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2026-12-01\n"
SETTINGS = '[project]\nname = "calibration-monitor"\nversion = "1.2.0"\n'


@pytest.mark.parametrize("path", sorted(WORKFLOWS.iterdir()), ids=lambda path: path.name)
def test_every_action_is_pinned_by_the_digest_of_a_commit(path: Any) -> None:
    """A tag can be moved, a digest cannot; the version stands beside it for people."""
    used = re.findall(r"uses: (.*)", path.read_text())

    assert used
    assert [
        u for u in used if not re.fullmatch(r"[\w/.-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", u)
    ] == []


def test_one_action_has_one_digest() -> None:
    """All workflows use the same commit of an action."""
    used = {u for path in WORKFLOWS.iterdir() for u in re.findall(r"uses: (\S+)", path.read_text())}

    assert len({u.split("@")[0] for u in used}) == len(used)


def test_only_what_was_tried_is_published() -> None:
    """Publishing waits for all attempts, builds nothing, and alone may ask PyPI for a token."""
    publish = JOBS["publish"]

    assert set(publish["needs"]) == {"build", "try", "bill-of-materials"}
    assert not [step for step in publish["steps"] if "run" in step]
    assert publish["permissions"] == {"id-token": "write"}
    assert RELEASE["permissions"] == {"contents": "read"}
    others = [name for name, job in JOBS.items() if "permissions" in job]
    assert others == ["publish", "site"]


def test_the_wheel_is_tried_with_every_python_and_extra() -> None:
    """All versions that are allowed, base and with what users of the command install."""
    matrix = JOBS["try"]["strategy"]["matrix"]
    base, more = matrix["extras"]

    assert matrix["python"][0] == PROJECT["requires-python"].removeprefix(">=")
    assert all(version in SpecifierSet(PROJECT["requires-python"]) for version in matrix["python"])
    assert base == ""
    extras = more.strip("[]").split(",")
    # Airflow, Celery, Slack and Spark are installed beside their services; the demo and the site
    # are for a checkout.
    beside = {"airflow", "celery", "slack", "spark", "demo", "docs", "dev"}
    assert set(extras) == PROJECT["optional-dependencies"].keys() - beside


@pytest.mark.parametrize(
    ("tag", "changelog", "words"),
    [
        ("v1.2.0", CHANGELOG, []),
        ("v1.2.1", CHANGELOG, ["the tag v1.2.1 is not v1.2.0"]),
        ("1.2.0", CHANGELOG, ["the tag 1.2.0 is not v1.2.0"]),
        ("v1.2.0", "## 1.2.0\n", ["has no heading '## 1.2.0 - '"]),
        ("v1.2.0", "## Unreleased\n## 1.2 - 2026-12-01\n", ["has no heading"]),
    ],
)
def test_a_tag_that_is_no_release(tag: str, changelog: str, words: list[str]) -> None:
    """The tag is the version, and the changelog has it with a day."""
    found = problems(tag, SETTINGS, changelog)

    assert len(found) == len(words)
    assert all(word in problem for word, problem in zip(words, found, strict=True))


def test_what_is_installed_finds_a_drift() -> None:
    """What the workflow runs with the wheel passes with this installation."""
    try_release()
