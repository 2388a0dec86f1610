"""Small logs for one row of the array: what happened is drawn, then written as the factors say."""

import csv
import gzip
import json
import random
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from io import StringIO
from math import exp, log, nan
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq

from tests.combinations.covering import Row

DAY = date(2026, 3, 3)
QUIET = DAY + timedelta(days=1)  # of a calendar
LONG_BEFORE = DAY - timedelta(days=5)  # the day of late outcomes
PREDICTED = 14  # a day
CLASSES = ("cat", "dog", "fish")
SUFFIX = {"parquet": "parquet", "csv": "csv", "json": "jsonl", "csv.gz": "csv.gz"}

NULL_TEXT = "\\N"
UNLABELLED = {"score": 0.25, "predicted": None}
Rows = list[dict[str, Any]]
Log = dict[date, Rows]  # by the day on which the rows are logged


@dataclass(frozen=True)
class Event:
    """A row of a log: what it says, before anything decides how that is written."""

    number: int | None  # of the prediction; None if its id is missing
    day: date
    minute: int  # of the local day
    score: float | None = None
    label: int = 0
    said: int | str | None = None  # an outcome; a text is none that is valid
    place: int = 0
    kept: bool = True


def middle(cell: int) -> float:
    """Give a score well within a cell of the grid, and within one of the 64 parts of that."""
    within = (8 + 29 * cell % 48 + 0.5) / 64
    return 1 / (1 + exp(16 - (cell + within) / 512))


def days_of(row: Row) -> list[date]:
    """List the days with logs."""
    span = [DAY + timedelta(days=i) for i in (-5, -2, -1, 0, 1, 2, 3)]
    return [day for day in span if row["calendar"] == "none" or day != QUIET]


def draw(row: Row, rng: random.Random) -> tuple[list[Event], list[Event]]:
    """Draw what happened: predictions, and the outcomes that some of them got."""
    scored, seen = list[Event](), list[Event]()
    days = days_of(row)
    for day in days:
        for place in range(PREDICTED):
            number = 1000 * (day - LONG_BEFORE).days + place + 1
            cell = rng.randrange(8300, 12000)
            one = Event(number, day, rng.randrange(60, 700), middle(cell), place=place)
            one = replace(one, kept=rng.random() < 0.8)
            later = rng.choice([0, 0, 0, 1, 2]) if place > 2 else 0
            known = place < 3 or rng.random() < 0.8
            at = day + timedelta(days=later)
            if known and at in days:
                label = place % 2 if place < 3 else rng.randrange(2)
                one = replace(one, label=label)
                minute = rng.randrange(800, 1300)
                outcome = Event(number, at, minute, said=label, label=label, place=place)
                seen.append(replace(outcome, kept=rng.random() < 0.85 or place < 3))
            scored.append(one)
    _add_strangers(row, seen)
    _add_repeated(row, scored, seen)
    _break(row, scored, seen)
    return scored, seen


def _add_strangers(row: Row, seen: list[Event]) -> None:
    if row["strangers"] in {"orphans", "both"}:
        seen.append(Event(77_001, DAY, 900, said=1, label=1))
        seen.append(Event(77_002, DAY + timedelta(days=2), 900, said=1, label=1))
    if row["strangers"] in {"late", "both"}:
        known = {one.number for one in seen}
        number = next(n for n in range(1, PREDICTED + 1) if n not in known)
        seen.append(Event(number, DAY, 900, said=1, label=1, place=number - 1))


def _add_repeated(row: Row, scored: list[Event], seen: list[Event]) -> None:
    """Repeat rows of the day, of which one prediction has an outcome and another has none."""
    of_day = [one for one in scored if one.day == DAY]
    known = {one.number: one for one in seen}
    with_outcome = [one for one in of_day if one.number in known]
    without = [one for one in of_day if one.number not in known]
    if row["scored_twice"] != "never":
        for one in with_outcome[3:4] + without[:1]:
            again = replace(one, score=middle(9000)) if row["scored_twice"] == "different" else one
            scored.append(again)
    if row["observed_twice"] != "never":
        first = known[with_outcome[-1].number]
        second = known[with_outcome[-2].number]
        for one in (first, second):
            other = 1 - one.label
            change = {
                "equal": {},
                "contradicting": {"said": other},
                "corrected": {"said": other, "minute": one.minute + 30},
            }[row["observed_twice"]]
            seen.append(replace(one, **change))


