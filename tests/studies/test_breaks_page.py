"""The table of everyday breaks says what was counted, and the monitor still finds them."""

import json

from studies.drift.breaks_page import BEGIN, END, FIRST_SEED, RESULT, page, watched
from studies.drift.everyday import EVERYDAY
from studies.drift.layout import PAGE, replace_section
from tests.support.cases import some


def test_the_page_is_what_was_counted() -> None:
    """Each row is of a kind that the study draws, in its order."""
    counted = json.loads(RESULT.read_text(encoding="utf-8"))

    assert [*counted] == [*EVERYDAY]
    text = PAGE.read_text(encoding="utf-8")
    assert text == replace_section(text, page(counted), BEGIN, END)


def test_what_was_counted_is_what_is_found_now() -> None:
    """The first stream of some kinds, drawn again: the same days and the same words."""
    counted = json.loads(RESULT.read_text(encoding="utf-8"))
    for name in some(EVERYDAY, 12):
        assert watched(name, FIRST_SEED) == counted[name][0], name
