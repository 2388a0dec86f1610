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

from monitor.base.segment_names import THIRD
from monitor.config import Config
from monitor.days.decisions import Plan
from monitor.drift.records.day_evidence import KINDS
from monitor.drift.records.detector import CLASS_PLACE, LEVEL_KINDS, NOT_COMPARABLE
from monitor.drift.records.facts import MAY_BE_LATE, Facts, Obstacle, Scores
from monitor.drift.records.verdict import DRIFTING, Verdict
from monitor.drift.verdicts.verdict_of_day import state_without_verdict
from monitor.export.text import lines
from monitor.measures.snapshot import Snapshot
from monitor.metrics.core.estimate import Estimate
from monitor.read.incidents import of_segment
from monitor.read.plans import with_plans
from monitor.read.results import Results
from monitor.read.standing import Standing
from monitor.report.notebook.stored import _verdict as _verdict_row
from monitor.report.page.tables import sensitivity_rows, value_rows, where_rows
from monitor.report.verdicts import document
from monitor.store.ranges import check_verdicts
from monitor.store.store import Store
from monitor.store.verdict_table import VERDICTS, _row, _verdict
from monitor.words.trust import trust
from monitor.words.verdict import in_short, sentences
from tests.support.filled_store import verdict
from tests.support.stored import ColumnPath, leaves

PAIR = 2
DAY = date(2026, 3, 7)
LOGS = {"predictions": {"path": "p/{day}"}, "outcomes": {"path": "o/{day}"}}
MODEL = Config.model_validate({"store": "s", "models": {"ctr": LOGS}}).models["ctr"]
FILLED, OBSTRUCTED = 120, 60
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
# Facts that are said of the last verdicts alone.
OF_LAST = {"lack", "coverage", "reference", "complaint", "lift", "scores"}
# Said is that there is one: outcomes recover, a value was compared.
PRESENT = ("[]", "recovering"), ("[]", "change")
# `where` looks for the rows of a break in these cells.
BY_OTHERS = "place.first_cell", "place.end_cell"


# What is said only where nothing else is.
CALM = replace(verdict("all", None), model="ctr", day=DAY, level_change=Estimate.normal(0.4, 0.1))
DULLER = Facts(scores=Scores(0.2, 0.2, 0.2, 0.2, spread_before=1.0, spread=0.6))
LIFTED = Facts(moved="lift", lift=0.4)


def shown(verdict: Verdict) -> str:
    """Give all that anybody is shown of a verdict that the store accepts."""
    check_verdicts("ctr", DAY, [verdict])
    snapshot = Snapshot({"ctr": MODEL}, [], {}, "1.2.3", [verdict])
    results = Results(Store("nowhere"), "ctr", lambda *_: [verdict])
    plans = [
        Plan(DAY - timedelta(30), DAY - timedelta(back), "all", "a release") for back in (0, 1)
    ]
    planned = [*with_plans([verdict], plans[:1]), *with_plans([verdict], plans[1:])]
    return repr(
        (
            *(sentences(verdict), verdict.reasons, trust(verdict), in_short(verdict)),
            document(Standing(verdict)),
            *(lines(snapshot), verdict.brief, of_segment(results, [DAY], verdict.segment)),
            _verdict_row(verdict),
            [v.state for v in planned],
            [sensitivity_rows([verdict]), where_rows([verdict]), value_rows([verdict], {})],
            *(verdict.shown, verdict.day, verdict.known_at),
        )
    )


def other(holder: Any, name: object) -> Any:
    """Give another value of a column that the store accepts."""
    value = holder[name]
    if name == "state":
        return "ok" if value != "ok" else "prior_shift"
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 3
    if isinstance(value, float):
        ends = {1: -0.5, 2: 0.5} if isinstance(holder, list) and len(holder) > PAIR else {}
        return value + ends.get(name, -0.6 * value)
    return f"{value}x" if isinstance(value, str) else value - timedelta(days=40)


