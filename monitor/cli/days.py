"""Days: look at their logs, do them, judge them again."""

from typing import TYPE_CHECKING, Annotated

import typer

from monitor.cli.options import (
    DEFAULT_CONFIG,
    DEFAULT_JOBS,
    AsJson,
    AsOf,
    ConfigPath,
    Day,
    FirstDay,
    Jobs,
    LastDay,
    OneModel,
    ThisModel,
    chosen_models,
    day_range,
    end_of_outcomes,
    now,
)
from monitor.cli.printing import finish, out, print_json, progress
from monitor.config import load_config

if TYPE_CHECKING:
    from datetime import date


def check(
    config_path: ConfigPath = DEFAULT_CONFIG,
    name: OneModel = None,
    day: Day = None,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Look at the logs of one day, and write nothing.

    Without --day at the newest settled day. The configuration is validated on the way.
    """
    from monitor.logs import newest_settled_day, summarise_day
    from monitor.report.tables import summary_table

    config = load_config(config_path)
    found = {}
    for model_name, model in chosen_models(config, name):
        until = end_of_outcomes(as_of, model)
        looked_at = day.date() if day else newest_settled_day(model_name, model, as_of=until)
        summary = summarise_day(model_name, model, looked_at, as_of=until, engine=config.engine)
        found[model_name] = {
            "day": looked_at,
            "final": summary.final,
            "rejected": dict(summary.rejected),
            "segments": {
                segment: {
                    "predictions": part.predicted,
                    "outcomes": part.tally.total,
                    "positives": part.tally.total_positives,
                }
                for segment, part in summary.segments.items()
            },
        }
        if not as_json:
            out.print(summary_table(f"{model_name}, logs of {looked_at}", summary))
    if as_json:
        print_json({"models": found})
    else:
        out.print("The configuration and these logs are in order; nothing was written.")


def run(
    config_path: ConfigPath = DEFAULT_CONFIG,
    name: OneModel = None,
    day: Day = None,
    as_of: AsOf = None,
    unsettled: Annotated[
        bool,
        typer.Option(
            "--unsettled",
            help="Do all later days too, whose outcomes are awaited: their scores already tell "
            "what prevalence to expect. Ends with code 3 if outcomes of a day are still missing "
            "after settled_after more days; the other days are done all the same.",
        ),
    ] = False,
    jobs: Jobs = DEFAULT_JOBS,
    as_json: AsJson = False,
) -> None:
    """Do the newest settled day of every model, or --day, or --model.

    This is the daily job: read the logs, judge every window that holds the day, say the verdict.
    """
    from monitor.logs import newest_day, newest_settled_day
    from monitor.pipeline import RunReport
    from monitor.pipeline import run as run_days

    config = load_config(config_path)
    reports: list[RunReport] = []
    for model_name, model in chosen_models(config, name):
        until = end_of_outcomes(as_of, model)
        chosen = day.date() if day else newest_settled_day(model_name, model, as_of=until)
        last = max(chosen, newest_day(model, as_of=until)) if unsettled else chosen
        reports.append(
            run_days(config, model_name, chosen, last, as_of=until, clock=now, jobs=jobs)
        )
    finish(reports, as_json=as_json)


def backfill(
    name: ThisModel,
    first: FirstDay,
    last: LastDay,
    config_path: ConfigPath = DEFAULT_CONFIG,
    as_of: AsOf = None,
    dry_run: Annotated[bool, typer.Option(help="Only say what would be done.")] = False,
    again: Annotated[bool, typer.Option(help="Redo days whose logs have not changed.")] = False,
    jobs: Jobs = DEFAULT_JOBS,
    as_json: AsJson = False,
) -> None:
    """Do a range of days of one model.

    Days whose logs have not changed are left alone: after an interruption the same command goes
    on where it was.
    """
    from monitor.pipeline import reach
    from monitor.pipeline import run as run_days

    config = load_config(config_path)
    model = config.model(name)
    begin, end = day_range(first, last)
    if dry_run:
        plan = {"model": name, "summarise": [begin, end], "evaluate": [begin, reach(model, end)]}
        if as_json:
            print_json(plan)
        else:
            out.print(
                f"{name}: would summarise {begin} to {end} and evaluate what is stored of "
                f"{begin} to {reach(model, end)}."
            )
        return
    with progress(name, quiet=as_json) as on_step:
        report = run_days(
            config,
            name,
            begin,
            end,
            as_of=end_of_outcomes(as_of, model),
            clock=now,
            skip_unchanged=not again,
            jobs=jobs,
            on_step=on_step,
        )
    finish([report], as_json=as_json)


def evaluate(
    first: FirstDay,
    last: LastDay,
    config_path: ConfigPath = DEFAULT_CONFIG,
    name: OneModel = None,
    jobs: Jobs = DEFAULT_JOBS,
    as_json: AsJson = False,
) -> None:
    """Judge stored days again, without reading logs.

    After a window, a limit, a reference or a known drift was changed.
    """
    from monitor.judging import judge_days
    from monitor.pipeline import evaluate_days

    config = load_config(config_path)
    begin, end = day_range(first, last)
    done: dict[str, list[date]] = {}
    for model_name, _ in chosen_models(config, name):
        with progress(model_name, quiet=as_json) as on_step:
            done[model_name] = evaluate_days(
                config, model_name, begin, end, jobs=jobs, on_step=on_step
            )
            judge_days(config, model_name, begin, jobs=jobs, on_step=on_step)
    if as_json:
        print_json({"evaluated": done})
    for model_name, days in {} if as_json else done.items():
        out.print(f"{model_name}: evaluated {len(days)} days.")
