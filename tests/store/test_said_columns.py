"""Every column of a stored verdict is read by who shows it; and there are few of them."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa

from monitor.config import Config
from monitor.decisions import Plan
from monitor.drift.records.day_evidence import KINDS
from monitor.drift.records.detector import CLASS_PLACE, LEVEL_KINDS, NOT_COMPARABLE
from monitor.drift.records.facts import MAY_BE_LATE, Obstacle
from monitor.drift.records.verdict import DRIFTING, Verdict
from monitor.drift.verdicts.obstacle import state_without_verdict
from monitor.export.text import lines
from monitor.measures.snapshot import Snapshot
from monitor.metrics.core.estimate import Estimate
from monitor.read.incidents import of_segment
from monitor.read.plans import with_plans
from monitor.read.results import Results
from monitor.read.standing import Standing
from monitor.report.page.tables import sensitivity_rows, value_rows, where_rows
from monitor.report.verdicts import document
from monitor.segment_names import THIRD
from monitor.store.ranges import check_verdicts
from monitor.store.store import Store
from monitor.store.verdict_table import VERDICTS, _row, _verdict
from monitor.words.trust import trust
from monitor.words.verdict import in_short, sentences

DAY = date(2026, 3, 7)
LOGS = {"predictions": {"path": "p/{day}"}, "outcomes": {"path": "o/{day}"}}
MODEL = Config.model_validate({"store": "s", "models": {"ctr": LOGS}}).models["ctr"]
FILLED, OBSTRUCTED, TRIED = 120, 60, 120
POOLS: dict[str, tuple[str, ...]] = {
    ".segment": ("all", "DE", THIRD),
    ".level.incident.kind": (*LEVEL_KINDS, *NOT_COMPARABLE, CLASS_PLACE),
    ".incident.kind": (*KINDS, "place"),
    ".incidents.kind": (*KINDS, *LEVEL_KINDS, *NOT_COMPARABLE),
    ".one_day.kind": (*KINDS, "place"),
    ".kind": KINDS,
    ".moved.state": ("prior_shift", "level_drift"),
}
OBSTACLES = [each for each in get_args(Obstacle) if each not in MAY_BE_LATE]
SPANS = "reference", "span"  # which have a first and a last day
OF_OBSTACLES = {"lack", "coverage", "reference", "complaint"}  # facts that are said of them alone
# What only others read: `where` and the page look for the rows of a break and for values that were
# compared; of an error of the level the size has an error, and an estimate is one column of four.
BY_OTHERS = (
    *("place.first_cell", "place.end_cell", ".size_error", ".recovering"),
    *("own.slope", "own.intercept", "level.incident.worse", "standard_error"),
    # Said of large values alone, which tests/words/test_facts.py draws.
    *("facts.lift", "own.gain", "scores.spread", "labels.evidence", "incident.other_class"),
    *("where.kind", "where.change", "where.places.[].change", "opposite.[].condition.first"),
)


def shown(verdict: Verdict) -> str:
    """Give all that anybody is shown of a verdict that the store accepts."""
    check_verdicts("ctr", DAY, [verdict])
    snapshot = Snapshot({"ctr": MODEL}, [], {}, "1.2.3", [verdict])
    results = Results(Store("nowhere"), "ctr", lambda *_: [verdict])
    planned = with_plans([verdict], [Plan(DAY - timedelta(3), DAY, "all", "a release")])
    return repr(
        (
            *(sentences(verdict), verdict.reasons, trust(verdict), in_short(verdict)),
            document(Standing(verdict)),
            *(lines(snapshot), verdict.brief, of_segment(results, [DAY], verdict.segment)),
            [v.state for v in planned],
            [sensitivity_rows([verdict]), where_rows([verdict]), value_rows([verdict], {})],
            *(verdict.shown, verdict.day, verdict.known_at),
        )
    )


def leaves(of: pa.DataType, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Name the columns that hold values."""
    if pa.types.is_struct(of):
        for field in of:
            yield from leaves(field.type, (*path, field.name))
    elif pa.types.is_list(of):
        yield from leaves(of.value_type, (*path, "[]"))
    else:
        yield path


def other(name: object, value: Any) -> Any:
    """Give another value of a column that the store accepts."""
    if name == "state":
        return "ok" if value != "ok" else "prior_shift"
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 3
    if isinstance(value, float):
        return value + {"low": -0.5, "high": 0.5}.get(str(name), -0.6 * value)
    return f"{value}x" if isinstance(value, str) else value - timedelta(days=40)


