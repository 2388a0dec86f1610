"""Small cases of six programs: each agrees with ours, or differs for a stated reason.

`tools/golden/write_cases.py` wrote them. A case that differs must differ, and what explains
it must give the number of the program; docs/comparison.md says the reasons in words.
"""

import json
import lzma
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit

from monitor.metrics.beyond_binary.multiclass import (
    classwise_calibration_error,
    classwise_tallies,
    top_label_calibration_error,
    top_label_tally,
)
from monitor.metrics.binned.binning import Bins, pava, quantile_bins, uniform_bins
from monitor.metrics.binned.ece import (
    ace,
    debiased_root_mean_squared_gap,
    ece,
    mce,
    root_mean_squared_gap,
)
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.tally import Tally, tally
from monitor.metrics.intervals.actual_over_expected import actual_over_expected
from monitor.metrics.maps.centred_isotonic import fit_centred_isotonic
from monitor.metrics.scores.brier import brier
from monitor.metrics.scores.corp import ScoringRule, corp
from monitor.metrics.scores.discrimination import auc
from monitor.metrics.scores.log_score import log_score
from monitor.metrics.smooth.cumulative import cumulative_differences
from monitor.metrics.smooth.smooth_ece import smooth_ece_at
from tests.support.paths import GOLDEN, ROOT
from tests.support.recorded import bins_above, bins_at

Case = dict[str, Any]
DOUBLE, SINGLE = 1e-9, 1e-6  # sums in another order; torch-uncertainty computes in float32
GRID = 5e-3  # of a smooth ECE that torch-uncertainty moves to a grid first, as a ratio
BELOW = -1.0  # an edge below every score
INSIDE = np.linspace(0.1, 0.8, 8)  # where write_cases.py asks for isotonic regression


@cache
def record() -> Any:
    """Read the cases and their inputs."""
    return json.loads(lzma.decompress((GOLDEN / "peers" / "cases.json.xz").read_bytes()))


def rows(case: Case) -> tuple[Ints, Floats]:
    """Give the outcomes and the scores of a case."""
    outcomes, scores = record()["binary"][case["data"]]
    return np.array(outcomes), np.array(scores, np.float64)


def counted(case: Case) -> Tally:
    """Tally them."""
    return tally(*rows(case))


def labelled(case: Case) -> tuple[Ints, Floats]:
    """Give the labels and the rows of class probabilities of a case."""
    labels, scores = record()["classes"][case["data"]]
    return np.array(labels), np.array(scores, np.float64)


def top(case: Case) -> Tally:
    """Tally the predicted one of two classes."""
    outcomes, scores = rows(case)
    return top_label_tally(outcomes, np.column_stack([1.0 - scores, scores]))


def equal_width(case: Case) -> Bins:
    """Cut into the slices of a case."""
    return uniform_bins(counted(case), case["options"]["bins"])


def between_borders_of_numpy(case: Case) -> Bins:
    """Cut into slices at the borders of np.linspace, which lie beside the decimals."""
    t = counted(case)
    borders = np.linspace(0.0, 1.0, case["options"]["bins"] + 1)[:-1]
    return bins_at(t, np.searchsorted(t.scores, borders))


def equal_size(case: Case) -> Bins:
    """Cut at the quantiles of a case."""
    return quantile_bins(counted(case), case["options"]["bins"])


def closed_above(t: Tally, n: int) -> Bins:
    """Cut into slices of equal width that hold their upper edge; the first holds 0 too."""
    return bins_above(t, [BELOW, *(i / n for i in range(1, n + 1))])


def distinct(t: Tally) -> Bins:
    """Put every score into a bin of its own."""
    return bins_at(t, np.arange(t.scores.size))


def parts(t: Tally, rule: ScoringRule) -> list[float]:
    """Decompose a score as `decompose` of model-diagnostics lists it."""
    found = corp(t, rule=rule)
    return [found.miscalibration, found.discrimination, found.uncertainty, found.score]


def isotonic(t: Tally) -> Floats:
    """Fit an increasing step curve, and read it at every score."""
    blocks = pava(t)
    return np.repeat(blocks.rates, np.diff(blocks.starts))


def centred(t: Tally) -> Floats:
    """Fit our increasing curve, which joins the middles of the blocks; up to its level."""
    inner = (t.scores > 0.0) & (t.scores < 1.0)
    counts, positives = (np.array([a[inner]], float) for a in (t.counts, t.positives))
    knots, values = fit_centred_isotonic(logit(t.scores[inner]), counts, positives)
    return np.asarray(expit(np.interp(logit(INSIDE), knots, values)))


