"""docs/glossary.md: its words are in order, and every link to it leads to one; links of pages."""

import re

from tests.support.paths import ROOT

GLOSSARY = ROOT / "docs" / "glossary.md"
PAGES = sorted(
    {ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "decisions").glob("*.md")}
    - {GLOSSARY}
)
WORDS = re.findall(r"^## (.+)$", GLOSSARY.read_text(), re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]*glossary\.md)(?:#([\w-]+))?\)")


def anchor(word: str) -> str:
    """Return the anchor that GitHub generates for a heading."""
    return re.sub(r"[^\w -]", "", word.lower()).replace(" ", "-")


def test_links_to_the_glossary_lead_to_words() -> None:
    """Each link leads to the file and to a word of it."""
    for page in PAGES:
        links = LINK.findall(page.read_text())
        anchors = {anchor(word) for word in WORDS}

        assert {(page.parent / file).resolve() for file, _ in links} <= {GLOSSARY}
        assert [place for _, place in links if place and place not in anchors] == []


def test_the_readme_and_the_site_lead_to_the_glossary() -> None:
    """Who reads any page finds the words in the navigation, and in the README."""
    assert LINK.search((ROOT / "README.md").read_text())
    assert "Glossary: glossary.md" in (ROOT / "mkdocs.yml").read_text()


def test_the_words_are_in_order_and_short() -> None:
    """Each word appears once, in alphabetical order, with at most three lines."""
    entries = re.split(r"^## .+\n", GLOSSARY.read_text(), flags=re.MULTILINE)[1:]

    assert sorted(set(WORDS), key=str.lower) == WORDS
    assert [
        word
        for word, entry in zip(WORDS, entries, strict=True)
        if not 1 <= len(entry.split("\n\n")[0].strip().splitlines()) <= 3
    ] == []


def test_the_glossary_refers_to_its_own_words() -> None:
    """Links between words lead to existing words."""
    inner = re.findall(r"\]\(#([\w-]+)\)", GLOSSARY.read_text())

    assert set(inner) <= {anchor(word) for word in WORDS}
    assert len(inner) >= 10


def test_links_lead_to_files() -> None:
    """Who reads the pages without the site finds what they link to, but for the one it makes."""
    for page in PAGES:
        links = re.findall(r"\]\(([^)#\s]+)", page.read_text())
        inside = [link for link in links if ":" not in link and link != "api-metrics.md"]

        assert [link for link in inside if not (page.parent / link).exists()] == []
