"""What is written out or left until it is needed, so that programs start fast."""

from scipy.special import chdtr, chdtrc, expit, ndtri

from monitor.drift.curve.variance import CAPPED_MEAN, MOST_OF_A_DIFFERENCE
from monitor.metrics.core import special
from monitor.metrics.core.estimate import NORMAL_95
from monitor.metrics.core.grid import HIGHEST_SCORE, LOGIT_LIMIT, LOWEST_SCORE


def test_numbers_that_are_written_out_are_those_of_scipy() -> None:
    """They are equal to the last bit."""
    most = MOST_OF_A_DIFFERENCE

    assert (expit(-LOGIT_LIMIT), expit(LOGIT_LIMIT)) == (LOWEST_SCORE, HIGHEST_SCORE)
    assert chdtr(3, most) + most * chdtrc(1, most) == CAPPED_MEAN
    assert ndtri(0.975) == NORMAL_95


def test_a_function_of_scipy_stands_for_itself() -> None:
    """It takes the options of the original."""
    assert special.expit(0.3) == expit(0.3)
    assert special.brentq(lambda x: x - 2, 0, 5, xtol=1e-12) == 2
