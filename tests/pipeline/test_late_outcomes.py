"""Outcomes that arrive after their day has settled: counted, named, and never called a drift."""

import shutil
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from math import nan
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.base.errors import DataError
from monitor.config import Config, Model, load_config
from monitor.days.arrivals import is_counted
from monitor.logs import summarise_day
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs.run import run
from monitor.pipeline.verdicts.judging import judge_days
from monitor.pipeline.verdicts.references import read_references
from monitor.store.names import stem
from monitor.store.store import Store
from tests.conftest import Ended
from tests.support.late_log import DAYS, DEPENDS_FROM, FIRST, ROWS, write_late_log

LAST = FIRST + timedelta(days=DAYS - 1)
SETTLED_AFTER = 3
END = LAST + timedelta(days=SETTLED_AFTER + 1)
NOON = datetime(2026, 12, 31, 12, tzinfo=UTC)
LATER = "of the positives of a day arrive later than settled_after (3 days)"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """Process the whole log in one call."""
    folder = tmp_path_factory.mktemp("late")
    write_late_log(folder)
    loaded = load_config(folder / "monitor.yaml")
    report = run(loaded, Task("risk", FIRST, LAST, END), clock=lambda: NOON, jobs=2)
    assert report.failures == ()
    return loaded


@pytest.fixture
def copied(config: Config, tmp_path: Path) -> Config:
    """Copy the store; the logs stay where they are."""
    shutil.copytree(config.store, tmp_path / "store")
    return config.model_copy(update={"store": str(tmp_path / "store")})


def states(config: Config) -> dict[date, tuple[str, str]]:
    """Give the state and the first sentence of every day after the reference."""
    store = Store(config.store)
    verdicts = [store.read_verdicts("risk", day)[0][0] for day in store.days("verdicts", "risk")]
    return {v.day: (v.state, v.reasons[0]) for v in verdicts if v.reference_prevalence > 0}


def test_a_delay_that_depends_on_the_score_is_no_drift(config: Config) -> None:
    """The model is calibrated every day, and no day is a drift: its outcomes are incomplete."""
    found = states(config)
    changed = FIRST + timedelta(days=DEPENDS_FROM)

    assert "calibration_drift" not in {state for state, _ in found.values()}
    bent = [reason for day, (state, reason) in found.items() if state == "insufficient_data"]
    assert len([day for day in found if day >= changed]) == DAYS - DEPENDS_FROM
    assert len([r for r in bent if "would look the same" in r]) >= 15
    assert all(LATER in reason for day, (_, reason) in found.items() if day >= changed)


def test_without_the_arrivals_it_would_be_one(copied: Config) -> None:
    """The same outcomes, not known to be incomplete, are a drift: the test above can fail."""
    shutil.rmtree(Path(copied.store) / "arrivals")
    changed = FIRST + timedelta(days=DEPENDS_FROM)
    judge_days(copied, "risk", read_references(copied, "risk"), changed)

    drifts = [day for day, (state, _) in states(copied).items() if state == "calibration_drift"]

    assert len(drifts) >= 15


def test_arrivals_are_counted_by_age(config: Config) -> None:
    """The numbers are those of the logs, for each counted day that is complete."""
    store = Store(config.store)
    days = store.days("arrivals", "risk")
    counted = store.read_arrivals("risk", days[1])
    folder = Path(config.model("risk").outcomes.path).parent
    ids = pq.read_table(config.model("risk").predictions.path.format(day=days[1]))[
        "prediction_id"
    ].to_pylist()

    expected = {1: [0] * 32, 0: [0] * 32}
    for age in range(32):
        seen = pq.read_table(folder / f"{days[1] + timedelta(days=age)}.parquet").to_pydict()
        for identity, outcome in zip(seen["prediction_id"], seen["outcome"], strict=True):
            if ids[0] <= identity <= ids[-1]:
                expected[outcome][age] += 1

    assert all(map(is_counted, days))
    assert days[-1] + timedelta(days=SETTLED_AFTER + 28) < END
    assert list(counted.positives) == expected[1]
    assert list(counted.negatives) == expected[0]