def _break(row: Row, scored: list[Event], seen: list[Event]) -> None:
    """Make some rows of the day invalid."""
    mine = [i for i, one in enumerate(scored) if one.day == DAY]
    theirs = [i for i, one in enumerate(seen) if one.day == DAY and one.place > 2]
    if row["broken"] == "ids":
        scored[mine[5]] = replace(scored[mine[5]], number=None)
        seen[theirs[0]] = replace(seen[theirs[0]], number=None)
    if row["broken"] == "scores":
        scored[mine[6]] = replace(scored[mine[6]], score=None)
        scored[mine[7]] = replace(scored[mine[7]], score=1.5)
    if row["broken"] == "outcomes":
        seen[theirs[0]] = replace(seen[theirs[0]], said="wrong")
        seen[theirs[1]] = replace(seen[theirs[1]], said=None)
    if row["broken"] == "early":
        seen[theirs[0]] = replace(seen[theirs[0]], minute=1)


def logs(row: Row, seed: int) -> tuple[Log, Log]:
    """Give the rows of both logs as they are written, by the day on which they are logged."""
    scored, seen = draw(row, random.Random(f"{seed}{row}"))  # noqa: S311
    if row["together"] == "yes":
        first: dict[int | None, Event] = {}
        for one in seen:
            first.setdefault(one.number, one)
        rows = [
            (one, _prediction(row, one) | _beside(row, first.get(one.number))) for one in scored
        ]
        return _with_empty(row, _by_day(rows)), {}
    if row["outcome"] == "clicks":
        seen = [one for one in seen if one.said == 1]
    predictions = _with_empty(row, _by_day((one, _prediction(row, one)) for one in scored))
    outcomes = _by_day((one, _outcome(row, one)) for one in seen)
    return predictions, {day: outcomes.get(day, []) for day in days_of(row)}


def _with_empty(row: Row, rows: Log) -> Log:
    """Add a record with an empty list to each day, which is no prediction."""
    if row["explode"] == "none":
        return rows
    empty: Any = [] if row["explode"] == "list" else " "  # to CSV, nothing at all is no value
    return {day: [*listed, listed[3] | {"scores": empty}] for day, listed in rows.items()}


def _by_day(rows: Iterable[tuple[Event, dict[str, Any]]]) -> Log:
    found: Log = {}
    for one, written in rows:
        found.setdefault(one.day, []).append(written)
    return found


def _prediction(row: Row, one: Event) -> dict[str, Any]:
    found = _one_prediction(row, one)
    if row["explode"] == "list":
        found["scores"] = [found.pop("score")]
    elif row["explode"] == "text":
        score = found.pop("score")
        found["scores"] = None if score is None else f"{score!r};"
    return found


def _one_prediction(row: Row, one: Event) -> dict[str, Any]:
    rng = random.Random(one.place)  # noqa: S311 - the same on every day
    number = one.number or 0
    return {
        **_id(row, one.number, "predictions"),
        **_scores(row, one.score, number),
        **({"weight": 1.0 if one.label else 4.0} if row["weight"] == "predictions" else {}),
        **_stamps(row, one, "scored_at"),
        "country": rng.choice(["DE", "FR", "IT", None]),
        "tier": rng.choice(["gold", "tin"]),
        "device": rng.choice(["phone", "tv", "web", None]),
        "shop": rng.choice([7, 8, 9]),
        "age": rng.choice([12, 18, 33, 40, 71]),
        "amount": rng.choice([0.0, 1.5, 9.0, -3.3, 700.0]),
        "customer": rng.choice([7, 70, 700, None]),
        "tenant": rng.choice(["7", "ä", "70", None]),
        "wanted": "yes" if one.kept else "no",
        **({"rate": rng.choice([0.1, 0.3, 0.75, 1.0])} if row["label_rate"] == "logged" else {}),
        **(
            {"blocked": rng.choice([True, False, False, None])} if row["action"] == "logged" else {}
        ),
    }


def _outcome(row: Row, one: Event) -> dict[str, Any]:
    return {
        **_id(row, one.number, "outcomes"),
        **({} if row["outcome"] == "clicks" else {"outcome": _said(row, one.said)}),
        **({"weight": 1.0 if one.label else 4.0} if row["weight"] == "outcomes" else {}),
        **_stamps(row, one, "observed_at"),
        "wanted": "yes" if one.kept else "no",
    }


