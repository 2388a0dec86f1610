"""One incident with three causes: the page says what was counted, and the verdict still says it."""

import json

from studies.drift import (
    beside,
    calibrated,
    entities,
    kinds,
    label_changes,
    lost_labels,
    mixes,
    noise,
    starts,
    stated,
    wander,
)
from studies.drift import page as simulations
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


def test_the_words_of_the_page_are_those_that_programs_write() -> None:
    """The sentences above tables, with the numbers of streams that the page was written with."""
    page = PAGE.read_text(encoding="utf-8")
    written = {
        beside.INTRO.format(streams=30),
        calibrated.INTRO.format(streams=40),
        entities.INTRO.format(streams=40),
        kinds.INTRO.format(streams=10),
        label_changes.INTRO.format(streams=40),
        mixes.INTRO.format(streams=40),
        mixes.FOUND.format(world=mixes.HARDEST),
        lost_labels.INTRO.format(streams=40),
        noise.INTRO.format(streams=12),
        simulations.INTRO.format(streams=20, drifting=16),
        starts.INTRO.format(streams=24),
        stated.INTRO.format(streams=14),
        wander.INTRO.format(streams=10),
    }

    assert {words for words in written if words.strip() not in page} == set()
