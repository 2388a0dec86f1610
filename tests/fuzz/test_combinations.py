"""Other rows of the array of settings: other logs, other triples of settings, and Spark."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.config import Engine
from monitor.logs import Databases, open_databases
from tests.combinations.comparing import compare
from tests.combinations.covering import Goal, covering
from tests.combinations.factors import FACTORS, OF_ROWS, rules
from tests.support.cases import some
from tests.support.fuzzing import SEED

NUMBER = int(SEED or 0)
# A part of the rows that have every value once. A seed of `make fuzz` takes all pairs, and all
# triples of the settings of single rows, and of some others.
SOME = random.Random(NUMBER).sample([*FACTORS], 12)  # noqa: S311 - not for secrets
PAIRS_AND_TRIPLES = Goal(2, [*FACTORS]), Goal(3, OF_ROWS), Goal(3, SOME)
GOALS = PAIRS_AND_TRIPLES if SEED else (Goal(1, [*FACTORS]),)
ROWS = [*covering(rules(), GOALS, NUMBER)]
ARRAY = some(ROWS, 1 if SEED else 3)
# DuckDB has to read classes.
READ_BY_SPARK = [row for row in ROWS if row["classes"] == "none"][: 20 if SEED else 1]


@pytest.fixture(scope="module")
def engine() -> Iterator[Databases]:
    """Open the engine once."""
    with open_databases(Engine(threads=2, memory_mb=300)) as found:
        yield found


@pytest.mark.parametrize("number", some(range(len(ARRAY)), 2))
def test_rows_of_a_seed_count_what_plain_pandas_counts(
    number: int, engine: Databases, tmp_path: Path
) -> None:
    """As tests/combinations, with the logs and the rows of another seed."""
    compare(ARRAY[number], tmp_path / "logs", NUMBER, engine)


@pytest.mark.parametrize("number", range(len(READ_BY_SPARK)))
def test_spark_counts_the_same(number: int, spark: Databases, tmp_path: Path) -> None:
    """Some of these rows, read by Spark."""
    compare(READ_BY_SPARK[number], tmp_path / "logs", NUMBER, spark)
