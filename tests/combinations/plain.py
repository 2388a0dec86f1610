"""One day counted in plain pandas, from the configuration and the rows alone.

Rule: nothing of the program is imported here. The rules are those of docs/logs.md.
"""

import hashlib
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from math import floor, isnan, log, log2
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
Log = Mapping[date, list[dict[str, Any]]]
Cells = dict[int, tuple[int, int]]  # rows and positive ones


@dataclass
class Part:
    """The counts of a part of a day: all, those by cell, and those that wait by cell."""

    predicted: int
    cells: Cells
    awaited: dict[int, int]
    # What outcomes stand for, by cell: 65536ths of rows, of positives, 256ths of their squares.
    rated: dict[int, tuple[int, ...]] | None = None


@dataclass
class Counts:
    """Everything that a day counts."""

    parts: dict[tuple[str, str], Part] = field(default_factory=dict)
    rejected: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, tuple[int, int]] = field(default_factory=dict)
    columns: dict[str, dict[str, tuple[int, Cells]]] = field(default_factory=dict)
    entities: dict[tuple[str, str], dict[tuple[int, int], tuple[int, int]]] = field(
        default_factory=dict
    )
    weights: tuple[float, float] = (1.0, 1.0)
    classes: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    pairs: dict[tuple[str, ...], Cells] = field(default_factory=dict)  # by part, rank and classes
    column_pairs: dict[tuple[str, ...], Cells] = field(default_factory=dict)  # column and value
    acted: int | None = None
    final: bool = False
    stopped: str = ""  # why there are no counts, in words of the message


@dataclass(frozen=True)
class Day:
    """A day of a model, and what is known of it at a time."""

    model: dict[str, Any]
    predictions: Log
    outcomes: Log
    day: date
    as_of: date

    @property
    def together(self) -> bool:
        """Whether a row has both score and outcome."""
        return bool(self.model["outcomes"].get("in_predictions"))

    @property
    def wait(self) -> int:
        """The days after which outcomes are known."""
        return int(str(self.model["settled_after"]).removesuffix("d"))

    @property
    def due(self) -> list[date]:
        """The days on which outcomes count."""
        return [self.day + timedelta(i) for i in range(self.wait + 1)]

    @property
    def read(self) -> list[date]:
        """The days of outcomes that are over and there."""
        over = [day for day in self.due if day < self.as_of]
        return over if self.together else [day for day in over if day in self.outcomes]

    def is_known(self, until: int) -> bool:
        """Whether everything up to so many days later is over and there, or will never be."""
        due = self.due[: until + 1]
        return due[-1] < self.as_of and all(d in self.read or self.is_quiet(d) for d in due)

    def is_quiet(self, day: date) -> bool:
        """Whether a day may have no logs, and has none."""
        calendar = self.model.get("calendar", {})
        closed = day in calendar.get("closed", []) or (
            WEEKDAYS[day.weekday()] not in calendar.get("weekdays", WEEKDAYS)
        )
        accepted = "missing_day" in self.model["checks"]["accept"]
        return (closed or accepted) and day not in self.predictions and day not in self.outcomes


def count(day: Day) -> Counts:
    """Count a day."""
    found = Counts()
    settings = day.model["predictions"]
    scored = _predictions(day, day.day)
    found.left_out |= _left_out("predictions", settings, scored)
    scored = _chosen(settings, scored)
    if day.together:
        joined = _beside(day, scored)
    else:
        observed = _outcomes(day, day.read)
        of_day = _outcomes(day, [day.day])
        if day.day in day.outcomes:
            found.left_out |= _left_out("outcomes", day.model["outcomes"], of_day)
        joined = _joined(day, scored, _chosen(day.model["outcomes"], observed), found.rejected)
        if day.day in day.read:
            _count_strangers(day, _chosen(day.model["outcomes"], of_day), found.rejected)
    joined["status"] = [_status(day, row) for row in joined.to_dict("records")]
    broken = Counter(joined.status) - Counter(
        dict.fromkeys(("matched", "waiting", "acted on"), 10**9)
    )
    found.rejected |= broken
    _count_rows(day, joined, found)
    return found


