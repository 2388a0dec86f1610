"""A release: what the workflow may do, what it pins, and the two checks that it runs."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tests.support.paths import ROOT
from tests.test_ci import PROJECT
from tools.archive_metadata import RELATIVE
from tools.check_release import problems

WORKFLOWS = ROOT / ".github" / "workflows"
BUILD = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]
RELEASE: dict[str, Any] = yaml.load(
    (WORKFLOWS / "release.yml").read_text(),
    Loader=yaml.BaseLoader,  # noqa: S506 - it builds nothing but strings, lists and mappings
)
JOBS = RELEASE["jobs"]
CHANGELOG = "# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2026-12-01\n"
ARCHIVES = ["calibration_monitor-1.2.0.tar.gz", "calibration_monitor-1.2.0-py3-none-any.whl"]
GIT = shutil.which("git") or "git"
TO_BUILD = (
    *("pyproject.toml", "README.md", "LICENSE", ".gitattributes", ".git_archival.txt"),
    "tools/archive_metadata.py",
)
WHERE = {
    "GITHUB_SERVER_URL": "https://host.example",
    "GITHUB_REPOSITORY": "our/project",
    "GITHUB_REF_NAME": "v1.2.0",
}


@pytest.mark.parametrize("path", sorted(WORKFLOWS.iterdir()), ids=lambda path: path.name)
def test_every_action_is_pinned_by_the_digest_of_a_commit(path: Any) -> None:
    """A tag can be moved, a digest cannot; the version stands beside it for people."""
    used = re.findall(r"uses: (.*)", path.read_text())

    assert used
    assert [
        u for u in used if not re.fullmatch(r"[\w/.-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", u)
    ] == []


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
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert matrix["python"] == named
    assert base == ""
    extras = more.strip("[]").split(",")
    # Airflow, Celery, Slack and Spark are installed beside their services; the site is for a
    # checkout.
    beside = {"airflow", "celery", "slack", "spark", "docs", "dev"}
    assert set(extras) == PROJECT["optional-dependencies"].keys() - beside


@pytest.mark.parametrize(
    ("tag", "changelog", "archives", "words"),
    [
        ("v1.2.0", CHANGELOG, ARCHIVES, []),
        ("v1.2.1", CHANGELOG, ARCHIVES, ["has no heading '## 1.2.1 - '", "built were "]),
        ("1.2.0", CHANGELOG, ARCHIVES, ["the tag 1.2.0 is no release"]),
        ("v1.2.0rc1", CHANGELOG, ARCHIVES, ["the tag v1.2.0rc1 is no release"]),
        ("v1.2.0", "## 1.2.0\n", ARCHIVES, ["has no heading '## 1.2.0 - '"]),
        ("v1.2.0", "## Unreleased\n## 1.2 - 2026-12-01\n", ARCHIVES, ["has no heading"]),
        ("v1.2.0", CHANGELOG, ARCHIVES[:1], ["built were ['calibration_monitor-1.2.0.tar.gz']"]),
        ("v1.2.0", CHANGELOG, [f"{a}.asc" for a in ARCHIVES], ["tag first, then build"]),
    ],
)
def test_a_tag_that_is_no_release(
    tag: str, changelog: str, archives: list[str], words: list[str]
) -> None:
    """The changelog has the tag with a day, and the archives are those of its version."""
    found = problems(tag, changelog, archives)

    assert len(found) == len(words)
    assert all(word in problem for word, problem in zip(words, found, strict=True))


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository of what builds the program: a commit, the tag v1.2.0, and a commit."""
    folder = tmp_path_factory.mktemp("history")
    copy_what_builds(ROOT, folder)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "First")
    git(folder, "tag", "v1.2.0")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Second")
    return folder


def copy_what_builds(source: Path, folder: Path) -> None:
    """Copy the files without which nothing is built."""
    for name in TO_BUILD:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(source / name, folder / name)


def git(folder: Path, *arguments: str | Path) -> None:
    """Run git as somebody, with no settings of this machine."""
    who = {f"GIT_{r}_{k}": "a@b" for r in ("AUTHOR", "COMMITTER") for k in ("NAME", "EMAIL")}
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run([GIT, *arguments], cwd=folder, env=os.environ | who | settings, check=True)