def test_a_late_row_of_a_known_prediction_is_no_orphan(config: Config) -> None:
    """The outcomes of a partition whose predictions are older than settled_after are late."""
    model, day = config.model("risk"), FIRST + timedelta(days=40)
    first_in_time = 37 * ROWS  # the ids of the day that settles with this partition
    ids = pq.read_table(model.outcomes.path.format(day=day))["prediction_id"].to_pylist()
    batched, _ = Store(config.store).read_summary("risk", day)

    alone = summarise_day("risk", model, day, as_of=END)

    late = sum(identity < first_in_time for identity in ids)
    assert late > 100
    assert batched.rejected == alone.rejected == {"outcome_late": late}


def test_late_rows_fail_the_day_if_that_is_set(config: Config) -> None:
    """With `outcome_late: fail` the message says how many came later than which age."""
    model, day = config.model("risk"), FIRST + timedelta(days=40)
    late = Store(config.store).read_summary("risk", day)[0].rejected["outcome_late"]
    checks = model.checks.also({"outcome_late": "fail"})
    strict = model.model_copy(update={"checks": checks})

    with pytest.raises(DataError) as refusal:
        summarise_day("risk", strict, day, as_of=END)
    assert f"{refusal.value}".startswith(f"risk {day}: {late} of ")
    assert (
        f"outcomes came after their day had settled, later than settled_after ({SETTLED_AFTER} "
        f"days); fix the log"
    ) in f"{refusal.value}"
    assert refusal.value.fault
    assert (refusal.value.fault.check, refusal.value.fault.rows) == ("outcome_late", late)


def test_day_by_day_the_bytes_are_the_same(copied: Config) -> None:
    """Five mornings leave what one call leaves, arrivals included."""
    root = Path(copied.store)

    def results() -> dict[str, bytes]:
        return {
            str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("2*.*"))
        }

    whole = results()
    for path in root.rglob("2*.*"):
        if date.fromisoformat(stem(path.name)) > LAST - timedelta(
            days=5 + 28 * ("arrivals" in path.parts)
        ):
            path.unlink()
    for back in range(4, -1, -1):
        day = LAST - timedelta(days=back)
        run(copied, Task("risk", day, day, day + timedelta(days=4)), clock=lambda: NOON)

    assert results() == whole


def test_the_commands_name_it(config: Config, command: Callable[..., Ended]) -> None:
    """`check`, `run` and `show` say that outcomes are incomplete, and `show` advises nothing."""
    path = Path(config.store).parent / "monitor.yaml"
    told = [
        command(*call, "--config", path)
        for call in (
            ("check", "--day", LAST),
            ("run", "--day", LAST, "--as-of", END),
            ("show", "--model", "risk"),
        )
    ]

    assert [ended.code for ended in told] == [0, 0, 0]
    words = [" ".join(ended.out.split()) for ended in told]
    assert all(LATER in said for said in words), words
    assert "log-odds of every score" not in words[2]


def test_a_late_outcome_counts_once_and_an_unknown_one_not(tmp_path: Path) -> None:
    """One of an id that two predictions have is late once; one that is nan is no outcome."""
    seen = FIRST + timedelta(days=5)
    write = {
        "p": {FIRST: (["a", "a", "b", "x"], [0.2, 0.3, 0.4, 0.5]), seen: (["c", "d"], [0.2, 0.6])},
        "o": {seen: (["a", "b", "c", "d", "z"], [1.0, nan, 0.0, 1.0, 1.0])},
    }
    for log, value in (("p", "score"), ("o", "y")):
        for day, (ids, values) in write[log].items():
            (tmp_path / log).mkdir(exist_ok=True)
            pq.write_table(pa.table({"id": ids, value: values}), tmp_path / log / f"{day}.parquet")
    model = Model.model_validate(
        {
            "predictions": {"path": f"{tmp_path}/p/{{day}}.parquet", "id": "id", "score": "score"},
            "outcomes": {"path": f"{tmp_path}/o/{{day}}.parquet", "id": "id", "outcome": "y"},
        }
    )

    summary = summarise_day("m", model, seen, as_of=seen + timedelta(days=1))

    assert summary.rejected == {"outcome_orphan": 1, "outcome_late": 1}
