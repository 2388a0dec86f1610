"""Refuses a tag that is not the version of pyproject.toml, or that the changelog does not have.

python tools/check_release.py v0.1.0
"""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def problems(tag: str, project: str, changelog: str) -> list[str]:
    r"""Say what keeps a tag from being released.

    Parameters
    ----------
    tag : str
        Such as ``v0.1.0``.
    project, changelog : str
        The texts of pyproject.toml and CHANGELOG.md.

    Examples
    --------
    >>> problems("v1.0", '[project]\nversion = "1.0"', "## 1.0 - 2026-11-01")
    []
    """
    version = tomllib.loads(project)["project"]["version"]
    found = []
    if tag != f"v{version}":
        found.append(f"the tag {tag} is not v{version}, the version in pyproject.toml.")
    if not any(line.startswith(f"## {version} - ") for line in changelog.splitlines()):
        found.append(f"CHANGELOG.md has no heading '## {version} - ' with its day.")
    return found


def main() -> None:
    """Check the tag that is given."""
    project, changelog = (ROOT / name for name in ("pyproject.toml", "CHANGELOG.md"))
    found = problems(sys.argv[1], project.read_text(), changelog.read_text())
    sys.exit("\n".join(found) or 0)


if __name__ == "__main__":
    main()
