"""What the errors of a model are worth to those who use its scores."""

from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints

from monitor.config.sections import Section

Amount = Annotated[float, Field(gt=0, le=1e12)]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9 _/%-]{0,19}$")]


class Price(Section):
    """What a nat of log loss costs.

    Attributes
    ----------
    per_nat : float
        For each prediction.
    currency : str
        The unit of the amount, such as EUR.
    """

    per_nat: Amount
    currency: Currency


class Budget(Section):
    """What miscalibration may cost, and how fast it may be burnt until somebody hears of it.

    Attributes
    ----------
    per_prediction : float
        What may be lost per prediction, on average over 28 days: in the unit of `value` or
        `decision`, else in nats of log loss.
    """

    per_prediction: Amount

    # A page at 4 times that rate over 7 days and over the last, which burns the budget of 28 days
    # within one week; a ticket at the rate itself over 28 days and over the last 7.
    page: ClassVar[float] = 4.0
    ticket: ClassVar[float] = 1.0


class DecisionSetting(Section):
    """What is done with the scores, and what that is worth.

    Attributes
    ----------
    threshold : float
        Scores from this probability on are acted on.
    benefit, cost : float
        Of acting on a prediction whose outcome is 1, and on one whose outcome is 0; without `cost`
        the threshold is the best one for calibrated scores.
    currency : str
        The unit of both.
    """

    threshold: Annotated[float, Field(gt=0, lt=1)]
    benefit: Amount = 1.0
    cost: Annotated[float, Field(ge=0, le=1e12)] | None = None
    currency: Currency | None = None

    @property
    def cost_of_acting(self) -> float:
        """The cost: as given, or that for which the threshold is the best one."""
        odds = self.threshold / (1.0 - self.threshold)
        return self.benefit * odds if self.cost is None else self.cost

    @property
    def best_threshold(self) -> float:
        """The threshold of which calibrated scores make the most."""
        cost = self.cost_of_acting
        return cost / (self.benefit + cost)
