"""Kept fits: read back to the last bit."""

import json
from dataclasses import fields, replace
from datetime import date
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from monitor.days.summary import Segment, Summary, end_of_day
from monitor.drift.classes.pairs import PairCurves
from monitor.drift.fold.inputs import Limits, ModelReference, fit_model_reference, inputs_of
from monitor.drift.records.lack import Lack
from monitor.metrics.core.tally import tally_on_grid
from monitor.store.fit_record import laid_out, read_back
from studies.classes.worlds import NONE, WORLDS, day_of_pairs, stream


def a_day(number: int) -> Summary:
    """Draw a day with two segments, one of which is too small for a reference."""
    rng, day = np.random.default_rng(number), date(2026, 3, number)
    segments = {}
    for name, rows in (("DE", 400), ("FR", 9)):
        scores = expit(rng.normal(-1.0, 1.0, rows))
        segments[name] = Segment(tally_on_grid(rng.random(rows) < scores, scores), rows)
    return Summary("ctr", (day,), segments, {}, final=True, known_at=end_of_day(day, "UTC"))


@pytest.fixture(scope="module")
def fitted() -> ModelReference:
    """Fit a reference of 20 days."""
    return fit_model_reference([inputs_of(a_day(number)) for number in range(1, 21)], Limits())


@pytest.fixture(scope="module")
def fitted_to_pairs() -> ModelReference:
    """Fit one of a model with classes whose pairs have curves of their own."""
    bent = next(world for world in WORLDS if world.bent and world.classes == 10)
    drawn = stream(bent, NONE, 1, days=20, start=20)
    return fit_model_reference([*map(day_of_pairs, drawn)], Limits())


def same(one: Any, other: Any) -> bool:
    """Compare type and bits of all that two values hold."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        layout = one.strides == other.strides and one.dtype == other.dtype
        return layout and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if hasattr(one, "__dataclass_fields__"):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    return repr(one) == repr(other)  # nan is not equal to itself


def test_a_fit_is_read_back_to_the_last_bit(fitted: ModelReference) -> None:
    """Arrays, numbers, names and what a small segment lacks are the same after JSON."""
    found = read_back(json.loads(json.dumps(laid_out(fitted))))

    assert same(found, fitted)
    assert isinstance(found.streams["FR"], Lack)


def test_so_is_a_fit_of_pairs_of_classes(fitted_to_pairs: ModelReference) -> None:
    """The curves of pairs and the outcomes of classes are the same too."""
    found = read_back(json.loads(json.dumps(laid_out(fitted_to_pairs))))

    assert same(found, fitted_to_pairs)
    assert found.curves.codes
    assert found.classes.names == tuple(f"class {number}" for number in range(10))


def test_curves_of_parts_are_read_back() -> None:
    """A part is named by segment, stratum and pair; earlier records have none."""
    cells = np.arange(1024)
    curves = PairCurves(
        {"a against b": cells, ("DE", "all", "a against b"): cells + 1},
        {"a against b": np.ones(3), ("DE", "all", "a against b"): np.full(3, 0.5)},
        np.ones(3),
        np.full(3, 0.25),
    )
    laid = json.loads(json.dumps(laid_out(curves)))
    earlier = json.loads(json.dumps(laid_out(replace(curves, spread_of_parts=np.zeros(3)))))
    del earlier["kind"][1]["spread_of_parts"]

    assert same(read_back(laid), curves)
    assert not read_back(earlier).of_parts


@pytest.mark.parametrize(
    "value",
    [np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.float64(0.1), np.int64(3), -0.0, None],
    ids=str,
)
def test_numbers_keep_their_type_and_arrays_their_order(value: Any) -> None:
    """Sums depend on the order in memory, and division by zero on the type."""
    found = read_back(json.loads(json.dumps(laid_out(value))))

    assert same(found, value)
    if isinstance(value, np.ndarray):
        assert found.flags.f_contiguous
        assert found.flags.writeable


@pytest.mark.parametrize("wrong", [{"array": ["<f8", [3], "C", ""]}, {"kind": ["Path", {}]}, {}])
def test_what_is_no_fit_is_refused(wrong: Any) -> None:
    """Only forms and kinds of the program are read."""
    with pytest.raises((ValueError, LookupError)):
        read_back(wrong)