def _rows(log: Log, days: list[date]) -> pd.DataFrame:
    rows = [{**row, "logged": day} for day in days for row in log.get(day, [])]
    return pd.DataFrame(
        rows, columns=[*dict.fromkeys(k for row in rows for k in row)], dtype=object
    )


def _predictions(day: Day, *days: date) -> pd.DataFrame:
    frame = _rows(day.predictions, [*days])
    frame["identity"] = _ids(day, day.model["predictions"], frame)
    return frame


def _outcomes(day: Day, days: list[date]) -> pd.DataFrame:
    frame = _rows(day.outcomes, days)
    frame["identity"] = _ids(day, day.model["outcomes"], frame)
    return frame


def _ids(day: Day, settings: dict[str, Any], frame: pd.DataFrame) -> list[Any]:
    named = settings.get("id")
    columns = named if isinstance(named, list) else [named]
    cast = day.model.get("ids", {}).get("cast", "none")
    convert: Callable[[Any], Any] = {
        "none": lambda v: v,
        "integer": int,
        "text": str,
        "uuid": lambda v: uuid.UUID(v).hex,
    }[cast]
    found = []
    for row in frame.to_dict("records"):
        parts = [_value(row, column) for column in columns] if named else [None]
        found.append(None if any(p is None for p in parts) else tuple(map(convert, parts)))
    return found


def _value(row: Mapping[str, Any], column: Any) -> Any:
    if isinstance(column, dict):
        whole = row[column["column"]]
        return None if _is_missing(whole) else whole[column["field"]]
    value = row.get(column)
    return None if _is_missing(value) else value


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))


def _is_chosen(settings: dict[str, Any], frame: pd.DataFrame) -> "pd.Series[bool]":
    if "where" not in settings or frame.empty:
        return pd.Series(data=True, index=frame.index)
    column, value = settings["where"].replace("'", "").split(" = ")
    return frame[column] == value


def _chosen(settings: dict[str, Any], frame: pd.DataFrame) -> pd.DataFrame:
    return frame[_is_chosen(settings, frame)].reset_index(drop=True)


def _left_out(
    log: str, settings: dict[str, Any], frame: pd.DataFrame
) -> dict[str, tuple[int, int]]:
    if "where" not in settings:
        return {}
    return {f"{log}.where": (int((~_is_chosen(settings, frame)).sum()), len(frame))}


def _beside(day: Day, scored: pd.DataFrame) -> pd.DataFrame:
    """Forget outcomes that came after the last day that counts."""
    settings = day.model["outcomes"]
    said = [row.get(settings["outcome"]) for row in scored.to_dict("records")]
    if "time" in settings and day.read:
        end = day.read[-1] + timedelta(days=1)
        late = [
            _local_day(day, row.get(settings["time"])) >= end for row in scored.to_dict("records")
        ]
        said = [None if away else value for value, away in zip(said, late, strict=True)]
    known = [not _is_missing(value) for value in said]
    return scored.assign(
        said=pd.Series(said, dtype=object),
        known=known,
        seen_at=scored.get("observed_at"),
        own_weight=scored.get("weight"),
    )


def _joined(
    day: Day, scored: pd.DataFrame, observed: pd.DataFrame, rejected: dict[str, int]
) -> pd.DataFrame:
    """Leave out what is repeated, and put the outcome beside its prediction."""
    settings = day.model["predictions"]
    known = scored[scored.identity.notna()]
    if settings.get("duplicates") == "keep_identical":
        known = known.loc[~known.map(str).duplicated()]
    twice = known.identity.duplicated(keep=False)
    _note(rejected, "prediction_repeated", int(twice.sum()))
    chosen = pd.concat([known[~twice], scored[scored.identity.isna()]])
    outcomes = _merged(day, observed, {*scored.identity.dropna()}, rejected)
    beside = [outcomes.get(one) for one in chosen.identity]
    column = day.model["outcomes"]["outcome"]
    return chosen.assign(
        said=pd.Series([o[column] if o and column else 1 for o in beside], chosen.index, object),
        known=[o is not None for o in beside],
        seen_at=pd.Series([o and o.get("observed_at") for o in beside], chosen.index, object),
        own_weight=[o and o.get("weight") for o in beside],
    ).reset_index(drop=True)


