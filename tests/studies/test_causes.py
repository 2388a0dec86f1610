"""One incident with three causes: the page says what was counted, and the verdict still says it."""

import json

from studies.drift.causes import BEGIN, CASES, END, RESULT, counted, section
from studies.drift.layout import PAGE, replace_section

KEPT = json.loads(RESULT.read_text(encoding="utf-8"))


def test_the_page_is_what_was_counted() -> None:
    """Each cause has a row, with the words of days 1, 3 and 10."""
    text = PAGE.read_text(encoding="utf-8")

    assert [*KEPT] == [*CASES]
    assert text == replace_section(text, section(KEPT), BEGIN, END)


def test_lost_labels_are_named() -> None:
    """Drawn again, the stream with lost labels gets the same words."""
    found = counted("lost labels")

    assert found == KEPT["lost labels"]
    assert found["states"][-1] == "labels_lost"
