"""The layouts of all files of a store, as texts that a test compares with those of their format."""

import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pyarrow as pa

from monitor.days.decisions import Decision
from monitor.store import column_table, entity_table, fit_record, summary_table
from monitor.store.evaluation_table import COLUMNS as EVALUATIONS
from monitor.store.fields import columns
from monitor.store.names import day_file
from monitor.store.revisions import Revision
from monitor.store.sealing import FORMAT, metadata_of
from monitor.store.state_table import STATE
from monitor.store.verdict_table import CARRIED, VERDICTS
from tests.conftest import finish

LAYOUTS = Path(__file__).parent.parent / "golden" / "store_layouts.json"


def layouts(folder: Path) -> str:
    """Describe every layout; those without a schema as a project in the folder has them."""
    finish(folder)
    described = {
        "format": FORMAT,
        "evaluations": _columns(EVALUATIONS),
        "verdicts": _columns({each.name: each.type for each in VERDICTS.append(CARRIED)}),
        "carried": _columns({each.name: each.type for each in STATE}),
        "revisions": _columns(columns(Revision)),
        "summaries": {
            "format": summary_table.FORMAT,
            **_columns(summary_table.NUMBERS | summary_table.RATED_NUMBERS),
        },
        "columns": _columns(column_table.NUMBERS),
        "entities": {"format": entity_table.FORMAT, **_columns(entity_table.NUMBERS)},
        "decisions": {kind.__name__: _hints(kind) for kind in get_args(Decision)},
        "fits": {name: _hints(kind) for name, kind in fit_record.KINDS.items()},
        **_of_files(folder / "store"),
    }
    return json.dumps(described, indent=1, sort_keys=True) + "\n"


def _columns(of: dict[str, pa.DataType]) -> dict[str, str]:
    return {name: str(kind) for name, kind in of.items()}


def _hints(kind: type) -> dict[str, str]:
    assert is_dataclass(kind)
    hints = get_type_hints(kind)
    return {field.name: str(hints[field.name]) for field in fields(kind)}


def _of_files(store: Path) -> dict[str, Any]:
    """Describe records, and what tables say of themselves."""
    records = {path.stem: path for path in sorted((store / "runs" / "ctr").glob("*.json"))}
    day = max(name for name in records if name[0].isdigit())
    kept = {name: path for name, path in records.items() if name[0].isalpha()}
    kept = {name.rstrip("-0123456789"): path for name, path in kept.items()} | {"day": records[day]}
    tables = {kind: store / day_file(kind, "ctr", day) for kind in ("summaries", "verdicts")}
    about = {kind: metadata_of(path.read_bytes()) for kind, path in tables.items()}
    return {
        "records": {name: sorted(json.loads(path.read_text())) for name, path in kept.items()},
        "identity": sorted(json.loads((store / "store.json").read_text())),
        "metadata": {kind: sorted(key.decode() for key in of) for kind, of in about.items()},
        "of a summary": sorted(json.loads(about["summaries"][b"summary"])),
    }
