"""What `check` says of logs that are valid: counts, what can be found, and what looks wrong."""

import json
import re
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from scipy.special import expit, logit

from monitor.days.summary import Segment, Summary
from monitor.metrics.core.tally import tally_on_grid
from monitor.store.store import Store
from tests.conftest import Ended, run_command
from tests.support.cases import some

DAY = date(2026, 3, 2)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ROWS = 2_000


def rows() -> dict[str, Any]:
    """Draw a day of a calibrated model, in the order of scores."""
    rng = np.random.default_rng(5)
    scores = np.sort(expit(rng.normal(-2.0, 1.0, ROWS)))
    return {
        "prediction_id": np.arange(ROWS),
        "score": scores,
        "outcome": (rng.random(ROWS) < scores).astype(int),
        "scored_at": [NOON] * ROWS,
        "observed_at": [NOON + timedelta(hours=1)] * ROWS,
        "tenant": ["a"] * 300 + ["b"] * (ROWS - 300),
    }


def try_command(folder: Path, *call: object, changed: dict[str, Any], **keys: Any) -> Ended:
    """Write the logs with some columns changed, and run a command on that day."""
    day = {**rows(), **changed}
    for log, columns in (
        ("predictions", ("prediction_id", "score", "scored_at", "tenant")),
        ("outcomes", ("prediction_id", "outcome", "observed_at")),
    ):
        pq.write_table(pa.table({c: day[c] for c in columns}), folder / f"{log}-{DAY}.parquet")
        keys[log] = {"path": f"{log}-{{day}}.parquet", **keys.get(log, {})}
    config = {"store": "store", "models": {"ctr": {"settled_after": 0, **keys}}}
    (folder / "monitor.yaml").write_text(yaml.safe_dump(config))
    return run_command(*call, "--config", folder / "monitor.yaml")


CHECK = ("check", "--day", DAY)
TIMES = {"predictions": {"time": "scored_at"}, "outcomes": {"time": "observed_at"}}


def test_shows_what_a_first_look_needs(tmp_path: Path) -> None:
    """Coverage, prevalence and mean score, rejects, and what the volume allows to find."""
    done = try_command(tmp_path, *CHECK, changed={}, **TIMES)

    assert (done.code, done.err) == (0, "")
    assert "coverage" in done.out
    assert "prevalence" in done.out
    assert "mean score" in done.out
    assert "rejected  no rows" in done.out
    assert "With 28 days like this one as the reference, changes of the slope below" in done.out
    assert "ctr: " not in done.out  # nothing looks wrong


def test_says_if_the_volume_is_too_small(tmp_path: Path) -> None:
    """A few outcomes a day are too few for a reference of 28 days."""
    few = {name: values[-30:] for name, values in rows().items()}
    few["outcome"] = [0] * 29 + [1]
    done = try_command(tmp_path, *CHECK, changed=few)

    assert done.code == 0
    assert "With 28 days like this one as the reference there would be 28 of at least" in done.out


@pytest.mark.filterwarnings("error")
def test_says_if_strata_separate_the_outcomes(tmp_path: Path) -> None:
    """If each stratum has one outcome only, no change of the slope can be found."""
    separate = ["a" if outcome else "b" for outcome in rows()["outcome"]]
    strata = {"column": "tenant", "values": ["a", "b"]}

    done = try_command(tmp_path, *CHECK, changed={"tenant": separate}, strata=strata)

    assert (done.code, done.err) == (0, "")
    assert (
        "With 28 days like this one as the reference no change of the slope can be found, because "
        "within each part of its days all scores or all outcomes are equal. Fewer segments or "
        "strata"
    ) in " ".join(done.out.split())


