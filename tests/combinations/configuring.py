"""The configuration that a row of the array says, and the logs that it reads."""

from pathlib import Path
from typing import Any

from tests.combinations.covering import Row
from tests.combinations.rows import CLASSES, QUIET, SUFFIX

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
ACCEPT = dict.fromkeys(("empty_day", "no_outcomes", "one_class"), "accept")
REJECT = dict.fromkeys(
    ("prediction_id_missing", "prediction_repeated", "score_missing", "score_out_of_range",
     "score_sum", "outcome_id_missing", "outcome_invalid", "outcome_conflicting", "outcome_early",
     "outcome_orphan", "outcome_late"),
    "reject",
)  # fmt: skip
WATCHED: list[dict[str, Any]] = [
    {"column": "device", "top": 2},
    {"column": "age", "edges": [18, 40]},
    {"column": "amount", "quantiles": 3},
    {"column": "shop", "values": ["7", "9"]},
    {"cross": ["device", "shop"], "top": 4},
]
ENTITIES = {"number": "customer", "text": "tenant", "pair": ["tenant", "customer"]}
COUNTRY = {"column": "country", "values": ["DE", "FR"]}
MEANINGS: dict[str, dict[str, list[Any]]] = {
    "texts": {"positive": ["won"], "negative": ["lost"]},
    "numbers": {"positive": [1], "negative": [-1]},
    "truths": {"positive": [False], "negative": [True]},
}


def configuration(row: Row, folder: Path) -> dict[str, Any]:
    """Write the configuration of the model `m`."""
    model: dict[str, Any] = {
        "predictions": _predictions(row, folder),
        "outcomes": _outcomes(row, folder),
        "time_zone": row["time_zone"],
        "checks": {**ACCEPT, **(REJECT if row["checks"] == "reject" else {})},
    }
    if row["settled_after"] == "horizon":
        model["horizon"] = "1d"
    else:
        model["settled_after"] = int(row["settled_after"])
    if row["cast"] != "none":
        model["ids"] = {"cast": row["cast"]}
    primary = COUNTRY | {"primary": True}
    segments = {"one": COUNTRY, "list": WATCHED, "primary": [primary, *WATCHED]}
    if row["segments"] != "none":
        model["segments"] = segments[row["segments"]]
    if row["strata"] != "none":
        model["strata"] = {"column": "tier", "values": ["gold"]}
    if row["calendar"] == "closed":
        model["calendar"] = {"closed": [QUIET]}
    if row["calendar"] == "weekdays":
        model["calendar"] = {
            "weekdays": [w for i, w in enumerate(WEEKDAYS) if i != QUIET.weekday()]
        }
    if row["calendar"] == "missing_day":
        model["checks"]["missing_day"] = "accept"
    engine = {"kind": "duckdb", "threads": int(row["threads"]), "memory_mb": 300}
    return {"store": f"{folder}/store", "engine": engine, "models": {"m": model}}


def _predictions(row: Row, folder: Path) -> dict[str, Any]:
    found = _place(row, folder / "p", row["format"]) | {"id": _ids(row, "id")}
    if row["classes"] != "none":
        found["classes"] = _classes(row)
    if row["score_means"] != "probability":
        found["score_means"] = row["score_means"]
    if row["classes"] == "none":
        found["score"] = "score"
    if row["time"] != "none" and row["timed"] != "outcomes":
        found["time"] = "scored_at"
    if row["scored_duplicates"] != "check":
        found["duplicates"] = row["scored_duplicates"]
    if row["scored_where"] == "yes":
        found["where"] = "wanted = 'yes'"
    if row["weight"] == "predictions":
        found["weight"] = "weight"
    if row["entity"] != "none":
        found["entity"] = ENTITIES[row["entity"]]
    return found


def _outcomes(row: Row, folder: Path) -> dict[str, Any]:
    form = row["format"] if row["other_format"] == "same" else row["other_format"]
    place = _place(row, folder / "o", form) | {"id": _ids(row, "key")}
    if row["together"] == "yes":
        place = {"in_predictions": True}
        if row["time"] == "ms":
            place["time_unit"] = "ms"
        if row["other_format"] != "same":
            place["format"] = form
    found = place | {"outcome": None if row["outcome"] == "clicks" else "outcome"}
    if row["outcome"] in MEANINGS:
        found["outcome_means"] = MEANINGS[row["outcome"]]
    if row["absent_means"] != "none":
        found["absent_means"] = f"negative after {row['absent_means']}d"
    if row["time"] != "none" and row["timed"] != "predictions":
        found["time"] = "observed_at"
    if row["observed_duplicates"] != "keep_identical":
        found["duplicates"] = row["observed_duplicates"]
    if row["observed_where"] == "yes":
        found["where"] = "wanted = 'yes'"
    if row["weight"] == "outcomes":
        found["weight"] = "weight"
    return found


def _place(row: Row, root: Path, form: str) -> dict[str, Any]:
    # The name says the format of the others.
    named: dict[str, Any] = {"format": form} if form in {"delta", "parquet"} else {}
    if row["time"] == "ms" or (row["layout"] == "table" and row["dated"] == "ms"):
        named["time_unit"] = "ms"
    if row["layout"] == "table":
        path = root / "all" if form == "delta" else root / f"all.{SUFFIX[form]}"
        return named | {"path": f"{path}", "day": "stamp"}
    inner = "/*" if row["layout"] == "parts" else ""
    suffix = SUFFIX.get(form, form)
    return named | {"path": f"{root}/{{day}}{inner}.{suffix}"}


def _ids(row: Row, column: str) -> Any:
    if row["key"] == "pair":
        return [f"{column}_user", f"{column}_item"]
    return {"column": column, "field": "part"} if row["key"] == "field" else column


def _classes(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {"names": [*CLASSES], "watch": ["cat", "dog"]}
    if row["classes"] == "columns":
        found["columns"] = [f"p_{name}" for name in CLASSES]
    else:
        found["vector"] = "p"
    if row["sums"] != "check":
        found["sums"] = row["sums"]
    return found
