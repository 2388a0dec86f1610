"""What the metadata of an archive says of the repository: absolute links, and its addresses.

Hatchling calls it when it builds. The addresses are those of the workflow that builds a tag, so
that no file of the repository names its host. In any other build the README stays as it is.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

# A link or picture of Markdown that leads to a file of the repository.
RELATIVE = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def absolute(readme: str, repository: str, tag: str) -> str:
    """Lead the links of the README to the files of a tag, because PyPI shows it elsewhere.

    >>> absolute("![a](b.svg) [c](d.md#e) [f](#g)", "https://host/our", "v1.2.0")
    '![a](https://host/our/raw/v1.2.0/b.svg) [c](https://host/our/blob/v1.2.0/d.md#e) [f](#g)'
    """

    def lead(link: re.Match[str]) -> str:
        picture, text, target = link.groups()
        return f"{picture}[{text}]({repository}/{'raw' if picture else 'blob'}/{tag}/{target})"

    return RELATIVE.sub(lead, readme)


def links(readme: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """Give the long description, and the addresses of the project where a tag is built."""
    addresses: dict[str, str] = {}
    if environment.get("GITHUB_REF_TYPE") == "tag":
        repository = "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}".format_map(environment)
        tag = environment["GITHUB_REF_NAME"]
        readme = absolute(readme, repository, tag)
        addresses = {
            "Source": repository,
            "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
            "Issues": f"{repository}/issues",
        }
    return {"readme": {"content-type": "text/markdown", "text": readme}, "urls": addresses}


class Links(MetadataHookInterface):
    """The hook itself."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add what `pyproject.toml` calls dynamic."""
        readme = Path(self.root, "README.md").read_text("utf-8")
        metadata.update(links(readme, os.environ))
