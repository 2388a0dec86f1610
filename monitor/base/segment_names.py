"""The segments that the program names itself, and how a name from the logs is shown to people."""

import re
from collections.abc import Container, Sequence

WHOLE = "all"  # all segments together, and the only segment of a model that has none
OTHER = "other"  # rows whose value the configuration does not list
THIRD = "third choices"  # of a model with classes, its pairs of the first and the third choice
FAMILIES = (WHOLE, THIRD)  # of pairs: where the mean of their evidence is enough, the whole alerts
RESERVED = frozenset({*FAMILIES, OTHER})
NO_VALUE = ""  # rows whose column is null, which are among the others; no segment has this name
PAIR = "pair"  # of classes, as the name of a column whose values they are
AGAINST = " against "  # between the names of the classes of a pair
# Between a column and its field, in what is one name everywhere: no column has this sign.
FIELD = "\0"
LONGEST = 40  # characters of a value in a table
CROSSED = " x "  # between the names of crossed columns, and between their values


def is_pair(name: str, classes: Container[str]) -> bool:
    """Say whether a name is that of a pair of classes.

    Examples
    --------
    >>> is_pair("cat against dog", ["cat", "dog"]), is_pair("for against", ["cat", "dog"])
    (True, False)
    """
    starts = [match.start() for match in re.finditer(f"(?={AGAINST})", name)]
    return any(name[:i] in classes and name[i + len(AGAINST) :] in classes for i in starts)


def printable(text: str, *, kept: str = "\u00a0") -> str:
    r"""Write a text of the logs on one line, without characters that could garble a terminal.

    Characters that control a terminal or the direction of text, and halves of pairs, are written
    as Python writes them, except those `kept`.

    Examples
    --------
    >>> print(printable("två\n\x1b[2J"))
    två\n\x1b[2J
    """
    if text.isprintable():  # almost every text, and it is looked at as a whole
        return text
    return "".join(
        sign if sign.isprintable() or sign in kept else sign.encode("unicode_escape").decode()
        for sign in text
    )


def in_short(names: Sequence[str], most: int) -> str:
    """Name the first of several, and say how many more there are.

    Examples
    --------
    >>> in_short(["DE", "FR", "IT"], 2)
    'DE, FR and 1 more'
    """
    named = ", ".join(map(printable, names[:most]))
    return f"{named} and {len(names) - most} more" if len(names) > most else named


def printable_lines(text: str) -> str:
    r"""Write a text of several lines in the same way.

    Examples
    --------
    >>> print(printable_lines("one\ntwo\r"))
    one
    two\r
    """
    return printable(text, kept="\n\u00a0")


def in_a_table(name: str) -> str:
    """Write a name for a cell of a table: as `shown`, and cut if it is long.

    Examples
    --------
    >>> print(in_a_table("DE"), len(in_a_table("x" * 200)))
    DE 40
    """
    written = shown(name)
    return written if len(written) <= LONGEST else f"{written[: LONGEST - 1]}…"


def shown(name: str) -> str:
    """Write the name of a segment for people: in quotes if blanks at its ends would not be seen.

    Examples
    --------
    >>> print(shown("DE"), shown(" DE "))
    DE " DE "
    """
    written = printable(name)
    return f'"{written}"' if written != written.strip() else written
