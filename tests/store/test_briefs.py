"""What a line over many days draws of verdicts, read without the rest of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from monitor.base.errors import DataError
from monitor.drift.fold.gate import withheld
from monitor.drift.records.facts import ThirdChoices
from monitor.drift.records.verdict import Verdict
from monitor.read.results import results_in, results_read_before
from monitor.store.sealing import sealed
from monitor.store.store import Store
from monitor.store.verdict_table import briefs_of, verdict_table
from tests.support.filled_store import DRIFT, FINAL, WHERE, verdict
from tests.support.stored import whole_table

CALM, DRIFTS = verdict("all", None), verdict("all", DRIFT)


def explained(**changes: Any) -> Verdict:
    """Change what explains the drift."""
    assert WHERE.explanation
    return replace(DRIFTS, where=replace(WHERE, explanation=replace(WHERE.explanation, **changes)))


def third(*, doubtful: bool) -> Verdict:
    """Give a whole its third choices, whose evidence may be withheld."""
    return replace(CALM, facts=replace(CALM.facts, third=ThirdChoices(DRIFT, None, doubtful)))


CASES = {
    "calm": CALM,
    "drifts": DRIFTS,
    "without an explanation": replace(DRIFTS, where=replace(WHERE, explanation=None)),
    "its values have no slope": explained(slope=None),
    "withheld": replace(CALM, reached=None, detector=withheld(CALM.detector)),
    "at that sum, but open": replace(DRIFTS, detector=withheld(DRIFTS.detector)),
    "third choices drift": third(doubtful=False),
    "third choices are withheld": third(doubtful=True),
    "of a segment": verdict("DE", None),
    "without a reference": replace(CALM, reached=None, slope=None, reference_prevalence=np.nan),
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Make an empty store."""
    return Store(str(tmp_path))


def write(store: Store, table: pa.Table) -> None:
    """Put a table in the place of the verdicts of the day."""
    path = Path(store.root) / f"verdicts/fraud/{FINAL}.arrows.zst"
    path.parent.mkdir(parents=True)
    path.write_bytes(sealed(path.name, table))


def test_briefs_are_those_of_the_verdicts(store: Store) -> None:
    """Each is what the whole verdict says, with the evidence withheld, explained or neither."""
    store.write_verdicts("fraud", FINAL, [*CASES.values()], basis="")
    briefs, verdicts = store.read_briefs("fraud", FINAL), store.read_verdicts("fraud", FINAL)[0]

    assert dict(zip(CASES, briefs, strict=True)) == {name: v.brief for name, v in CASES.items()}
    assert briefs == [v.brief for v in verdicts]
    for results in (
        results_in(store.root, "fraud"),
        results_in(store.root, "fraud", kept=True),
        results_read_before(store.root, "fraud", {}, {}),
    ):
        assert results.briefs(FINAL) == briefs
    assert {brief.withheld for brief in briefs} == {True, False}
    assert {brief.slope for brief in briefs} >= {None, CALM.slope}


def test_of_earlier_versions_the_whole_verdict_is_read(store: Store) -> None:
    """A file with one row for the whole of a verdict has no columns for briefs alone."""
    old = whole_table([DRIFTS]).replace_schema_metadata({"basis": ""})
    write(store, old)

    (brief,) = store.read_briefs("fraud", FINAL)

    assert briefs_of(old) is None
    assert brief == store.read_verdicts("fraud", FINAL)[0][0].brief
    assert (brief.reached, brief.slope) == (DRIFTS.reached, DRIFTS.slope)


def test_an_impossible_state_is_damage(store: Store) -> None:
    """What cannot be drawn is refused, as where the whole verdict is read."""
    table = verdict_table([CALM], about={"basis": ""})
    place = table.column_names.index("state")
    write(store, table.set_column(place, "state", pa.array(["fine"])))

    for read in (store.read_briefs, store.read_verdicts):
        with pytest.raises(DataError, match="state is out of range"):
            read("fraud", FINAL)


def test_numbers_that_are_stored_as_one_come_back(tmp_path: Path) -> None:
    """The start of a drift with its interval, a size with its error, and what can be found."""
    written, store = verdict("all", DRIFT), Store(str(tmp_path))
    store.write_verdicts("fraud", FINAL, [written], basis="")
    ((found,), _) = store.read_verdicts("fraud", FINAL)
    names = ("started", "start_low", "start_high", "size", "size_error", "evidence", "recovery")

    assert found.incident
    assert [getattr(found.incident, name) for name in names] == [
        getattr(DRIFT, name) for name in names
    ]
    assert found.detectable == written.detectable
