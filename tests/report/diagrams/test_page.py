"""docs/notebook.md, "Draw diagrams", names every function, and its example runs."""

import doctest
import re

from monitor.report import diagrams
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "notebook.md"
_, _, SECTION = PAGE.read_text().partition("## Draw diagrams")


def test_example_prints_what_the_page_says() -> None:
    """The example runs as it stands."""
    text = "\n".join(re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL))
    example = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)

    failed, tried = doctest.DocTestRunner().run(example)

    assert tried == 6
    assert failed == 0


def test_every_function_is_on_the_page() -> None:
    """The page says what each `draw_...` shows, and names none that does not exist."""
    named = set(re.findall(r"`(draw_\w+)`", SECTION))

    assert named == {name for name in diagrams.__all__ if name.startswith("draw_")}
