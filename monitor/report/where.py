"""Where a drift sits, as a table for the terminal and as a document."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from monitor.base.segment_names import in_a_table
from monitor.drift.records.day_evidence import KINDS
from monitor.drift.records.places import name_all, name_of
from monitor.metrics.core.estimate import Estimate
from monitor.report.tables import plain_table
from monitor.words.numbers import percent
from monitor.words.where import (
    labels_sentence,
    new_values,
    parts_sentence,
    repair_commands,
    values_not_shown,
    where_sentence,
)

if TYPE_CHECKING:
    from monitor.drift.records.places import Answer, Place
    from monitor.pipeline.verdicts.part_search import PartsFound

COLUMNS = (
    "segment",
    "outcomes",
    "evidence\nlog10",
    "slope,\n1 as before",
    "share of\nthe change",
    "",
)
MOST_VALUES = 20  # in a table, those that are most off
# Of an error of the level, or of a break at one place of the scores.
OF_OTHERS = (*COLUMNS[:3], "log-odds,\n0 as before", *COLUMNS[4:])
OF_PART = ("part", "kind", "slope,\n1 as before", "share of\nthe outcomes", "p-value", "")


def where_text(name: str, answer: "Answer", commands: Sequence[str] = ()) -> RenderableType:
    """Show the sentence, the values that are most off, and the commands that repair what broke."""
    where = answer.where
    state = "the drift that is open" if answer.drifting else "no drift is open"
    headings = COLUMNS if where.kind in KINDS else OF_OTHERS
    table = plain_table(f"{name}, {answer.first} to {answer.last} ({state})", headings)
    for place in where.places[:MOST_VALUES]:
        table.add_row(*_cells(place, where.kind), style="" if place.flagged else "dim")
    hidden = values_not_shown(len(where.places) - MOST_VALUES, "; --json has all")
    labels = labels_sentence(answer.labels, where.explanation) if answer.labels else ""
    lines = [labels, where_sentence(where), new_values(where, MOST_VALUES), hidden]
    below = [Text(command, no_wrap=True, overflow="ignore") for command in commands]
    below = [Text("A map of that part alone:"), *below] if commands else []
    return Group(Text("\n".join(filter(None, lines))), table, *below)


def repair_of(name: str, answer: "Answer") -> list[str]:
    """Give the commands that repair what broke, ready to copy; none if no part explains a drift."""
    explanation = answer.where.explanation
    if answer.labels or not answer.has_map or not (answer.drifting and explanation):
        return []  # a map would bend right scores to wrong labels, or hide a default score
    return [f"{command} --out map.json" for command in repair_commands(name, explanation)]


def where_document(answer: "Answer", commands: Sequence[str] = ()) -> dict[str, Any]:
    """Lay the same out for programs."""
    where, labels = answer.where, answer.labels
    told = labels_sentence(labels, where.explanation) if labels else ""
    return {
        "first": answer.first,
        "last": answer.last,
        "drifting": answer.drifting,
        "kind": where.kind,
        "sentence": f"{told} {where_sentence(where)}".strip(),
        "labels": labels,
        "explanation": where.explanation,
        "segments": list(where.places),
        "repair": commands,
    }


def parts_text(name: str, search: "PartsFound") -> RenderableType:
    """Show the parts that a search confirmed."""
    sentence = Text(parts_sentence(search.parts, len(search.columns)))
    if not search.parts:
        return sentence
    state = "the drift that is open" if search.drifting else "no drift is open"
    table = plain_table(f"{name}, {search.first} to {search.last} ({state})", OF_PART)
    for part in search.parts:
        table.add_row(
            Text(name_all(part.conditions)),
            part.kind.replace("_", " "),
            _interval(part.slope),
            percent(part.rows),
            f"{part.p_value:.1g}",
            "new" if part.new else "",
        )
    days = (
        f"Found on {search.searched} days and confirmed on {search.confirmed_on} others; of "
        f"{search.proposed} proposed."
    )
    return Group(sentence, table, Text(days))


def parts_document(search: "PartsFound") -> dict[str, Any]:
    """Lay the same out for programs."""
    return {**vars(search), "sentence": parts_sentence(search.parts, len(search.columns))}


def _cells(place: "Place", kind: str) -> list[RenderableType]:
    mark = "new" if place.new else "\u25b2" if place.flagged else ""
    return [
        Text(in_a_table(name_of(place))),
        f"{place.rows:,}",
        f"{place.evidence:.1f}" if place.change else "-",
        _interval(place.slope if kind in KINDS else place.change),
        percent(place.share),
        mark,
    ]


def _interval(slope: Estimate | None) -> str:
    return f"{slope:.2f brief}" if slope else "-"
