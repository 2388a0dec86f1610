"""Writes what is generated from the measures: the table of docs/gauges.md, a golden scrape."""

from pathlib import Path
from tempfile import TemporaryDirectory

from monitor.export.gauges import CATALOGUE, Gauge
from tests.support.filled_store import expose, fill_store

ROOT = Path(__file__).parent.parent
EXPOSITION = ROOT / "tests" / "golden" / "exposition.txt"
HEAD = "| gauge | labels | unit, range | meaning | absent |\n|---|---|---|---|---|\n"


def main() -> None:
    """Replace what is generated in every page, and the golden scrape."""
    with TemporaryDirectory() as folder:
        scrape = expose(fill_store(Path(folder)))
    for path, text in {**pages(), EXPOSITION: scrape}.items():
        path.write_text(text, encoding="utf-8")


def pages() -> dict[Path, str]:
    """Give the text of every page with generated parts, as it should be."""
    gauges = ROOT / "docs" / "gauges.md"
    table = HEAD + "".join(map(_row, CATALOGUE))
    return {gauges: between(gauges.read_text(encoding="utf-8"), "gauges", table)}


def between(page: str, name: str, generated: str) -> str:
    r"""Replace what lies between the two marks of a name.

    Examples
    --------
    >>> between("a <!-- begin b -->\nold\n<!-- end b --> c", "b", "new\n")
    'a <!-- begin b -->\nnew\n<!-- end b --> c'
    """
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        msg = f"the page has no lines {begin!r} and {end!r}"
        raise ValueError(msg)
    return f"{before}{begin}{generated}{end}{after}"


def _row(gauge: Gauge) -> str:
    labels = " ".join(f"`{label}`" for label in gauge.labels)
    return f"| `{gauge.name}` | {labels} | {gauge.unit} | {gauge.meaning} | {gauge.absent} |\n"


if __name__ == "__main__":
    main()
