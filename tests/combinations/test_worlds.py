"""Whole worlds, from logs to what the command shows: counts and answers are those that were kept.

Each has 28 sound days, in which the prior moves, and then a week of scores that are too extreme.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from scipy.special import expit, softmax

from monitor.store.store import Store
from monitor.store.summary_table import summary_table
from tests.conftest import run_command
from tests.support.rules import HOW, differing, leaves, summed

FIRST, DAYS, SOUND, CENTRE = date(2026, 1, 5), 35, 28, -1.2
VOLATILE = {"known_at", "program", "store", "path", "config", "days_ago"}
LATE = np.array([0.45, 0.3, 0.15, 0.1])  # shares of the outcomes by days


class Drawn(NamedTuple):
    """A day: its rows' ids, scores and outcomes, and what draws more of them."""

    day: date
    rng: np.random.Generator
    ids: np.ndarray
    scores: np.ndarray
    outcomes: np.ndarray


def drawn(seed: int, rows: int, slope: float = 0.5) -> Iterator[Drawn]:
    """Draw days, which differ in size and prior."""
    rng = np.random.default_rng([58, seed])
    for number in range(DAYS):
        size = int(rows * rng.uniform(0.7, 1.3))
        logits = rng.normal(CENTRE, 1.2, size)
        outcomes = (rng.random(size) < expit(logits + rng.normal(0.0, 0.4))).astype(int)
        spread = 1.0 if number < SOUND else slope
        ids = np.arange(size) + 10_000 * number
        day = FIRST + timedelta(number)
        yield Drawn(day, rng, ids, expit(CENTRE + (logits - CENTRE) / spread), outcomes)


def put(log: str, day: date, **columns: Any) -> None:
    """Write a file of a log."""
    Path(log).mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), f"{log}/{day}.parquet")


def two_logs(more: str, scores: str = "score: score", wait: int = 0) -> str:
    """Configure two logs."""
    return f"""\
predictions: {{path: "p/{{day}}.parquet", id: id, {scores}}}
outcomes: {{path: "o/{{day}}.parquet", id: id, outcome: y}}
settled_after: {wait}
{more}
"""


def texts() -> str:
    """Percent and words in one CSV; some rows are delivered twice, some scores are no numbers."""
    Path("p").mkdir()
    for of in drawn(1, 300):
        written = [f"{100 * p:.4f}" for p in of.scores]
        written[:2] = "n/a", "170"
        words = np.where(of.outcomes, "bad", np.where(of.ids % 9, "good", "open"))
        table = pa.table({"Key": of.ids.astype(str), "Risk %": written, "Result": words})
        whole = pa.concat_tables([table, table.slice(5, 7)])
        pyarrow.csv.write_csv(whole, f"p/{of.day}.csv")
    return """\
predictions: {path: "p/{day}.csv", id: Key, score: {sql: 'TRY_CAST("Risk %" AS DOUBLE)'},
  score_means: percent, duplicates: keep_identical}
outcomes: {in_predictions: true, outcome: Result,
  outcome_means: {positive: [bad], negative: [good]}}
checks: {reject: [outcome_invalid, score_missing, score_out_of_range]}
settled_after: 0
"""


def sampled() -> str:
    """Keep a quarter of the negatives, with weights, of customers who return, on weekdays."""
    for of in drawn(2, 800):
        kept = (of.outcomes == 1) | (of.rng.random(of.ids.size) < 0.25)
        weights = np.where(of.outcomes == 1, 1, 4)
        if of.day.weekday() < 5:
            who = of.rng.integers(0, 150, of.ids.size)[kept]
            put("p", of.day, id=of.ids[kept], score=of.scores[kept], w=weights[kept], who=who)
            put("o", of.day, id=of.ids[kept], y=of.outcomes[kept])
    return two_logs(
        "calendar: {weekdays: [mon, tue, wed, thu, fri]}\n"
        "verdicts: {references: [{first: 2026-01-05, last: 2026-01-31}]}",
        "score: score, weight: w, entity: who",
    )


