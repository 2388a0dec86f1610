"""What the exporter knows at one moment: what measures take their numbers from. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time

from monitor.config import Model
from monitor.days.arrivals import Delay
from monitor.days.decisions import Acknowledgement, Rebase
from monitor.days.run_record import RunRecord
from monitor.drift.records.verdict import Verdict
from monitor.evaluation.evaluation import Evaluation

SECONDS_AN_HOUR, SECONDS_A_DAY = 3_600, 86_400


@dataclass(frozen=True)
class Snapshot:
    """Everything that one scrape shows.

    Attributes
    ----------
    models : mapping of str to Model
        The configured models.
    evaluations : sequence of Evaluation
        Of these models; at most one of each segment, window and maturity.
    runs : mapping of str to RunRecord
        The last run of each model that has one.
    version : str
        Version of this program.
    verdicts : sequence of Verdict
        The newest of each model and segment.
    left_out : mapping of str to int
        How many segments of each model are left out of the evaluations, to limit the number of
        series. Their verdicts are included while a drift is open.
    invalid : frozenset of str
        The models whose configuration is invalid; `models` holds the valid part of it.
    delays : mapping of str to Delay
        When the outcomes of each model arrive, if complete days have been counted.
    faults : mapping of str to str
        Why the results of a model cannot be read; it has no evaluations and no verdicts then.
    taken : mapping of (str, str) to Acknowledgement
        Who has taken the drift that is open, by model and segment.
    rebased : mapping of str to sequence of Rebase
        The references that people have begun for each model, by their first days.
    """

    models: Mapping[str, Model]
    evaluations: Sequence[Evaluation]
    runs: Mapping[str, RunRecord]
    version: str
    verdicts: Sequence[Verdict] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    invalid: frozenset[str] = frozenset()
    delays: Mapping[str, Delay] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)
    taken: Mapping[tuple[str, str], Acknowledgement] = field(default_factory=dict)
    rebased: Mapping[str, Sequence[Rebase]] = field(default_factory=dict)


def seconds_of(day: date) -> float:
    """Write a date as the Unix time of its midnight in UTC: formatted as UTC it is that date."""
    return datetime.combine(day, time(), UTC).timestamp()
