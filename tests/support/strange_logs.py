"""Folders of logs drawn at random, with what is true of each of their predictions.

A draw decides by itself: names that help or mislead, the order of columns, types, one log or two,
formats, how late outcomes come, decoys beside score and outcome, rows that do not count, and how
the score is written.
"""

import base64
import json
import uuid
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from scipy.special import expit, logit

FIRST, DAYS, ROWS = date(2026, 1, 5), 44, 300
DRIFT_FROM = 29  # days after the first, if the draw has a drift
SCORES = (
    *("score", "p_fraud", "probability", "output", "y_hat", "model_score"),
    *("value", "quality", "x1", "feature_7", "c3"),
)
OUTCOMES = ("label", "y", "is_fraud", "outcome", "converted", "flag", "z", "state", "target_30d")
IDS = ("request_id", "txn", "id", "key", "ref", "k")
WORDS = (("ok", "fraud"), ("no", "yes"), ("alpha", "beta"), ("keep", "return"))
SCALES = (
    *("probability", "probability", "probability", "single", "decimal", "percent", "logit"),
    *("other class", "label", "label", "text", "comma", "scorecard", "argmax", "one-hot", "vector"),
    "signed percent",
)
ID_KINDS = (
    *("integer", "text", "uuid", "padded", "bytes", "dated", "mixed"),
    *("float", "blanks", "braces", "long"),
)
LATE = (0, 0, 0, 2, 7, 21, 45, 90)
ODD = (
    *(None, None, None, "dictionary", "large_string", "uint64", "zone", "null columns"),
    *("empty files", "twin names", "spaces", "reserved", "unicode", "rare", "few days"),
    *("json", "map", "list", "json list", "json in json"),
    *("untold format", "untyped empty files", "leftovers"),
    *("base64", "no header", "requests"),
)
NAMES = {  # of the score, the outcome and the id
    "spaces": ("Score, %", "was it fraud?", 'Request "ID"'),
    "reserved": ("select", "order", "group"),
    "unicode": ("Wahrschein­lichkeit", "結果", "número"),
}
DOCUMENTS = ("json", "map", "list", "json list", "json in json", "base64")
TOGETHER = 3  # predictions in a request
TEXTS = "booleans in text"
MAP = pa.map_(pa.string(), pa.float64())
Columns = dict[str, Any]
Array = np.ndarray
Truth = tuple[Array, Array, Array]


@dataclass
class Draw:
    """What was drawn, and the truth.

    Attributes
    ----------
    facts : dict
        What the draw decided, for people.
    first, last : date
        The days of the predictions.
    until : date
        The day after the newest outcomes.
    truth : dict of date to (scores, outcomes, waits)
        Of the predictions that count, by day.
    drifts : bool
        Whether scores become too extreme.
    classes : dict of str to str
        The class of each column, if there are several classes.
    """

    facts: dict[str, Any]
    truth: dict[date, tuple[Array, Array, Array]] = field(default_factory=dict)
    drifts: bool = False
    classes: dict[str, str] = field(default_factory=dict)
    first: date = FIRST
    last: date = FIRST
    until: date = FIRST


def draw(seed: int, root: Path, days: int = DAYS) -> Draw:
    """Draw a folder of logs of so many days, and write it."""
    rng = np.random.default_rng(seed)

    def one(values: Any) -> Any:
        return values[int(rng.integers(len(values)))]

    facts = {
        "scale": one(SCALES),
        "ids": one(ID_KINDS),
        "late": one(LATE),
        "spread": bool(rng.random() < 0.5),
        "words": one((None, None, None, "bool", "float", "signs", "digits", TEXTS, *WORDS)),
        "layout": one(("days", "days", "hive", "file", "together")),
        "format": one(("parquet", "parquet", "parquet", "csv", "jsonl")),
        "time": one(("us", "ns", "ms", "iso", "none")),
        "extra": one((None, None, "split", "version", "environment")),
        "horizons": bool(rng.random() < 0.2),
        "censored": bool(rng.random() < 0.15),
        "weekly": bool(rng.random() < 0.15),
        "nested": bool(rng.random() < 0.15),
        "decoys": int(rng.integers(0, 4)),
        "score": one(SCORES),
        "outcome": one(OUTCOMES),
        "id": one(IDS),
        "order": int(rng.integers(1 << 30)),
        "drifts": bool(rng.random() < 0.5),
        "days": days,
        "odd": one(ODD),
    }
    return write(_sensible(facts), rng, root)


