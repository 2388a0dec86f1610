"""When the runs of a model were, and what was wrong with its logs. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from monitor.base.errors import Fault


@dataclass(frozen=True)
class FailedDay:
    """A day whose logs broke the contract, and how, as far as gauges can say it."""

    day: date
    fault: Fault | None = None


@dataclass(frozen=True)
class RunRecord:
    """When the last run of a model was, and the last one in which no day failed.

    Attributes
    ----------
    started, finished : datetime
        Of the last run.
    succeeded : datetime or None
        When the last run without a failed day finished.
    failing_since : datetime or None
        When the first run after that one finished, if the last run has a failed day.
    failed : FailedDay or None
        The newest failed day of the last run.
    tables : mapping of str to str
        Of each log that is a Delta Lake or Iceberg table, the version that the last run read: the
        table's own id, and the number of the version or snapshot. Of rows of a database, the time
        of the snapshot.
    newest : mapping of str to sequence of date
        The newest days of evaluations and verdicts when that run or `evaluate` ended, rising. With
        them a scrape need not list the days. Records of earlier versions have none.
    """

    started: datetime
    finished: datetime
    succeeded: datetime | None
    failing_since: datetime | None = None
    failed: FailedDay | None = None
    tables: Mapping[str, str] = field(default_factory=dict)
    newest: Mapping[str, Sequence[date]] = field(default_factory=dict)
