"""What `run` and `backfill` do with one model, and how they do it with all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial

from monitor.base.errors import ConfigError, DataError
from monitor.base.files import looking_once
from monitor.cli.options import chosen_models, end_of_outcomes, invalid_models, now
from monitor.cli.printing import finish, progress, progress_of_models, say_line
from monitor.cli.reporting import write_configured_index, write_configured_page
from monitor.config import Config
from monitor.logs import Again
from monitor.pipeline.days.task import Task
from monitor.pipeline.runs import fleet
from monitor.pipeline.runs.morning import Beginning, Call, Morning, plan_morning
from monitor.pipeline.runs.planning import check_days
from monitor.pipeline.runs.run import RunReport, run
from monitor.pipeline.runs.scheduled import delivered_in
from monitor.store.store import Store


@dataclass(frozen=True)
class Processed:
    """What became of one model: its report or, of a new model, when it begins.

    `again` are days whose predictions were delivered before, and `of_page` the errors of its
    report page.
    """

    report: RunReport | None
    begun: Beginning | None = None
    again: tuple[Again, ...] = ()
    of_page: Sequence[ConfigError | DataError] = ()


def process(
    config: Config,
    name: str | None,
    plan: Callable[[Config, str], Morning],
    *,
    jobs: int,
    wait: bool,
    as_json: bool,
    with_bars: bool = False,
) -> None:
    """Run what is planned for the named model or for all, spread over processes, and print it.

    Results and errors are in the order of the configuration, whichever model is done first.
    """
    names = list(chosen_models(config, name))
    alone = fleet.processes_of(config, names, jobs) == 1
    do = partial(_process, plan=plan, wait=wait, with_bars=with_bars and not as_json)
    done = dict[str, fleet.Done[Processed]]()
    with progress_of_models(len(names), quiet=as_json or alone) as on_done:
        for of_model in fleet.of_models(do, config, names, jobs=jobs):
            done[of_model.model] = of_model
            on_done(of_model.model)
    errors = [error for each in names if (error := done[each].error)]
    errors += [*invalid_models(config, name), *write_configured_index(config)]
    results = [result for each in names if (result := done[each].result)]
    finish(
        [result.report for result in results if result.report],
        as_json=as_json,
        begun=[result.begun for result in results if result.begun],
        again={each: result.again for each in names if (result := done[each].result)},
        errors=[*errors, *(error for result in results for error in result.of_page)],
    )


def check_call(
    config: Config, name: str | None, first: date, last: date, as_of: datetime | None
) -> None:
    """Raise ConfigError once for days that no model can have, before any is run."""
    for each, model in chosen_models(config, name).items():
        check_days(each, first, last, as_of=end_of_outcomes(as_of, model))


def begin_store(config: Config, *, quiet: bool) -> None:
    """Begin a store where there is none, and say so."""
    if Store(config.store).begin(now()) and not quiet:
        say_line(f"store: {config.store} is new, and begins here")


def newest_days(
    config: Config,
    name: str,
    *,
    day: datetime | None,
    as_of: datetime | None,
    unsettled: bool,
) -> Morning:
    """Plan what the command `run` says."""
    until = end_of_outcomes(as_of, config.model(name))
    asked = day.date() if day else None
    return plan_morning(config, name, Call(until, asked, unsettled=unsettled))


def span(
    config: Config,
    name: str,
    *,
    begin: date,
    end: date,
    as_of: datetime | None,
    again: bool,
    recompute: bool,
) -> Task:
    """Plan what the command `backfill` says."""
    until = end_of_outcomes(as_of, config.model(name))
    return Task(name, begin, end, until, skip_unchanged=not again, recompute=recompute)


def alone(task_of: Callable[[Config, str], Task], config: Config, name: str) -> Morning:
    """Plan a task and nothing else."""
    return Morning(task_of(config, name))


@looking_once()
def _process(
    config: Config,
    name: str,
    jobs: int,
    *,
    plan: Callable[[Config, str], Morning],
    wait: bool,
    with_bars: bool,
) -> Processed:
    """Run what is planned for a model, and write its page."""
    morning = plan(config, name)
    if not morning.task:
        return Processed(None, morning.begun)
    quiet = not with_bars or fleet.is_one_of_several()
    with progress(name, quiet=quiet) as on_progress:
        report = run(config, morning.task, clock=now, wait=wait, jobs=jobs, on_progress=on_progress)
    again = delivered_in(config, name, report.summarised)
    return Processed(report, morning.begun, again, write_configured_page(config, name))
