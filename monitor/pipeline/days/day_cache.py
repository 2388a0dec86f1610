"""The stored days of a model and what follows from each, kept while windows move over them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache, partial

from monitor.base import program
from monitor.config import Config, Model
from monitor.days.summary import Summary
from monitor.evaluation.attribution import Explain, causes_of
from monitor.evaluation.evaluation import Causes
from monitor.evaluation.lost import FindLost, lost_of
from monitor.evaluation.population_causes import ExplainAll, population_causes
from monitor.metrics.core.buckets import BucketCounts
from monitor.metrics.core.coarse import OccupiedCells, coarsen_occupied
from monitor.metrics.core.tally import Tally
from monitor.pipeline.days.label_rates import label_rates_of
from monitor.pipeline.days.shadow import MappedDay, ShadowDays, read_model_map, shadow_days
from monitor.pipeline.days.worth import worth_of
from monitor.store.store import Store


@dataclass(frozen=True, eq=False)
class DayCache:
    """Stored days of a model; a day is part of many windows, and is worked out once for all.

    Attributes
    ----------
    store, name, model : Store, str, Model
        Where the days are stored, and whose they are.
    days : sequence of date
        All summarised days, in order.
    read : callable
        Reads the summary of a day and its fingerprint.
    compress, find_causes, find_lost : callable
        Compress a tally, find its causes, and find what they cost, if that has a price.
    explain_all : callable or None
        Finds the causes of all predictions from the labelled ones, where these are chosen.
    shadowing : ShadowDays or None
        The map of the model in the shadow.
    map_day : callable
        Gives a day as the map has it; None of one that was not counted through the map.
    recall : callable
        Reads the causes of a day's tallies from the store, if they are of its summary.
    recalled : dict
        The causes that were read.
    """

    store: Store
    name: str
    model: Model
    days: Sequence[date]
    read: Callable[[date], tuple[Summary, str]]
    compress: Callable[[Tally], OccupiedCells]
    find_causes: Explain
    find_lost: FindLost | None
    explain_all: ExplainAll | None
    shadowing: ShadowDays | None
    map_day: Callable[[date], MappedDay | None]
    recall: Callable[[date], None]
    recalled: dict[Tally, Causes | None]

    def window(self, day: date) -> list[date]:
        """List the days of the longest window that ends at a day."""
        first = reach_back(day, self.model.windows[-1])
        return [d for d in self.days if first <= d <= day]

    def causes(self, tally: Tally, held: BucketCounts) -> Causes | None:
        """Give the causes of a tally: as they were stored, or else as they are found."""
        return self.recalled[tally] if tally in self.recalled else self.find_causes(tally, held)


def cache_days(config: Config, name: str, jobs: int = 1) -> DayCache:
    """Open the stored days of a model, of which so many are kept as windows need.

    Parameters
    ----------
    config, name, jobs
        As for `run`.
    """
    model, store = config.model(name), Store(config.store)
    days = store.days("summaries", name)
    kept = 2 * model.windows[-1] + jobs
    read = lru_cache(kept)(partial(store.read_summary, name))
    of_segments = lru_cache(kept * len(model.segment_names))
    of_model = read_model_map(model, name, store, read)

    worth, rates = worth_of(model), label_rates_of(model)
    recalled = dict[Tally, Causes | None]()

    @lru_cache(kept)
    def recall(day: date) -> None:
        (summary, mark), (causes, of) = read(day), store.read_causes(name, day)
        if of == (mark, program.digest("evaluations")):
            parts = summary.segments.items()
            recalled.update({part.tally: causes[key] for key, part in parts if key in causes})

    return DayCache(
        *(store, name, model, days, read),
        compress=of_segments(coarsen_occupied),
        find_causes=of_segments(causes_of),
        find_lost=of_segments(partial(lost_of, worth)) if worth else None,
        explain_all=of_segments(partial(population_causes, rates=rates)) if rates else None,
        shadowing=shadow_days(of_model, days),
        map_day=lru_cache(kept)(of_model.map_day if of_model else lambda _: None),
        recall=recall,
        recalled=recalled,
    )


def reach_back(day: date, window_days: int) -> date:
    """Find the first day of the window of `window_days` that ends at `day`."""
    return day - timedelta(days=window_days - 1)
