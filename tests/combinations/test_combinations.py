"""Every setting that changes what is counted, with every other: counts by hand, or refused."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from monitor.base.errors import ConfigError, DataError
from monitor.config import Config, Engine, Model, load_config
from monitor.days.summary import Summary
from monitor.logs import Databases, open_databases, summarise_day
from monitor.pipeline.verdicts.reading import differences, reading_of
from monitor.store.summary_table import summary_table
from tests.combinations.comparing import compare
from tests.combinations.configuring import configuration
from tests.combinations.covering import Goal, Row, covering
from tests.combinations.factors import FACTORS, REFUSED, rules
from tests.combinations.rows import DAY, logs, write
from tests.support.cases import ALL
from tests.support.fuzzing import sections

PAIRS = Goal(2, [*FACTORS])
USUAL = {name: values[0] for name, values in FACTORS.items()}
# What once was wrong, and needs three settings to be seen.
ONCE_WRONG = (
    {"key": "field", "layout": "table", "strangers": "late"},
    {"classes": "list", "outcome": "float", "format": "csv"},
)
SHARES = 8  # of the rows that are tried, each of them one test
FIRST = 30  # rows that `make test` tries: they have every value, and most pairs
OF_OTHER_PLACES = dict.fromkeys(
    ("sql", "connection", "changed"), "needs a database; tests/logs/test_databases.py"
)
OF_OTHER_PLACES["renamed"] = "as under the name of today; tests/logs/test_shapes.py"
# What changes no count of a day, or is no matter of rows; by section, all of it or some keys.
NOT_COUNTED: dict[str, Mapping[str, str]] = {
    "Model": dict.fromkeys(
        ("owner", "severity", "schedule", "log_deadline_hours", "catch_up_days"),
        "when runs are, and who hears of them",
    )
    | dict.fromkeys(("windows",), "computed from counts")
    | {"map": "computed from counts; of vectors beside them, tests/pipeline/test_class_shadow.py"}
    | {"verdicts": "computed from counts", "doubts": "read by people"}
    | dict.fromkeys(("value", "decision", "budget"), "computed from counts"),
    **{
        key: {"*": "tests/logs/test_label_rates.py"}
        for key in ("ScoreRate", "RateFile", "RateColumn")
    },
    "Verdicts": {"*": "computed from counts"},
    "MapSetting": {"*": "computed from counts"},
    "Highest": dict.fromkeys(("outcome",), "sums beside the counts; tests/logs/test_class_top.py"),
    "Price": {"*": "computed from counts"},
    "Span": {"*": "days of references and of known drifts"},
    "PlannedSpan": {"*": "days of planned changes"},
    "Budget": {"*": "computed from counts"},
    "DecisionSetting": {"*": "computed from counts"},
    "Owner": {"*": "who hears of a model"},
    "Owners": {"*": "who hears of models"},
    "Report": {"*": "where pages are kept"},
    "Common": {"report": "where pages are kept"},
    "Config": {"report": "where pages are kept", "invalid": "no key"},
    "PredictionLog": OF_OTHER_PLACES,
    "OutcomeLog": OF_OTHER_PLACES
    | {"owner": "who hears of labels"}
    | {"explode": "as of predictions; tests/logs/test_exploding.py"}
    | {"calendar": "which partitions may be missing; tests/logs/test_calendar_of_outcomes.py"},
    "Checks": {"unknown": "of a column of times; tests/logs/test_contract.py"}
    | {"fail": "the usual answer; tests/logs/test_contract.py"},
    "Engine": {"conf": "where Spark runs"},
}


@cache
def array() -> list[Row]:
    """List the rows."""
    return [*covering(rules(), [PAIRS], seed=1), *(USUAL | row for row in ONCE_WRONG)]


def tried() -> list[Row]:
    """List the rows that are read; in the array, those that have most that is new come first."""
    return array() if ALL else array()[:FIRST] + array()[-len(ONCE_WRONG) :]


@pytest.fixture(scope="module")
def engines() -> Iterator[dict[str, Databases]]:
    """Open the engine once for each number of threads."""
    one, two = (open_databases(Engine(threads=n, memory_mb=300)) for n in (1, 2))
    with one as single, two as double:
        yield {"1": single, "2": double}


@pytest.mark.parametrize("share", range(SHARES))
def test_every_row_counts_what_plain_pandas_counts(
    share: int, engines: dict[str, Databases], tmp_path: Path
) -> None:
    """Rows, outcomes, cells, segments, columns, classes, what is left out and rejected."""
    for number, row in [*enumerate(tried())][share::SHARES]:
        try:
            compare(row, tmp_path / f"logs-{number}", 1, engines[row["threads"]])
        except Exception as error:
            error.add_note(f"row {number}: {row}")
            raise


@pytest.mark.parametrize("keys", REFUSED)
def test_what_cannot_work_together_is_refused(keys: tuple[str, str], tmp_path: Path) -> None:
    """In one sentence that names both keys."""
    for one, other in REFUSED[keys]:
        timed = {"time": "zoned"} if ("timed", "predictions") in (one, other) else {}
        path = tmp_path / "monitor.yaml"
        path.write_text(yaml.safe_dump(configuration(USUAL | timed | dict([one, other]), tmp_path)))
        with pytest.raises(ConfigError) as refusal:
            load_config(path).model("m")
        for line in str(refusal.value).splitlines():  # one for each log
            assert all(key in line for key in keys), line


def test_every_value_is_tried() -> None:
    """Also where some rows of the array are left out."""
    values = Goal(1, [*FACTORS])
    assert values.possible(rules()) <= {one for row in tried() for one in values.of(row)}


def public_sections() -> list[type[BaseModel]]:
    """List the sections that people write, which have the keys of those below them."""
    return [section for section in sections() if not section.__name__.startswith("_")]


def written() -> list[BaseModel]:
    """List every section of every configuration of the array."""
    found: list[Any] = [Config.model_validate(configuration(row, Path("/logs"))) for row in array()]
    for one in found:
        inner = [getattr(one, name) for name in one.model_fields_set]
        inner += [v for value in inner if isinstance(value, dict) for v in value.values()]
        inner += [v for value in inner if isinstance(value, tuple) for v in value]
        found.extend(value for value in inner if isinstance(value, BaseModel))
    return found


def test_every_setting_is_in_the_array() -> None:
    """A new key is a factor, or stands on the list of what is not counted, with its reason."""
    everything = written()
    for section in public_sections():
        set_keys = {
            k for one in everything if isinstance(one, section) for k in one.model_fields_set
        }
        known = NOT_COUNTED.get(section.__name__, {})
        missing = {*section.model_fields} - set_keys - {*known}
        assert not missing or "*" in known, (section.__name__, missing)


def changed_once() -> list[tuple[str, str]]:
    """List the values of factors that are not usual: all, or the last of each factor."""
    first = 1 if ALL else -1
    return [(name, value) for name, values in FACTORS.items() for value in values[first:]]


def test_each_change_of_a_setting_is_noticed_or_changes_no_count(
    engines: dict[str, Databases], tmp_path: Path
) -> None:
    """With the same logs: a day that is read otherwise says so, or has the same summary."""
    usual = USUAL | {"strangers": "both", "segments": "one"}
    path = tmp_path / "monitor.yaml"
    noticed, alike = set[str](), set[str]()
    write(usual, tmp_path, *logs(usual, 1))

    def read(row: Row) -> tuple[Model, Summary | None]:
        path.write_text(yaml.safe_dump(configuration(row, tmp_path)))
        model = load_config(path).model("m")
        with suppress(DataError):  # it cannot read these logs so, and the day fails by itself
            return model, summarise_day(
                "m", model, DAY, as_of=DAY + timedelta(days=4), engine=engines["2"]
            )
        return model, None

    model, before = read(usual)
    assert before
    for factor, value in changed_once():
        with suppress(ConfigError):
            now, summary = read(usual | {factor: value})
            if differences(reading_of(now), reading_of(model)):
                noticed.add(factor)
            elif summary:
                alike.add(factor)
                assert summary_table(summary) == summary_table(before), (factor, value)
                assert summary_table(summary).schema.metadata == (
                    summary_table(before).schema.metadata
                ), (factor, value)

    assert noticed >= {"key", "score_means", "scored_where", "weight"}
    assert not ALL or noticed >= {"settled_after", "outcome", "segments"}  # not by their last value
    assert alike >= {"threads", "calendar", "checks"}
