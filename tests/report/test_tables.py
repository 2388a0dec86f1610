from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from monitor.report.tables import plain_table

TEXTS = st.text("abcdefgh0123456789.+%", max_size=14)
HEADINGS = st.lists(TEXTS, min_size=1, max_size=2).map("\n".join)


@given(st.data(), st.integers(1, 8), st.integers(20, 120))
def test_a_table_cuts_neither_headings_nor_numbers(
    data: st.DataObject, columns: int, width: int
) -> None:
    """Whatever the width of the terminal, each line of a heading and each cell is there whole."""
    headings = data.draw(st.lists(HEADINGS, min_size=columns, max_size=columns))
    rows = data.draw(st.lists(st.tuples(*[TEXTS] * columns), min_size=1, max_size=3))
    table = plain_table("", headings)
    for row in rows:
        table.add_row(*row)
    printed = StringIO()

    Console(file=printed, width=width).print(table, crop=False)

    words = printed.getvalue().split()
    lines = [line for heading in headings for line in heading.splitlines() if line]
    last = [cell for cell in rows[-1] if cell]
    assert sorted(words[: len(lines)]) == sorted(lines)
    assert words[len(words) - len(last) :] == last
