"""A number with its uncertainty. Pure."""

from dataclasses import dataclass, field
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
            As of a number. After a blank may follow how the uncertainty is written: "plain" leaves
            its brackets out, "interval" the value, and "error" gives the standard error instead,
            which has no sign. What is empty gives the fields of the estimate.

        Examples
        --------
        >>> slope = Estimate.normal(0.81, 0.026)
        >>> f"{slope:.2f}", f"{slope:+.2f plain}"
        ('0.81 (95 % 0.76 to 0.86)', '+0.81, 95 % +0.76 to +0.86')
        >>> f"{slope:.3f interval}", f"{slope:+.2f error}"
        ('95 % 0.759 to 0.861', '+0.81 (standard error 0.03)')
        >>> f"{Estimate(0.81, nan, nan):.2f}", f"{Estimate(0.81, nan, nan):.2f interval}"
        ('0.81', 'no interval')
        >>> f"{Estimate(0.21, 0.2, 0.22):.1%}"
        '21.0 % (95 % 20.0 % to 22.0 %)'
        """
        if not spec:
            return str(self)
        form, _, style = spec.partition(" ")
        value, has_interval = _written(self.value, form), isfinite(self.low)
        low, high = _written(self.low, form), _written(self.high, form)
        interval = f"95 % {low} to {high}" if has_interval else "no interval"
        written = {
            "": f"{value} ({interval})" if has_interval else value,
            "plain": f"{value}, {interval}" if has_interval else value,
            "interval": interval,
            "error": f"{value} (standard error {_written(self.error, form.replace('+', ''))})",
        }
        return written[style]


def _written(number: float, form: str) -> str:
    """Write a number, with a space before the sign of percent."""
    return format(number, form).replace("%", " %")
