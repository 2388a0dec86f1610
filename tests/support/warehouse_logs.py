"""Logs as a warehouse has them, whose counts by its statement are compared with those of rows."""

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from monitor.config import UNDATED, Model
from monitor.days.summary import Summary
from monitor.logs import Databases, summarise_day
from monitor.logs.checks.checks import OF_OTHER_ROWS, ROW_CHECKS
from monitor.logs.warehouse.asked import Asked
from monitor.logs.warehouse.counting import counting
from monitor.logs.warehouse.reading import Span
from monitor.store.sealing import sealed_table
from monitor.store.summary_table import summary_table
from tests.combinations.covering import Choice, Goal, Row, Rules, covering

FIRST, DAYS, WAIT = date(2026, 3, 10), 3, 3
LAST, KNOWN = FIRST + timedelta(days=DAYS - 1), FIRST + timedelta(days=WAIT + 1)
AS_OF = KNOWN + timedelta(days=1)  # the last of the days still waits
NAMES = "predictions", "outcomes", "together"
OF_ROWS = [c.name for c in ROW_CHECKS if c.name not in ("score_sum", *UNDATED)]
CHECKS = {"reject": [*OF_ROWS, *OF_OTHER_ROWS], "unknown": [*UNDATED]}
# The first value of each is the usual one.
FACTORS: dict[str, tuple[str, ...]] = {
    "together": ("no", "yes"),
    "id": ("text", "pair", "cast"),
    "score": ("probability", "percent", "logit", "probability_of_0"),
    "parts": ("none", "segments", "both"),
    "scored_twice": ("check", "keep_identical"),
    "observed_twice": ("keep_identical", "latest"),
    "times": ("none", "both", "outcomes"),
    "where": ("no", "yes"),
    "outcome": ("number", "texts", "numbers", "clicks"),
    "absent": ("none", "negative"),
}


def _apart(one: Choice, factor: str, *values: str) -> list[tuple[Choice, Choice]]:
    return [(one, (factor, value)) for value in values]


TOGETHER: Choice = ("together", "yes")
APART = [
    *_apart(TOGETHER, "id", "pair", "cast"),
    *_apart(TOGETHER, "scored_twice", "keep_identical"),
    *_apart(TOGETHER, "observed_twice", "latest"),
    *_apart(TOGETHER, "outcome", "clicks"),
    *_apart(("outcome", "clicks"), "absent", "none"),
    *_apart(("observed_twice", "latest"), "times", "none"),
]


@cache
def cases() -> list[Row]:
    """List settings that have every pair of values that can be together."""
    return [*covering(Rules(FACTORS, APART), [Goal(2, [*FACTORS])], seed=1)]


def settings_of(case: Row) -> dict[str, Any]:
    """Write a case as the configuration of a model, but for where the rows are."""
    predictions: dict[str, Any] = {"score_means": case["score"]}
    outcomes: dict[str, Any] = {}
    model: dict[str, Any] = {"settled_after": WAIT, "checks": CHECKS}
    predictions["score"] = {"percent": {"sql": "score * 100.0"}, "logit": "in_log_odds"}.get(
        case["score"], "score"
    )
    if case["parts"] != "none":
        model["segments"] = {"column": "country", "values": ["DE", "FR"]}
    if case["parts"] == "both":
        model["strata"] = {"column": {"sql": "lower(device)"}, "values": ["phone"]}
    if case["where"] == "yes":
        predictions["where"] = "version LIKE 'v1%' AND NOT (device = 'car' AND country IN ('FR'))"
    outcomes |= {
        "texts": {"outcome": "said", "outcome_means": {"positive": ["yes"], "negative": ["no"]}},
        "numbers": {"outcome_means": {"positive": [1, 2], "negative": [0]}},
        "clicks": {"outcome": None},
    }.get(case["outcome"], {})
    outcomes |= {"absent_means": f"negative after {WAIT}d"} if case["absent"] != "none" else {}
    outcomes |= {} if case["times"] == "none" else {"time": "observed_at"}
    predictions |= {"time": "scored_at"} if case["times"] == "both" else {}
    predictions["day"] = "scored_on"
    if case["together"] == "yes":
        return {
            **model,
            "predictions": predictions,
            "outcomes": {"in_predictions": True, **outcomes},
        }
    outcomes |= {"duplicates": case["observed_twice"], "day": "seen_on"}
    predictions["duplicates"] = case["scored_twice"]
    if case["id"] == "pair":
        predictions["id"] = outcomes["id"] = ["prediction_id", "version"]
    model |= {"ids": {"cast": "text"}} if case["id"] == "cast" else {}
    if case["where"] == "yes":
        outcomes["where"] = "version <> 'v2' OR version IS NULL"
    return {**model, "predictions": predictions, "outcomes": outcomes}


