"""The only package that knows the log layout: it reads, checks, joins and tallies one day.

On eight shelves, of which each imports only from lower ones: `engines` run SQL, `sources` say where
the rows of a day lie and open them, `columns` make rows with canonical columns of them, `checks`
say what a row is, `statement` joins and counts the rows and all that asks them, `warehouse` writes
it in the SQL of others, `days` decide which days are read and make summaries of them; `discovery`
describes logs for `init`.
"""

from monitor.logs.days.batches import (
    days_at_a_time,
    plan_batches,
    summarise_day,
    summarise_days,
)
from monitor.logs.days.days import (
    awaits_no_outcomes,
    batch_of,
    batch_of_summary,
    check_logs_exist,
    check_predictions_exist,
    first_morning,
    is_counted_there,
    newest_day,
    newest_settled_day,
    outcome_days,
)
from monitor.logs.days.looking import (
    Again,
    Returning,
    delivered_again,
    entities_of_day,
    what_looks_wrong,
)
from monitor.logs.days.one_day import count_through_map, read_parts_of_vector, read_vectors
from monitor.logs.days.searching import parts_to_search, read_part_rows
from monitor.logs.engines.databases import Databases, open_databases
from monitor.logs.sources.source import (
    days_of,
    describe_inputs,
    has_day,
    has_files_of_days,
    present_days,
    versions_of_tables,
)
from monitor.logs.statement.ages import can_count_arrivals, count_arrivals

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
    "count_arrivals",
    "count_through_map",
    "days_at_a_time",
    "days_of",
    "delivered_again",
    "describe_inputs",
    "entities_of_day",
    "first_morning",
    "has_day",
    "has_files_of_days",
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