def late() -> str:
    """Outcomes come over days; segments, a watched column, and what decisions cost."""
    arrived = defaultdict[int, list[tuple[np.ndarray, np.ndarray]]](list)
    for number, of in enumerate(drawn(3, 400)):
        age = of.rng.choice(LATE.size, of.ids.size, p=LATE)
        for days in range(LATE.size):
            arrived[number + days].append((of.ids[age == days], of.outcomes[age == days]))
        columns = {
            "os": of.rng.choice(["ios", "web"], of.ids.size),
            "device": of.rng.choice(["tv", "phone", "car"], of.ids.size),
        }
        put("p", of.day, id=of.ids, score=of.scores, **columns)
    for number, parts in arrived.items():
        ids, outcomes = (np.concatenate(each) for each in zip(*parts, strict=True))
        put("o", FIRST + timedelta(number), id=ids, y=outcomes)
    return two_logs(
        """\
checks: {reject: [outcome_late]}
segments:
  - {column: os, values: [ios, web], primary: true}
  - {column: device, top: 2}
decision: {threshold: 0.3, benefit: 1, cost: 0.5}""",
        wait=2,
    )


def reviewed() -> str:
    """Labels are chosen by the score; a day without a file, and a second reference."""
    for number, of in enumerate(drawn(4, 900)):
        labelled = of.rng.random(of.ids.size) < 0.1 + 0.8 * of.scores
        if number != 30:
            put("p", of.day, id=of.ids, score=of.scores)
        put("o", of.day, id=of.ids[labelled], y=of.outcomes[labelled])
    spans = "[{first: 2026-01-05, last: 2026-01-18}, {first: 2026-01-19, last: 2026-02-01}]"
    settings = "label_rate: by_score\nchecks: {accept: [missing_day]}\nverdicts: {references: %s}"
    return two_logs(settings % spans)


def classes() -> str:
    """Three classes in a list, in two segments."""
    names, rng = np.array(["cat", "dog", "fish"]), np.random.default_rng([58, 5])
    for number in range(DAYS):
        day, size = FIRST + timedelta(number), 250
        logits = rng.normal(np.log([0.5, 0.3, 0.2]) + rng.normal(0, 0.25, 3), 1.1, (size, 3))
        true = softmax(logits, axis=1)
        labels = (true.cumsum(axis=1)[:, :2] < rng.random((size, 1))).sum(axis=1)
        said = softmax(logits * (1.0 if number < SOUND else 1.7), axis=1)
        ids = np.arange(size) + 1_000 * number
        put("p", day, id=ids, v=pa.array(said.tolist()), os=rng.choice(["a", "b"], size))
        put("o", day, id=ids, y=names[labels])
    scores = "classes: {names: [cat, dog, fish], vector: v}"
    return two_logs("segments: {column: os, values: [a, b]}", scores)


@pytest.mark.parametrize("world", [texts, sampled, late, reviewed, classes])
def test_the_worlds_have_the_number_of_their_answers(
    world: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Summaries of all days, and all that `show` and `show --incidents` know."""
    monkeypatch.chdir(tmp_path)
    settings = "".join(f"    {line}\n" for line in f"windows: [1]\n{world()}".splitlines())
    Path("monitor.yaml").write_text(f"store: store\nmodels:\n  m:\n{settings}")
    last = FIRST + timedelta(DAYS - 1)
    span = "--from", FIRST, "--to", last, "--as-of", last + timedelta(9)
    done = run_command("backfill", "--model", "m", *span)
    assert done.code == 0, done.err
    now = {}
    for call in (("show",), ("show", "--incidents")):
        shown = json.loads(run_command(*call, "--model", "m", "--json").out)
        now[" ".join(call)] = summed(leaf for leaf in leaves(shown.items()) if is_answer(leaf[0]))
    store = Store("store")
    for day in store.days("summaries", "m"):
        table = summary_table(store.read_summary("m", day)[0])
        now[f"{day}"] = summed(leaves(table.to_pydict().items()))

    assert not (differ := differing(world.__name__, now)), (
        f"{', '.join(differ)} of the world {world.__name__!r} are not as they were. If that is "
        f"meant, say under Numbers in CHANGELOG.md what moves, and keep them {HOW}."
    )


def is_answer(name: str) -> bool:
    """Say whether a value does not depend on when, where and by which program it was computed."""
    return VOLATILE.isdisjoint(name.split("."))
