"""Search the logs for parts that moved apart: propose on every second day, confirm on others."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cached_property

import numpy as np

from monitor.base.errors import ConfigError, DataError
from monitor.base.segment_names import THIRD
from monitor.config import Config, Model, WatchedColumn
from monitor.days.summary import CodedRows
from monitor.drift.where.part_search import (
    PartFound,
    Proposal,
    SearchColumn,
    Table,
    confirm_parts,
    divide,
    propose,
    tables_of,
)
from monitor.logs import open_databases, parts_to_search, read_part_rows
from monitor.logs.columns.column_labels import range_names
from monitor.logs.engines.databases import Databases
from monitor.metrics.beyond_binary.class_counts import pair_name
from monitor.metrics.beyond_binary.class_pairs import SECOND
from monitor.metrics.beyond_binary.class_pairs import THIRD as OF_THIRD
from monitor.pipeline.verdicts.asked_where import verdict_of
from monitor.pipeline.verdicts.references import read_references
from monitor.pipeline.verdicts.where import Compared, compared_days
from monitor.store.store import Store

Clock = Callable[[], datetime]
Halves = tuple[list[date], list[date]]  # days of the reference, and of the drift
MOST_PARTS, MOST_COLUMNS = 4, 40
KEPT_BYTES = 400_000_000  # of rows that are kept between readings


@dataclass(frozen=True)
class PartsFound:
    """What a search of parts found.

    Attributes
    ----------
    first, last : date
        The days that were compared with the reference.
    drifting : bool
        Whether a drift is open on the last of them.
    columns : tuple of str
        The columns that were searched.
    searched, confirmed_on : int
        Days of each half, with those of the reference.
    proposed : int
        How many parts the first half proposed.
    parts : tuple of PartFound
        Those that the other half confirms.
    """

    first: date
    last: date
    drifting: bool
    columns: tuple[str, ...]
    searched: int
    confirmed_on: int
    proposed: int
    parts: tuple[PartFound, ...]


@dataclass(frozen=True)
class _Search:
    """Reads the rows of days, and keeps those of the search, unless they are too many."""

    name: str
    model: Model
    to: Compared
    databases: Databases
    watched: Sequence[WatchedColumn]
    say: Callable[[str], None]
    kept: dict[date, CodedRows] = field(default_factory=dict)

    @cached_property
    def columns(self) -> list[SearchColumn]:
        """The columns that are searched, with the names of their values."""
        return [
            SearchColumn(w.column, tuple(range_names(w.edges)), w.edges)
            if w.edges
            else SearchColumn(w.column, tuple(w.values or ()))
            for w in self.watched
        ]

    def rows(self, day: date, *, again: bool = False) -> CodedRows:
        """Read a day; `again` says that it will be needed again."""
        if day in self.kept:
            return self.kept[day]
        rank = OF_THIRD if self.to.family == THIRD else SECOND
        read = read_part_rows(self.name, self.model, day, self.watched, self.databases, rank)
        rows = self._on_one_curve(read)
        if again and sum(of.nbytes for of in self.kept.values()) < KEPT_BYTES:
            self.kept[day] = rows
        return rows

    def _on_one_curve(self, rows: CodedRows) -> CodedRows:
        """Replace the scores of each pair of classes by those of the curve that all share."""
        classes, curves = self.model.predictions.classes, self.to.model.curves_of(self.to.family)
        if rows.pairs is None or classes is None:
            return rows
        cells, names = rows.cells.copy(), classes.names
        for pair in np.unique(rows.pairs).tolist():
            code = curves.code_of((pair_name(names, divmod(pair, len(names))),))
            if code is not None:
                of_pair = rows.pairs == pair
                cells[of_pair] = code[rows.cells[of_pair]]
        return replace(rows, cells=cells)

    def tables(self, days: Iterable[CodedRows]) -> tuple[list[Table], int]:
        """Add up days by the values of each column, and of every two columns."""
        sizes = [len(column.labels) + 1 for column in self.columns]
        return tables_of(self.to.reference, days, sizes)

    def say_how_long(self, searched: Halves, others: Halves, clock: Clock) -> None:
        """Read a day and count it, and say how long all of them will take at most."""
        began = clock()
        first = self.rows(searched[0][0], again=True)
        self.tables([first])  # compiles it, where that has never been done
        read = clock()
        self.tables([first])
        each, counted = (read - began).total_seconds(), (clock() - read).total_seconds()
        days, rest = (sum(map(len, half)) for half in (searched, others))
        most = each * (days + rest) + counted * days * (MOST_PARTS + 1)
        minutes, seconds = divmod(round(most), 60)
        columns = f"{len(self.watched)} column{'s' * (len(self.watched) != 1)}"
        self.say(
            f"searches {columns} on {days} days and confirms on {rest} others: "
            f"at most {minutes} min {seconds} s"
        )

    def propose(self, days: Halves) -> list[Proposal]:
        """Propose one part after the other, each among the rows that no part has yet."""
        proposals = list[Proposal]()

        def free(day: date) -> CodedRows:
            rows = self.rows(day, again=True)
            for proposal in proposals:
                rows = rows.chosen(~np.logical_and.reduce(proposal.met(rows)))
            return rows

        while len(proposals) < MOST_PARTS:
            many = sum(map(len, days))
            self.say(f"step {len(proposals) + 1} of at most {MOST_PARTS}: {many} days")
            tables = [self.tables(map(free, of)) for of in days]
            proposal = propose(self.to.reference, self.columns, *tables)
            if proposal is None:
                break
            proposals.append(proposal)
        return proposals

    def confirm(self, proposals: Sequence[Proposal], days: Halves) -> tuple[PartFound, ...]:
        """Test on other days what was proposed."""
        if not proposals:
            return ()
        self.say(f"confirms on {sum(map(len, days))} other days")
        reference = self.to.reference
        before, after = (
            [divide(reference, self.rows(day), proposals) for day in of] for of in days
        )
        return confirm_parts(reference, self.columns, proposals, before, after)


def search_parts(
    config: Config,
    name: str,
    columns: Sequence[str],
    day: date | None,
    *,
    clock: Clock,
    say: Callable[[str], None],
) -> PartsFound:
    """Search for parts of the rows, by one column or two, that moved apart from all others.

    Parameters
    ----------
    config, name : Config, str
        The model.
    columns : sequence of str
        Columns of its predictions; if there are none, all that have no role yet.
    day : date, optional
        By default the newest with a verdict.
    clock : callable
        Returns the current time.
    say : callable
        Called with how long it will take, before it starts, and then with each step.

    Raises
    ------
    ConfigError, DataError
        If the model cannot be searched, or its logs cannot be read.
    """
    model, store = config.model(name), Store(config.store)
    verdict = verdict_of(config, name, day)
    to = compared_days(name, read_references(config, name), verdict)
    if to.model.deployed:
        msg = (
            f"{name}: the reference is seen through a deployed map, which rows of the logs are "
            f"not; ask `where` without --search and --columns."
        )
        raise ConfigError(msg)
    searched, others = _halves(store, name, to)
    with open_databases(config.engine) as databases:
        watched = parts_to_search(name, model, columns, [days[0] for days in searched], databases)
        _check_columns(name, watched)
        search = _Search(name, model, to, databases, watched, say)
        search.say_how_long(searched, others, clock)
        proposals = search.propose(searched)
        parts = search.confirm(proposals, others)
    return PartsFound(
        *(to.first, to.last, verdict.distortion is not None),
        columns=tuple(column.name for column in search.columns),
        searched=sum(map(len, searched)),
        confirmed_on=sum(map(len, others)),
        proposed=len(proposals),
        parts=parts,
    )


def _halves(store: Store, name: str, to: Compared) -> tuple[Halves, Halves]:
    """Divide the final days of a reference, and of a span, into every second one and the others.

    Raises
    ------
    DataError
        If there are fewer than two of each, one for each half.
    """
    final = [day for day in store.days("summaries", name) if store.is_final(name, day)]
    old, new = to.among(final)
    if min(len(old), len(new)) < 2:  # noqa: PLR2004 - one for each half
        msg = (
            f"{name}: {len(new)} final days from {to.first} to {to.last} can be compared with "
            f"{len(old)} of the reference; a search needs at least two of each. Process more days "
            f"with calibration-monitor backfill, or choose another one with --day."
        )
        raise DataError(msg)
    return (old[::2], new[::2]), (old[1::2], new[1::2])


def _check_columns(name: str, watched: Sequence[WatchedColumn]) -> None:
    if not watched:
        msg = (
            f"{name}: the predictions have no column with two values that could be searched; log "
            "one beside the score, such as the country or the device."
        )
        raise DataError(msg)
    if len(watched) > MOST_COLUMNS:
        msg = (
            f"{name}: the predictions have {len(watched)} columns that could be searched, at most "
            f"{MOST_COLUMNS} can be; choose them with --columns."
        )
        raise ConfigError(msg)
