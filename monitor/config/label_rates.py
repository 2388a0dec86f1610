"""With which probability a prediction gets an outcome: the ways in which a model can say it."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from monitor.config.sections import Section

LEAST_RATE = 1e-4  # a row stands for ten thousand at most
BY_SCORE = "by_score"
Score = Annotated[float, Field(ge=0, le=1)]


class ScoreRate(Section):
    """The share of the predictions with scores of a range that get an outcome.

    Attributes
    ----------
    low, high : float
        The range, in [0, 1]; a score at `high` belongs to the next one.
    rate : float
        A ratio in [0.0001, 1].
    """

    low: Score
    high: Score
    rate: Annotated[float, Field(ge=LEAST_RATE, le=1)]

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if not self.low < self.high:
            msg = f"low must be below high, got {self.low:g} and {self.high:g}"
            raise ValueError(msg)
        return self


class RateFile(Section):
    """A CSV file with the columns low, high and rate, as `plan-labels` writes it."""

    file: Annotated[str, Field(min_length=1)]


def check_rates(rates: tuple[ScoreRate, ...]) -> tuple[ScoreRate, ...]:
    """Check that ranges follow each other from 0 to 1.

    Raises
    ------
    ValueError
        If scores are in no range, or in two.

    Examples
    --------
    >>> low, high = ScoreRate(low=0, high=0.7, rate=0.02), ScoreRate(low=0.7, high=1, rate=1)
    >>> len(check_rates((low, high)))
    2
    """
    ends = [0.0, *(rate.high for rate in rates)], [*(rate.low for rate in rates), 1.0]
    for high, low in zip(*ends, strict=True):
        if high != low:
            msg = (
                f"the ranges of scores must follow each other from 0 to 1, but one ends at "
                f"{high:g} and the next begins at {low:g}"
            )
            raise ValueError(msg)
    return rates
