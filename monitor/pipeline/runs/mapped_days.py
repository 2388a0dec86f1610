"""Days with classes, counted through the map of their model: what the stored counts cannot give.

Rule: a file of a mapped day rests on the map and on the summary of its day. One of another map or
summary is made again, and one that the map of now does not need is removed.
"""

from datetime import date
from functools import lru_cache, partial

import numpy as np

from monitor.base.errors import DataError, within_memory
from monitor.config import Classes, Config, Model
from monitor.days.summary import Summary
from monitor.evaluation.shadow import mapped_summary
from monitor.logs import Databases, batch_of_summary, count_through_map, open_databases
from monitor.metrics.maps.class_map_file import ClassMapFile
from monitor.metrics.maps.vector_map import VectorMap
from monitor.pipeline.days.progress import ALONE, Failure, Pace, PhaseProgress
from monitor.pipeline.days.shadow import ModelMap, Read, read_model_map
from monitor.store.store import Store


def count_mapped_days(config: Config, name: str, *, pace: Pace = ALONE) -> list[Failure]:
    """Count the days through the map of a model with classes that need it and are not counted yet.

    These are the final days on which the map is compared, and once it is deployed, those that it
    was fitted to, which are the reference of the days after it.

    Parameters
    ----------
    config, name : Config, str
        As for `run`.
    pace : Pace
        Of it `on_progress` counts.

    Returns
    -------
    list of Failure
        The days whose logs are gone, or are others than those that were summarised.

    Raises
    ------
    ConfigError
        If the map is none of this model.
    DataError
        If a file of the store cannot be read.
    """
    model, store = config.model(name), Store(config.store)
    classes = model.predictions.classes
    if not classes:
        return []
    read = lru_cache(1)(partial(store.read_summary, name))
    model_map = read_model_map(model, name, store, read)
    needed = [
        day
        for day in store.days("summaries", name)
        if model_map and _is_needed(model_map, day, read)
    ]
    if left := sorted({*store.days("mapped", name)}.difference(needed)):
        store.mark_stale(name, left[0])
        store.remove("mapped", name, left)
    to_do = [day for day in needed if model_map and not _is_counted(model_map, day)]
    if not to_do or not model_map or not isinstance(model_map.content, ClassMapFile):
        return []
    store.mark_stale(name, to_do[0])
    failures = list[Failure]()
    with open_databases(config.engine) as databases:
        for done, day in enumerate(to_do, 1):
            summary, made_from = read(day)
            try:
                mapped = _count(name, model, summary, classes, model_map.content.map, databases)
            except DataError as error:
                lacks = f"{error} Until then the map of {name} lacks this day."
                failures.append(Failure(day, lacks, error.fault))
            else:
                store.write_mapped(mapped, by=model_map.mark, made_from=made_from)
            pace.on_progress(PhaseProgress("map", day, done, len(to_do)))
    return failures


def _is_needed(model_map: ModelMap, day: date, read: Read) -> bool:
    """Say whether a day is compared, or makes the reference of a deployed map."""
    trains = model_map.setting.deploy is not None and model_map.trains(day)
    if not (trains or model_map.is_compared(day, day)):
        return False
    summary, content = read(day)[0], model_map.content
    counts = summary.classes if summary.final else None
    same = isinstance(content, ClassMapFile) and counts and counts.names == content.map.classes
    # Of the highest scores only there is nothing to map.
    return bool(counts and counts.total and counts.adjusted and same)


def _is_counted(model_map: ModelMap, day: date) -> bool:
    """Say whether the counts of now are stored; damaged ones are made again."""
    try:
        return model_map.map_day(day) is not None
    except DataError as error:
        if not error.damaged:
            raise
        return False


def _count(
    name: str,
    model: Model,
    summary: Summary,
    classes: Classes,
    vector_map: VectorMap,
    databases: Databases,
) -> Summary:
    """Count the rows of a summary through a map."""
    (day,) = summary.days
    with within_memory(f"{name} {day}"):
        batch = batch_of_summary(name, model, summary)
        sums, counts, tops = count_through_map(batch, classes, vector_map, databases)
    if not (summary.classes and np.array_equal(sums, summary.classes.score_sums)):
        msg = (
            f"{name} {day}: the logs are no longer those that were summarised, so what the map "
            f"makes of them cannot be compared; run calibration-monitor backfill --model {name} "
            f"--from {day} --to {day}."
        )
        raise DataError(msg)
    return mapped_summary(summary, counts, tops)
