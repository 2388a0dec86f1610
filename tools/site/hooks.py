"""Pages of the site that are not in docs/, and links from pages to files of the repository.

MkDocs calls these functions while it builds.
"""

import os
import posixpath
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

from pathlib import Path

from mkdocs.structure.files import File

from monitor.base.public_names import homes_of
from monitor.report.page.dates import whole_dates
from tools.site.commands import commands_page

ROOT = Path(__file__).parents[2]
# Files of the repository that are pages of the site, by the name of the page.
OUTSIDE = {
    "index.md": "README.md",
    "runbook.md": "alerts/runbook.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
}
PAGES = {source: f"docs/{page}" for page, source in OUTSIDE.items()}
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)|!\[([^\]]*)\]\(([^)\s]+)\)")
SHELVES = {
    "core": "Tallies, and numbers with their uncertainty",
    "binomial": "The binomial test",
    "test_based": "Test-based calibration error",
    "binned": "Bins and binned errors",
    "smooth": "Smooth and cumulative errors",
    "scores": "Proper scores, and what they are made of",
    "logistic": "Intercepts, slopes and levels",
    "intervals": "Intervals",
    "beyond_binary": "More than two classes, and regression",
}
MEASURES = """\
# Measures

All public names of `monitor.metrics`: import them from there. The page
[Which measure to use when](metrics.md) compares them. [TCE] and [RBS] are the papers that the
[home page](index.md) names.
"""
CONFIGURATION = """\
# Configuration

`monitor.yaml` configures the daily job; `calibration-monitor init` writes one for your logs. This
example explains every key:

```yaml
{example}```
"""


# What `calibration-monitor demo` writes; DEMO_REPORTS names another folder.
REPORTS = Path(os.environ.get("DEMO_REPORTS", ROOT / "demo-data" / "reports"))
BROKEN = "flights-stretched"
# The verdict of the demo's broken model and the first line that installs, as the README has them.
VERDICT = re.compile(
    rf"{BROKEN}, segment all, (\S+): calibration_drift\n +Can it be trusted\? (.*?)\n +What",
    re.DOTALL,
)
INSTALL = re.compile(r"^    (pip install \S+)", re.MULTILINE)
FIRST_SCREEN = """\
<div class="first-screen" markdown>

**{model}** on {day}: can it be trusted? **{answer}**
{{ .answer }}

![Its year: verdicts by day, and the evidence of a drift](docs/demo-year.svg)

```sh
{install}
```

{pages}

</div>
"""


def on_config(config: "MkDocsConfig") -> None:
    """List the pages of a folder where the navigation names the folder."""
    for entry in config.nav or []:
        for title, target in entry.items():
            if isinstance(target, str) and target.endswith("/"):
                pages = sorted((Path(config.docs_dir) / target).glob("*.md"))
                pages.sort(key=lambda page: page.name != "README.md")  # the overview first
                entry[title] = [target + page.name for page in pages]


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the pages that are not in docs/."""
    for page, source in OUTSIDE.items():
        files.append(File.generated(config, page, content=_text(source)))
    for path in sorted(REPORTS.rglob("*.html")):
        place = f"demo/{path.relative_to(REPORTS)}"
        files.append(File.generated(config, place, abs_src_path=str(path)))
    example = (ROOT / "monitor.example.yaml").read_text()
    pages = {
        "configuration.md": CONFIGURATION.format(example=example),
        "api-metrics.md": measures(),
        "commands.md": commands_page(),
    }
    for page, content in pages.items():
        files.append(File.generated(config, page, content=content))
    return files


def _text(source: str) -> str:
    """Read a file that is a page; the first screen of the README's is a verdict."""
    text = (ROOT / source).read_text()
    if source != OUTSIDE["index.md"]:
        return text
    title, _, rest = text.partition("\n")
    return f"{title}\n\n{first_screen(text)}{rest}"


def first_screen(readme: str) -> str:
    """Write the verdict of the demo's broken model, its year, how to install, and its pages."""
    verdict, install = VERDICT.search(readme), INSTALL.search(readme)
    if not verdict or not install:
        msg = "README.md: shows no verdict of the demo's broken model, or no line that installs."
        raise ValueError(msg)
    pages = (
        f"[Its report page](docs/demo/models/{BROKEN}.html), and "
        "[those of the other models of the demo](docs/demo/index.html)"
    )
    return FIRST_SCREEN.format(
        model=BROKEN,
        day=verdict[1],
        answer=" ".join(verdict[2].split()),
        install=install[1],
        pages=pages if REPORTS.is_dir() else "`make demo` writes its report page.",
    )


def measures() -> str:
    """Write the page of all public measures, shelf by shelf."""
    parts = [MEASURES]
    for shelf, title in SHELVES.items():
        parts.append(f"## {title}\n")
        parts += [
            f"::: {module}.{name}\n"
            for name, module in homes_of("monitor.metrics").items()
            if module.startswith(f"monitor.metrics.{shelf}.")
        ]
    return "\n".join(parts)


def on_page_content(html: str, **_: object) -> str:
    """Scroll wide tables by key, make headings that say nothing plain cells, keep dates whole."""
    html = html.replace("<table>", '<table tabindex="0">')
    return whole_dates(re.sub(r"<th( [^>]*)?></th>", r"<td\1></td>", html))


def on_post_page(output: str, **_: object) -> str:
    """Name the search, which the theme leaves without a name."""
    return output.replace('role="dialog">', 'role="dialog" aria-label="Search">')


def on_page_markdown(markdown: str, page: "Page", **_: object) -> str:
    """Lead links to where their targets are in the site; name files that are not in it."""
    place = page.file.src_uri
    source = OUTSIDE.get(place, f"docs/{place}")
    return in_site(markdown, source, f"docs/{place}")


def in_site(markdown: str, source: str, place: str) -> str:
    """Rewrite the links of a page that was written at `source` and is shown at `place`.

    >>> in_site("[a](docs/drift.md#x) [b](deploy)", "README.md", "docs/index.md")
    '[a](drift.md#x) b (`deploy`)'
    """

    def lead(found: re.Match[str]) -> str:
        text, target = found[1] or found[3] or "", found[2] or found[4]
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        path, hash_, anchor = target.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        file = PAGES.get(file, file)
        if not file.startswith("docs/"):
            return text if f"`{file}`" in text or text == file else f"{text} (`{file}`)"
        there = posixpath.relpath(file, posixpath.dirname(place))
        return f"{'!' if found[4] else ''}[{text}]({there}{hash_}{anchor})"

    return LINK.sub(lead, markdown)
