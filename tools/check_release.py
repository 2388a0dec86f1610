"""Refuses a tag that the changelog does not have, or whose archives carry another version.

python tools/check_release.py v0.1.0 dist
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent


def problems(tag: str, changelog: str, archives: Sequence[str]) -> list[str]:
    r"""Say what keeps a tag from being released.

    Parameters
    ----------
    tag : str
        Such as ``v0.1.0``.
    changelog : str
        The text of CHANGELOG.md.
    archives : sequence of str
        The names of what was built: one source archive and one wheel.

    Examples
    --------
    >>> built = ["calibration_monitor-1.0.0.tar.gz", "calibration_monitor-1.0.0-py3-none-any.whl"]
    >>> problems("v1.0.0", "## 1.0.0 - 2026-11-01\n", built)
    []
    """
    if not re.fullmatch(r"v\d+\.\d+\.\d+", tag):
        return [f"the tag {tag} is no release; tag it as v0.2.0, with three numbers."]
    version = tag.removeprefix("v")
    found = []
    if not re.search(rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE):
        found.append(f"CHANGELOG.md has no heading '## {version} - ' with its day.")
    name = f"calibration_monitor-{version}"
    wanted = [f"{name}-py3-none-any.whl", f"{name}.tar.gz"]
    if sorted(archives) != wanted:
        found.append(f"built were {sorted(archives)} instead of {wanted}; tag first, then build.")
    return found


def main() -> None:
    """Check the tag and the folder that are given."""
    tag, folder = sys.argv[1:]
    archives = [path.name for path in Path(folder).iterdir()]
    sys.exit("\n".join(problems(tag, (ROOT / "CHANGELOG.md").read_text(), archives)) or 0)


if __name__ == "__main__":
    main()
