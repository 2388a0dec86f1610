"""Evaluations of stored days: which window each day closes, and whether its file is up to date."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from functools import partial
from itertools import chain

from monitor.base import program
from monitor.base.errors import within_memory
from monitor.config import Config, Model
from monitor.days.summary import Summary
from monitor.evaluation.evaluate import evaluate
from monitor.evaluation.evaluation import Evaluation
from monitor.evaluation.score_errors import LabelRates, Settings
from monitor.metrics.beyond_binary.class_counts import MOST_WATCHED
from monitor.pipeline.days.day_cache import DayCache, cache_days, reach_back
from monitor.pipeline.days.label_rates import label_rates_of
from monitor.pipeline.days.progress import PhaseProgress, fingerprint, in_parallel
from monitor.pipeline.days.worth import worth_of
from monitor.pipeline.verdicts.references import References


def reach(model: Model, day: date) -> date:
    """Find the last day whose longest window contains `day`."""
    return day + timedelta(days=model.windows[-1] - 1)


def evaluate_days(
    config: Config,
    name: str,
    references: References,
    first: date,
    last: date,
    *,
    skip_unchanged: bool = False,
    jobs: int = 1,
    on_progress: Callable[[PhaseProgress], None] = lambda _: None,
) -> list[date]:
    """Evaluate every summarised day of a range from stored summaries.

    Parameters
    ----------
    references : References
        What `read_references` found, after the summaries were written.
    config, name, first, last, skip_unchanged, jobs, on_progress
        As for `run`.

    Returns
    -------
    list of date
        The days whose evaluations were written.

    Raises
    ------
    DataError
        If a file of the store cannot be read, or a day needs more memory than there is.
    """
    cache = cache_days(config, name, jobs)
    days = [day for day in cache.days if first <= day <= last]

    def evaluate_day(day: date) -> bool:
        with within_memory(f"{name} {day}"):
            parts = [cache.read(d) for d in cache.window(day)]
            settings, inputs = _basis(cache, references, day, parts)
            if skip_unchanged and inputs == cache.store.evaluation_inputs(name, day):
                return False
            for earlier in [d for d in cache.window(day) if d < days[0]]:
                cache.recall(earlier)
            summaries, made_from = [summary for summary, _ in parts], parts[-1][1]
            evaluations = [*_evaluations(cache, references, day, summaries, settings)]
            cache.store.write_evaluations(
                *(name, day, evaluations),
                inputs=inputs,
                made_from=made_from,
                program=program.digest("evaluations"),
            )
            return True

    written = []
    for done, wrote in enumerate(in_parallel(evaluate_day, days, jobs), 1):
        day = days[done - 1]
        if wrote:
            written.append(day)
        on_progress(PhaseProgress("evaluate", day, done, len(days)))
    return written


def _evaluations(
    cache: DayCache,
    references: References,
    day: date,
    summaries: Sequence[Summary],
    settings: Settings,
) -> Iterator[Evaluation]:
    """Evaluate every window that ends at a day; `summaries` are those of the longest."""
    shadowing = cache.shadowing
    # The scores of a chosen reference are not those of all predictions.
    expect = None if settings.label_rates else partial(references.expect, day)
    for length in cache.model.windows:
        of_window = _window(summaries, day, length)
        days = [summary.days[0] for summary in of_window]
        yield from evaluate(
            of_window,
            window_days=length,
            settings=settings,
            explain=cache.causes,
            compress=cache.compress,
            expect=expect if length == 1 else None,
            mapped=_mapped(cache, days) if shadowing and shadowing.covers(days) else (),
            find_lost=cache.find_lost,
            explain_all=cache.explain_all,
            gain=partial(shadowing.gain, day) if shadowing and length == 1 else None,
        )


def _mapped(cache: DayCache, days: Sequence[date]) -> list[Summary]:
    """Give the days as the map has them; none if one was not counted through it."""
    mapped = [*filter(None, map(cache.map_day, days))]
    return [summary for summary, _ in mapped] if len(mapped) == len(days) else []


def stale_evaluations(
    config: Config, name: str, references: References, days: Sequence[date]
) -> list[date]:
    """Find the days whose stored evaluation does not rest on what is stored now."""
    cache = cache_days(config, name)

    def is_stale(day: date) -> bool:
        parts = [cache.read(d) for d in cache.window(day)]
        _, inputs = _basis(cache, references, day, parts)
        return inputs != cache.store.evaluation_inputs(name, day)

    return [day for day in days if is_stale(day)]


def _basis(
    cache: DayCache, references: References, day: date, parts: Sequence[tuple[Summary, str]]
) -> tuple[Settings, str]:
    """Give the settings of the evaluations of a day, and the fingerprint of all they rest on."""
    model, shadowing = cache.model, cache.shadowing
    classes = model.predictions.classes
    settings = Settings(
        alpha=model.alpha,
        null_replicates=model.null_replicates,
        tce_size=references.tce_size(day),
        class_sizes=references.class_sizes(day),
        most_classes=max(MOST_WATCHED, len(classes.watch)) if classes else 0,
        label_rates=label_rates_of(model),
        worth=worth_of(model),
    )
    marks = [mark for _, mark in parts]
    if not parts[-1][0].final:  # its expected prevalence depends on the reference too
        marks += chain.from_iterable(references.marks)
    sizes = [repr(settings.class_sizes)] if settings.class_sizes else []
    sizes += [_mark(settings.label_rates)] if settings.label_rates else []
    sizes += [repr(settings.worth)] if settings.worth else []
    of_map = shadowing.marks(day) if shadowing else []
    by = program.digest("evaluations")
    return settings, fingerprint([by, model.windows, repr(settings), *sizes, *marks, *of_map])


def _mark(rates: LabelRates) -> str:
    """Name how labels are chosen, among what an evaluation rests on."""
    return "label_rate: by_score" if rates == LabelRates() else f"label_rate: {rates}"


def _window(summaries: Sequence[Summary], day: date, window_days: int) -> list[Summary]:
    """Take the days of a window; those with other classes than its last day cannot be added."""
    first, names = reach_back(day, window_days), summaries[-1].class_names
    return [s for s in summaries if first <= s.days[0] and s.class_names == names]
