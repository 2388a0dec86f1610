"""An extension of Markdown: what stands between double backticks is drawn as a formula.

A formula that `formulas.mathml` cannot read, such as a line of code, stays code.
"""

import re
from html import escape
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

from tools.site.formulas import mathml

DOUBLE = r"(?<!`)``(?!`)(.+?)(?<!`)``(?!`)"
BEFORE_CODE = 195  # the priority of Markdown's own backticks is 190


class Formula(InlineProcessor):
    """Draw one formula, or leave it as code."""

    def handleMatch(  # type: ignore[override]  # noqa: N802 - the name is Markdown's
        self,
        m: re.Match[str],
        data: str,  # noqa: ARG002 - Markdown passes it
    ) -> tuple[str | Element, int, int]:
        """Put MathML in the place of the text."""
        text = " ".join(m[1].split())
        drawn = mathml(text) or f"<code>{escape(text)}</code>"
        return self.md.htmlStash.store(drawn), m.start(0), m.end(0)


class Formulas(Extension):
    """The extension itself."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - the name is Markdown's
        """Register the formula."""
        md.inlinePatterns.register(Formula(DOUBLE, md), "formula", BEFORE_CODE)


def makeExtension(**settings: object) -> Formulas:  # noqa: N802 - the name is Markdown's
    """Make the extension, as Markdown asks for it."""
    return Formulas(**settings)
