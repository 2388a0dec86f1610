"""The classes of a model with several as a table: for the terminal and for pages. Pure."""

from dataclasses import replace
from math import isnan

from rich.console import Group, RenderableType
from rich.text import Text

from monitor.base.segment_names import in_a_table
from monitor.evaluation.errors import Errors
from monitor.evaluation.evaluation import ClassErrors, Evaluation
from monitor.measures.classes import OF_CLASSES
from monitor.report.columns import cells_of
from monitor.report.tables import plain_table
from monitor.report.too_few import LEAST_FOR_ECE
from monitor.words.vectors import vector_sentences

STYLES = {
    "outcomes": ",",
    "share": ".1%",
    "mean score": ".1%",
    "ECE raw": ".3f",
    "ECE prior": ".3f",
    "TCE prior": ".0%",
}
COLUMNS = ("class", *STYLES)
NOTE = (
    "Above, prevalence is how often the first choice was right, and the mean score is its own. "
    "Prior: with class weights that make every mean score equal to the share of its class."
)


def class_rows(e: Evaluation) -> list[tuple[str, ...]]:
    """List the watched classes of a model that has some, the largest error first."""
    watched = e.classes.by_class if e.classes else ()
    ranked = sorted(watched, key=lambda of_class: (-_ece(of_class.prior), of_class.name))
    return [_row(e, of_class) for of_class in ranked]


def class_table(title: str, e: Evaluation) -> RenderableType:
    """Show the classes of an evaluation that has some."""
    if e.classes is None:
        return Text()
    said, rows = Text("\n".join([*vector_sentences(e.classes), NOTE]), style="dim"), class_rows(e)
    if not rows:
        return said
    table = plain_table(title, COLUMNS)
    for row in rows:
        table.add_row(*map(Text, row))
    return Group(table, said)


def _row(e: Evaluation, of_class: ClassErrors) -> tuple[str, ...]:
    """Write the numbers of one class, without its errors if too few outcomes tell them."""
    if of_class.outcomes < LEAST_FOR_ECE:
        of_class = replace(of_class, raw=None, prior=None)
    alone = replace(e, classes=e.classes and replace(e.classes, by_class=(of_class,)))
    return (in_a_table(of_class.name), *cells_of(OF_CLASSES, alone, STYLES, "-"))


def _ece(errors: Errors | None) -> float:
    return errors.ece if errors and not isnan(errors.ece) else -1.0
