"""Writes what is generated: tables of pages, schemas of maps, a golden scrape, layouts."""

import json
from collections.abc import Iterable, Iterator, Sequence
from inspect import getdoc
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import TypeAdapter

from monitor.config.apart import APART
from monitor.drift.records.life import LIFE, STATES_MEAN
from monitor.logs.statement.counts_table import NAMES, SCORED, VERSION
from monitor.measures.gauges import CATALOGUE, Gauge
from monitor.metrics.core.grid import CELL_COUNT
from monitor.metrics.maps.calibration_map import CalibrationMap
from monitor.metrics.maps.class_map_file import ClassMapFile, ClassTraining
from monitor.metrics.maps.map_file import Days, Gain, Gains, Level, MapFile, Step, Training
from monitor.metrics.maps.part import Clause, Part
from monitor.metrics.maps.vector_map import VectorMap
from tests.support.filled_store import expose, fill_store
from tests.support.store_layouts import LAYOUTS, layouts

ROOT = Path(__file__).parent.parent
SCHEMA = ROOT / "docs" / "calibration-map.schema.json"
SCHEMA_OF_COUNTS = ROOT / "docs" / "counts.schema.json"
SCHEMA_OF_CLASSES = ROOT / "docs" / "class-map.schema.json"
EXPOSITION = ROOT / "tests" / "golden" / "exposition.txt"
HEAD = "| gauge | labels | unit, range | meaning | absent |\n|---|---|---|---|---|\n"
ENDS = "_low", "_high"


def main() -> None:
    """Replace what is generated in every page, and the golden scrape."""
    with TemporaryDirectory() as folder:
        scrape = expose(fill_store(Path(folder)))
    with TemporaryDirectory() as folder:
        of_store = layouts(Path(folder))
    for path, text in {**pages(), EXPOSITION: scrape, LAYOUTS: of_store}.items():
        path.write_text(text, encoding="utf-8")


def pages() -> dict[Path, str]:
    """Give the text of every page that is generated, or has generated parts, as it should be."""
    gauges = ROOT / "docs" / "gauges.md"
    table = HEAD + "".join(_rows(CATALOGUE))
    page = between(gauges.read_text(encoding="utf-8"), "gauges", table)
    drift = ROOT / "docs" / "drift.md"
    life = between(drift.read_text(encoding="utf-8"), "life", "".join(_life()))
    logs = ROOT / "docs" / "logs.md"
    apart = between(logs.read_text(encoding="utf-8"), "apart", "".join(_apart()))
    return {
        gauges: page,
        drift: life,
        logs: apart,
        SCHEMA: map_schema(
            MapFile, (CalibrationMap, Clause, Days, Gain, Gains, Level, Part, Step, Training)
        ),
        SCHEMA_OF_COUNTS: counts_schema(),
        SCHEMA_OF_CLASSES: map_schema(ClassMapFile, (ClassTraining, Days, Gain, Gains, VectorMap)),
    }


def between(page: str, name: str, generated: str) -> str:
    r"""Replace what lies between the two marks of a name.

    Examples
    --------
    >>> between("a <!-- begin b -->\nold\n<!-- end b --> c", "b", "new\n")
    'a <!-- begin b -->\nnew\n<!-- end b --> c'
    """
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        msg = f"the page has no lines {begin!r} and {end!r}"
        raise ValueError(msg)
    return f"{before}{begin}{generated}{end}{after}"


def _life() -> Iterator[str]:
    """List what may happen to an open drift, and what it is before and after."""
    yield "| event | what happens | before | after | it also |\n|---|---|---|---|---|\n"
    for event, step in LIFE.items():
        before, after = (
            ", ".join(f"`{state}`" for state in of) for of in (step.before, step.after)
        )
        does = ["names and measures the drift"] if step.named else []
        does += ["begins the evidence again"] if step.restarts else []
        does += [f"ends it as `{step.ends}`"] if step.ends else []
        yield f"| {event} | {step.meaning} | {before} | {after} | {'; '.join(does)} |\n"
    yield "\n"
    yield from (f"- `{state}`: {meaning}.\n" for state, meaning in STATES_MEAN.items())


def counts_schema() -> str:
    """Write the JSON schema of a row of counts."""
    count, text = {"type": "integer", "minimum": 0}, {"type": ["string", "null"]}
    day, score = {"type": "string", "format": "date"}, {"type": "number"}
    scored = {"properties": {"status": {"enum": SCORED}}}
    cell = {"properties": {"cell": {"minimum": 0, "maximum": CELL_COUNT - 1, "type": "integer"}}}
    probability = {"minimum": 0, "maximum": 1}
    interval = {"properties": dict.fromkeys(("score_from", "score_to"), probability)}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A row of counts",
        "description": "The rows of one status, segment, stratum and place among the scores.",
        "type": "object",
        "properties": {
            "version": {"const": VERSION},
            "day": day | {"description": "Day of the predictions."},
            "known_until": day | {"description": "Last day whose outcomes are counted."},
            "status": {"enum": NAMES},
            "segment": text | {"description": "Value of the column of segments."},
            "stratum": text | {"description": "Value of the column of strata."},
            "cell": {"type": ["integer", "null"], "description": "Cell of the grid of scores."},
            "offset_sum": {
                "type": ["integer", "null"],
                "description": "Sum of the places inside the cell.",
            },
            "score_from": score,
            "score_to": score,
            "rows": count,
            "positives": count | {"description": "Rows with outcome 1, of matched rows only."},
        },
        "required": ["rows", "positives"],
        "anyOf": [
            {"required": ["version", "status", "cell", "offset_sum"], "if": scored, "then": cell},
            {"required": ["score_from", "score_to"], **interval},
        ],
    }
    return json.dumps(schema, indent=1) + "\n"


def map_schema(of: type, parts: Sequence[type]) -> str:
    """Write the JSON schema of the files of a kind of map, with the descriptions of its parts."""
    schema = TypeAdapter(of).json_schema()
    schema["properties"]["checksum"] = {
        "description": "SHA-256 of the document without this key, as the shortest JSON with "
        "sorted keys.",
        "pattern": "^sha256:[0-9a-f]{64}$",
        "type": "string",
    }
    schema["required"].append("checksum")
    schema["description"] = getdoc(of)
    for described in parts:
        # As pydantic does since 2.13; Airflow may hold an earlier one.
        schema["$defs"][described.__name__]["description"] = getdoc(described)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Map file of calibration-monitor",
    }
    return json.dumps(schema, indent=2) + "\n"


def _apart() -> Iterator[str]:
    """Write the settings that exclude others, a row for each setting and reason."""
    yield "| setting | not with | because |\n|---|---|---|\n"
    for (one, why), pairs in groupby(APART, key=lambda pair: (pair.one, pair.why)):
        yield f"| `{one}` | {', '.join(f'`{pair.other}`' for pair in pairs)} | {why} |\n"


def _rows(gauges: Iterable[Gauge]) -> Iterator[str]:
    """Give a row for each gauge; the two ends of an interval stand in that of their number."""
    names = {gauge.name for gauge in gauges}
    for gauge in gauges:
        if gauge.name.rpartition("_")[0] in names and gauge.name.endswith(ENDS):
            continue
        ends = [f" `{end}`" for end in ENDS if f"{gauge.name}{end}" in names]
        labels = " ".join(f"`{label}`" for label in gauge.labels)
        cells = f"`{gauge.name}`{''.join(ends)}", labels, gauge.unit, gauge.meaning, gauge.absent
        yield f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    main()