def model_of_rows(case: Row, place: Callable[[str], dict[str, Any]]) -> Model:
    """Describe the rows, each log where `place` says."""
    settings = settings_of(case)
    together = case["together"] == "yes"
    settings["predictions"] |= place("together" if together else "predictions")
    settings["outcomes"] |= {} if together else place("outcomes")
    return Model.model_validate(settings)


def model_of_counts(case: Row, predictions: Mapping[str, Any]) -> Model:
    """Describe the counts."""
    kept = {"segments", "strata", "settled_after", "checks"}
    settings = {key: of for key, of in settings_of(case).items() if key in kept}
    if "strata" in settings:
        settings["strata"] = {"column": "stratum", "values": ["phone"]}
    absent = settings_of(case)["outcomes"].get("absent_means")
    outcomes = {"in_predictions": True, **({"absent_means": absent} if absent else {})}
    counts = {"format": "counts", "day": "day", **predictions}
    return Model.model_validate({**settings, "predictions": counts, "outcomes": outcomes})


def statement(name: str, model: Model, language: str) -> str:
    """Write the statement of the days."""
    asked = Asked(name, model, language)
    days = (asked.as_day(f"'{day}'") for day in (FIRST, LAST, KNOWN))
    return counting(asked, Span(*days))


def tables(rows: int = 400, seed: int = 5) -> dict[str, pa.Table]:
    """Make both logs of some days, with everything that can be wrong, and the same in one."""
    rng, parts = np.random.default_rng(seed), dict[str, list[pa.Table]]()
    for number in range(-WAIT - 2, DAYS):
        scored, observed, both = _of_day(FIRST + timedelta(days=number), rows, rng)
        for name, table in zip(NAMES, (scored, observed, both), strict=True):
            parts.setdefault(name, []).append(table)
    return {name: pa.concat_tables(of) for name, of in parts.items()}