def _merged(
    day: Day, observed: pd.DataFrame, predicted: set[Any], rejected: dict[str, int]
) -> dict[Any, dict[str, Any]]:
    """Give the one outcome of each id; none if two contradict each other."""
    settings = day.model["outcomes"]
    found = dict[Any, dict[str, Any]]()
    for one, rows in observed[observed.identity.notna()].groupby("identity"):
        listed = rows.to_dict("records")
        if settings.get("duplicates") == "latest" and len(listed) > 1:
            newest = max(_moment(row["observed_at"]) for row in listed)
            listed = [row for row in listed if _moment(row["observed_at"]) == newest]
        said = {str(row.get(settings["outcome"])) for row in listed}
        if len(said) > 1 and one in predicted:
            _note(rejected, "outcome_conflicting", len(listed))
            continue
        times = [row["observed_at"] for row in listed if not _is_missing(row.get("observed_at"))]
        found[one] = listed[0] | ({"observed_at": min(times, key=_moment)} if times else {})
    return found


def _note(rejected: dict[str, int], check: str, rows: int) -> None:
    if rows:
        rejected[check] = rejected.get(check, 0) + rows


def _count_strangers(day: Day, observed: pd.DataFrame, rejected: dict[str, int]) -> None:
    """Count outcomes of the day that have no prediction on any possible day, or came late."""
    _note(rejected, "outcome_id_missing", int(observed.identity.isna().sum()))
    span = range(day.wait + 1)
    possible = {*_predictions(day, *(day.day - timedelta(i) for i in span)).identity}
    before = [d for d in day.predictions if d < day.day - timedelta(day.wait)]
    earlier = {*_predictions(day, *before).identity}
    alone = [one for one in observed.identity if one is not None and one not in possible]
    late = sum(one in earlier for one in alone)
    _note(rejected, "outcome_late", late)
    _note(rejected, "outcome_orphan", len(alone) - late)


def _moment(value: Any) -> datetime:
    if isinstance(value, str):
        return datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return value
    return datetime.fromtimestamp(value / 1000, UTC)


def _local_day(day: Day, value: Any) -> date:
    if _is_missing(value):
        return date.min
    found = _moment(value)
    if not found.tzinfo and "format" not in day.model["predictions"]:  # in text it is in UTC
        found = found.replace(tzinfo=UTC)
    return (
        found.astimezone(ZoneInfo(day.model["time_zone"])).date() if found.tzinfo else found.date()
    )


def _score(day: Day, row: Mapping[str, Any]) -> float | None:
    settings = day.model["predictions"]
    if "classes" in settings:
        vector = _sampled(settings["classes"], _vector(settings["classes"], row))
        return None if vector is None else max(vector)
    value = row["score"]
    if _is_missing(value) or ("predicted" in row and _is_missing(row["predicted"])):
        return None
    means = settings.get("label_means") or day.model["outcomes"].get("outcome_means")
    hit = row.get("predicted") in (means["positive"] if means else (1,))
    return float(
        {
            "probability": lambda: value,
            "percent": lambda: value / 100,
            "logit": lambda: 1 / (1 + 2.718281828459045**-value),
            "probability_of_0": lambda: 1 - value,
            "probability_of_label": lambda: value if hit else 1 - value,
        }[settings.get("score_means", "probability")]()
    )


def _vector(classes: dict[str, Any], row: Mapping[str, Any]) -> list[float] | None:
    values: Any
    if "top" in classes:
        values = _highest(classes, row)
    elif isinstance(classes["vector"], list):
        values = [row[column] for column in classes["vector"]]
    else:
        whole = row[classes["vector"]]
        named = isinstance(whole, dict)
        values = [whole[n] for n in classes["names"]] if named else whole
    if values is None or any(_is_missing(v) for v in values):
        return None
    total = sum(values) if classes.get("sums") == "normalise" else 1.0
    return [v / total for v in values]


