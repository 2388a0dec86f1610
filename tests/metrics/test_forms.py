"""Every measure is called alike: rows, a tally or bins, outcomes before scores."""

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_equal

from monitor import metrics
from monitor.metrics import Bins, Tally, tally
from monitor.metrics.test_based.tce import Tce
from tests.support.public_names import HOMES

ROWS = (np.random.default_rng(5).random(400) < (s := np.linspace(0.02, 0.98, 400).round(2)), s)
FUNCTIONS = {
    name: function for name in HOMES if inspect.isfunction(function := getattr(metrics, name))
}
OF_SAMPLES = [
    name
    for name, function in FUNCTIONS.items()
    if next(iter(inspect.signature(function).parameters)) in {"t", "bins"}
]
# Their further arguments have one value for each group of the tally; `shift` makes a new tally.
OF_GROUPS = {"fitted_score", "improvement", "shift"}
FURTHER: dict[str, Any] = {
    "ace": {"n": 10},
    "bootstrap_interval": {"measure": metrics.brier, "rng": 1, "replicates": 20},
    "bootstrap_intervals": {"measures": {"Brier": metrics.brier}, "rng": 1, "replicates": 20},
    "consistency_band": {"rng": 1, "replicates": 50},
    "ece_interval": {"rng": 1},
    "net_benefit": {"threshold": 0.3},
    "pava_bc": {"min_size": 20, "max_size": 100},
    "quantile_bins": {"n": 10},
    "smooth_ece_at": {"bandwidth": 0.05},
    "tce_at_size": {"size": 100, "rng": 1},
    "tce_null_reference": {"min_size": 20, "max_size": 100, "rng": 1},
    "uniform_bins": {"n": 10},
}


def call(name: str, *sample: Any, **named: Any) -> Any:
    """Call a measure with its further arguments; a generator is made anew each time."""
    further = dict(FURTHER.get(name, {}))
    if "rng" in further:
        further["rng"] = np.random.default_rng(further["rng"])
    return FUNCTIONS[name](*sample, **named, **further)


def in_numbers(result: Any) -> Any:
    """Give a result as what `assert_equal` compares; the groups of bins may be rows or scores."""
    fields = getattr(result, "__dataclass_fields__", {})
    left_out = {"starts"} if isinstance(result, Bins) else {"find_accepted"}
    found_late = {"accepted"} if isinstance(result, Tce) else set()
    if not fields:
        return result
    return {name: in_numbers(getattr(result, name)) for name in {*fields} - left_out | found_late}


@pytest.mark.parametrize("name", sorted(set(OF_SAMPLES) - OF_GROUPS))
def test_every_form_gives_the_same(name: str) -> None:
    """A tally, the pair of columns, two columns and named columns are one sample."""
    expected = call(name, tally(*ROWS))
    y_true, y_prob = ROWS
    lists = [y_true.tolist(), y_prob.tolist()]
    forms = [
        call(name, ROWS),
        call(name, y_true, y_prob),
        call(name, *lists),
        call(name, y_true, y_prob=y_prob),
        call(name, y_true=y_true, y_prob=y_prob),
    ]

    for form in forms:
        if name in {"brier", "rbs", "log_score", "ace"}:  # one pass over rows: promised to 1e-12
            assert form == pytest.approx(expected, rel=1e-12)
        elif isinstance(expected, Bins):
            assert form.counts.tolist() == expected.counts.tolist()
            assert form.score_sums == pytest.approx(expected.score_sums, rel=1e-12)
        elif name == "spiegelhalter":
            assert form.z == pytest.approx(expected.z, rel=1e-10)
        else:
            assert_equal(in_numbers(form), in_numbers(expected))


@pytest.mark.parametrize("name", sorted(set(OF_SAMPLES) - OF_GROUPS))
def test_swapped_columns_are_named(name: str) -> None:
    """Scores before outcomes are refused, and the message says what to do."""
    y_true, y_prob = ROWS
    with pytest.raises(ValueError, match=r"look swapped: give the outcomes first, as y_true"):
        call(name, y_prob, y_true.astype(float))


def test_swapped_classes_are_named() -> None:
    """Of vectors the shapes tell."""
    vectors = np.full((4, 2), 0.5)
    for name in ("classwise_tallies", "top_label_tally"):
        with pytest.raises(ValueError, match=r"look swapped"):
            FUNCTIONS[name](vectors, [0, 1, 0, 1])


@pytest.mark.parametrize("sample", [(None,), ([0, 1],), (0.5, 0.5), ("ab", "cd"), ()])
def test_what_is_no_sample_is_refused(sample: tuple[Any, ...]) -> None:
    """The message says what a measure takes."""
    with pytest.raises(TypeError, match=r"^brier takes y_true and y_prob, .* or a Tally, got"):
        metrics.brier(*sample)
    with pytest.raises(TypeError, match=r"^ece takes y_true and y_prob, .* or a Tally or Bins"):
        metrics.ece(*sample)


def test_bins_have_lost_the_scores() -> None:
    """A measure of scores says why it does not take bins."""
    bins = metrics.uniform_bins(*ROWS, 10)
    with pytest.raises(TypeError, match=r"auc takes .* got Bins; bins have lost the scores\.$"):
        metrics.auc(bins)


def test_default_bins_are_those_of_the_documentation() -> None:
    """ECE without bins is that of the daily job; TCE has the bins of the paper."""
    t: Tally = tally(*ROWS)
    smallest, largest = metrics.monitor_sizes(t.total)
    daily = metrics.pava_bc(t, min_size=smallest, max_size=largest)

    assert metrics.ece(t) == metrics.ece(daily)
    assert metrics.mce(t) == metrics.mce(daily)
    assert metrics.debiased_mean_squared_gap(t) == metrics.debiased_mean_squared_gap(
        metrics.quantile_bins(t, 15)
    )
    assert metrics.hosmer_lemeshow(t) == metrics.hosmer_lemeshow(metrics.quantile_bins(t, 10))
    smallest, largest = metrics.paper_sizes(t.total)
    published = metrics.pava_bc(t, min_size=smallest, max_size=largest)
    assert metrics.tce(t).value == metrics.tce(t, published).value
    assert metrics.tce_t(t).value == metrics.tce_t(t, published).value


def test_no_public_function_takes_scores_first() -> None:
    """Where outcomes and scores are both asked for, they are y_true and y_prob, in this order."""
    for name, function in FUNCTIONS.items():
        parameters = list(inspect.signature(function).parameters)
        if "y_true" in parameters:
            assert parameters.index("y_prob") == parameters.index("y_true") + 1, name
        assert not {"labels", "outcomes"} & set(parameters) or "scores" not in parameters, name