def _odd(facts: dict[str, Any]) -> dict[str, Any]:
    """Set what an odd shape needs."""
    if facts["odd"] in NAMES:
        facts["score"], facts["outcome"], facts["id"] = NAMES[facts["odd"]]
    if facts["odd"] in DOCUMENTS:  # only with plain probabilities
        facts |= {"format": "parquet", "scale": "probability", "nested": False}
    if facts["odd"] == "few days":
        facts |= {"days": 15, "late": 0, "weekly": False, "drifts": False}
    if facts["odd"] == "uint64":
        facts["ids"] = "integer"
    if facts["odd"] == "untold format":
        facts |= {"format": "jsonl", "layout": "days"}
    if facts["odd"] == "untyped empty files":
        facts |= {"format": "parquet", "layout": "hive"}
    if facts["odd"] == "no header":  # whose names would say which rows count
        other = {"one-hot": "probability"}.get(facts["scale"], facts["scale"])
        facts |= {"format": "csv", "extra": None, "scale": other}
    if facts["odd"] == "requests":
        facts |= {"format": "parquet", "scale": "probability", "nested": False, "extra": None}
        facts |= {"layout": "days" if facts["layout"] == "together" else facts["layout"]}
        facts |= {"ids": "text" if facts["ids"] in ("text", "uuid") else "integer", "decoys": 0}
    return facts


def _sensible(facts: dict[str, Any]) -> dict[str, Any]:
    """Take back what no log has together."""
    facts = _odd(facts)
    if facts["layout"] in ("together", "file"):
        facts |= {"weekly": False, "ids": "integer" if facts["ids"] != "text" else "text"}
    if facts["layout"] == "together":
        facts["late"] = min(facts["late"], 7 if facts["days"] > 20 else 2)
    if facts["layout"] in ("together", "file") and facts["time"] == "none":
        facts["time"] = "us"
    if facts["weekly"]:
        facts["late"] = 0
    if facts["format"] != "parquet":
        other = {"bytes": "text", "float": "integer"}  # as text a float has a fraction
        facts |= {"nested": False, "ids": other.get(facts["ids"], facts["ids"])}
        if facts["scale"] in ("vector", "decimal", "single"):
            facts["scale"] = "probability"
    if facts["scale"] in (
        "argmax",
        "one-hot",
        "vector",
        "scorecard",
        "comma",
        "text",
        "signed percent",
    ):
        facts |= {"nested": False, "horizons": False}
    if facts["scale"] == "one-hot" and facts["extra"] == "version":
        facts["extra"] = None  # of which only one column would be blurred
    if facts["layout"] == "together" and facts["words"] in WORDS:
        facts["words"] = "bool"
    return facts


def write(facts: dict[str, Any], rng: np.random.Generator, root: Path) -> Draw:
    """Write the days of a draw."""
    drawn = Draw(facts, drifts=facts["drifts"], last=FIRST + timedelta(facts["days"] - 1))
    if facts["scale"] == "one-hot":
        drawn.classes = {"p_a": "a", "p_b": "b", facts["score"]: "c"}
    predictions, outcomes = dict[date, Columns](), dict[date, list[Columns]]()
    for number in range(facts["days"]):
        day = FIRST + timedelta(number)
        scored, observed, truth = _day(facts, rng, number, day)
        predictions[day], drawn.truth[day] = scored, truth
        for at, columns in observed.items():
            outcomes.setdefault(at, []).append(columns)
    if facts["layout"] == "together":
        drawn.until = drawn.last + timedelta(1)
    else:
        drawn.until = max(outcomes) + timedelta(1)
    joined = {day: _stack(listed) for day, listed in sorted(outcomes.items())}
    if facts["layout"] == "together":
        _put_days(facts, root, "rows", predictions)
    elif facts["layout"] == "file":
        _put(facts, root / f"scored.{facts['format']}", _stack([*predictions.values()]), "p")
        _put(facts, root / f"observed.{facts['format']}", _stack([*joined.values()]), "o")
    else:
        _put_days(facts, root, "predictions", predictions)
        _put_days(facts, root, "outcomes", joined)
    return drawn


