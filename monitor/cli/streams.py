"""Standard output and standard error as they are, whatever they can take.

Rule: a character that an output lacks is replaced, and what is said aside never decides how a
command ends.
"""

import codecs
import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from unicodedata import normalize

REPLACED = "calibration-monitor"  # how Python calls what replaces characters
BARS = range(0x2580, 0x25A0)  # block elements
SIGNS = {
    "\u25b2": "^", "\u25bc": "v", "\u2022": "*",
    "\u25c0": "<", "\u25b6": ">", "\u2190": "<-", "\u2192": "->", "\u2264": "<=",
    "\u2265": ">=", "\u00b1": "+-", "\u00d7": "x", "\u2212": "-", "\u2013": "-",
    "\u2014": "-", "\u00b7": ".", "\u2026": "...", "\u2018": "'", "\u2019": "'",
    "\u201c": '"', "\u201d": '"',
}  # fmt: skip


def prepare_streams() -> None:
    """Let both streams take every text; call it before anything is printed or logged."""
    codecs.register_error(REPLACED, _replaced)
    if sys.stderr is None:  # closed: its number must not become that of another file
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - as long as the process lives
    if type(sys.stderr) is io.TextIOWrapper:
        kind = sys.stderr.encoding
        sys.stderr = Aside(sys.stderr.buffer, kind, errors=REPLACED, line_buffering=True)
    if type(sys.stdout) is io.TextIOWrapper:
        sys.stdout.reconfigure(errors=REPLACED)


class Aside(io.TextIOWrapper):
    """Standard error: if it is full or closed, what is said there is lost, and nothing else."""

    def write(self, text: str) -> int:
        """Write a text if that is possible."""
        with suppress(OSError, ValueError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Pass on what was written if that is possible."""
        with suppress(OSError, ValueError):
            super().flush()


def plain(text: str) -> str:
    """Write a text with letters and signs that every output has.

    Examples
    --------
    >>> plain("\u2581\u2588 caf\u00e9 \u2265 1"), plain("\u4e2d")
    ('## cafe >= 1', '?')
    """
    return "".join(map(_plain, text))


def _plain(sign: str) -> str:
    if ord(sign) in BARS:
        return "#"
    letters = normalize("NFKD", sign).encode("ascii", "ignore").decode()
    return SIGNS.get(sign) or (sign if sign.isascii() else letters or "?")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return plain(error.object[error.start : error.end]), error.end
