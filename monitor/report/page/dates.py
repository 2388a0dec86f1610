"""Dates in HTML: each stays on one line. Browsers break lines at the hyphens of 2026-03-01."""

import re

DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
# What is no text: comments, what is not laid out as lines, and tags. Then the text between them.
HTML = re.compile(
    r"""<!--.*?-->|<(script|style|svg|title|pre)\b.*?</\1>|<(?:[^<>"']|"[^"]*"|'[^']*')*>|([^<]+)""",
    re.DOTALL,
)


def whole_dates(html: str) -> str:
    """Put every date of a text into a `time` element, which style sheets keep on one line.

    A text that holds more than a date stays one element, because cells may lay out their elements.

    Examples
    --------
    >>> whole_dates('<td title="2026-03-01">2026-03-01</td>')
    '<td title="2026-03-01"><time>2026-03-01</time></td>'
    >>> whole_dates("<td>until 2026-03-01</td>")
    '<td><span>until <time>2026-03-01</time></span></td>'
    """

    def mark(part: re.Match[str]) -> str:
        text = part[2]
        if not text or not DATE.search(text):
            return part[0]
        marked = DATE.sub(r"<time>\g<0></time>", text)
        return marked if DATE.fullmatch(text.strip()) else f"<span>{marked}</span>"

    return HTML.sub(mark, html)
