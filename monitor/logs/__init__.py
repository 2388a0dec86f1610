"""The only package that knows the log layout: it reads, checks, joins and tallies one day.

`databases` keeps DuckDB connections open, `session` uses one of them for a day, `partitions` says
which days a log has, `opening` opens their files, `conversions` gives text its types, `sources`
makes two frames with fixed column names of them, `statement` joins and counts them, `checks` says
what a row is, and `contract` reports what is wrong with the rows. `days` decides what is read,
`one_day` and `many_days` count the rows of one statement, `daily` makes summaries of them, and
`batches` puts them together. `arriving` counts when outcomes came.
"""

from monitor.logs.again import Again, delivered_again
from monitor.logs.arriving import can_count_arrivals, count_arrivals
from monitor.logs.batches import (
    days_at_a_time,
    plan_batches,
    summarise_day,
    summarise_days,
)
from monitor.logs.databases import Databases, open_databases
from monitor.logs.days import (
    awaits_no_outcomes,
    batch_of,
    batch_of_summary,
    check_logs_exist,
    check_predictions_exist,
    first_morning,
    newest_day,
    newest_settled_day,
    outcome_days,
)
from monitor.logs.looking import what_looks_wrong
from monitor.logs.one_day import count_through_map, read_parts_of_vector, read_vectors
from monitor.logs.partitions import (
    days_of,
    describe_inputs,
    has_day,
    present_days,
    versions_of_tables,
)
from monitor.logs.returning import Returning, entities_of_day
from monitor.logs.searching import (
    columns_to_search,
    condition_sql,
    count_search,
    parts_to_search,
    read_part_rows,
)
from monitor.logs.warehouse.running import is_counted_there

__all__ = [
    "Again",
    "Databases",
    "Returning",
    "awaits_no_outcomes",
    "batch_of",
    "batch_of_summary",
    "can_count_arrivals",
    "check_logs_exist",
    "check_predictions_exist",
    "columns_to_search",
    "condition_sql",
    "count_arrivals",
    "count_search",
    "count_through_map",
    "days_at_a_time",
    "days_of",
    "delivered_again",
    "describe_inputs",
    "entities_of_day",
    "first_morning",
    "has_day",
    "is_counted_there",
    "newest_day",
    "newest_settled_day",
    "open_databases",
    "outcome_days",
    "parts_to_search",
    "plan_batches",
    "present_days",
    "read_part_rows",
    "read_parts_of_vector",
    "read_vectors",
    "summarise_day",
    "summarise_days",
    "versions_of_tables",
    "what_looks_wrong",
]
