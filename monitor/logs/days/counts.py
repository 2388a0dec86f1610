"""A day whose rows somebody else has counted: from a log of counts to what `daily` makes a day of.

A log of counts holds what our own statement gives of the rows, so all that follows is the same.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import date
from typing import Any

import numpy as np

from monitor.base.errors import ConfigError
from monitor.config import Model
from monitor.logs.checks.checks import OF_OTHER_ROWS, ROW_CHECKS, Groups, Status
from monitor.logs.days.daily import DayRows
from monitor.logs.days.days import Batch, holds_counts
from monitor.logs.engines.session import Session
from monitor.logs.statement import contract
from monitor.logs.statement.counts_table import MATCHED, STATUSES, Table, read_table
from monitor.logs.statement.unlisted import unlisted_among
from monitor.metrics.core.grid import Floats, Ints, locate
from monitor.metrics.core.special import expit, logit
from monitor.words.plausibility import Remark

_OF_PREDICTIONS = [check.status for check in ROW_CHECKS if check.of == "prediction"]
# Statuses of outcomes, not of predictions; that of a contradicted one is unlabelled.
ALONE = "outcome_id_missing", "outcome_orphan", "outcome_late", "outcome_conflicting"


def read_counts(session: Session, batch: Batch) -> tuple[Batch, DayRows]:
    """Read the counts of a day, and check them.

    Returns
    -------
    Batch
        With the partitions of outcomes that are counted.
    DayRows
        As `read_day` gives them.

    Raises
    ------
    DataError
        If they contradict themselves or their day, or break a check that is set to fail.
    """
    model, (day,) = batch.model, batch.days
    table = read_table(session, model, day)
    batch = batch.known_until(table.known_until) if table.known_until else batch
    return batch, rows_of_table(table, batch, day, {})


def rows_of_table(
    table: Table, batch: Batch, day: date, filtered: Mapping[str, tuple[int, int]]
) -> DayRows:
    """Make of the counts of a day what `read_day` gives of its rows, and what filters leave out.

    Raises
    ------
    DataError
        If they break a check that is set to fail.
    """
    model = batch.model
    groups = _groups(table, model, negative=batch.negative)
    violations = _violations(table)
    contract.enforce(f"{batch.name} {day}", violations, model.checks)
    unlisted = unlisted_among(_by_segment(table), model, groups)
    return DayRows(day, groups, violations, filtered, unlisted=unlisted)


def must_have_rows(name: str, model: Model, asked: str) -> None:
    """Raise ConfigError for a log of counts where single rows are needed."""
    if holds_counts(model):
        msg = (
            f"{name}: {asked} reads single rows, and predictions.format: counts has none; ask it "
            f"of a model whose logs are rows."
        )
        raise ConfigError(msg)


def _groups(table: Table, model: Model, *, negative: bool) -> Groups:
    """Add up the rows of each status, part and cell."""
    columns, status = table.columns, table.texts["status"]
    grouped = np.array([name in STATUSES for name in status], bool) & (columns["rows"] > 0)
    codes = np.array([STATUSES.get(name or "", 0) for name in status], np.int64)
    observed = ~np.isin(codes, [Status.UNLABELLED, *_OF_PREDICTIONS])
    if negative:
        codes[codes == Status.UNLABELLED] = Status.MATCHED
    cells, offsets = _places(table)
    keys = np.stack([codes, observed.astype(np.int64), _parts(table, model), cells])[:, grouped]
    unique, group = np.unique(keys, axis=1, return_inverse=True)

    def added(values: Ints) -> Ints:
        sums = np.zeros(unique.shape[1], np.int64)
        np.add.at(sums, group.ravel(), values[grouped])
        return sums

    none = np.zeros(unique.shape[1], np.int64)
    matched = unique[0] == Status.MATCHED
    statuses, with_outcome, parts, places = unique
    return Groups(
        statuses=statuses,
        with_outcome=with_outcome,
        parts=parts,
        cells=places,
        counts=added(columns["rows"]),
        positives=added(columns["positives"]),
        offset_sums=np.where(matched, added(offsets), 0),
        repeats=none,
        buckets=none,
    )


def _places(table: Table) -> tuple[Ints, Ints]:
    """Give the cell of each row, and the sum of the offsets in it; 0 without a score."""
    columns, scored = table.columns, table.scored
    if not table.has_intervals:
        return np.where(scored, columns["cell"], 0), np.where(scored, columns["offset_sum"], 0)
    middles = middle(columns["score_from"], columns["score_to"])
    cells, offsets = locate(np.where(scored, middles, 0.5))
    return np.where(scored, cells, 0), np.where(scored, offsets * columns["rows"], 0)


def middle(low: Floats, high: Floats) -> Floats:
    """Give the score that stands for an interval.

    It is the middle in log-odds, which rating scales are cut by; of an interval that begins at 0 or
    ends at 1, whose log-odds have no middle, that of the probabilities.

    Examples
    --------
    >>> middle(np.array([0.2, 0.0]), np.array([0.8, 0.1])).round(3)
    array([0.5 , 0.05])
    """
    ends = (low <= 0) | (high >= 1)
    inner = np.where(ends, 0.5, low), np.where(ends, 0.5, high)
    return np.where(ends, (low + high) / 2, expit((logit(inner[0]) + logit(inner[1])) / 2))


def _parts(table: Table, model: Model) -> Ints:
    """Give the number of segment and stratum of each row, as the statement does."""
    places = np.zeros(len(table.texts["status"]), np.int64)
    for name, parts in (("segment", model.segments), ("stratum", model.strata)):
        if parts:
            index: dict[str | None, int] = {value: i for i, value in enumerate(parts.values)}
            found = [index.get(value, len(index)) for value in table.texts[name]]
            places = places * (len(index) + 1) + np.array(found, np.int64)
    return places


def _by_segment(table: Table) -> dict[str | None, int]:
    """Count the predictions of each value of the segments' column."""
    counted = Counter[str | None]()
    values = table.texts.get("segment", [None] * len(table.texts["status"]))
    of = zip(values, table.texts["status"], table.columns["rows"], strict=True)
    for value, status, rows in of:
        if status not in ALONE and rows:
            counted[value] += int(rows)
    return counted