def two_class_brier(case: Case) -> float:
    """Sum the Brier scores of all classes against the rest."""
    return sum(brier(t) for t in classwise_tallies(*labelled(case)))


def widest(bins: Bins) -> float:
    """Give the widest gap."""
    return mce(bins).value


NORMS = {"l1": ece, "l2": root_mean_squared_gap, "max": widest}
OURS: dict[str, Callable[[Case], Any]] = {
    "ace": lambda c: ace(counted(c), c["options"]["bins"]),
    "auc": lambda c: auc(counted(c)).value,
    "brier": lambda c: brier(counted(c)),
    "brier_classes": two_class_brier,
    "centred_isotonic": lambda c: centred(counted(c)),
    "classwise": lambda c: classwise_calibration_error(
        *labelled(c), lambda t: uniform_bins(t, c["options"]["bins"])
    ),
    "corp_brier": lambda c: parts(counted(c), "brier"),
    "corp_log": lambda c: parts(counted(c), "log"),
    "debiased": lambda c: debiased_root_mean_squared_gap(equal_size(c)),
    "ece": lambda c: ece(equal_width(c)),
    "ece_distinct": lambda c: ece(distinct(counted(c))),
    "ece_quantile": lambda c: ece(equal_size(c)),
    "expected_over_actual": lambda c: 1.0 / actual_over_expected(counted(c)).value,
    "isotonic": lambda c: isotonic(counted(c)),
    "kuiper": lambda c: cumulative_differences(counted(c)).kuiper,
    "kuiper_p": lambda c: 10.0 ** cumulative_differences(counted(c)).kuiper_log10_p,
    "kuiper_sigma": lambda c: (
        cumulative_differences(counted(c)).kuiper / cumulative_differences(counted(c)).deviation
    ),
    "log_score": lambda c: log_score(counted(c)),
    "mce": lambda c: widest(equal_width(c)),
    "mean_scores": lambda c: equal_width(c).mean_scores,
    "quantile_rates": lambda c: equal_size(c).rates,
    "rates": lambda c: equal_width(c).rates,
    "rms": lambda c: root_mean_squared_gap(equal_width(c)),
    "rms_distinct": lambda c: root_mean_squared_gap(distinct(counted(c))),
    "rms_quantile": lambda c: root_mean_squared_gap(equal_size(c)),
    "smooth_top_label": lambda c: smooth_ece_at(top(c), bandwidth=0.1),
    "top_label_distinct": lambda c: top_label_calibration_error(*labelled(c), distinct),
    **{
        f"top_label_{name}": lambda c, norm=norm: norm(quantile_bins(top(c), c["options"]["bins"]))
        for name, norm in NORMS.items()
    },
}


def at_upper_edges(case: Case) -> Any:
    """Let slices hold their upper edge."""
    bins = closed_above(counted(case), case["options"]["bins"])
    return {"ece": ece(bins), "rates": bins.rates, "mean_scores": bins.mean_scores}[case["ours"]]


def at_borders_of_numpy(case: Case) -> Any:
    """Take for a decimal the border that np.linspace has for it."""
    bins = between_borders_of_numpy(case)
    of = {"ece": ece, "mce": widest, "rates": lambda b: b.rates}
    return of.get(case["ours"], lambda b: b.mean_scores)(bins)


def at_interpolated_quantiles(case: Case) -> Any:
    """Cut at interpolated quantiles: above them, or below them and average the gaps."""
    t, (_, scores) = counted(case), rows(case)
    edges = np.quantile(scores, np.linspace(0.0, 1.0, case["options"]["bins"] + 1))[1:-1]
    if case["program"] == "netcal":
        return average(bins_at(t, [0, *np.searchsorted(t.scores, edges)]))
    return bins_above(t, [BELOW, *edges]).rates


def with_the_remainder_first(case: Case) -> float:
    """Give the first bins one row more where the rows cannot be divided."""
    t = top(case) if case["ours"].startswith("top_label") else counted(case)
    chunks = np.array_split(np.repeat(t.scores, t.counts), case["options"]["bins"])
    edges = [(left[-1] + right[0]) / 2.0 for left, right in pairwise(chunks)]
    norm = NORMS.get(case["ours"].removeprefix("top_label_"), ece)
    return norm(bins_above(t, [BELOW, *edges]))