DAYS_LATER = [NOON + timedelta(days=30)] * ROWS
SCORES = rows()["score"]
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "the other class": ({"score": 1 - SCORES}, "set predictions.score_means to probability_of_0"),
    "its own threshold": (
        {"outcome": (SCORES > 0.2).astype(int)},
        "set outcomes.outcome to the column with what happened later",
    ),
    "times of another day": (
        {"scored_at": DAYS_LATER, "observed_at": DAYS_LATER},
        "half of the times of predictions.time are after 2026-04-01 12:00, far from their",
    ),
    "much too high": (
        {"score": expit(logit(SCORES) + 3), "outcome": [int(i % 40 == 0) for i in range(ROWS)]},
        "times lower; if positives arrive later, raise settled_after",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_says_what_looks_wrong(case: str, tmp_path: Path) -> None:
    """One sentence with the likely setting; the logs are valid, so the exit code is 0."""
    changed, sentence = WRONG[case]
    done = try_command(tmp_path, *CHECK, changed=changed, **TIMES)

    assert done.code == 0, done.err
    assert any(line.startswith("ctr: ") and sentence in line for line in done.out.splitlines())


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        (SCORES * 100, "the scores lie between .* like percent; .* set predictions.score_means to"),
        (logit(SCORES), "like logits; if they are, set predictions.score_means to logit. Else fix"),
    ],
)
def test_scores_on_another_scale_stop_with_the_setting(
    scores: np.ndarray, sentence: str, tmp_path: Path
) -> None:
    """The message about scores outside [0, 1] says which scale they seem to have."""
    done = try_command(tmp_path, *CHECK, changed={"score": scores})

    assert done.code == 3
    assert "scores lie outside [0, 1]" in done.err
    assert re.search(sentence, done.err), done.err


def test_a_filter_that_leaves_out_most_rows_is_named(tmp_path: Path) -> None:
    """`check`, `run` and `backfill` say the share and the setting in one line."""
    where = {"predictions": {"where": "tenant = 'a'"}}
    line = "ctr: predictions.where leaves out 1,700 of 2,000 rows (85 %) on 2026-03-02; "
    span = ("--model", "ctr", "--from", DAY, "--to", DAY)
    for call in (CHECK, ("run", "--begin", "--day", DAY), ("backfill", *span, "--again")):
        done = try_command(tmp_path, *call, changed={}, **where)
        assert done.code == 0, done.err
        assert line in done.out, call

    found = json.loads(try_command(tmp_path, *CHECK, "--json", changed={}, **where).out)
    (lost,) = found["models"]["ctr"]["left_out"]
    assert lost == {"setting": "predictions.where", "days": [str(DAY)], "rows": 1700, "of": 2000}


def test_says_how_many_entities_a_day_has(tmp_path: Path) -> None:
    """In a sentence, and as numbers; without the key nothing is said."""
    keyed = {"predictions": {"entity": "tenant"}}
    said = try_command(tmp_path, *CHECK, changed={}, **keyed).out
    found = json.loads(try_command(tmp_path, *CHECK, "--json", changed={}, **keyed).out)

    assert (
        "ctr: 2 entities have 2,000 rows on 2026-03-02; there are no predictions of the 7" in said
    )
    entities = found["models"]["ctr"]["entities"]
    assert (entities["rows"], entities["entities"], entities["before"]) == (2000, 2, None)
    assert "entities" not in try_command(tmp_path, *CHECK, changed={}).out


def test_a_check_that_rejects_most_rows_is_named(tmp_path: Path) -> None:
    """So are rejected rows, whatever the check."""
    ids = pa.array([i if i < 500 else None for i in range(ROWS)], pa.int64())
    done = try_command(
        *(tmp_path, "run", "--begin", "--day", DAY),
        changed={"prediction_id": ids},
        checks={"reject": ["prediction_id_missing", "outcome_id_missing"]},
    )

    assert done.code == 0, done.err
    lost = "the check prediction_id_missing leaves out 1,500 of 2,000 rows (75 %) on 2026-03-02"
    assert lost in done.out


def test_batches_count_what_is_left_out(tmp_path: Path) -> None:
    """Days that are read together are named together, as if each had been read alone."""
    day = rows()
    for i in range(3):
        date_ = DAY + timedelta(days=i)
        for log, column in (("predictions", "score"), ("outcomes", "outcome")):
            columns = {"prediction_id": [f"{i} {k}" for k in range(ROWS)], column: day[column]}
            tenants = {"tenant": day["tenant"]}
            pq.write_table(pa.table(columns | tenants), tmp_path / f"{log}-{date_}.parquet")
    logs = {
        log: {"path": f"{log}-{{day}}.parquet", "where": "tenant = 'a'"}
        for log in ("predictions", "outcomes")
    }
    config = {"store": "store", "models": {"ctr": {"settled_after": 1, **logs}}}
    (tmp_path / "monitor.yaml").write_text(yaml.safe_dump(config))
    span = ("--from", DAY, "--to", DAY + timedelta(days=1), "--as-of", DAY + timedelta(days=3))
    done = run_command(
        *("backfill", "--model", "ctr", "--config", tmp_path / "monitor.yaml", *span)
    )

    assert done.code == 0, done.err
    for log in logs:
        lost = f"{log}.where leaves out 3,400 of 4,000 rows (85 %) on 2 days, first {DAY}; "
        assert lost in done.out


