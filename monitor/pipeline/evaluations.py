"""Evaluations of stored days: which window each day closes, and whether its file is up to date."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from functools import lru_cache, partial
from itertools import chain

from monitor import program
from monitor.config import Config, Model
from monitor.errors import within_memory
from monitor.evaluation.attribution import Causes, causes_of
from monitor.evaluation.evaluate import Evaluation, evaluate
from monitor.evaluation.score_errors import Settings
from monitor.evaluation.shadow import map_summary
from monitor.metrics.beyond_binary.class_counts import MOST_WATCHED
from monitor.metrics.core.coarse import coarsen_occupied
from monitor.metrics.core.tally import Tally
from monitor.pipeline.progress import PhaseProgress, fingerprint, in_parallel
from monitor.pipeline.references import References
from monitor.pipeline.shadow import ShadowDays, shadow_days
from monitor.store.store import Store
from monitor.summary import Summary


def reach(model: Model, day: date) -> date:
    """Find the last day whose longest window contains `day`."""
    return day + timedelta(days=model.windows[-1] - 1)


def reach_back(day: date, window_days: int) -> date:
    """Find the first day of the window of `window_days` that ends at `day`."""
    return day - timedelta(days=window_days - 1)


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
    model, store = config.model(name), Store(config.store)
    stored = store.days("summaries", name)
    days = [day for day in stored if first <= day <= last]
    cached_days = 2 * model.windows[-1] + jobs
    read_summary = lru_cache(cached_days)(lambda day: store.read_summary(name, day))
    # A day is part of many windows; its causes are found once, and read where they are stored.
    in_segments = lru_cache(cached_days * len(model.segment_names))
    found, compress = in_segments(causes_of), in_segments(coarsen_occupied)
    recall = lru_cache(cached_days)(
        lambda day: _stored_causes(store, name, day, *read_summary(day))
    )
    recalled = dict[Tally, Causes | None]()

    def explain(t: Tally) -> Causes | None:
        return recalled[t] if t in recalled else found(t)

    shadowing = shadow_days(model, name, stored, read_summary)
    mapped = lru_cache(cached_days)(lambda day: _mapped(shadowing, read_summary(day)[0]))

    def evaluate_day(day: date) -> bool:
        window = [d for d in stored if reach_back(day, model.windows[-1]) <= d <= day]
        parts = [read_summary(d) for d in window]
        settings, inputs = _basis(model, references, day, parts, shadowing)
        if skip_unchanged and inputs == store.evaluation_inputs(name, day):
            return False
        for earlier in [d for d in window if d < days[0]]:
            recalled.update(recall(earlier))
        evaluations = list[Evaluation]()
        for length in model.windows:
            summaries = _window([s for s, _ in parts], day, length)
            of_window = [s.days[0] for s in summaries]
            compared = shadowing and shadowing.covers(of_window)
            evaluations += evaluate(
                summaries,
                window_days=length,
                settings=settings,
                explain=explain,
                compress=compress,
                expect=partial(references.expect, day) if length == 1 else None,
                mapped=[mapped(d) for d in of_window] if compared else (),
                gain=partial(shadowing.gain, day) if shadowing and length == 1 else None,
            )
        made_from, by = parts[-1][1], program.digest("evaluations")
        store.write_evaluations(
            name, day, evaluations, inputs=inputs, made_from=made_from, program=by
        )
        return True

    def evaluate_or_say_why(day: date) -> bool:
        with within_memory(f"{name} {day}"):
            return evaluate_day(day)

    written = []
    for done, wrote in enumerate(in_parallel(evaluate_or_say_why, days, jobs), 1):
        day = days[done - 1]
        if wrote:
            written.append(day)
        on_progress(PhaseProgress("evaluate", day, done, len(days)))
    return written


def _stored_causes(
    store: Store, name: str, day: date, summary: Summary, mark: str
) -> dict[Tally, Causes | None]:
    """Recall the causes of a day's tallies from its evaluations, if they are of this summary."""
    causes, of = store.read_causes(name, day)
    if of != (mark, program.digest("evaluations")):
        return {}
    return {part.tally: causes[key] for key, part in summary.segments.items() if key in causes}


def stale_evaluations(
    config: Config, name: str, references: References, days: Sequence[date]
) -> list[date]:
    """Find the days whose stored evaluation does not rest on what is stored now."""
    model, store = config.model(name), Store(config.store)
    stored = store.days("summaries", name)
    read_summary = lru_cache(2 * model.windows[-1])(lambda day: store.read_summary(name, day))
    shadowing = shadow_days(model, name, stored, read_summary)

    def is_stale(day: date) -> bool:
        window = [d for d in stored if reach_back(day, model.windows[-1]) <= d <= day]
        parts = [read_summary(d) for d in window]
        _, inputs = _basis(model, references, day, parts, shadowing)
        return inputs != store.evaluation_inputs(name, day)

    return [day for day in days if is_stale(day)]


def _basis(
    model: Model,
    references: References,
    day: date,
    parts: Sequence[tuple[Summary, str]],
    shadowing: ShadowDays | None,
) -> tuple[Settings, str]:
    """Give the settings of the evaluations of a day, and the fingerprint of all they rest on."""
    classes = model.predictions.classes
    settings = Settings(
        alpha=model.alpha,
        null_replicates=model.null_replicates,
        tce_size=references.tce_size(day),
        class_sizes=references.class_sizes(day),
        most_classes=max(MOST_WATCHED, len(classes.watch)) if classes else 0,
    )
    marks = [mark for _, mark in parts]
    if not parts[-1][0].final:  # its expected prevalence depends on the reference too
        marks += chain.from_iterable(references.marks)
    sizes = [repr(settings.class_sizes)] if settings.class_sizes else []
    of_map = shadowing.marks(day) if shadowing else []
    by = program.digest("evaluations")
    return settings, fingerprint([by, model.windows, repr(settings), *sizes, *marks, *of_map])


def _window(summaries: Sequence[Summary], day: date, window_days: int) -> list[Summary]:
    """Take the days of a window; those with other classes than its last day cannot be added."""
    first, names = reach_back(day, window_days), _class_names(summaries[-1])
    return [s for s in summaries if first <= s.days[0] and _class_names(s) == names]


def _class_names(summary: Summary) -> tuple[str, ...]:
    return summary.classes.names if summary.classes else ()


def _mapped(shadowing: ShadowDays | None, summary: Summary) -> Summary:
    return map_summary(summary, shadowing.shadow) if shadowing else summary