def places(row: Any, path: ColumnPath) -> Iterator[tuple[Any, Any]]:
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
        elif (holder[last] if isinstance(last, int) else holder.get(last)) is not None:
            yield holder, last


def filled(kind: Any, path: str, rng: np.random.Generator, often: float = 2 / 3) -> Any:
    """Draw any value of a type; where there may be none, as often one."""
    kinds = [each for each in get_args(kind) if each is not NoneType]
    if NoneType in get_args(kind):
        return filled(kinds[0], path, rng, often) if rng.random() < often else None
    if get_origin(kind) is Literal:
        return kinds[int(rng.integers(len(kinds)))]
    if get_origin(kind) is tuple:
        count = 2 if path.endswith(SPANS) else int(rng.integers(not path.endswith(".few"), 3))
        return tuple(filled(kinds[0], path, rng, often) for _ in range(count))
    if kind is Estimate:
        return Estimate.normal(float(rng.random()), float(rng.random()))
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        names = [each.name for each in fields(kind) if each.name != "plan"]
        return kind(**{name: filled(hints[name], f"{path}.{name}", rng, often) for name in names})
    pool = next((names for end, names in POOLS.items() if path.endswith(end)), ("a", "b", "c"))
    draws: dict[Any, Any] = {
        bool: lambda: bool(rng.integers(2)),
        int: lambda: int(rng.integers(1, 40)),
        float: lambda: float(rng.random()) * (4.0 if path.endswith(".evidence") else 1.0),
        str: lambda: str(rng.choice(pool)),
        date: lambda: DAY - timedelta(days=int(rng.integers(60))),
        datetime: lambda: datetime(2026, 3, 9, tzinfo=UTC),
    }
    return draws[kind]() if kind in draws else np.zeros(0)


def filled_verdict(seed: int) -> Verdict:
    """Draw a verdict with all that one may have, of the newest day of a model."""
    rng = np.random.default_rng(seed)
    found: Verdict = filled(Verdict, "", rng, often=2 / 3 if seed % 3 else 1 / 4)
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
    drawn += [said_row(replace(CALM, facts=facts)) for facts in (DULLER, LIFTED)]
    return [(row, shown(_verdict(owned(row)))) for row in drawn]


def said_row(verdict: Verdict) -> dict[str, Any]:
    """Give the row that is stored of a verdict."""
    return pa.array([_row(verdict)], pa.struct([*VERDICTS])).to_pylist()[0]


def owned(row: dict[str, Any]) -> dict[str, Any]:
    """Add whose it is, as the file says; what reads a row may take it apart."""
    return {"model": "ctr", "day": DAY, **deepcopy(row)}


def is_read(path: ColumnPath) -> bool | None:
    """Say whether another value in a column changes what is shown; None if none was drawn."""
    tried, every = False, rows()
    for row, before in every[::-1] if OF_LAST.intersection(path[:2]) else every:
        path = path[:-1] if path[-2:-1] == ("change",) else path
        if not [*places(row, path)]:
            continue
        tried = True
        if _differs(row, path, before, nothing if path[-2:] in PRESENT else other):
            return True
    return False if tried else None


def nothing(*_: object) -> None:
    """Take a value away."""


def _differs(row: Any, path: ColumnPath, before: str, change: Any) -> bool:
    changed = deepcopy(row)
    for holder, key in places(changed, path):
        holder[key] = change(holder, key)
    try:
        return shown(_verdict(owned(changed))) != before
    except (LookupError, TypeError, ValueError):  # it is refused
        return True


def test_every_column_is_read() -> None:
    """Another value in any of them changes a sentence, a gauge, a table or a file."""
    paths = {".".join(map(str, path)): path for path in leaves(pa.struct([*VERDICTS]))}
    unread = [
        name
        for name, path in paths.items()
        if not any(by in name for by in BY_OTHERS) and not is_read(path)
    ]

    assert not unread, f"nothing reads {unread}"
