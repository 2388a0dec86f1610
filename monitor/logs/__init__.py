"""The only room that knows the log layout: read, check, join and tally one day.

`sources` opens a day's files as two frames with fixed column names, `joining` is the one query,
`contract` says what is wrong with the rows, `daily` puts them together.
"""

from monitor.logs.daily import newest_day, newest_settled_day, outcome_days, summarise_day
from monitor.logs.session import Databases, open_databases

__all__ = [
    "Databases",
    "newest_day",
    "newest_settled_day",
    "open_databases",
    "outcome_days",
    "summarise_day",
]
