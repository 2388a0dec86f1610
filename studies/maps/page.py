"""The page of the studies of maps: each program writes the tables of its own section."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "map-promises.md"


def marks(program: str) -> tuple[str, str]:
    """Give the lines of the page between which the tables of a program stand."""
    return (
        f"<!-- `python -m studies.maps.{program}` writes the tables below this line. -->\n",
        f"<!-- The tables of {program} end here. -->\n",
    )


def section(between: tuple[str, str]) -> str:
    """Read the tables of a program from the page."""
    begin, end = between
    return PAGE.read_text().partition(begin)[2].partition(end)[0]


def write_section(text: str, between: tuple[str, str]) -> None:
    """Replace the tables of a program on the page."""
    begin, end = between
    before, _, rest = PAGE.read_text().partition(begin)
    _, marked, after = rest.partition(end)
    if not marked:
        msg = f"{PAGE} lacks the lines {begin!r} and {end!r}; put them where the tables belong."
        raise SystemExit(msg)
    PAGE.write_text(f"{before}{begin}\n{text.rstrip()}\n\n{end}{after}")