def _beside(row: Row, one: Event | None) -> dict[str, Any]:
    """Write an outcome into the row of its prediction; the day of the file is the other's."""
    said = _said(row, one.said) if one else None
    stamps = {"observed_at": _moment(row, one) if one else None} if row["time"] != "none" else {}
    weight = 1.0 if one and one.label else 4.0
    return {
        "outcome": said,
        **stamps,
        **({"weight": weight} if row["weight"] == "outcomes" else {}),
    }


def _id(row: Row, number: int | None, log: str) -> dict[str, Any]:
    column = "id" if log == "predictions" else "key"
    if row["key"] == "pair":
        user = None if number is None else number // 7
        if row["cast"] == "text" and log == "outcomes" and user is not None:
            user = str(user)  # type: ignore[assignment]
        item = None if number is None else f"i{number % 7}"
        return {f"{column}_user": user, f"{column}_item": item}
    found = None if number is None else _one_id(row, number, log)
    return {column: {"part": found}} if row["key"] == "field" else {column: found}


def _one_id(row: Row, number: int, log: str) -> Any:
    if row["key"] == "text":
        return f"a{number}"
    if row["key"] == "uuid":
        found = str(uuid.UUID(int=number * 3**60))
        return found.upper() if row["cast"] == "uuid" and log == "outcomes" else found
    if log == "outcomes" and row["cast"] in {"integer", "text"}:
        return f"{number:07d}" if row["cast"] == "integer" else f"{number}"
    return number


def _scores(row: Row, p: float | None, number: int) -> dict[str, Any]:
    if row["classes"] != "none":
        return _vector(row, p, number)
    if p is None:
        return {"score": None} if row["score_means"] != "probability_of_label" else UNLABELLED
    if p > 1 and row["score_means"] == "logit":
        return {"score": nan if row["format"] in {"parquet", "delta"} else None}
    if row["score_means"] == "probability_of_label":
        return _of_label(row, p, number)
    return {
        "score": {
            "probability": lambda: p,
            "percent": lambda: 100.0 * p,
            "logit": lambda: log(p / (1 - p)),
            "probability_of_0": lambda: 1.0 - p,
        }[row["score_means"]]()
    }


def _of_label(row: Row, p: float, number: int) -> dict[str, Any]:
    """Write the probability of one of the two labels, and that label."""
    hit = number % 3 == 0
    label = ("a miss", "a hit")[hit] if row["label"] == "own" else _label(row, said=hit)
    return {"score": p if hit else 1.0 - p, "predicted": label}


def _label(row: Row, *, said: bool) -> Any:
    """Write a label as outcomes are written, which clicks are not."""
    return int(said) if row["outcome"] == "clicks" else _said(row, int(said))


def _vector(row: Row, p: float | None, number: int) -> dict[str, Any]:
    """Write the probabilities of the classes: the highest is `p`, and belongs to any of them."""
    values: list[float | None] = [None] * 3
    if p is not None:
        rest = 1 - p if p <= 1 else 0.2
        best = p if p <= 1 else 0.6
        shares = [best, rest * 0.7, rest * 0.3]
        if p > 1 and row["sums"] == "check":
            shares[1] += 0.5  # also the highest scores may not add up to more than 1
        turned = [shares[(i - number) % 3] for i in range(3)]
        values = [2.0 * v if row["sums"] == "normalise" else v for v in turned]
    if row["classes"] == "columns":
        return {f"p_{name}": value for name, value in zip(CLASSES, values, strict=True)}
    if row["classes"] == "list":
        return {"p": None if p is None else values}
    if row["classes"].startswith("top_") and row["classes"] != "top_map":
        return _highest(row, values, number)
    return {"p": None if p is None else dict(zip(CLASSES, values, strict=True))}


