"""What `run` and `backfill` do with one model, and how they do it with all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import TypeVar

from monitor.cli.options import chosen_models, end_of_outcomes, invalid_models, now
from monitor.cli.printing import progress, progress_of_models
from monitor.cli.reporting import write_configured_page
from monitor.config import Config
from monitor.errors import ConfigError, DataError
from monitor.files import looking_once
from monitor.logs import newest_day, newest_settled_day
from monitor.pipeline import fleet
from monitor.pipeline.beginning import Beginning, beginning
from monitor.pipeline.catch_up import days_to_catch_up
from monitor.pipeline.planning import check_days
from monitor.pipeline.run import RunReport, run
from monitor.pipeline.settling import settle

T = TypeVar("T")


@dataclass(frozen=True)
class Processed:
    """What became of one model: its report or, of a new model, when it begins.

    `of_page` are the errors of its report page.
    """

    report: RunReport | None
    begun: Beginning | None = None
    of_page: tuple[ConfigError | DataError, ...] = ()


def of_models(
    config: Config,
    name: str | None,
    do: Callable[[Config, str, int], T],
    *,
    jobs: int,
    quiet: bool,
) -> tuple[dict[str, T], list[ConfigError | DataError]]:
    """Call `do` for the named model or for all, spread over processes; collect results and errors.

    Both are in the order of the configuration, whichever model is done first.
    """
    names = list(chosen_models(config, name))
    alone = fleet.processes_of(config, names, jobs) == 1
    found = dict[str, fleet.Done[T]]()
    with progress_of_models(len(names), quiet=quiet or alone) as on_done:
        for done in fleet.of_models(do, config, names, jobs=jobs):
            found[done.model] = done
            on_done(done.model)
    errors = [error for each in names if (error := found[each].error)]
    results = {each: result for each in names if (result := found[each].result) is not None}
    return results, [*errors, *invalid_models(config, name)]


def check_call(
    config: Config, name: str | None, first: date, last: date, as_of: datetime | None
) -> None:
    """Raise ConfigError once for days that no model can have, before any is run."""
    for each, model in chosen_models(config, name).items():
        check_days(each, first, last, as_of=end_of_outcomes(as_of, model))


@looking_once()
def run_morning(
    config: Config,
    name: str,
    jobs: int,
    *,
    day: datetime | None,
    as_of: datetime | None,
    unsettled: bool,
    recompute: bool,
    wait: bool,
) -> Processed:
    """Process the newest settled day of a model, as the command `run` says."""
    until = end_of_outcomes(as_of, config.model(name))
    settled = settle(config, name, as_of=until)  # `run` finds it again, and keeps it
    model = settled.model(name)
    new = None if day else beginning(settled, name, as_of=until)
    if new and not unsettled:
        return Processed(None, new)
    if new:
        chosen = new.first
    else:
        chosen = day.date() if day else newest_settled_day(name, model, as_of=until)
    last = max(chosen, newest_day(model, as_of=until)) if unsettled else chosen
    alone = bool(day or new)
    report = run(
        *(config, name, chosen, last),
        as_of=until,
        clock=now,
        catch_up=() if alone else days_to_catch_up(settled, name, chosen, as_of=until),
        recompute=recompute,
        wait=wait,
        jobs=jobs,
    )
    return Processed(report, new, write_configured_page(config, name))


def run_span(
    config: Config,
    name: str,
    jobs: int,
    *,
    begin: date,
    end: date,
    as_of: datetime | None,
    again: bool,
    recompute: bool,
    wait: bool,
    quiet: bool,
) -> Processed:
    """Process a range of days of a model, as the command `backfill` says."""
    until = end_of_outcomes(as_of, config.model(name))
    with progress(name, quiet=quiet or fleet.is_one_of_several()) as on_progress:
        report = run(
            *(config, name, begin, end),
            as_of=until,
            clock=now,
            skip_unchanged=not again,
            recompute=recompute,
            wait=wait,
            jobs=jobs,
            on_progress=on_progress,
        )
    return Processed(report, None, write_configured_page(config, name))
