"""Results as small HTML tables for notebooks: no script, no style sheet, the notebook's colours."""

from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING

from monitor.base.segment_names import printable
from monitor.base.short_text import MOST_LINES
from monitor.words.numbers import percent, short_percent

if TYPE_CHECKING:
    from monitor.evaluation.evaluation import Evaluation
    from monitor.metrics.core.estimate import Estimate
    from monitor.report.columns import Styles

CELL = "text-align:right;padding:0.1em 0.7em"
FIRST = "text-align:left;padding:0.1em 0.7em"
LEGEND = (
    "raw: the scores as they are; prior: after the prior shift was added. "
    "The diagram shows TCE raw. by chance: TCE of a calibrated model with these scores, 5 to "
    "95 %, once all outcomes are known. In brackets: 95 % intervals."
)


def evaluation_html(evaluations: "Sequence[Evaluation]", span: str) -> str:
    """Show evaluations of a span, the whole first, one line each."""
    from monitor.report.columns import WINDOWS, meanings
    from monitor.words.windows import hanging_sentences

    table = table_html(("segment", *STYLES, "by chance"), map(_cells, evaluations))
    said = meanings(["prior shift", "slope", "ECE", "TCE"], WINDOWS).items()
    of_measures = [f"{heading}: {meaning}" for heading, meaning in said]
    legend = escape(" ".join([*of_measures, LEGEND, *hanging_sentences(evaluations[0], span)]))
    return f"{table}<p><small>{legend}</small></p>"


def table_html(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; every text is escaped."""
    lines = [_line("th", heads), *(_line("td", row) for row in rows)]
    return f"<table>{''.join(lines)}</table>"


def paragraphs_html(title: str, sentences: Iterable[str]) -> str:
    """Write a bold line and the sentences under it."""
    lines = "".join(f"<br>{escape(printable(sentence))}" for sentence in sentences)
    return f"<p><b>{escape(printable(title))}</b>{lines}</p>"


def with_interval(e: "Estimate", *, sign: bool = False) -> str:
    """Write an estimate and its interval.

    Examples
    --------
    >>> from monitor.metrics import Estimate
    >>> with_interval(Estimate(0.7, 0.65, 0.75))
    '0.70 (0.65 to 0.75)'
    """
    return f"{e:{'+.2f' if sign else '.2f'} brief}"


def _line(tag: str, texts: Sequence[str]) -> str:
    styles = [FIRST, *[CELL] * (len(texts) - 1)]
    return "".join(
        [
            "<tr>",
            *(
                f'<{tag} style="{style}">{escape(printable(text))}</{tag}>'
                for style, text in zip(styles, texts, strict=True)
            ),
            "</tr>",
        ]
    )


def _cells(e: "Evaluation") -> tuple[str, ...]:
    from monitor.report.columns import window_cells

    by_chance = f"{100 * e.null.q05:.0f} to {percent(e.null.q95, 0)}" if e.null else "-"
    return (e.segment, *window_cells(e, STYLES, "-"), by_chance)


def evaluation_text(evaluations: "Sequence[Evaluation]") -> str:
    """Write evaluations as a table of text: the whole, then segments as long as there is room.

    Examples
    --------
    >>> import monitor
    >>> print(str(monitor.evaluate([0, 1] * 60, [0.2, 0.8] * 60)).splitlines()[0].split()[:3])
    ['segment', 'outcomes', 'prevalence']
    """
    heads = ("segment", *STYLES, "by chance")
    shown = evaluations if len(evaluations) < MOST_LINES else evaluations[: MOST_LINES - 2]
    cells = [heads, *map(_cells, shown)]
    widths = [max(len(printable(row[k])) for row in cells) for k in range(len(heads))]
    lines = [
        "  ".join(
            printable(text).ljust(width) if k == 0 else printable(text).rjust(width)
            for k, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    left = len(evaluations) - len(shown)
    return "\n".join([*lines, *([f"… and {left} more segments; see to_frame()"] if left else [])])


def as_diagrams_do(e: "Estimate") -> str:
    """Write a share as the diagrams do.

    Examples
    --------
    >>> from monitor.metrics import Estimate
    >>> as_diagrams_do(Estimate(0.98943, 0.9, 1.0))
    '98.9 %'
    """
    return short_percent(e.value, 3)


STYLES: "Styles" = {
    "outcomes": ",",
    "prevalence": ".2%",
    "mean score": ".2%",
    "prior shift": partial(with_interval, sign=True),
    "slope": with_interval,
    "ECE raw": ".4f",
    "ECE prior": ".4f",
    "TCE raw": as_diagrams_do,
    "TCE prior": as_diagrams_do,
}
