"""Words that choose between formulas: a misspelt one is refused, with those that there are."""

from collections.abc import Callable
from functools import cache
from typing import Any, get_args

import numpy as np
import pytest

from monitor.metrics.binned.binning import Tail, pava_bc
from monitor.metrics.core.tally import Tally, shift, tally
from monitor.metrics.intervals.bootstrap import Method, bootstrap_interval
from monitor.metrics.intervals.ece_interval import Adjustment, ece_interval
from monitor.metrics.intervals.intervals import Scale, normal_interval, uncertainty_interval
from monitor.metrics.logistic.intercept import fit_intercept
from monitor.metrics.scores.bounds import ScoringRule, improvement
from monitor.metrics.scores.brier import Convention, brier, rbs
from monitor.metrics.scores.corp import corp
from monitor.metrics.smooth.cumulative import (
    Null,
    cumulative_differences,
    log10_tail_of_maximum,
    log10_tail_of_range,
)


@cache
def fitted() -> Tally:
    """Forgive the intercept, for the null that asks for it."""
    sample = tally([0, 1, 0, 1, 0, 1], [0.2, 0.4, 0.4, 0.7, 0.8, 0.9])
    return shift(sample, fit_intercept(sample).delta)


def rng() -> np.random.Generator:
    """Give a source of chance."""
    return np.random.default_rng(1)


CALLS: dict[str, tuple[str, Any, Callable[[Any], object]]] = {
    "corp": ("rule", ScoringRule, lambda word: corp(fitted(), rule=word)),
    "improvement": (
        "rule",
        ScoringRule,
        lambda word: improvement(fitted(), 0.9 * fitted().scores, rule=word),
    ),
    "uncertainty": ("rule", ScoringRule, lambda word: uncertainty_interval(fitted(), rule=word)),
    "differences": ("null", Null, lambda word: cumulative_differences(fitted(), null=word)),
    "maximum": ("null", Null, lambda word: log10_tail_of_maximum(1.0, null=word)),
    "range": ("null", Null, lambda word: log10_tail_of_range(1.0, null=word)),
    "pava_bc": ("tail", Tail, lambda word: pava_bc(fitted(), min_size=2, max_size=4, tail=word)),
    "brier": ("convention", Convention, lambda word: brier(fitted(), convention=word)),
    "rbs": ("convention", Convention, lambda word: rbs(fitted(), convention=word)),
    "normal": ("scale", Scale, lambda word: normal_interval(0.5, 0.1, scale=word)),
    "ece": ("adjusted", Adjustment, lambda word: ece_interval(fitted(), adjusted=word, rng=rng())),
    "bootstrap": (
        "method",
        Method,
        lambda word: bootstrap_interval(fitted(), brier, method=word, rng=rng()),
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("wrong", ["Log", None])
def test_unknown_words_are_refused(name: str, wrong: object) -> None:
    """The message names the option, the words that there are, and the one given."""
    option, words, call = CALLS[name]

    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole message is compared
        call(wrong)

    known = ", ".join(get_args(words))
    assert str(refused.value) == f"the {option} must be one of {known}, got {wrong!r}."
