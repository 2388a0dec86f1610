"""What was said of a day before it was said otherwise: the revisions of its verdicts.

The newest verdict of a day is in `verdicts`; here is what it replaced, with the morning on which it
did. A day whose verdict was never revised has no file here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from monitor.drift.records.verdict import State, Verdict
from monitor.store.fields import columns, plain, rebuilt
from monitor.store.sealing import rows_of


@dataclass(frozen=True)
class Revision:
    """What was said of one segment on one day, and until when.

    Attributes
    ----------
    segment, day : str, date
        Of what it was said.
    known_at : datetime
        The moment up to which outcomes were read: a time of the data, not of a run.
    until : date or None
        The `as_of` of the run that said otherwise, or None while this stands.
    final : bool
        Whether the day had settled.
    state, reasons : str, tuple of str
        As in the verdict.
    """

    segment: str
    day: date
    known_at: datetime
    until: date | None
    final: bool
    state: State
    reasons: tuple[str, ...]


def revision_of(verdict: Verdict, until: date | None) -> Revision:
    """Keep what a verdict says, without the evidence behind it."""
    return Revision(
        *(verdict.segment, verdict.day, verdict.known_at, until),
        *(verdict.final, verdict.state, verdict.reasons),
    )


def revision_table(revisions: Sequence[Revision]) -> pa.Table:
    """Lay revisions out as rows, the oldest first."""
    return pa.Table.from_pylist([*map(plain, revisions)], schema=pa.schema(columns(Revision)))


def revisions_of(table: pa.Table) -> list[Revision]:
    """Read the rows of a table back."""
    return [rebuilt(Revision, row) for row in rows_of(table)]


def superseded(
    before: Sequence[Verdict], after: Sequence[Verdict], earlier: Sequence[Revision], until: date
) -> list[Revision]:
    """List what a run that is about to replace verdicts has to keep of them.

    A run that was killed between keeping and replacing keeps nothing twice.
    """
    said_now = {_said(revision_of(verdict, None)) for verdict in after}
    newest = {revision.segment: _said(revision) for revision in earlier}
    kept = [revision_of(verdict, until) for verdict in before]
    return [
        revision
        for revision in kept
        if _said(revision) not in said_now and newest.get(revision.segment) != _said(revision)
    ]


def as_known_on(morning: datetime, day: date, all_of_it: Sequence[Revision]) -> Revision | None:
    """Find what was said of a segment and a day on a morning; None if nothing was known.

    Parameters
    ----------
    morning : datetime
        Midnight of the morning.
    day : date
        That morning.
    all_of_it : sequence of Revision
        The oldest first, then what stands now.
    """
    held = next(
        (revision for revision in all_of_it if revision.until is None or revision.until > day), None
    )
    return held if held and held.known_at <= morning else None


def _said(revision: Revision) -> tuple[Any, ...]:
    return (
        revision.segment,
        revision.known_at,
        revision.final,
        revision.state,
        revision.reasons,
    )