def _highest(classes: dict[str, Any], row: Mapping[str, Any]) -> list[float] | None:
    """Read the highest scores of a row; all others are 0."""
    top = classes["top"]
    if "classes" not in top:
        found = row[top["scores"]]
    else:
        columns = (top["classes"], top["scores"])
        names, scores = (
            row[of] if isinstance(of, str) else [row[column] for column in of] for of in columns
        )
        found = None if scores is None else dict(zip(names, scores, strict=True))
    return None if found is None else [found.get(name, 0.0) for name in classes["names"]]


def _sampled(classes: dict[str, Any], vector: list[float] | None) -> list[float] | None:
    """Move a vector to a log that keeps one row in so many of each class."""
    if vector is None or "weights" not in classes:
        return vector
    kept = [p / weight for p, weight in zip(vector, classes["weights"], strict=True)]
    return [p / sum(kept) for p in kept]


def _outcome(day: Day, row: Mapping[str, Any]) -> int | None:
    """Read an outcome as 1 or 0, of classes whether the first choice was right; None if invalid."""
    said, means = row["said"], day.model["outcomes"].get("outcome_means")
    if classes := day.model["predictions"].get("classes"):
        label = _label(classes, said)
        vector = _sampled(classes, _vector(classes, row))
        return None if label is None or not vector else int(vector.index(max(vector)) == label)
    if means:
        known = {**dict.fromkeys(means["negative"], 0), **dict.fromkeys(means["positive"], 1)}
        return known.get(said) if not _is_missing(said) else None
    return int(said) if not _is_missing(said) and said in (0, 1) else None


def _label(classes: dict[str, Any], said: Any) -> int | None:
    if _is_missing(said):
        return None
    if isinstance(said, str):
        return classes["names"].index(said) if said in classes["names"] else None
    return int(said) if said in range(len(classes["names"])) else None


def _status(day: Day, row: Mapping[str, Any]) -> str:
    """Say what becomes of a prediction, or which check it or its outcome breaks."""
    wrong = _what_is_wrong(day, row)
    if not wrong and "action" in day.model and _is_true(row[day.model["action"]]):
        return "acted on"
    if wrong or row["known"]:
        return wrong or _status_of_outcome(day, row)
    horizon = day.model["outcomes"].get("absent_means")
    late = horizon and day.is_known(int(horizon.split()[-1][:-1]))
    return "matched" if late else "waiting"


def _is_true(value: Any) -> bool:
    return not _is_missing(value) and str(value).lower() in ("true", "1")


def _what_is_wrong(day: Day, row: Mapping[str, Any]) -> str:
    if not day.together and row["identity"] is None:
        return "prediction_id_missing"
    score = _score(day, row)
    if score is None:
        return "score_missing"
    if not 0 <= score <= 1:
        return "score_out_of_range"
    classes = day.model["predictions"].get("classes")
    if classes and abs(sum(_vector(classes, row) or []) - 1) > 1e-6:
        return "score_sum"
    return ""


def _status_of_outcome(day: Day, row: Mapping[str, Any]) -> str:
    if _outcome(day, row) is None:
        return "outcome_invalid"
    times = day.model["predictions"].get("time"), day.model["outcomes"].get("time")
    if all(times) and _moment(row["seen_at"]) < _moment(row[times[0]]):
        return "outcome_early"
    return "matched"


VALID = ("matched", "waiting", "acted on", "outcome_invalid", "outcome_early")


