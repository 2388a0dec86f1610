"""The only room that knows the log layout: read, check, join and tally one day.

`databases` keeps DuckDBs open, `session` is one of them at work on a day, `sources` opens the
day's files as two frames with fixed column names, `joining` is the one query, `contract` says
what is wrong with the rows, `daily` puts them together.
"""

from monitor.logs.daily import newest_day, newest_settled_day, outcome_days, summarise_day
from monitor.logs.databases import Databases, open_databases

__all__ = [
    "Databases",
    "newest_day",
    "newest_settled_day",
    "open_databases",
    "outcome_days",
    "summarise_day",
]
