"""Strata that are found: the column whose priors moved apart in a reference, and days split by it.

Rule: the days of a reference decide, once for all days that are compared with it. Counts are those
of the store, so no log is read again.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from monitor.base.errors import DataError
from monitor.base.segment_names import WHOLE
from monitor.config import Crossing, Model
from monitor.days.summary import Columns
from monitor.drift.fold.inputs import Day
from monitor.drift.records.values import MovingPriors
from monitor.drift.where.moving_priors import MOST_STRATA, moving_priors, split_by
from monitor.evaluation.shadow import Shadow, map_columns
from monitor.metrics.maps.map_file import MapFile
from monitor.pipeline.days.shadow import ModelMap
from monitor.store.store import Store


class StrataFinder:
    """Finds the strata of references, and splits days by them; nothing without the setting."""

    def __init__(self, model: Model, store: Store, name: str) -> None:
        self.wanted = model.finds_strata
        self.store, self.name = store, name
        self.counted = {*store.days("columns", name)} if self.wanted else set[date]()
        self.listed = {w.name for w in model.columns if isinstance(w, Crossing) or not w.numeric}

    def of_days(self, days: Sequence[date]) -> MovingPriors | None:
        """Find the column whose priors moved apart; None if a day was not counted by column."""
        if not self.wanted or not days or not self.counted.issuperset(days):
            return None
        columns = [self._columns(day) for day in days]
        return moving_priors([of_day for of_day in columns if of_day], MOST_STRATA)

    def split(self, day: Day, strata: MovingPriors | None, of_map: ModelMap | None = None) -> Day:
        """Give the values of a column priors of their own on a day, if it was counted by them."""
        if not strata or not day.parts or day.day not in self.counted:
            return day
        columns = self._columns(day.day)
        if of_map and isinstance(of_map.content, MapFile):
            summary, _ = self.store.read_summary(self.name, day.day)
            columns = map_columns(summary, columns, Shadow(of_map.content.map))
        parts = split_by(columns.get(strata.column, {}), strata)
        if not parts:
            return day
        return replace(day, parts={(WHOLE, value): part for value, part in parts.items()})

    def _columns(self, day: date) -> Columns:
        """Read the counts by the values of the listed columns; nothing of a damaged file."""
        try:
            counted = self.store.read_columns(self.name, day)
        except DataError:  # `check --store` says so, and a run heals it
            return {}
        return {column: counted[column] for column in counted if column in self.listed}