def _count_rows(day: Day, joined: pd.DataFrame, found: Counts) -> None:
    rows = joined[joined.status.isin(VALID)].to_dict("records")
    if "action" in day.model:
        found.acted = sum(row["status"] == "acted on" for row in rows)
    for row in rows:
        row["hit"] = _outcome(day, row) if row["known"] and row["status"] == "matched" else 0
    weights = _weights(day, rows)
    if weights is None:
        found.stopped = "is not known for outcome"
        return
    found.weights = weights
    for row in rows:
        odds = found.weights[0] / found.weights[1]
        p = _score(day, row) or 0.0
        place = (log(p / (1 - p) * odds) + 16) * 512
        row["cell"] = floor(place)
        row["bucket"] = _bucket(day.model, row, place)
    settings = day.model["predictions"]
    model, names = day.model, [("segments", "country"), ("strata", "tier")]
    listed = [_values(model, key) for key, _ in names]
    for segment in listed[0]:
        for stratum in listed[1]:
            mine = [
                row
                for row in rows
                if (_name(row["country"], listed[0]), _name(row["tier"], listed[1]))
                == (segment, stratum)
            ]
            found.parts[segment, stratum] = _part(mine)
            if "label_rate" in day.model:
                found.parts[segment, stratum].rated = _rated(mine, day.model["label_rate"]) or None
            matched = [row for row in mine if row["status"] == "matched"]
            if matched and "entity" in settings:
                found.entities[segment, stratum] = _by_bucket(matched)
            if classes := settings.get("classes"):
                _count_classes(classes, (segment, stratum), matched, found)
    _count_columns(day, rows, found)
    found.final = _is_final(day, rows)


def _count_columns(day: Day, rows: list[dict[str, Any]], found: Counts) -> None:
    classes = day.model["predictions"].get("classes")
    for column, name in _watched(day.model).items():
        of_value: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            of_value.setdefault(name(row), []).append(row)
        found.columns[column] = {
            value: (len(mine), {} if classes else _cells(mine, coarse=16))
            for value, mine in of_value.items()
        }
        for value, mine in of_value.items() if classes else ():
            matched = [row for row in mine if row["status"] == "matched"]
            for pair, cells in _pairs(classes, matched).items():
                found.column_pairs[column, value, *pair] = cells


def _count_classes(
    classes: dict[str, Any], part: tuple[str, str], rows: list[dict[str, Any]], found: Counts
) -> None:
    labels = Counter(_label(classes, row["said"]) for row in rows)
    found.classes[part] = {name: labels[i] for i, name in enumerate(classes["names"])}
    for pair, cells in _pairs(classes, rows).items():
        found.pairs[*part, *pair] = cells


def _pairs(
    classes: dict[str, Any], rows: list[dict[str, Any]]
) -> dict[tuple[str, str, str], Cells]:
    """Count rows in the pairs of the highest score with the second and with the third."""
    found = dict[tuple[str, str, str], dict[int, tuple[int, int]]]()
    for row in rows:
        vector, label = _vector(classes, row) or [], _label(classes, row["said"])
        ranked = sorted(range(len(vector)), key=lambda k: (-vector[k], k))
        moved = _sampled(classes, vector) or []
        for rank in ("second", "third"):
            a, b = sorted((ranked[0], ranked[1 if rank == "second" else 2]))
            if label in (a, b):
                share = moved[a] / (moved[a] + moved[b])
                cells = found.setdefault((rank, classes["names"][a], classes["names"][b]), {})
                cell = floor((log(share / (1 - share)) + 16) * 32)
                every, hits = cells.get(cell, (0, 0))
                cells[cell] = (every + 1, hits + (label == a))
    return found


def _bucket(model: dict[str, Any], row: Mapping[str, Any], place: float) -> int:
    """Hash the entity; a row without one goes where its score lies within its cell."""
    named = model["predictions"].get("entity", [])
    parts = [_value(row, column) for column in ([named] if isinstance(named, str) else named)]
    if not parts or any(part is None for part in parts):
        return floor(place % 1 * 64)
    digests = [hashlib.md5(str(part).encode()).hexdigest() for part in parts]  # noqa: S324
    joined = hashlib.md5("".join(digests).encode()).hexdigest()  # noqa: S324
    return int((digests[0] if len(parts) == 1 else joined)[:8], 16) % 64