def _violations(table: Table) -> list[contract.Violation]:
    """List the rows that are left out, in the order of those of a day that we count."""
    rows = Counter[str]()
    for status, count in zip(table.texts["status"], table.columns["rows"], strict=True):
        rows[f"{status}"] += int(count)
    first, last = [*OF_OTHER_ROWS][:2], [*OF_OTHER_ROWS][2:]
    of_rows = {check.name: check.saying for check in ROW_CHECKS}
    said = OF_OTHER_ROWS | of_rows
    predictions = sum(count for status, count in rows.items() if status not in ALONE)
    observed = sum(
        count
        for status, count in rows.items()
        if status == MATCHED or status.startswith("outcome_")
    )

    def show() -> contract.Example:
        return contract.Example("which the statement that counted them can show")

    return [
        contract.Violation(
            *(check, rows[check], observed if check.startswith("outcome_") else predictions),
            *(said[check], show),
        )
        for check in (*first, *of_rows, *last)
        if rows[check]
    ]


def about_intervals(session: Session, model: Model, day: date) -> list[Remark]:
    """Say what cannot be known of scores that are counted by interval."""
    table = read_table(session, model, day)
    if not table.has_intervals:
        return []
    low, high = (table.columns[name][table.scored] for name in ("score_from", "score_to"))
    intervals: Any = {*zip(low.tolist(), high.tolist(), strict=True)}
    ends = [pair for pair in intervals if pair[0] <= 0 or pair[1] >= 1]
    inner = [pair for pair in intervals if pair not in ends]
    widest = max((float(logit(b) - logit(a)) / 2 for a, b in inner), default=0.0)
    within = f"to within {widest:.2g} of log-odds" if inner else "by interval"
    beyond = f", and less well in {len(ends)} that begin at 0 or end at 1" if ends else ""
    sentence = (
        f"the scores are known as {len(intervals)} intervals only, {within}{beyond}: no error "
        f"inside an interval is seen, errors in bins (ECE, TCE) have no finer bins than these, "
        f"the mean score rests on the middle of each, and a change of the mix inside one looks "
        f"like a change of its rate; count by cell (docs/counts.md) to know more."
    )
    return [Remark(sentence, "predictions.format")]
