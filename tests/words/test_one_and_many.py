"""Sentences that count say one thing as one, and many as many."""

import re
from dataclasses import replace

import pytest

from monitor.drift.records.facts import NO_CLASSES, Others
from monitor.drift.records.places import Place, Where
from monitor.metrics.core.estimate import Estimate
from monitor.words.classes import worst_pairs
from monitor.words.where import where_sentence

ONE_OF_MANY = re.compile(r"(?<![\d,.])1 [a-z]+s\b|\b1 of [\d,]+ [a-z]+s differ\b")
SLOPE = Estimate(0.8, 0.7, 0.9)


@pytest.mark.parametrize("count", [1, 2, 1_200])
@pytest.mark.parametrize("worst", ["", "cat against dog"])
@pytest.mark.parametrize("slope", [None, SLOPE])
def test_pairs_without_a_verdict(count: int, worst: str, slope: Estimate | None) -> None:
    """The sentence names the worst where one stands out, and says so of a single pair too."""
    said = worst_pairs(replace(NO_CLASSES, others=Others(count, worst, slope)))

    assert not ONE_OF_MANY.search(said)
    assert (f"{count:,} pairs" in said) == (count > 1)
    assert (worst or "stand") in said
    assert ("slope 0.80" in said) == bool(worst and slope)


@pytest.mark.parametrize("values", [1, 3])
@pytest.mark.parametrize("flagged", [0, 1, 2, 3])
def test_values_that_differ(values: int, flagged: int) -> None:
    """One value differs, several differ, and each is named."""
    flagged = min(flagged, values)
    places = tuple(
        Place("device", name, 1_000, SLOPE, SLOPE, evidence=2.0, share=0.3, flagged=i < flagged)
        for i, name in enumerate(("tv", "car", "phone")[:values])
    )
    said = where_sentence(Where("too_extreme", SLOPE, places, None))

    assert not ONE_OF_MANY.search(said)
    assert all((f"device = {place.value}" in said) == place.flagged for place in places)
    assert ("differs from its" in said) == (flagged <= 1)