def _day(
    facts: dict[str, Any], rng: np.random.Generator, number: int, day: date
) -> tuple[Columns, dict[date, Columns], tuple[Array, Array, Array]]:
    """Draw a day: its predictions, the outcomes of it by the day on which they come, its truth."""
    log_odds = rng.normal(-4.0 if facts["odd"] == "rare" else -1.2, 1.3, ROWS)
    outcome = rng.random(ROWS) < expit(log_odds)
    stretch = 1.8 if facts["drifts"] and number >= DRIFT_FROM else 1.0
    score = expit(stretch * log_odds)
    waits = np.full(ROWS, facts["late"])
    if facts["spread"]:
        waits = rng.integers(0, facts["late"] + 1, ROWS)
    if facts["weekly"]:
        waits = np.full(ROWS, (6 - day.weekday()) % 7)  # on Sundays
    seconds = rng.integers(0, 86_400, ROWS)
    numbers = np.arange(ROWS) + 1000 * number
    scored = _ids(facts, numbers, day, "predictions") | _scores(facts, score)
    scored |= _decoys(facts, rng, score)
    counts = np.ones(ROWS, bool)
    if facts["extra"] in ("split", "environment"):
        names = {"split": ("prod", "train"), "environment": ("production", "staging")}
        counts = rng.random(ROWS) < 0.7
        scored[{"split": "split", "environment": "env"}[facts["extra"]]] = np.where(
            counts, *names[facts["extra"]]
        )
        _blur(facts, scored, rng, ~counts)
    scored["scored_at"] = _times(facts, day, seconds, np.zeros(ROWS, int))
    if facts["extra"] == "version":
        other = {name: np.array(values, copy=True) for name, values in scored.items()}
        _blur(facts, other, rng, np.ones(ROWS, bool))
        scored = _stack([other | {"model_version": np.full(ROWS, "v1")},
                         scored | {"model_version": np.full(ROWS, "v2")}])  # fmt: skip
    said = _outcomes(facts, rng, outcome)
    observed = _ids(facts, numbers, day, "outcomes") | said
    observed["observed_at"] = _times(facts, day, np.minimum(seconds + 3600, 86_399), waits)
    truth = score[counts], outcome[counts], waits[counts]
    if facts["layout"] == "together":
        known = np.array(
            [day + timedelta(int(w)) < FIRST + timedelta(facts["days"]) for w in waits]
        )
        of_row = np.tile(known, 2) if facts["extra"] == "version" else known
        repeat = 2 if facts["extra"] == "version" else 1
        beside = {
            n: _with_nulls(np.tile(np.array(v), repeat), of_row)
            for n, v in observed.items()
            if n != facts["id"]
        }
        return scored | beside, {}, truth
    by_day = {}
    for wait in sorted({*waits.tolist()}):
        chosen = waits == wait
        by_day[day + timedelta(int(wait))] = {n: np.array(v)[chosen] for n, v in observed.items()}
    return scored, by_day, truth


def _with_nulls(values: Array, known: Array) -> list[Any]:
    return [v if k else None for v, k in zip(values.tolist(), known, strict=True)]


def _blur(facts: dict[str, Any], columns: Columns, rng: np.random.Generator, where: Array) -> None:
    """Give the rows that do not count another score, as of another version."""
    name = facts["score"]
    values = np.array(columns[name])
    values[where] = rng.permutation(values[where])
    columns[name] = values


def _ids(facts: dict[str, Any], numbers: Array, day: date, log: str) -> Columns:
    scored = log == "predictions"
    uuids = [uuid.UUID(int=(int(n) + 1) * 3**70) for n in numbers]
    plain = [f"r{n:07}" for n in numbers]
    upper = facts["order"] % 2 and not scored
    texts = [str(one).upper() if upper else str(one) for one in uuids]
    written: dict[str, tuple[Any, Any]] = {  # in the predictions and in the outcomes
        "integer": (numbers + 7_000_000,) * 2,
        "text": (plain, plain),
        "padded": ([f"{n:09}" for n in numbers], numbers),
        "mixed": (numbers, [f"{n}" for n in numbers]),
        "dated": ([f"{day}/{one}" for one in plain], plain),
        "uuid": (texts, texts),
        "float": (numbers + 7_000_000, numbers + 7e6),
        "blanks": ([f"{one.upper():12}" for one in plain], plain),
        "braces": (texts, [f"{{{one}}}" for one in texts]),
        "long": (
            numbers + 1_767_225_600_000_000_000,
            [f"{n + 1767225600000000000}" for n in numbers],
        ),
        "bytes": (np.array([one.bytes for one in uuids], dtype=object), texts),
    }
    return {facts["id"]: np.array(written[facts["ids"]][not scored])}


