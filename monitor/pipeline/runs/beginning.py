"""A new model: when its first day settles, and when its first verdict can come."""

from dataclasses import dataclass
from datetime import date, timedelta

from monitor.config import Config
from monitor.days.settling import Settling
from monitor.drift.curve.reference import REFERENCE_DAYS
from monitor.drift.records.lack import LEAST_OF_EACH
from monitor.logs import first_morning


@dataclass(frozen=True)
class Beginning:
    """A model of which no day has settled yet.

    Attributes
    ----------
    model : str
        Its name.
    first : date
        The first day with predictions.
    settles : date
        The morning on which that day is settled, if its outcomes are there.
    verdict : date
        The first morning on which a verdict other than insufficient_data is possible.
    """

    model: str
    first: date
    settles: date
    verdict: date

    def __str__(self) -> str:
        return (
            f"{self.model}: no day has settled yet, which is normal for a new model. Its first "
            f"day, {self.first}, settles on {self.settles}. The first verdict is possible on "
            f"{self.verdict}: the days before it are the reference, and it takes "
            f"{LEAST_OF_EACH} outcomes of each kind."
        )


def beginning(config: Config, name: str, *, as_of: date) -> Beginning | None:
    """Describe a model whose first day has not settled; None if one could have settled."""
    model = config.model(name)
    settling = Settling(model)
    settles = first_morning(model, as_of=as_of)
    if settles is None:
        return None
    first = settling.newest(settles)
    configured = model.verdicts.references
    judged = configured[0].last + timedelta(days=1) if configured else date.min
    if judged <= first:  # a reference from before this log will not come
        judged = first + timedelta(days=REFERENCE_DAYS)
    return Beginning(name, first, settles, settling.settles(judged))
