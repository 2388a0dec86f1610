"""What a calibration map gained, as it is stored and shown. Pure.

Rule: this module loads nothing heavy, because `show` reads it.
"""

from dataclasses import dataclass

from monitor.metrics.core.estimate import Estimate

RECENT_DAYS = 28


@dataclass(frozen=True)
class MapGain:
    """By how much the losses of a prediction fell through the map; positive is better.

    The 95 % intervals take days for independent, and the outcomes of one day for dependent.

    Attributes
    ----------
    days : int
        Number of days with outcomes on which the map was compared.
    log_loss, brier : Estimate
        Over these days: nats, and squared probability.
    recent : Estimate
        Of the log loss, over the last 28 of these days.
    """

    days: int
    log_loss: Estimate
    brier: Estimate
    recent: Estimate

    @property
    def harms(self) -> bool:
        """Whether the map makes scores worse lately: even the upper end is a loss."""
        return self.recent.high < 0.0