def _highest(row: Row, values: list[float | None], number: int) -> dict[str, Any]:
    """Write the three highest scores and their classes, in any order."""
    order = [(i + number // 3) % 3 for i in range(3)]
    names, scores = [CLASSES[i] for i in order], [values[i] for i in order]
    if row["classes"] == "top_lists":
        return {"best": names, "scores": None if None in scores else scores}
    of = enumerate(zip(names, scores, strict=True))
    return {key: v for i, (n, p) in of for key, v in ((f"class_{i}", n), (f"score_{i}", p))}


def _said(row: Row, said: int | str | None) -> Any:
    if said is None:
        return None
    wrong = said == "wrong"
    if row["classes"] != "none" and row["outcome"] == "integer" and row["classes"] != "columns":
        return "bird" if wrong else CLASSES[int(said)]
    return {
        "integer": lambda: 7 if wrong else said,
        "float": lambda: 7.5 if wrong else float(said),
        "boolean": lambda: None if wrong else bool(said),
        "texts": lambda: "void" if wrong else ["lost", "won"][int(said)],
        "numbers": lambda: 0 if wrong else [-1, 1][int(said)],
        "truths": lambda: None if wrong else not said,
    }[row["outcome"]]()


def _stamps(row: Row, one: Event, column: str) -> dict[str, Any]:
    """Write the time of a row, and what dates the rows of a table."""
    found = {column: _moment(row, one)} if row["time"] != "none" else {}
    if row["layout"] == "table":
        local = _local(row, one)
        found["stamp"] = {
            "date": lambda: one.day,
            "zoned": lambda: local.astimezone(UTC),
            "ms": lambda: round(local.timestamp()) * 1000,
        }[row["dated"]]()
    return found


def _local(row: Row, one: Event) -> datetime:
    midnight = datetime.combine(one.day, time(), ZoneInfo(row["time_zone"]))
    return midnight + timedelta(minutes=one.minute)


def _moment(row: Row, one: Event) -> Any:
    local = _local(row, one)
    return {
        "zoned": lambda: local.astimezone(UTC),
        "naive": lambda: local.replace(tzinfo=None),
        "text": lambda: local.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "ms": lambda: round(local.timestamp()) * 1000,
    }[row["time"]]()


def write(row: Row, folder: Path, predictions: Log, outcomes: Log) -> None:
    """Write the files of both logs."""
    form = row["format"]
    _write_log(row, folder / "p", predictions, form)
    if row["together"] == "no":
        other = form if row["other_format"] == "same" else row["other_format"]
        _write_log(row, folder / "o", outcomes, other)


def columns_of(root: Path) -> list[str]:
    """Read which columns a log without a header has."""
    return (root / "columns").read_text().splitlines()


def _write_log(row: Row, root: Path, rows: Log, form: str) -> None:
    root.mkdir(parents=True)
    columns = [*dict.fromkeys(name for listed in rows.values() for one in listed for name in one)]
    kinds = {
        name: pa.array([one[name] for listed in rows.values() for one in listed]).type
        for name in columns
    }
    if row["header"] == "none":
        (root / "columns").write_text("\n".join(kinds))
    if row["classes"] in {"map", "top_map"} and "p" in kinds:
        kinds["p"] = pa.map_(pa.string(), pa.float64())
    if row["layout"] == "table":
        everything = [one for day in sorted(rows) for one in rows[day]]
        if form == "delta":
            deltalake.write_deltalake(str(root / "all"), _table(everything, kinds))
        else:
            _write_file(row, root / f"all.{SUFFIX[form]}", everything, kinds)
        return
    for day, listed in rows.items():
        if row["layout"] == "days":
            _write_file(row, root / f"{day}.{SUFFIX[form]}", listed, kinds)
            continue
        (root / f"{day}").mkdir()
        half = len(listed) // 2
        for part, some in enumerate((listed[:half], listed[half:])):
            _write_file(row, root / f"{day}" / f"{part}.{SUFFIX[form]}", some, kinds)


def _table(rows: Rows, kinds: dict[str, pa.DataType]) -> pa.Table:
    return pa.table(
        {name: pa.array([_item(r[name], kind) for r in rows], kind) for name, kind in kinds.items()}
    )


def _item(value: Any, kind: pa.DataType) -> Any:
    """Write the content of a map as Arrow takes it."""
    return [*value.items()] if pa.types.is_map(kind) and value is not None else value


def _write_file(row: Row, path: Path, rows: Rows, kinds: dict[str, pa.DataType]) -> None:
    if path.suffix == ".parquet":
        pq.write_table(_table(rows, kinds), path)
        return
    if path.suffix == ".jsonl":
        lines = (
            json.dumps({k: v for k, v in r.items() if v is not None}, default=str) for r in rows
        )
        path.write_text("".join(f"{line}\n" for line in lines))
        return
    text = StringIO()
    bare = row["header"] == "none"
    writer = csv.writer(text, delimiter="|" if bare else ",")
    if not bare:
        writer.writerow(kinds)
    for one in rows:
        missing = NULL_TEXT if bare else ""
        writer.writerow(missing if one[n] is None else _cell(one[n]) for n in kinds)
    content = text.getvalue().encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | dict):
        return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
