"""A number with its uncertainty. Pure."""

from dataclasses import dataclass, field
from math import nan

CONFIDENCE = 0.95  # level of every interval, unless a caller asks for another
NORMAL_95 = 1.959963984540054  # its two-sided quantile of the normal distribution


@dataclass(frozen=True)
class Estimate:
    """A value with its uncertainty.

    Attributes
    ----------
    value : float
        The estimate: the measure of the sample at hand.
    low, high : float
        Ends of its interval, of 95 % unless said otherwise, in the same units; nan if there is
        none.
    standard_error : float
        In the same units; nan where the interval does not rest on one.
    """

    value: float
    low: float
    high: float
    standard_error: float = field(default=nan, compare=False)

    @classmethod
    def normal(cls, value: float, standard_error: float) -> "Estimate":
        """Give an estimate its normal 95 % interval, ``value +- 1.96 standard_error``."""
        reach = NORMAL_95 * standard_error
        return cls(value, value - reach, value + reach, standard_error)
