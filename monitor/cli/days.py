"""Commands for days: check their logs, process them, evaluate them again."""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import date, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from monitor.base.errors import ConfigError, DataError
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
    Recompute,
    Wait,
    config_of_store,
    config_with_index,
    day_range,
    end_of_outcomes,
    must_be_stored,
    of_each,
)
from monitor.cli.printing import print_json, progress, say, say_line, stop_at
from monitor.cli.reporting import write_configured_pages

WHAT_IS_DONE_AGAIN = ("evaluated", "judged")

if TYPE_CHECKING:
    from monitor.config import Config, Model
    from monitor.days.arrivals import Delay
    from monitor.days.summary import Summary
    from monitor.logs import Databases


def check(
    config_path: ConfigPath = DEFAULT_CONFIG,
    name: OneModel = None,
    day: Day = None,
    as_of: AsOf = None,
    store: Annotated[
        bool,
        typer.Option(
            "--store",
            help="Read every file of the store instead, and list what is damaged, missing or left "
            "over.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check the logs of one day without writing anything.

    Without --day, check the newest settled day. The configuration is checked too.
    """
    from monitor.config import load_config

    if store:
        from monitor.cli.store_checking import check_whole_store

        if day or as_of:
            msg = "--store reads every day of the store; leave out --day and --as-of."
            raise ConfigError(msg)
        check_whole_store(config_of_store(config_path, name), name, as_json=as_json)
        return
    config = load_config(config_path, only=name)
    checked, errors = check_logs(config, name, day, as_of, _silent if as_json else say)
    engine = {"threads": config.engine.threads, "memory_mb": config.engine.memory_mb}
    if as_json:
        print_json({"models": checked, "engine": engine})
    stop_at(errors)
    if not as_json:
        say("Logs are read with {threads} threads and {memory_mb:,} MB of memory.".format(**engine))
        say("The configuration and these logs are valid; nothing was written.")


def _silent(*_: object, **__: object) -> None:
    """Say nothing, because a document is printed."""


def check_logs(
    config: "Config",
    name: str | None,
    day: datetime | None,
    as_of: datetime | None,
    tell: Callable[..., None],
) -> tuple[dict[str, Any], list[ConfigError | DataError]]:
    """Check the logs of one day of each model, and `tell` people what they show."""
    from monitor.base.files import looking_once
    from monitor.logs import newest_settled_day, open_databases, summarise_day
    from monitor.report.tables import summary_table

    def look(model_name: str, model: "Model") -> dict[str, Any]:
        until = end_of_outcomes(as_of, model)
        looked_at = day.date() if day else newest_settled_day(model_name, model, as_of=until)
        summary = summarise_day(model_name, model, looked_at, as_of=until, engine=opened())
        noticed, found = _what_rows_show(config, model_name, summary, opened())
        tell(summary_table(f"{model_name}, logs of {looked_at}", summary))
        for sentence in noticed:
            tell(sentence, highlight=False, soft_wrap=True)
        advised, about = _what_to_set(config, model_name, until, opened())
        for sentence in advised:
            tell(f"{model_name}: {sentence}", style="yellow", highlight=False, soft_wrap=True)
        return {"day": looked_at, **_counts(summary), **found, **about}

    with looking_once(), ExitStack() as closing:
        opened = cache(lambda: closing.enter_context(open_databases(config.engine)))
        return of_each(config, name, look)


Found = tuple[list[str], dict[str, Any]]  # sentences for people, and the same for programs


def _what_rows_show(
    config: "Config", name: str, summary: "Summary", databases: "Databases"
) -> Found:
    """Say what is noticed in the rows of a day, and what could be found at their volume."""
    from monitor.days.summary import whole
    from monitor.logs import delivered_again, entities_of_day, what_looks_wrong
    from monitor.pipeline.verdicts.asked_where import scores_beside_reference
    from monitor.pipeline.verdicts.references import first_sensitivity
    from monitor.read.labels import labels_in_logs
    from monitor.read.results import results_of
    from monitor.report.verdicts import sensitivity
    from monitor.words.plausibility import mostly_left_out, unless_mapped

    model, (day,) = config.model(name), summary.days
    of_day = (name, model, day)
    lost = mostly_left_out({day: summary.left_out})
    wrong = unless_mapped(
        what_looks_wrong(*of_day, summary, engine=databases),
        scores_beside_reference(config, name, summary),
    )
    again = entities_of_day(*of_day, engine=databases)
    twice = delivered_again(*of_day, rows=whole(summary).predicted, engine=databases)
    stored = results_of(config, name)
    labels = labels_in_logs(stored, model, summary)
    able = sensitivity(stored) or [first_sensitivity(model, summary)]
    said = [*lost, *filter(None, [again, twice]), *labels.sentences]
    noticed = [*map(str, said), *(remark.sentence for remark in wrong)]
    return [*able, *(f"{name}: {sentence}" for sentence in noticed)], {
        "left_out": lost,
        "remarks": wrong,
        "doubts": model.doubts,
        "entities": again,
        "delivered_again": twice,
        **labels.document,
        "label_rule": labels.rule,
        "sensitivity": able,
    }


def _what_to_set(config: "Config", name: str, until: date, databases: "Databases") -> Found:
    """Say which settings a person should look at, by what is stored and how outcomes arrive."""
    from monitor.days.arrivals import late
    from monitor.pipeline.runs.arriving import delay_in_logs
    from monitor.pipeline.verdicts.reading import read_otherwise_next
    from monitor.pipeline.verdicts.references import awaited_in_store
    from monitor.pipeline.verdicts.watching import priors_that_move, strata_found
    from monitor.store.store import Store
    from monitor.words.advice import better_threshold, late_outcomes
    from monitor.words.values import priors_of_their_own, strata_to_set

    model = config.model(name)
    reminders, taken = _last_for_long(config, name, model, until)
    awaited = awaited_in_store(config, name)
    delay = delay_in_logs(config, name, as_of=until, engine=databases)
    incomplete = late(delay, model.settled_after)
    moving, apart = priors_that_move(config, name), strata_found(Store(config.store), name)
    made = model.decision
    suits = better_threshold(made.threshold, made.best_threshold) if made else None
    advised = [
        *(f"unsure: {doubt}" for doubt in model.doubts),
        *(*reminders, *taken, awaited, suits),
        *read_otherwise_next(config, name),
        late_outcomes(incomplete) if incomplete else _shorter_wait(delay, model),
        priors_of_their_own(apart) if apart else None,
        strata_to_set(name, moving) if moving else None,
    ]
    return [*filter(None, advised)], {
        "late": incomplete,
        "strata_found": apart,
        "moving_priors": moving,
        "known_drifts": reminders,
        "taken": taken,
        "awaited_reference": awaited,
        **({"decision": suits} if suits else {}),
    }


def _last_for_long(
    config: "Config", name: str, model: "Model", today: date
) -> tuple[list[str], list[str]]:
    """Remind of planned changes, and of acknowledgements, that last for unusually long."""
    from monitor.days.decisions import lasting
    from monitor.store.store import Store
    from monitor.words.acknowledging import long_taken
    from monitor.words.advice import long_acknowledgement

    planned = (long_acknowledgement(span.last, today) for span in model.verdicts.known_drifts)
    decisions = lasting(Store(config.store).decisions(name)).values()
    taken = (long_taken(decision, today) for decision in decisions)
    return [*filter(None, planned)], [*filter(None, taken)]


def run(
    config_path: ConfigPath = DEFAULT_CONFIG,
    name: OneModel = None,
    day: Day = None,
    as_of: AsOf = None,
    unsettled: Annotated[
        bool,
        typer.Option(
            "--unsettled",
            help="Also process later days, whose outcomes are still arriving, and report the "
            "prevalence to expect from their scores. If outcomes of a day are still missing "
            "after settled_after more days, the exit code is 3; the other days are processed.",
        ),
    ] = False,
    wait: Wait = True,
    begin: Annotated[
        bool,
        typer.Option("--begin", help="Begin a new store if there is none yet."),
    ] = False,
    jobs: Jobs = DEFAULT_JOBS,
    as_json: AsJson = False,
) -> None:
    """Process the newest settled day of every model.

    This is the daily job: it reads the logs, evaluates every window that contains the day, and
    reaches a verdict. It also processes missing days of the last catch_up_days whose logs have
    arrived, and finishes what a run before it left unfinished. Choose another day with --day, or
    one model with --model.
    """
    from monitor.cli.many import begin_store, check_call, newest_days, process
    from monitor.store.store import Store

    config = config_with_index(config_path, name)
    if day:
        check_call(config, name, day.date(), day.date(), as_of)
    if begin:
        begin_store(config, quiet=as_json)
    else:
        Store(config.store).must_be_there()
    plan = partial(newest_days, day=day, as_of=as_of, unsettled=unsettled)
    process(config, name, plan, jobs=jobs, wait=wait, as_json=as_json)


def backfill(
    first: FirstDay,
    last: LastDay,
    config_path: ConfigPath = DEFAULT_CONFIG,
    name: OneModel = None,
    as_of: AsOf = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done with each day, and stop.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Process unchanged days too.")] = False,
    recompute: Recompute = False,
    wait: Wait = True,
    jobs: Jobs = DEFAULT_JOBS,
    as_json: AsJson = False,
) -> None:
    """Process a range of days of every model.

    Days whose logs have not changed are skipped, so after an interruption the same command
    continues where it stopped. Choose one model with --model. If there is no store yet, it begins
    one and says so.
    """
    from monitor.cli.many import alone, begin_store, check_call, process, span
    from monitor.cli.plan import plan_text
    from monitor.pipeline.runs.planning import plan

    config = config_with_index(config_path, name)
    begin, end = day_range(first, last)
    task = partial(span, begin=begin, end=end, as_of=as_of, again=again, recompute=recompute)
    if dry_run:
        plans, errors = of_each(config, name, lambda each, _: plan(config, task(config, each)))
        if as_json:
            print_json({"plans": list(plans.values())})
        for what in [] if as_json else plans.values():
            say_line(plan_text(what))
        stop_at(errors)
        return
    check_call(config, name, begin, end, as_of)
    begin_store(config, quiet=as_json)
    process(
        config, name, partial(alone, task), jobs=jobs, wait=wait, as_json=as_json, with_bars=True
    )


def evaluate(
    first: FirstDay,
    last: LastDay,
    config_path: ConfigPath = DEFAULT_CONFIG,
    name: OneModel = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate and judge stored days again, without reading logs.

    Use it after you change a window, a limit, a reference or a known drift. A verdict rests on the
    days before it, so the days from the first one on are judged, also those after the last one.
    """
    from monitor.pipeline.days.progress import Pace
    from monitor.pipeline.runs.evaluations import evaluate_days
    from monitor.pipeline.verdicts.judging import Known, judge_days
    from monitor.pipeline.verdicts.references import read_references
    from monitor.store.store import Store

    config = config_with_index(config_path, name)
    Store(config.store).must_be_there()
    begin, end = day_range(first, last)

    def redo(model_name: str, model: "Model") -> dict[str, list[date]]:
        today = end_of_outcomes(None, model)
        own_store = Store(config.store)
        must_be_stored(model_name, own_store.days("summaries", model_name))
        locked = own_store.locked(model_name)
        with locked as must_be_there, progress(model_name, quiet=as_json) as on_progress:
            references = read_references(config, model_name)
            own_store.mark_stale(model_name, begin)
            pace = Pace(DEFAULT_JOBS, on_progress)
            days = evaluate_days(config, model_name, references, (begin, end), pace=pace)
            judged = judge_days(config, model_name, references, begin, Known(today), pace)
            must_be_there()
            own_store.note_newest(model_name)
        if references.awaited and not as_json:
            say_line(f"{model_name}: {references.awaited}", style="yellow")
        return {"evaluated": days, "judged": judged}

    done, errors = of_each(config, name, redo)
    errors += write_configured_pages(config, done)
    if as_json:
        print_json(
            {what: {each: days[what] for each, days in done.items()} for what in WHAT_IS_DONE_AGAIN}
        )
    for model_name, days in {} if as_json else done.items():
        judged = days["judged"]
        since = f" (from {judged[0]} on)" if judged else ""
        say_line(
            f"{model_name}: days evaluated {len(days['evaluated'])}, judged {len(judged)}{since}"
        )
    stop_at(errors)


def _counts(summary: "Summary") -> dict[str, Any]:
    """Count what the summary of a day contains."""
    return {
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


def _shorter_wait(delay: "Delay | None", model: "Model") -> str | None:
    """Propose a shorter wait for outcomes, if that is enough."""
    from monitor.words.advice import shorter_wait

    corrected, least = model.outcomes.duplicates == "latest", model.outcomes.absent_means or 0
    return shorter_wait(delay, model.settled_after, least, corrected=corrected)
