"""The two consoles of the commands; import them where something is printed."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from monitor.base.segment_names import printable_lines


class Terminal(Console):
    """A console that shows control characters of a text in place of obeying them."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as any console, and strings with their control characters escaped."""
        plain = [printable_lines(each) if isinstance(each, str) else each for each in objects]
        super().print(*plain, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Render as any console, and escape what is left in texts of tables and sentences."""
        for part in super().render(renderable, options):
            yield part if part.control else Segment(printable_lines(part.text), part.style)


out = Terminal(emoji=False, markup=False)  # text of logs is no markup
err = Terminal(stderr=True, emoji=False, markup=False)
