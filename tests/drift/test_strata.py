"""Strata: parts of a segment whose priors move on their own, from the logs to the evidence."""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import expit

from monitor.base.errors import DataError
from monitor.base.segment_names import WHOLE
from monitor.config import Model
from monitor.days.summary import Segment, Summary, merge_summaries, stratified
from monitor.drift.evidence.directions import day_evidence
from monitor.drift.fold.inputs import Limits, fit_model_reference, inputs_of
from monitor.drift.verdicts.judge import judge
from monitor.logs import summarise_day
from monitor.metrics.core.coarse import coarsen
from monitor.metrics.core.tally import Tally, tally_on_grid
from monitor.store.store import Store

DAY = date(2026, 3, 2)
CENTRES = {"morning": -2.0, "evening": 0.0}  # of the scores' logits


STRATA = {"column": "part_of_day", "values": ["morning", "evening"]}


def rows(day: date, *, number: int = 4_000) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Draw scores and outcomes of two parts of a day; the curve is sound, each prior its own."""
    rng = np.random.default_rng(day.toordinal())
    found = {}
    for part, centre in CENTRES.items():
        x = rng.normal(centre, 1.0, number)
        found[part] = expit(x), (rng.random(number) < expit(x + rng.normal(0.0, 0.7))).astype(int)
    return found


def write_logs(root: Path) -> None:
    """Write one day of logs; a few rows are of a part that nobody listed."""
    drawn = {**rows(DAY), "night": (np.array([0.25, 0.5, 0.75]), np.array([0, 1, 1]))}
    scores, outcomes = (np.concatenate(both) for both in zip(*drawn.values(), strict=True))
    names = np.repeat([*drawn], [scores.size for scores, _ in drawn.values()])
    ids = pa.array(np.arange(scores.size))
    country = pa.array(np.where(np.arange(scores.size) % 2, "DE", "FR"))
    logs = {
        "predictions": {"score": scores, "part_of_day": names, "country": country},
        "outcomes": {"outcome": outcomes},
    }
    for kind, columns in logs.items():
        (root / kind).mkdir()
        pq.write_table(pa.table({"prediction_id": ids, **columns}), root / kind / f"{DAY}.parquet")


def model_of(root: Path, **changes: object) -> Model:
    """Describe these logs, with strata inside two segments."""
    described = {kind: {"path": f"{root}/{kind}/{{day}}.parquet"} for kind in LOGS}
    segments = {"column": "country", "values": ["DE", "FR"]}
    return Model.model_validate(
        {**described, "settled_after": 0, "segments": segments, "strata": STRATA, **changes}
    )


LOGS = ("predictions", "outcomes")


def same(found: Tally, expected: Tally) -> bool:
    """Compare two tallies exactly."""
    names = ("scores", "counts", "positives")
    return all(np.array_equal(getattr(found, n), getattr(expected, n)) for n in names)


def test_logs_are_tallied_by_segment_and_stratum(tmp_path: Path) -> None:
    """Every stratum holds its own rows, a segment all of its strata, and the store brings both."""
    write_logs(tmp_path)
    store = Store(str(tmp_path / "store"))

    store.write_summary(
        summarise_day("ctr", model_of(tmp_path), DAY, as_of=DAY + timedelta(days=1))
    )
    read, _ = store.read_summary("ctr", DAY)

    plain = model_of(tmp_path, strata=None)
    expected = summarise_day("ctr", plain, DAY, as_of=DAY + timedelta(days=1))
    for name, part in read.segments.items():
        assert same(part.tally, expected.segments[name].tally)
        assert part.predicted == expected.segments[name].predicted
        assert [*part.strata] == ["morning", "evening", "other"]
        assert not expected.segments[name].strata
    odd = np.arange(4_000) % 2 == 1
    for place, (part_of_day, (scores, outcomes)) in enumerate(rows(DAY).items()):
        for country, chosen in (("DE", odd), ("FR", ~odd)):
            leaf = read.segments[country].strata[part_of_day]
            assert same(leaf.tally, tally_on_grid(outcomes[chosen], scores[chosen]))
            assert leaf.predicted == 2_000, place
    assert read.segments["other"].strata["morning"].predicted == 0
    assert sum(read.segments[name].strata["other"].predicted for name in ("DE", "FR")) == 3


def test_a_missing_column_of_strata_is_named(tmp_path: Path) -> None:
    """The message says which setting names a column that the log lacks."""
    write_logs(tmp_path)
    model = model_of(tmp_path, strata={"column": "shift", "values": ["a"]})

    with pytest.raises(DataError, match=r"no column 'shift'.*; else correct strata.column in the"):
        summarise_day("ctr", model, DAY, as_of=DAY + timedelta(days=1))


def summary(day: date) -> Summary:
    """Make the summary of a day of one segment with two strata."""
    strata = {
        name: Segment(tally_on_grid(*drawn[::-1]), 4_000) for name, drawn in rows(day).items()
    }
    moment = np.datetime64(day, "s").item()
    return Summary("ctr", (day,), {WHOLE: stratified(strata)}, {}, final=True, known_at=moment)


def test_strata_are_weighed_apart() -> None:
    """Mixed, two parts with priors of their own make every day's slope another; apart they do not.

    A day's evidence is that of its strata summed. A day knows its slope to 0.04 apart.
    """
    days = [inputs_of(summary(DAY + timedelta(days=i))) for i in range(48)]
    period = fit_model_reference(days[:28], Limits())
    reference = period.streams[WHOLE]

    apart = [
        whole.evidence.ratios
        for whole, *_ in judge("ctr", days[28:], references=[period], limits=Limits())
        if whole.evidence
    ]
    leaves = {
        (WHOLE, name): coarsen(leaf.tally)
        for name, leaf in summary(days[28].day).segments[WHOLE].strata.items()
    }
    assert np.array_equal(apart[0], day_evidence(reference, leaves).ratios)
    assert len(apart) == 20

    mixed = [inputs_of(merge_summaries([summary(day.day)])) for day in days]
    pooled = fit_model_reference(mixed[:28], Limits())
    day_variances = [found.streams[WHOLE].day_variances for found in (period, pooled)]
    assert np.sqrt(day_variances[0][0]) < 0.04
    assert np.sqrt(day_variances[1][0]) > 0.1
    assert np.sum(apart, axis=0).max() < 0.0
