"""The configuration that a row of the array says, and the logs that it reads."""

from pathlib import Path
from typing import Any

from tests.combinations.covering import Row
from tests.combinations.rows import CLASSES, NULL_TEXT, QUIET, SUFFIX, columns_of

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
UNLISTED = "cow"  # a class that is never among the highest
TOP = {
    "top_columns": {
        "classes": [f"class_{i}" for i in range(3)],
        "scores": [f"score_{i}" for i in range(3)],
    },
    "top_lists": {"classes": "best", "scores": "scores"},
    "top_map": {"scores": "p"},
}
ACCEPT = "empty_day", "no_outcomes", "one_class"
REJECT = (
    "prediction_id_missing", "prediction_repeated", "score_missing", "score_out_of_range",
    "score_sum", "outcome_id_missing", "outcome_invalid", "outcome_conflicting", "outcome_early",
    "outcome_orphan", "outcome_late",
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
LOGGED = {"action": "blocked", "label_rate": "rate"}
LABELS = {"positive": ["a hit"], "negative": ["a miss"]}


def configuration(row: Row, folder: Path) -> dict[str, Any]:
    """Write the configuration of the model `m`."""
    model: dict[str, Any] = {
        "predictions": _predictions(row, folder),
        "outcomes": _outcomes(row, folder),
        "time_zone": row["time_zone"],
        "checks": {"accept": [*ACCEPT], "reject": [*(REJECT if row["checks"] == "reject" else ())]},
    }
    wait = row["settled_after"]
    model["settled_after"] = wait if wait.endswith("d") else int(wait)
    if row["cast"] != "none":
        model["ids"] = {"cast": row["cast"]}
    primary = COUNTRY | {"primary": True}
    segments = {"one": COUNTRY, "list": WATCHED, "primary": [primary, *WATCHED]}
    if row["segments"] != "none":
        model["segments"] = segments[row["segments"]]
    if row["strata"] != "none":
        model["strata"] = {"column": "tier", "values": ["gold"]}
    model |= {key: column for key, column in LOGGED.items() if row[key] == "logged"}
    if row["calendar"] == "closed":
        model["calendar"] = {"closed": [QUIET]}
    if row["calendar"] == "weekdays":
        model["calendar"] = {
            "weekdays": [w for i, w in enumerate(WEEKDAYS) if i != QUIET.weekday()]
        }
    if row["calendar"] == "missing_day":
        model["checks"]["accept"].append("missing_day")
    if row["expressions"] != "none":
        _compute(row, model)
    if row["explode"] == "text":  # whose pieces are texts in every format
        model["predictions"]["score"] = {"sql": "CAST(element AS DOUBLE)"}
    engine = {"kind": "duckdb", "threads": int(row["threads"]), "memory_mb": 300}
    return {"store": f"{folder}/store", "engine": engine, "models": {"m": model}}


def _predictions(row: Row, folder: Path) -> dict[str, Any]:
    found = _place(row, folder / "p", row["format"]) | {"id": _ids(row, "id")}
    if row["classes"] != "none":
        found["classes"] = _classes(row)
    found |= _score(row)
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


def _score(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {"score": "score"} if row["classes"] == "none" else {}
    if row["explode"] != "none":
        separator = {"separator": ";"} if row["explode"] == "text" else {}
        found = {"score": "element", "explode": {"list": "scores", **separator}}
    if row["score_means"] != "probability":
        found["score_means"] = row["score_means"]
    if row["score_means"] == "probability_of_label":
        found["predicted_label"] = "predicted"
        if row["label"] == "own":
            found["label_means"] = LABELS
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


def _compute(row: Row, model: dict[str, Any]) -> None:
    """Write expressions in the place of names: of the type of the log, or of their own."""
    other = row["format"] if row["other_format"] == "same" else row["other_format"]
    other = row["format"] if row["together"] == "yes" else other
    for name, form in (("predictions", row["format"]), ("outcomes", other)):
        log = model[name]
        for key in ("id", "score", "outcome", "time", "weight", "entity", "predicted_label"):
            if log.get(key) is not None:
                several = isinstance(log[key], list)
                columns = log[key] if several else [log[key]]
                computed = [_expression(row, column, form) for column in columns]
                log[key] = computed if several else computed[0]
    own = _expression(row, "country", row["format"])
    if row["segments"] == "one":
        model["segments"] = COUNTRY | {"column": own}
    if row["segments"] == "primary":
        model["segments"][0]["column"] = own
    if row["strata"] != "none":
        model["strata"]["column"] = _expression(row, "tier", row["format"])


def _expression(row: Row, column: Any, form: str) -> dict[str, str]:
    inner = f"coalesce({column}, NULL)"
    if isinstance(column, dict):
        whole, field = column["column"], column["field"]
        inner = f"{whole}->>'$.{field}'" if form == "json" else f"{whole}.{field}"
    own = _type_of(row, "id" if isinstance(column, dict) else column)
    typed = row["expressions"] == "typed" and own
    return {"sql": f"CAST({inner} AS {own})" if typed else inner}


def _type_of(row: Row, column: str) -> str | None:
    """Say what a column holds, whatever the format; None if it is left as it is."""
    if column in {"id", "key"}:
        as_text = row["cast"] != "none"
        return None if as_text else {"text": "VARCHAR", "uuid": "UUID"}.get(row["key"], "BIGINT")
    if column == "outcome":
        kinds = {"float": "DOUBLE", "boolean": "BOOLEAN", "truths": "BOOLEAN", "texts": "VARCHAR"}
        return None if row["classes"] != "none" else kinds.get(row["outcome"], "BIGINT")
    if column in {"scored_at", "observed_at"}:
        # Without a type, a time without zone is one of UTC; with one it has none.
        return {"ms": "BIGINT", "naive": None}.get(row["time"], "TIMESTAMPTZ")
    return {"score": "DOUBLE", "element": "DOUBLE", "weight": "DOUBLE", "customer": "BIGINT"}.get(
        column
    )


def _place(row: Row, root: Path, form: str) -> dict[str, Any]:
    # The name says the format of the others.
    named: dict[str, Any] = {"format": form} if form in {"delta", "parquet"} else {}
    if row["time"] == "ms" or (row["layout"] == "table" and row["dated"] == "ms"):
        named["time_unit"] = "ms"
    if row["header"] == "none" and (form.startswith("csv") or row["format"] == form):
        known = columns_of(root) if (root / "columns").exists() else ["id"]
        named |= {"columns": known, "separator": "|", "null_text": NULL_TEXT}
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
    found: dict[str, Any] = {"names": [*CLASSES]}
    if row["classes"] in TOP:
        found = {"names": [*CLASSES, UNLISTED], "top": TOP[row["classes"]]}
    elif row["classes"] == "columns":
        found |= {"vector": [f"p_{name}" for name in CLASSES], "watch": ["cat", "dog"]}
    else:
        found |= {"vector": "p", "watch": ["cat", "dog"]}
    if row["rates"] == "by_class":
        found["weights"] = [1, 2, 4.5]
    if row["sums"] != "check":
        found["sums"] = row["sums"]
    return found
