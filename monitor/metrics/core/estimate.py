"""A number that shows how well it is known. Pure."""

from dataclasses import dataclass

NORMAL_95 = 1.959963984540054  # two-sided 95 % quantile of the normal distribution


@dataclass(frozen=True)
class Figure:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def around(cls, value: float, standard_error: float) -> "Figure":
        """Put the normal interval around an estimate."""
        reach = NORMAL_95 * standard_error
        return cls(value, value - reach, value + reach)