def _by_bucket(rows: list[dict[str, Any]]) -> dict[tuple[int, int], tuple[int, int]]:
    places = [((row["bucket"], row["cell"] // 128), row["hit"]) for row in rows]
    every, hits = Counter(p for p, _ in places), Counter(p for p, hit in places if hit)
    return {place: (every[place], hits[place]) for place in every}


def _is_final(day: Day, rows: list[dict[str, Any]]) -> bool:
    seen = sum(row["status"] == "matched" and row["known"] for row in rows)
    settled = seen == len(rows) or day.is_known(day.wait)
    return settled and (any(row["status"] == "matched" for row in rows) or not rows)


def _weights(day: Day, rows: list[dict[str, Any]]) -> tuple[float, float] | None:
    of = {log: day.model[log].get("weight") for log in ("predictions", "outcomes")}
    if not any(of.values()):
        return 1.0, 1.0
    column = "weight" if of["predictions"] else "own_weight"
    seen = {row["hit"]: row[column] for row in rows if row["status"] == "matched"}
    others = {row[column] for row in rows} - {*seen.values()}
    if len(seen) == 1 and len(others) == 1 and of["predictions"]:  # the other class has no row yet
        ((hit, _),) = seen.items()
        seen[1 - hit] = others.pop()
    return (seen[0], seen[1]) if len(seen) == 2 else None


def _values(model: dict[str, Any], key: str) -> list[str]:
    listed = model.get(key)
    if isinstance(listed, list):
        listed = next((one for one in listed if one.get("primary")), None)
    return [*listed["values"], "other"] if listed else ["all"]


def _name(value: Any, listed: list[str]) -> str:
    if listed == ["all"]:
        return "all"
    return value if not _is_missing(value) and value in listed else "other"


def _watched(model: dict[str, Any]) -> dict[str, Callable[[Mapping[str, Any]], str]]:
    """Give for each watched column how the value of a row is called."""
    listed = model.get("segments")
    entries = [e for e in listed if not e.get("primary")] if isinstance(listed, list) else []
    alone = {e["column"]: _namer(e) for e in entries if "column" in e}
    found = dict(alone)
    for entry in entries:
        if "cross" in entry:
            first, second = entry["cross"]
            found[" x ".join(entry["cross"])] = lambda row, a=first, b=second: (  # type: ignore[misc]
                f"{alone[a](row)} x {alone[b](row)}"
            )
    return found


def _namer(entry: dict[str, Any]) -> Callable[[Mapping[str, Any]], str]:
    column = entry["column"]
    if "edges" in entry:
        low, high = entry["edges"]
        return lambda row: (
            f"below {low}" if row[column] < low
            else f"{low} to {high}" if row[column] < high else f"{high} and more"
        )  # fmt: skip
    if "quantiles" in entry:
        return lambda row: str(_step(row[column]))
    wanted = entry.get("values")

    def name(row: Mapping[str, Any]) -> str:
        value = None if _is_missing(row[column]) else str(row[column])
        return value if value is not None and (not wanted or value in wanted) else "other"

    return name


def _step(value: float) -> int:
    """Count quarters of powers of two from 2**-100; negative numbers are as far below zero."""
    if value == 0:
        return 0
    size = floor(4 * log2(abs(value)) + 0.5) + 401
    return size if value > 0 else -size


def _part(rows: list[dict[str, Any]]) -> Part:
    waiting = Counter(row["cell"] for row in rows if row["status"] != "matched")
    return Part(len(rows), _cells(rows), dict(waiting))


def _rated(rows: list[dict[str, Any]], column: str) -> dict[int, tuple[int, ...]]:
    sums: dict[int, tuple[int, ...]] = {}
    for row in rows:
        if row["status"] == "matched":
            inverse = 1.0 / float(row[column])
            whole, square = floor(inverse * 2**16 + 0.5), floor(inverse**2 * 2**8 + 0.5)
            added = whole, whole * row["hit"], square, square * row["hit"]
            before = sums.get(row["cell"], (0, 0, 0, 0))
            sums[row["cell"]] = tuple(map(sum, zip(before, added, strict=True)))
    return sums


def _cells(rows: list[dict[str, Any]], coarse: int = 1) -> Cells:
    matched = [(row["cell"] // coarse, row["hit"]) for row in rows if row["status"] == "matched"]
    all_rows, hits = Counter(c for c, _ in matched), Counter(c for c, hit in matched if hit)
    return {cell: (all_rows[cell], hits[cell]) for cell in all_rows}
