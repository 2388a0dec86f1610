"""Evaluations of stored days: which window each day closes, and whether its file is up to date."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cache, lru_cache, partial
from itertools import chain

from monitor.base import program
from monitor.base.errors import within_memory
from monitor.config import Config, Model
from monitor.days.summary import Summary
from monitor.evaluation.attribution import Worth, causes_of, lost_of
from monitor.evaluation.evaluate import Finders, evaluate
from monitor.evaluation.evaluation import Causes, Evaluation, MapGain
from monitor.evaluation.population import population_causes
from monitor.evaluation.score_errors import LabelRates, Settings
from monitor.evaluation.shadow import map_gain
from monitor.metrics.beyond_binary.class_counts import MOST_WATCHED
from monitor.metrics.core.buckets import BucketCounts
from monitor.metrics.core.coarse import coarsen_occupied
from monitor.metrics.core.tally import Tally
from monitor.metrics.scores.net_benefit import Decision
from monitor.pipeline.days.label_rates import label_rates_of
from monitor.pipeline.days.progress import ALONE, Pace, PhaseProgress, fingerprint, in_parallel
from monitor.pipeline.days.shadow import read_model_map
from monitor.pipeline.verdicts.references import References
from monitor.store.store import Store


def reach(model: Model, day: date) -> date:
    """Find the last day whose longest window contains `day`."""
    return day + timedelta(days=model.windows[-1] - 1)


def evaluate_days(
    config: Config,
    name: str,
    references: References,
    span: tuple[date, date],
    *,
    skip_unchanged: bool = False,
    pace: Pace = ALONE,
) -> list[date]:
    """Evaluate every summarised day of a range from stored summaries.

    Parameters
    ----------
    config, name : Config, str
        As for `run`.
    references : References
        What `read_references` found, after the summaries were written.
    span : tuple of date
        The first day of the range, and the last.
    skip_unchanged : bool
        Whether to leave evaluations alone that rest on the same inputs.
    pace : Pace
        How the days are worked through.

    Returns
    -------
    list of date
        The days whose evaluations were written.

    Raises
    ------
    DataError
        If a file of the store cannot be read, or a day needs more memory than there is.
    """
    stored, (first, last) = StoredDays(config, name, pace.jobs), span
    days = [day for day in stored.days if first <= day <= last]

    def evaluate_day(day: date) -> bool:
        with within_memory(f"{name} {day}"):
            parts = [stored.read(d) for d in stored.window(day)]
            settings, inputs = stored.basis(references, day, parts)
            if skip_unchanged and inputs == stored.store.evaluation_inputs(name, day):
                return False
            for earlier in [d for d in stored.window(day) if d < days[0]]:
                stored.recall(earlier)
            summaries, made_from = [summary for summary, _ in parts], parts[-1][1]
            evaluations = [*stored.evaluations(references, day, summaries, settings)]
            stored.store.write_evaluations(
                *(name, day, evaluations),
                inputs=inputs,
                made_from=made_from,
                program=program.digest("evaluations"),
            )
            return True

    written = []
    for done, wrote in enumerate(in_parallel(evaluate_day, days, pace.jobs), 1):
        day = days[done - 1]
        if wrote:
            written.append(day)
        pace.on_progress(PhaseProgress("evaluate", day, done, len(days)))
    return written


def stale_evaluations(
    config: Config, name: str, references: References, days: Sequence[date]
) -> list[date]:
    """Find the days whose stored evaluation does not rest on what is stored now."""
    stored = StoredDays(config, name)

    def is_stale(day: date) -> bool:
        parts = [stored.read(d) for d in stored.window(day)]
        inputs = stored.basis(references, day, parts)[1]
        return inputs != stored.store.evaluation_inputs(name, day)

    return [day for day in days if is_stale(day)]


class StoredDays:
    """The stored days of a model and what follows from each, kept while windows move over them.

    A day is part of many windows, and is worked out once for all.
    """

    def __init__(self, config: Config, name: str, jobs: int = 1) -> None:
        model, store = config.model(name), Store(config.store)
        self.name, self.model, self.store = name, model, store
        self.days = store.days("summaries", name)
        kept = 2 * model.windows[-1] + jobs
        self.read = lru_cache(kept)(partial(store.read_summary, name))
        self.recall = lru_cache(kept)(self._recall)
        self.recalled = dict[Tally, Causes | None]()
        of_segments = lru_cache(kept * len(model.segment_names))
        self.find_causes = of_segments(causes_of)
        worth, rates = worth_of(model), label_rates_of(model)
        self.settings = Settings(
            model.alpha, model.null_replicates, most_classes=0, label_rates=rates, worth=worth
        )
        if classes := model.predictions.classes:
            most = max(MOST_WATCHED, len(classes.watch))
            self.settings = replace(self.settings, most_classes=most)
        self.finders = Finders(
            explain=self._causes,
            compress=of_segments(coarsen_occupied),
            find_lost=of_segments(partial(lost_of, worth)) if worth else None,
            explain_all=of_segments(partial(population_causes, rates=rates)) if rates else None,
        )
        self.map = read_model_map(model, name, store, self.read)
        if self.map:
            self.map_day, self.gains = lru_cache(kept)(self.map.map_day), cache(self.map.gains)

    def window(self, day: date) -> list[date]:
        """List the days of the longest window that ends at a day."""
        first = reach_back(day, self.model.windows[-1])
        return [d for d in self.days if first <= d <= day]

    def _recall(self, day: date) -> None:
        """Read the causes of a day's tallies from the store, if they are of its summary."""
        (summary, mark), (causes, of) = self.read(day), self.store.read_causes(self.name, day)
        if of == (mark, program.digest("evaluations")):
            parts = summary.segments.items()
            self.recalled.update({part.tally: causes[key] for key, part in parts if key in causes})

    def _causes(self, tally: Tally, held: BucketCounts) -> Causes | None:
        """Give the causes of a tally: as they were stored, or else as they are found."""
        return self.recalled[tally] if tally in self.recalled else self.find_causes(tally, held)

    def _mapped(self, days: Sequence[date]) -> list[Summary]:
        """Give the days as the map has them; none if one was not counted through it."""
        if not (self.map and days and self.map.is_compared(days[0], days[-1])):
            return []
        mapped = [*filter(None, map(self.map_day, days))]
        return [summary for summary, _ in mapped] if len(mapped) == len(days) else []

    def _compared_to(self, day: date) -> list[date]:
        """List the days up to one on which the map is compared; none if it is not on that day."""
        if not (self.map and self.map.is_compared(day, day)):
            return []
        return [d for d in self.days if d <= day and self.map.is_compared(d, d)]

    def _gain(self, day: date, segment: str) -> MapGain | None:
        """Estimate what the map gained up to a day; None while its outcomes are arriving."""
        days = self._compared_to(day)
        if not days or not self.gains(day)[1]:
            return None
        gains = [self.gains(earlier)[1] for earlier in days]
        return map_gain([of_day[segment] for of_day in gains if of_day and segment in of_day])

    def evaluations(
        self, references: References, day: date, summaries: Sequence[Summary], settings: Settings
    ) -> Iterator[Evaluation]:
        """Evaluate every window that ends at a day; `summaries` are those of the longest."""
        # The scores of a chosen reference are not those of all predictions.
        expect = None if settings.label_rates else partial(references.expect, day)
        gain = partial(self._gain, day) if self.map else None
        of_day = replace(self.finders, expect=expect, gain=gain)
        names = summaries[-1].class_names
        for length in self.model.windows:
            # Days with other classes than the last one cannot be added.
            first = reach_back(day, length)
            days = [s for s in summaries if first <= s.days[0] and s.class_names == names]
            yield from evaluate(
                days,
                window_days=length,
                settings=settings,
                finders=of_day if length == 1 else self.finders,
                mapped=self._mapped([summary.days[0] for summary in days]),
            )

    def basis(
        self, references: References, day: date, parts: Sequence[tuple[Summary, str]]
    ) -> tuple[Settings, str]:
        """Give the settings of the evaluations of a day, and a mark of all they rest on."""
        size, sizes = references.tce_size(day), references.class_sizes(day)
        settings = replace(self.settings, tce_size=size, class_sizes=sizes)
        marks = [mark for _, mark in parts]
        if not parts[-1][0].final:  # its expected prevalence depends on the reference too
            marks += chain.from_iterable(references.marks)
        more = [repr(sizes)] if sizes else []
        more += [_mark(settings.label_rates)] if settings.label_rates else []
        more += [repr(settings.worth)] if settings.worth else []
        of_map = list[object]()
        if self.map and self.map.is_compared(day, day):
            earlier = [self.gains(other)[0] for other in self._compared_to(day)]
            of_map = [self.map.mark, f"{self.map.setting.since}", fingerprint([*earlier])]
        by = program.digest("evaluations")
        inputs = [by, self.model.windows, repr(settings), *more, *marks, *of_map]
        return settings, fingerprint(inputs)


def _mark(rates: LabelRates) -> str:
    """Name how labels are chosen, among what an evaluation rests on."""
    return "label_rate: by_score" if rates == LabelRates() else f"label_rate: {rates}"


def reach_back(day: date, window_days: int) -> date:
    """Find the first day of the window of `window_days` that ends at `day`."""
    return day - timedelta(days=window_days - 1)


def worth_of(model: Model) -> Worth | None:
    """Say what an error of a model is worth, if that is configured."""
    if model.value:
        return Worth(model.value.currency, per_nat=model.value.per_nat)
    if made := model.decision:
        decision = Decision(made.threshold, made.benefit, made.cost_of_acting)
        return Worth(made.currency or "", decision=decision)
    return None