def _of_day(day: date, rows: int, rng: np.random.Generator) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Make the rows of a day of predictions, and the outcomes that they get, whenever they come."""
    ids: list[str | None] = [f"{day:%d}-{i}" for i in range(rows)]
    drawn = rng.beta(0.4, 4, rows)
    score: list[float | None] = [*drawn.tolist()]
    score[:8] = [None, 1.5, 0.0, 1.0, 1e-12, -0.2, float("nan"), 0.5]
    ids[30], ids[41], ids[43] = None, ids[40], ids[42]
    midnight = datetime.combine(day, time())
    columns: dict[str, list[Any]] = {
        "country": rng.choice(np.array(["DE", "FR", "XX", "YY", None], object), rows).tolist(),
        "device": rng.choice(np.array(["Phone", "tv", "car"], object), rows).tolist(),
        "version": rng.choice(np.array(["v1", "v12", "v2"], object), rows).tolist(),
        "scored_at": [midnight + timedelta(seconds=int(s)) for s in rng.integers(0, 86_000, rows)],
    }
    columns["country"][42] = "DE"  # of others, identical rows count twice among unlisted values
    for values in (score, *columns.values()):
        values[43] = values[42]  # identical; 40 and 41 differ
    scored = {"prediction_id": ids, "score": score, **columns, "scored_on": [day] * rows}
    scored["in_log_odds"] = [_log_odds(value) for value in score]
    outcome = (rng.random(rows) < drawn).astype(float).tolist()
    outcome[50:53] = [2.0, 0.5, float("nan")]
    wait = rng.integers(0, WAIT + 3, rows)
    wait[40:44], wait[52] = 0, 0  # a late outcome of a repeated id would count as two
    at = [t + timedelta(days=int(w)) for t, w in zip(columns["scored_at"], wait, strict=True)]
    at[60], at[61], at[62] = (
        at[60] - timedelta(days=9),
        None,
        datetime.combine(date(1970, 1, 1), time()),
    )
    outcome[61:63] = [0.0, 0.0]
    has = (rng.random(rows) < 0.9) | (np.arange(rows) < 80)
    kept = [
        (ids[i], outcome[i], day + timedelta(days=int(wait[i])), at[i], columns["version"][i])
        for i in np.flatnonzero(has)
    ]
    again = [kept[i] for i in (70, 71)]
    again += [(*kept[i][:1], 1 - kept[i][1], *kept[i][2:]) for i in (73, 74)]
    again += [(*kept[75][:1], None, *kept[75][2:])]
    strangers = [(f"x{day:%d}-{i}", 1.0, day, midnight, "v1") for i in range(5)]
    observed = _outcomes([*kept, *again, *strangers])
    seen = {"outcome": [v if h else None for v, h in zip(outcome, has, strict=True)]}
    seen["observed_at"] = [t if h else None for t, h in zip(at, has, strict=True)]
    both = {**scored, **seen, "said": [*map(_said, seen["outcome"])]}
    return _typed(scored), observed, _typed(both)


def _outcomes(rows: list[tuple[Any, ...]]) -> pa.Table:
    names = "prediction_id", "outcome", "seen_on", "observed_at", "version"
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return _typed({**columns, "said": [*map(_said, columns["outcome"])]})


TYPES = {
    **dict.fromkeys(("score", "outcome", "in_log_odds"), pa.float64()),
    **dict.fromkeys(("scored_on", "seen_on"), pa.date32()),
    **dict.fromkeys(("scored_at", "observed_at"), pa.timestamp("us")),
}


def _typed(columns: Mapping[str, list[Any]]) -> pa.Table:
    return pa.table(
        {name: pa.array(of, TYPES.get(name, pa.string())) for name, of in columns.items()}
    )


def _log_odds(score: float | None) -> float | None:
    """Give log-odds; beyond [0, 1] any number, for all log-odds are valid."""
    if score is None or np.isnan(score):
        return score
    return float(np.log(score / (1 - score))) if 0 < score < 1 else score * 2000 - 1000


def _said(outcome: float | None) -> str | None:
    return None if outcome is None else {1.0: "yes", 0.0: "no"}.get(outcome, "perhaps")


def content(summary: Summary) -> tuple[bytes, Mapping[str, int], bool]:
    """Give what the store writes of a day, what was left out of it, and whether it is final."""
    return sealed_table(summary_table(summary)), summary.rejected, summary.final


def compared(
    case: Row, folder: Path, counts: pa.Table, databases: Databases
) -> Iterator[tuple[Any, Any]]:
    """Summarise the first and the last day from their rows and from counts of them."""
    place = lambda name: {"path": f"{folder}/{name}.parquet"}  # noqa: E731
    of_rows = model_of_rows(case, place)
    pq.write_table(counts, folder / "counts.parquet")
    of_counts = model_of_counts(case, {"path": f"{folder}/counts.parquet"})
    for day in (FIRST, LAST):
        yield tuple(
            content(summarise_day("m", model, day, as_of=AS_OF, engine=databases))
            for model in (of_rows, of_counts)
        )