def places(row: Any, path: tuple[str, ...]) -> Iterator[tuple[Any, Any]]:
    """Find each place of a column in a row: what holds it, and under which key."""
    *first, last = path
    holders = [row]
    for name in first:
        inner = [h.get(name) if isinstance(h, Mapping) else h for h in holders]
        if name == "[]":
            inner = [item for h in holders for item in h]
        holders = [each for each in inner if each is not None]
    for holder in holders:
        if last == "[]":
            yield from ((holder, place) for place in range(len(holder)))
        elif holder.get(last) is not None:
            yield holder, last


def filled(kind: Any, path: str, rng: np.random.Generator) -> Any:
    """Draw any value of a type; where there may be none, of a third none."""
    kinds = [each for each in get_args(kind) if each is not NoneType]
    if NoneType in get_args(kind):
        return filled(kinds[0], path, rng) if rng.random() < 2 / 3 else None
    if get_origin(kind) is Literal:
        return kinds[int(rng.integers(len(kinds)))]
    if get_origin(kind) is tuple:
        count = 2 if path.endswith(SPANS) else int(rng.integers(1, 3))
        return tuple(filled(kinds[0], path, rng) for _ in range(count))
    if kind is Estimate:
        return Estimate.normal(float(rng.random()), float(rng.random()))
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        names = [each.name for each in fields(kind) if each.name != "plan"]
        return kind(**{name: filled(hints[name], f"{path}.{name}", rng) for name in names})
    pool = next((names for end, names in POOLS.items() if path.endswith(end)), ("a", "b", "c"))
    draws: dict[Any, Any] = {
        bool: lambda: bool(rng.integers(2)),
        int: lambda: int(rng.integers(1, 40)),
        float: rng.random,
        str: lambda: str(rng.choice(pool)),
        date: lambda: DAY - timedelta(days=int(rng.integers(60))),
        datetime: lambda: datetime(2026, 3, 9, tzinfo=UTC),
    }
    return draws[kind]() if kind in draws else np.zeros(0)


def filled_verdict(seed: int) -> Verdict:
    """Draw a verdict with all that one may have, of the newest day of a model."""
    rng = np.random.default_rng(seed)
    found: Verdict = filled(Verdict, "", rng)
    drifts = found.detector.incident or found.detector.level.incident
    state = rng.choice([*DRIFTING]) if drifts else rng.choice(["ok", "prior_shift", "level_drift"])
    obstacle = OBSTACLES[seed % len(OBSTACLES)] if seed >= FILLED else None
    state = state_without_verdict(obstacle) if obstacle else state
    facts = replace(found.facts, obstacle=obstacle)
    return replace(found, model="ctr", day=DAY, final=True, state=str(state), facts=facts)


@cache
def rows() -> list[tuple[dict[str, Any], str]]:
    """Draw verdicts as rows of the store, each with what is shown of it."""
    drawn = [said_row(filled_verdict(seed)) for seed in range(FILLED + OBSTRUCTED)]
    return [(row, shown(_verdict(deepcopy(row)))) for row in drawn]


def said_row(verdict: Verdict) -> dict[str, Any]:
    """Give the row that is stored of a verdict."""
    return pa.array([_row(verdict)], pa.struct([*VERDICTS])).to_pylist()[0]


def is_read(path: tuple[str, ...]) -> bool | None:
    """Say whether another value in a column changes what is shown; None if none was drawn."""
    tried, every = 0, rows()
    for row, before in every[::-1] if OF_OBSTACLES.intersection(path[:2]) else every:
        changed = deepcopy(row)
        found = [*places(changed, path)]
        for holder, key in found:
            holder[key] = other(key, holder[key])
        tried += bool(found)
        if not found:
            continue
        try:
            if shown(_verdict(changed)) != before:
                return True
        except (LookupError, TypeError, ValueError):  # it is refused
            return True
        if tried == TRIED:
            return False
    return False if tried else None


def test_every_column_is_read() -> None:
    """Another value in any of them changes a sentence, a gauge, a table or a file."""
    paths = {".".join(path): path for path in leaves(pa.struct([*VERDICTS]))}
    unread = [
        name
        for name, path in paths.items()
        if not any(by in name for by in BY_OTHERS) and not is_read(path)
    ]

    assert not unread, f"nothing reads {unread}"