def version_of(folder: Path, **variables: str) -> str:
    """Ask the build backend which version a folder has."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "hatchling", "version"],
        cwd=folder,
        env=os.environ | variables,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def archived(history: Path, commit: str, folder: Path) -> Path:
    """Write what GitHub's archive of a commit holds: its files, without history."""
    git(history, "archive", "--output", folder / "archive.tar", commit)
    shutil.unpack_archive(folder / "archive.tar", folder / "archive")
    return folder / "archive"


def test_a_tag_is_the_version(history: Path, tmp_path: Path) -> None:
    """In a clone of the tag, deep or shallow, and in the archive of it."""
    for depth in ("--no-single-branch", "--depth=1"):
        place = tmp_path / depth
        git(history, "clone", "-qc", "advice.detachedHead=false", "--branch", "v1.2.0", depth,
            f"file://{history}", place)  # fmt: skip
        assert version_of(place) == "1.2.0"
    assert version_of(archived(history, "v1.2.0", tmp_path)) == "1.2.0"


def test_only_a_tag_can_be_published(history: Path, tmp_path: Path) -> None:
    """A commit after it, changed files, and a shallow clone say more than PyPI takes."""
    assert re.fullmatch(r"1\.2\.1\.dev1\+g\w+", version_of(history))
    git(history, "clone", "--quiet", "--depth=1", f"file://{history}", tmp_path / "shallow")
    assert re.fullmatch(r"0\.0\.dev1\+unknown\.g\w+", version_of(tmp_path / "shallow"))


def metadata_of(folder: Path, into: Path, **variables: str) -> Metadata:
    """Build a source archive of a checkout, and read what PyPI would show."""
    subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "hatchling", "build", "-t", "sdist", "-d", into],
        cwd=folder,
        env=os.environ | variables,
        check=True,
        capture_output=True,
    )
    (archive,) = into.iterdir()
    with tarfile.open(archive) as files:
        (name,) = (name for name in files.getnames() if name.endswith("/PKG-INFO"))
        content = files.extractfile(name)
        assert content
        return Metadata.from_email(content.read(), validate=True)


def test_links_of_a_release_lead_to_its_files(history: Path, tmp_path: Path) -> None:
    """PyPI shows the README elsewhere, so every link names the tag on the host that builds it."""
    found = metadata_of(history, tmp_path, **WHERE, GITHUB_REF_TYPE="tag")
    text = found.description or ""
    targets = re.findall(r"https://host\.example/our/project/(blob|raw)/v1\.2\.0/([^)#\s]+)", text)

    assert RELATIVE.search(text) is None
    assert len(targets) == len(RELATIVE.findall((ROOT / "README.md").read_text())) > 10
    assert [path for _, path in targets if not (ROOT / path).exists()] == []
    pictures = {path for kind, path in targets if kind == "raw"}
    assert pictures == {path for _, path in targets if path.endswith((".png", ".svg"))}
    assert found.project_urls == {
        "Source": "https://host.example/our/project",
        "Changelog": "https://host.example/our/project/blob/v1.2.0/CHANGELOG.md",
        "Issues": "https://host.example/our/project/issues",
    }


def test_the_conda_recipe_needs_what_the_wheel_needs() -> None:
    """The same packages with the same bounds, under the names that conda-forge gives them."""
    text = (ROOT / "conda.recipe" / "meta.yaml").read_text()
    plain = re.sub(r"\{%.*%\}|\{\{ ?|(?<! ) ?\}\}", "", text)
    recipe = yaml.safe_load(plain)
    others = {"duckdb": "python-duckdb", "prometheus-client": "prometheus_client"}
    others |= {"tzdata": "python-tzdata"}

    def listed(lines: list[str]) -> dict[str, SpecifierSet]:
        wanted = [Requirement(line) for line in lines]
        return {others.get(w.name, w.name): w.specifier for w in wanted}

    run, host = (
        listed([line for line in recipe["requirements"][part] if "python_min" not in line])
        for part in ("run", "host")
    )
    assert run == listed(PROJECT["dependencies"])
    assert {name: host[name] for name in host if name != "pip"} == listed(BUILD["requires"])
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["summary"] == PROJECT["description"]
    (entry,) = recipe["build"]["entry_points"]
    assert PROJECT["scripts"] == dict([entry.split(" = ")])
    (least,) = yaml.safe_load((ROOT / "conda.recipe" / "conda_build_config.yaml").read_text())[
        "python_min"
    ]
    assert PROJECT["requires-python"] == f">={least}"