def _scores(facts: dict[str, Any], p: Array) -> Columns:
    name, scale = facts["score"], facts["scale"]
    if scale == "label":
        facts["score"] = name = "confidence"
        words = facts["words"] if facts["words"] in WORDS else ("neg", "pos")
        likely = (p > 0.5).astype(int)
        return {name: np.where(p > 0.5, p, 1 - p), "predicted": np.array(words)[likely]}
    written: dict[str, Any] = {
        "single": lambda: p.astype(np.float32),
        "percent": lambda: 100 * p,
        "signed percent": lambda: np.array([f"{100 * x:.6f}%" for x in p]),
        "logit": lambda: logit(p),
        "other class": lambda: 1 - p,
        "text": lambda: np.array([f"{x:.9f}" for x in p]),
        "comma": lambda: np.array([f"{x:.9f}".replace(".", ",") for x in p]),
        "scorecard": lambda: np.round(600 - 50 * logit(p)).clip(300, 850).astype(int),
        "argmax": lambda: (p > 0.5).astype(int),
        "decimal": lambda: np.round(p, 9),
    }
    if scale == "one-hot":
        return {"p_a": p, "p_b": (1 - p) * 0.6, name: (1 - p) * 0.4}
    if scale == "vector":
        return {name: np.array([[x, 1 - x] for x in p])}
    return {name: written.get(scale, lambda: p)()}


def _decoys(facts: dict[str, Any], rng: np.random.Generator, p: Array) -> Columns:
    listed = [
        ("quality_score", lambda: rng.beta(8, 2, ROWS)),
        ("old_score", lambda: expit(logit(p) + rng.normal(0, 1.5, ROWS))),
        ("prob_mobile", lambda: rng.random(ROWS)),
        ("age", lambda: rng.integers(18, 90, ROWS)),
        ("country", lambda: rng.choice(["DE", "FR", "US"], ROWS)),
        ("is_mobile", lambda: rng.random(ROWS) < 0.4),
        ("amount", lambda: np.round(rng.lognormal(3, 1, ROWS), 2)),
        ("customer", lambda: rng.integers(0, 400, ROWS)),
        ("threshold", lambda: np.full(ROWS, 0.5)),
    ]
    order = np.random.default_rng(facts["order"]).permutation(len(listed))[: 2 * facts["decoys"]]
    return {listed[i][0]: listed[i][1]() for i in order}


def _outcomes(facts: dict[str, Any], rng: np.random.Generator, y: Array) -> Columns:
    name, words = facts["outcome"], facts["words"]
    pairs = {"signs": (-1, 1), "digits": ("0", "1"), TEXTS: ("False", "True")}
    values: Any = {"bool": y, "float": y.astype(float)}.get(words, y.astype(np.int64))
    if words in pairs or words in WORDS:
        values = np.array(pairs.get(words, words))[y.astype(int)]
    if facts["scale"] == "one-hot":
        rest = np.where(rng.random(ROWS) < 0.6, "b", "c")
        values = np.where(y, "a", rest)
    columns: Columns = {name: values}
    if facts["horizons"]:
        columns["y_7d"] = (y & (rng.random(ROWS) < 0.4)).astype(int)
    if facts["censored"]:
        columns |= {
            "duration_days": rng.integers(1, 60, ROWS),
            "censored": (rng.random(ROWS) < 0.3).astype(int),
        }
    if facts["decoys"] > 1:
        columns["is_weekend"] = (rng.random(ROWS) < 2 / 7).astype(int)
    return columns


def _times(facts: dict[str, Any], day: date, seconds: Array, waits: Array) -> Any:
    start = datetime.combine(day, time(), UTC)
    listed = [
        start + timedelta(days=int(w), seconds=int(s)) for s, w in zip(seconds, waits, strict=True)
    ]
    if facts["time"] == "ms":
        return np.array([round(at.timestamp() * 1000) for at in listed])
    if facts["time"] == "iso":
        return np.array([at.isoformat() for at in listed])
    return np.array(listed, dtype=object)


def _stack(parts: list[Columns]) -> Columns:
    return {name: np.concatenate([np.array(p[name]) for p in parts]) for name in parts[0]}


def _put_days(facts: dict[str, Any], root: Path, name: str, days: dict[date, Columns]) -> None:
    end = facts["format"]
    for day, columns in days.items():
        inner = f"ds={day}/part-0.{end}" if facts["layout"] == "hive" else f"{day}.{end}"
        _put(facts, root / name / inner, columns, name)