def average(bins: Bins) -> float:
    """Average the gaps of bins, large and small alike."""
    return float(np.abs(bins.rates - bins.mean_scores).mean())


def clipped(case: Case) -> float:
    """Keep scores a rounding of 1 away from 0 and 1."""
    outcomes, scores = rows(case)
    least = np.finfo(np.float64).eps
    return log_score(tally(outcomes, np.clip(scores, least, 1.0 - least)))


EXPLAINED: dict[str, Callable[[Case], Any]] = {
    "average": lambda c: average(between_borders_of_numpy(c)),
    "borders": at_borders_of_numpy,
    "clipped": clipped,
    "interpolated quantiles": at_interpolated_quantiles,
    "remainder": with_the_remainder_first,
    "upper edges": at_upper_edges,
}


def named(case: Case) -> str:
    """Name a case."""
    return f"{case['program']} {case['call']} {case['data']} {case['ours']}"


def tolerance(case: Case) -> float:
    """Give the precision of the program."""
    return SINGLE if case["program"] == "torch-uncertainty" else DOUBLE


def close(found: Any, case: Case) -> bool:
    """Say whether a value is that of the program."""
    expected = np.asarray(case["value"])
    found = np.asarray(found, np.float64)
    return found.shape == expected.shape and bool(
        np.allclose(found, expected, rtol=0.0, atol=tolerance(case))
    )


def test_what_shall_agree_does() -> None:
    """To 1e-9, or 1e-6 in single precision; all that differ without a reason are listed."""
    agreeing = [case for case in record()["cases"] if case["differs"] is None]
    compared = [case for case in agreeing if close(OURS[case["ours"]](case), case)]

    assert [named(case) for case in agreeing if case not in compared] == []


@pytest.mark.parametrize("reason", sorted(EXPLAINED))
def test_what_differs_does_so_for_the_stated_reason(reason: str) -> None:
    """Ours is another number, and the other definition gives theirs."""
    differing = [case for case in record()["cases"] if case["differs"] == reason]

    assert differing
    for case in differing:
        assert not close(OURS[case["ours"]](case), case), named(case)
        assert close(EXPLAINED[reason](case), case), named(case)


def test_rows_of_equal_scores_are_looked_into_by_others() -> None:
    """MCGrad's largest sum may end inside a run of equal scores: never less than ours."""
    differing = [c for c in record()["cases"] if c["differs"] == "rows of equal scores"]

    assert len(differing) == 3
    for case in differing:
        found, theirs = OURS[case["ours"]](case), case["value"]
        assert found > theirs if case["ours"] == "kuiper_p" else found < theirs, named(case)
        if case["ours"] == "kuiper":
            outcomes, scores = rows(case)
            worst = np.lexsort((outcomes, scores)), np.lexsort((-outcomes, scores))
            gaps = [np.append(0.0, np.cumsum((outcomes - scores)[o])) for o in worst]
            assert theirs <= (max(map(np.max, gaps)) - min(map(np.min, gaps))) / scores.size


def test_our_isotonic_map_keeps_scores_apart() -> None:
    """Isotonic regression gives two of the eight scores one value; ours, eight values."""
    (case,) = (c for c in record()["cases"] if c["differs"] == "steps")

    assert len(set(case["value"])) < INSIDE.size
    assert (np.diff(OURS[case["ours"]](case)) > 0.0).all()


def test_a_grid_moves_smooth_ece_a_little() -> None:
    """torch-uncertainty is within half a percent of the value without a grid."""
    differing = [case for case in record()["cases"] if case["differs"] == "grid"]

    assert len(differing) == 4
    for case in differing:
        assert OURS[case["ours"]](case) == pytest.approx(case["value"], rel=GRID), named(case)
        assert not close(OURS[case["ours"]](case), case)


def test_the_page_has_every_reason_and_the_count() -> None:
    """docs/comparison.md says how many cases there are, how many agree, and why others do not."""
    page = (ROOT / "docs" / "comparison.md").read_text()
    cases = record()["cases"]
    reasons = Counter(case["differs"] for case in cases)
    agree = reasons.pop(None)

    assert f"{len(cases)} cases" in page
    assert f"{agree} agree" in page
    for reason, count in reasons.items():
        assert f"| {reason} | {count} |" in page
    for program, version in record()["versions"].items():
        assert f"{program} {version}" in page
