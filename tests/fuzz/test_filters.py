import json

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from monitor.config.filters import check_filter
from tests.support.fuzzing import fuzzed

MARK = "behind"  # what stands behind a filter, and must be seen
SIGNS = ["--", "/*", "*/", ";", "\0", "'", '"', "$", "$$", "$t$", "e'", "\\", "\n", " ", "-", "/",
         "a", "b = 1", "1", " AND ", " OR ", "(", ")", "'x'", "E'y'", '"c d"']  # fmt: skip
QUOTED = st.text(st.sampled_from("-;/* \nax"), max_size=6).flatmap(
    lambda text: st.sampled_from([f"'{text}'", f'"b{text}"', f"E'{text}\\''", f"$t${text}$t$"])
)
CONDITIONS = st.builds("{} {} {}".format, QUOTED, st.sampled_from(["=", "<>", "<"]), QUOTED)
HIDING = st.sampled_from(["--", "/*", "/**/", ";", "\0", " -- ", "\n--\n", " /* x */ ", " ; "])


def is_seen(text: str) -> bool:
    """Ask the parser of DuckDB if it sees a name behind a text, and only one statement."""
    query = f"SELECT {text} AS {MARK}"
    (found,) = duckdb.execute("SELECT json_serialize_sql(?)", [query]).fetchone() or ("",)
    answer = json.loads(found)
    if answer["error"] or len(answer["statements"]) != 1:
        return False
    last = answer["statements"][0]["node"]["select_list"][-1]
    return bool(last["alias"] == MARK)


def is_accepted(text: str) -> bool:
    """Check a filter."""
    try:
        return check_filter(text) == text
    except ValueError:
        return False


@fuzzed(100)
@given(text=st.lists(st.sampled_from(SIGNS), max_size=8).map("".join))
@example(text="a --")
@example(text="a\0")
@example(text="a = 'x' -- '")
def test_no_part_of_a_filter_is_hidden(text: str) -> None:
    """Whatever signs it is made of: what is accepted, the parser sees to its end."""
    assert not is_accepted(text) or is_seen(text)


@fuzzed(40)
@given(condition=CONDITIONS, other=CONDITIONS, hiding=HIDING)
def test_what_hides_a_part_is_refused_outside_of_quotes_only(
    condition: str, other: str, hiding: str
) -> None:
    """A comment, a semicolon and a null character between two conditions; in quotes, any text."""
    assert is_accepted(condition)
    assert is_accepted(f"{condition} AND {other}")
    with pytest.raises(ValueError, match=r"null character|semicolon|begins a comment"):
        check_filter(f"{condition}{hiding}AND {other}")


@fuzzed(20)
@given(before=st.text("ab ", max_size=3), behind=st.text("ab ", max_size=3))
def test_a_null_character_is_refused_in_quotes_too(before: str, behind: str) -> None:
    """The parser ends there, wherever it stands."""
    with pytest.raises(ValueError, match="contains the null character"):
        check_filter(f"a = '{before}\0{behind}'")