def _put(facts: dict[str, Any], path: Path, columns: Columns, log: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if facts["time"] == "none":
        columns = {n: v for n, v in columns.items() if not n.endswith("_at")}
    order = np.random.default_rng(facts["order"] + len(log)).permutation([*columns])
    arrays = {f"{name}": _array(facts, f"{name}", columns[name]) for name in order}
    arrays |= _further(facts, len(next(iter(arrays.values()))), path.suffix)
    if facts["odd"] in DOCUMENTS and facts["score"] in arrays:
        arrays["payload"] = _document(facts["odd"], arrays.pop(facts["score"]).to_pylist())
    if facts["odd"] == "requests" and log in ("predictions", "p"):
        arrays = _requests(facts, arrays)
    if facts["nested"] and log in ("predictions", "p", "rows"):
        inner = [n for n in arrays if n not in (facts["id"], "scored_at")]
        struct = pa.StructArray.from_arrays([arrays[n] for n in inner], inner)
        arrays = {n: a for n, a in arrays.items() if n not in inner} | {"payload": struct}
    _put_table(facts, path, pa.table(arrays))


def _put_table(facts: dict[str, Any], path: Path, table: pa.Table) -> None:
    """Write a table in the format of the ending, with what lies beside it."""
    if path.suffix == ".parquet":
        pq.write_table(table, path)
        if facts["odd"] == "untyped empty files":
            untyped = {name: pa.nulls(0) for name in table.column_names}
            pq.write_table(pa.table(untyped), path.with_name("part-1.parquet"))
        if facts["odd"] == "leftovers":
            path.with_name(f"{path.name}._COPYING_").write_bytes(b"PAR1")
        if facts["odd"] == "empty files" and facts["layout"] == "hive":
            pq.write_table(table.slice(0, 0), path.with_name("part-1.parquet"))
    elif path.suffix == ".csv":
        has_header = facts["odd"] != "no header"
        pyarrow.csv.write_csv(table, path, pyarrow.csv.WriteOptions(include_header=has_header))
    else:
        lines = (json.dumps(row, default=str) for row in table.to_pylist())
        if facts["odd"] == "untold format":  # a rotated log, whose ending is the day
            path = path.with_name(f"service.log.{path.stem}")
        path.write_text("".join(f"{line}\n" for line in lines))


def _further(facts: dict[str, Any], rows: int, ending: str) -> dict[str, pa.Array]:
    """Give columns without values, or two whose names differ in their case only."""
    if facts["odd"] == "null columns":
        return {"comment": pa.nulls(rows, pa.string()), "score_old": pa.nulls(rows, pa.float64())}
    if facts["odd"] == "twin names" and ending == ".parquet":
        return {"Zone": pa.array([1.5] * rows), "zone": pa.array(["a"] * rows)}
    return {}


def _requests(facts: dict[str, Any], arrays: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """Put predictions into requests, with the ids in the request and the scores in the response."""
    ids, scores = (arrays.pop(facts[name]).to_pylist() for name in ("id", "score"))
    starts = range(0, len(ids), TOGETHER)
    asked = [{"rows": [{"key": one} for one in ids[at : at + TOGETHER]]} for at in starts]
    said = [{"predictions": scores[at : at + TOGETHER]} for at in starts]
    both = {"request": asked, "response": said}
    times = {name: array.take([*starts]) for name, array in arrays.items()}
    return times | {name: pa.array(map(json.dumps, of)) for name, of in both.items()}


def _document(kind: str, scores: list[float]) -> pa.Array:
    if kind == "map":
        return pa.array([[("p", p), ("age", 40.0)] for p in scores], MAP)
    if kind == "list":
        return pa.array([[1 - p, p] for p in scores])
    if kind == "base64":
        return pa.array([base64.b64encode(f"{p:.9f}".encode()).decode() for p in scores])
    if kind == "json list":
        return pa.array([json.dumps({"predictions": [{"p": p, "name": "m"}]}) for p in scores])
    if kind == "json in json":
        inner = [json.dumps({"p": p}) for p in scores]
        return pa.array([json.dumps({"body": text}) for text in inner])
    return pa.array([json.dumps({"model": {"p": p, "name": "m"}, "k": 1}) for p in scores])


def _array(facts: dict[str, Any], name: str, values: Any) -> pa.Array:
    array = _plain_array(facts, name, values)
    is_text = pa.types.is_string(array.type)
    if facts["odd"] == "dictionary" and is_text:
        return array.dictionary_encode()
    if facts["odd"] == "large_string" and is_text:
        return array.cast(pa.large_string())
    return array.cast(pa.uint64()) if facts["odd"] == "uint64" and name == facts["id"] else array


def _plain_array(facts: dict[str, Any], name: str, values: Any) -> pa.Array:
    listed = values if isinstance(values, list) else values.tolist()
    if name.endswith("_at") and facts["time"] in ("us", "ns"):
        zone = "Asia/Tokyo" if facts["odd"] == "zone" else "UTC"
        return pa.array(listed, pa.timestamp(facts["time"], zone))
    if name == facts["score"] and facts["scale"] == "decimal":
        return pa.array([None if v is None else f"{v:.9f}" for v in listed]).cast(
            pa.decimal128(12, 9)
        )
    if name == facts["score"] and facts["scale"] == "single":
        return pa.array(listed, pa.float32())
    return pa.array(listed)
