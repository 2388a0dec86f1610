"""Settings that leave out most of the rows: that may be what you want, but never silently. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from monitor.words.numbers import percent

MOST = 0.5  # of the rows


@dataclass(frozen=True)
class LeftOut:
    """A setting that leaves out more than half of the rows of a log on some days.

    Attributes
    ----------
    setting : str
        Its key in the configuration, below the model.
    days : tuple of date
        In their order.
    rows, of : int
        The rows left out on these days, and all of them.
    """

    setting: str
    days: tuple[date, ...]
    rows: int
    of: int

    def __str__(self) -> str:
        first, more = self.days[0], len(self.days) - 1
        when = f"on {first}" if not more else f"on {len(self.days)} days, first {first}"
        share = f"{self.rows:,} of {self.of:,} rows ({percent(self.rows / self.of, 0)})"
        remedy = "if it should not, correct the setting or the log."
        return f"{self.setting} leaves out {share} {when}; {remedy}"


def mostly_left_out(
    left_out: Mapping[date, Mapping[str, tuple[int, int]]],
) -> tuple[LeftOut, ...]:
    """Find the settings that leave out more than half of the rows of a day.

    Parameters
    ----------
    found : mapping
        From day to setting to the rows that it leaves out, and all rows; of `Summary.left_out`.

    Examples
    --------
    >>> days = {date(2026, 3, i): {"predictions.where": (9, 10)} for i in (1, 2)}
    >>> str(mostly_left_out(days)[0]).partition(";")[0]
    'predictions.where leaves out 18 of 20 rows (90 %) on 2 days, first 2026-03-01'
    """
    most: dict[str, list[tuple[date, int, int]]] = {}
    for day in sorted(left_out):
        for setting, (rows, of) in left_out[day].items():
            if rows > MOST * of:
                most.setdefault(setting, []).append((day, rows, of))
    return tuple(
        LeftOut(setting, tuple(days), sum(rows), sum(of))
        for setting, lost in most.items()
        for days, rows, of in [zip(*lost, strict=True)]
    )
