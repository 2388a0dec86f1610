"""A number with its uncertainty. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import inf, isfinite, isnan, nan

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

    def widened(self, ratio: float, least: float = -inf, most: float = inf) -> "Estimate":
        """Make the interval so many times as wide, within the range of what it is of.

        Examples
        --------
        >>> f"{Estimate(0.2, 0.1, 0.4, 0.08).widened(3.0, 0.0, 1.0):.2f}"
        '0.20 (95 % 0.00 to 0.80)'
        """
        if ratio == 1.0:
            return self  # to its last digit
        low, high = (self.value + ratio * (end - self.value) for end in (self.low, self.high))
        return Estimate(self.value, max(low, least), min(high, most), ratio * self.standard_error)

    @property
    def error(self) -> float:
        """The standard error; of a normal interval that was stored without one, as it follows."""
        if isnan(self.standard_error):
            return (self.high - self.low) / (2.0 * NORMAL_95)
        return self.standard_error

    def __format__(self, spec: str) -> str:
        """Write the value and its interval in the form of a number, then the style.

        Parameters
        ----------
        spec : str
            As of a number, then after a blank a style of `written`. What is empty gives the fields
            of the estimate.

        Examples
        --------
        >>> slope = Estimate.normal(0.81, 0.026)
        >>> f"{slope:.2f}", f"{slope:+.2f plain}"
        ('0.81 (95 % 0.76 to 0.86)', '+0.81, 95 % +0.76 to +0.86')
        >>> f"{slope:.2f brief}", f"{slope:.2f value}"
        ('0.81 (0.76 to 0.86)', '0.81')
        >>> f"{slope:.3f interval}", f"{slope:.3f range}"
        ('95 % 0.759 to 0.861', '0.759 to 0.861')
        >>> f"{slope:+.2f error}", f"{slope:+.2f plain error}", f"{slope:.3f only error}"
        ('+0.81 (standard error 0.03)', '+0.81, standard error 0.03', 'standard error 0.026')
        >>> f"{Estimate(0.81, nan, nan):.2f}", f"{Estimate(0.81, nan, nan):.2f interval}"
        ('0.81', 'no interval')
        >>> f"{Estimate(0.21, 0.2, 0.22):.1%}"
        '21.0 % (95 % 20.0 % to 22.0 %)'
        """
        if not spec:
            return str(self)
        form, _, style = spec.partition(" ")
        return self.written(partial(_number, form), style)

    def written(self, write: Callable[[float], str], style: str = "") -> str:
        """Write the value and its interval with a function that writes each number.

        Parameters
        ----------
        write : callable
            Writes a number.
        style : str
            "" puts the interval into brackets after the value, "plain" leaves them out, and "brief"
            the level of the interval. "value" and "interval" are one of the two, "range" is the
            interval without its level. "error" gives the standard error instead, which has no sign,
            "plain error" without brackets, and "only error" without the value.

        Examples
        --------
        >>> Estimate(1200.0, 1100.0, 1300.0).written("{:,.0f}".format, "range")
        '1,100 to 1,300'
        """
        value, has_interval = write(self.value), isfinite(self.low)
        ends = f"{write(self.low)} to {write(self.high)}" if has_interval else "no interval"
        interval = f"95 % {ends}" if has_interval else ends
        error = f"standard error {write(self.error).removeprefix('+')}"
        by_style = {
            "": f"{value} ({interval})" if has_interval else value,
            "plain": f"{value}, {interval}" if has_interval else value,
            "brief": f"{value} ({ends})" if has_interval else value,
            "value": value,
            "interval": interval,
            "range": ends,
            "error": f"{value} ({error})",
            "plain error": f"{value}, {error}",
            "only error": error,
        }
        return by_style[style]


def _number(form: str, number: float) -> str:
    """Write a number, with a space before the sign of percent."""
    return format(number, form).replace("%", " %")
