"""All drifts of single values of a model, open and closed, from its stored verdicts."""

from dataclasses import dataclass
from datetime import date

from monitor.base.segment_names import WHOLE
from monitor.drift.records.values import ValueIncident
from monitor.read.results import Results


@dataclass(frozen=True)
class PastValueIncident:
    """A drift of one value of a column.

    Attributes
    ----------
    incident : ValueIncident
        As of the last day on which it was open.
    closed : date or None
        The first day whose verdict no longer has it; None while it is open.
    """

    incident: ValueIncident
    closed: date | None


def value_incidents(results: Results) -> list[PastValueIncident]:
    """List the drifts of single values, in the order of their opening."""
    open_now = dict[tuple[str, str, date], ValueIncident]()
    past = list[PastValueIncident]()
    for verdict in results.of_segment(WHOLE, results.days("verdicts")):
        watched = verdict.values.incidents if verdict.values else ()
        today = {(each.column, each.value, each.opened): each for each in watched}
        gone = [open_now[key] for key in open_now if key not in today]
        past += [PastValueIncident(incident, verdict.day) for incident in gone]
        open_now = today
    past += [PastValueIncident(incident, None) for incident in open_now.values()]
    return sorted(past, key=lambda of: (of.incident.opened, of.incident.column, of.incident.value))