@pytest.mark.parametrize(("ahead", "told"), [(31, False), (32, True)])
def test_a_drift_that_is_acknowledged_for_long_is_said(
    tmp_path: Path, ahead: int, *, told: bool
) -> None:
    """A span of known_drifts that ends more than 31 days ahead is named, with what to do."""
    as_of = DAY + timedelta(days=1)
    last = as_of + timedelta(days=ahead)
    verdicts = {"known_drifts": [{"first": DAY, "last": last}]}

    done = try_command(tmp_path, *CHECK, "--as-of", as_of, changed={}, verdicts=verdicts, **TIMES)

    assert (done.code, done.err) == (0, "")
    assert (f"acknowledges every drift until {last}, for 32 more days" in done.out) == told


@pytest.mark.parametrize(("days", "awaited"), some([(13, True), (14, False)], 2))
def test_a_reference_that_is_too_short_is_said(tmp_path: Path, days: int, *, awaited: bool) -> None:
    """It is named once, with what it lacks and what is used instead; nothing is written."""
    first, second = DAY - timedelta(days=50), DAY - timedelta(days=20)
    spans = [{"first": day, "last": day + timedelta(days=13)} for day in (first, second)]
    of_each = [first + timedelta(days=i) for i in range(14)]
    store_days(tmp_path, of_each + [second + timedelta(days=i) for i in range(days)])
    before = {path: path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file()}
    options = {"changed": {}, "verdicts": {"references": spans}}

    done = try_command(tmp_path, *CHECK, **options)
    found = json.loads(try_command(tmp_path, *CHECK, "--json", **options).out)["models"]["ctr"]

    sentence = (
        f"A new reference is not used yet: the one from {second} to {spans[1]['last']} has "
        "13 of at least 14 final days; wait for them, or name more days in verdicts.references. "
        "Until then the one before it stays in force."
    )
    assert (done.code, done.err) == (0, "")
    assert (f"ctr: {sentence}" in done.out.splitlines()) == awaited
    assert ("not used yet" in done.out) == awaited
    assert found["awaited_reference"] == (sentence if awaited else None)
    assert before == {path: path.read_bytes() for path in before}


def store_days(folder: Path, days: list[date]) -> None:
    """Store the same calibrated rows for each day."""
    store, part = Store(f"{folder}/store"), rows()
    whole = Segment(tally_on_grid(part["outcome"], part["score"]), ROWS)
    known_at = datetime.combine(DAY, time(), UTC)
    for day in days:
        store.write_summary(
            Summary("ctr", (day,), {"all": whole}, {}, final=True, known_at=known_at)
        )


MAPS: dict[str, tuple[Any, str]] = {
    "a hundredth": (SCORES / 100.0, "probabilities were read as percent: every score is 1/100 of"),
    "the other class": (1.0 - SCORES, "the scores were those of the other class, 1 - p"),
    "log-odds": (expit(logit(SCORES) + 3.0), "+3.00 had been added to the log-odds of every score"),
    "decisions": (np.round(SCORES), "the scores were rounded to 0 and 1"),
    "as before": (SCORES, ""),
}


@pytest.mark.parametrize("case", some(MAPS, 2))
def test_a_map_of_all_scores_since_the_reference_is_named(case: str, tmp_path: Path) -> None:
    """As the verdict names it, instead of a setting that would hide it; nothing is written."""
    scores, said = MAPS[case]
    store_days(tmp_path, [DAY - timedelta(days=i) for i in range(1, 29)])
    before = {path: path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file()}
    done = try_command(tmp_path, *CHECK, "--json", changed={"score": scores})
    remarks = json.loads(done.out)["models"]["ctr"]["remarks"]

    assert (done.code, done.err) == (0, "")
    assert [each["key"] for each in remarks] == ["predictions.score"] * bool(said)
    assert all(f"It is as if {said}" in each["sentence"] for each in remarks)
    assert all("Ask what was released" in each["sentence"] for each in remarks)
    after = {path: path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file()}
    assert after == before
