"""The numbers that a profession asks for, as tables. Pure."""

from math import isnan

from monitor.metrics.binned.binning import Bins, quantile_bins
from monitor.metrics.binned.grade_tests import GradeTest, grade_tests
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.tally import Tally
from monitor.metrics.intervals.actual_over_expected import (
    actual_over_expected,
    actual_over_expected_by_bin,
)
from monitor.metrics.scores.brier_skill import brier_skill
from monitor.report.page.content import Row, Table
from monitor.report.page.words import NONE, interval, minus, share

NUMBERS = ("number", "value", "95 %", "asked for in")
TENTHS = ("scores", "predictions", "expected", "actual", "actual over expected", "95 %")
GRADES = (
    "grade",
    "predictions",
    "expected",
    "actual",
    "rate, 95 %",
    "Jeffreys p",
    "binomial p",
    "light",
)
MOST_GRADES = 25  # distinct scores that are grades; more are scores
LEAST_OUTCOMES = 20  # of each kind, below which tenths and skill say nothing


def professions(t: Tally) -> dict[str, Table]:
    """Lay out the numbers of a tally by what they are.

    Parameters
    ----------
    t : Tally
        The predictions of a window.

    Returns
    -------
    dict of str to Table
        By caption; empty with fewer than 20 outcomes of either kind. Grades are listed if there
        are at most 25 distinct scores.
    """
    if min(t.total_positives, t.total - t.total_positives) < LEAST_OUTCOMES:
        return {}
    tables = {"Ratios": _numbers(t), "Expected against actual, by tenth of the scores": _tenths(t)}
    if t.scores.size <= MOST_GRADES:
        tables["Tests of grades"] = Table(GRADES, [_grade(test) for test in grade_tests(t)])
    return tables


def _numbers(t: Tally) -> Table:
    ratio, skill = actual_over_expected(t), brier_skill(t)
    return Table(
        NUMBERS,
        [
            ("actual over expected", *_written(ratio), "advertising (COPC), clinics (O:E)"),
            ("Brier skill", *_written(skill), "weather (skill against climatology)"),
        ],
    )


def _tenths(t: Tally) -> Table:
    bins = quantile_bins(t, 10)
    ratios = actual_over_expected_by_bin(bins)
    return Table(TENTHS, [_tenth(t, bins, i, ratio) for i, ratio in enumerate(ratios)])


def _tenth(t: Tally, bins: Bins, i: int, ratio: Estimate) -> Row:
    low, high = t.scores[bins.starts[i]], t.scores[bins.starts[i + 1] - 1]
    return (
        f"{share(float(low))} to {share(float(high))}",
        f"{bins.counts[i]:,}",
        f"{bins.score_sums[i]:,.1f}",
        f"{bins.positives[i]:,}",
        *_written(ratio),
    )


def _grade(test: GradeTest) -> Row:
    return (
        share(test.probability),
        f"{test.count:,}",
        f"{test.count * test.probability:,.1f}",
        f"{test.positives:,}",
        test.rate.written(share, "range"),
        f"{test.jeffreys_p:.3f}",
        f"{test.binomial_p:.3f}",
        test.light,
    )


def _written(estimate: Estimate) -> tuple[str, str]:
    """Write a value and its interval in two cells."""
    if isnan(estimate.value):  # of scores that are all 0
        return NONE, NONE
    return minus(f"{estimate:z.2f value}"), interval(estimate, "z.2f range")
