"""Commands that show results: the last days of a model, and a demo on real flights."""

import sys
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo

import typer

from monitor.cli.options import (
    DEFAULT_CONFIG,
    DEFAULT_JOBS,
    AsJson,
    ConfigPath,
    Jobs,
    ThisModel,
    end_of_outcomes,
    must_be_one_of,
    must_be_stored,
    now,
)
from monitor.cli.printing import err, print_json, progress, say, stop_at_failures
from monitor.cli.reporting import write_configured_pages
from monitor.config import Model, load_config
from monitor.segment_names import WHOLE, shown

DAYS_SHOWN = 14

if TYPE_CHECKING:
    from monitor.evaluation.evaluate import Evaluation
    from monitor.report.incidents import IncidentSummary
    from monitor.store.store import Store


def show(
    name: ThisModel,
    config_path: ConfigPath = DEFAULT_CONFIG,
    segment: Annotated[str, typer.Option(help="A segment, or all.")] = WHOLE,
    window: Annotated[int, typer.Option(help="Length of the window in days.")] = 1,
    days: Annotated[
        int | None,
        typer.Option(
            min=1, help="Show the verdicts of so many days too. Default: 14 days, evaluations only."
        ),
    ] = None,
    past: Annotated[
        bool,
        typer.Option("--incidents", help="List all incidents, open and closed, and stop."),
    ] = False,
    morning: Annotated[
        datetime | None,
        typer.Option(
            "--as-of",
            formats=["%Y-%m-%d"],
            help="Show what was known on this morning: the verdicts as they were then, and stop.",
        ),
    ] = None,
    revised: Annotated[
        bool,
        typer.Option(
            "--revisions", help="List each verdict that was revised, with what it said, and stop."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the newest verdict with its reasons, and the last days.

    Also shows evidence, prevalence and slope of the last weeks, the segments, what explains the
    error of the last week, how much of it an intercept would remove, and, while outcomes are still
    arriving, the prevalence to expect from the scores.
    """
    from monitor.pipeline.settling import settle
    from monitor.report.classes import class_table
    from monitor.report.recent import recent_text, recent_weeks, segment_table
    from monitor.report.tables import evaluation_table, legend
    from monitor.report.too_few import document
    from monitor.report.unfinished import unfinished
    from monitor.report.verdicts import latest, latest_text, of_segment, verdict_table
    from monitor.store.store import Store

    config = load_config(config_path, only=name)
    model = settle(config, name, as_of=date.max, look=False).model(name)
    must_be_one_of("--window", window, model.windows)
    names = dict.fromkeys((WHOLE, *model.segment_names))
    must_be_one_of("--segment", segment, tuple(names))
    store = Store(config.store)
    if past:
        _show_incidents(store, name, segment, as_json=as_json)
        return
    if revised or morning:
        at = morning.date() if morning else None
        _show_past(store, name, model, segment, at, days=days, as_json=as_json)
        return
    stopped = unfinished(store, name)
    if stopped and not as_json:
        say(f"{stopped}", style="yellow", soft_wrap=True)
    stored = store.days("evaluations", name)[-(days or DAYS_SHOWN) :]
    must_be_stored(name, stored)
    chosen = [
        e
        for day in stored
        for e in store.read_evaluations(name, day)[0]
        if e.segment == segment and e.window_days == window
    ]
    newest = latest(store, name, segment, model.windows, usual_age=model.settled_after + 1)
    last = newest.verdict.day if newest.verdict else None
    recent = recent_weeks(store, name, segment, model.windows, last)
    judged = of_segment(store, name, segment, store.days("verdicts", name)[-days:]) if days else []
    if as_json:
        by_day = [{"day": v.day, "state": v.state, "reasons": v.reasons} for v in judged]
        weeks = recent.document if recent else {}
        found = {
            **newest.document,
            **weeks,
            "verdicts": by_day,
            "evaluations": [*map(document, chosen)],
        }
        print_json({**found, "unfinished": stopped})
    else:
        say(latest_text(newest, now().astimezone(ZoneInfo(model.time_zone)).date()))
        if recent:
            say(recent_text(recent))
            if segment == WHOLE and recent.segments:
                say(segment_table(f"{name}, segments on {last}", recent))
        if judged:
            say(verdict_table(f"{name}, segment {shown(segment)}, verdicts by day", judged))
        length = f"{window} days" if window > 1 else "1 day"
        title = f"{name}, segment {shown(segment)}, windows of {length}"
        say(evaluation_table(title, chosen), legend())
        if chosen and chosen[-1].classes:
            say(class_table(f"{name}, classes, {length} to {chosen[-1].day}", chosen[-1]))


def _show_past(
    store: "Store",
    name: str,
    model: Model,
    segment: str,
    morning: date | None,
    *,
    days: int | None,
    as_json: bool,
) -> None:
    """Show what was known on a morning, or all that was revised."""
    from monitor.report.revisions import (
        document,
        known_on,
        known_text,
        revision_table,
        revisions,
    )

    stored = store.days("verdicts", name)
    must_be_stored(name, stored)
    which = f"{name}, segment {shown(segment)}"
    if morning:
        found = known_on(store, name, segment, morning, time_zone=model.time_zone)
        title = f"{which}, as known on the morning of {morning}"
        text = known_text(title, found, days or DAYS_SHOWN)
    else:
        found = revisions(store, name, segment, stored[-days:] if days else stored)
        text = revision_table(f"{which}, verdicts that were revised", found)
    if as_json:
        print_json({"as_of": morning, "revisions": document(found)})
    else:
        say(text)


def _show_incidents(store: "Store", name: str, segment: str, *, as_json: bool) -> None:
    from monitor.report.incidents import incident_details, incidents

    must_be_stored(name, store.days("verdicts", name))
    found = incidents(store, name, segment)
    if as_json:
        print_json({"incidents": found})
    else:
        say(incident_details(f"{name}, segment {shown(segment)}, all incidents", found))


def demo(
    folder: Annotated[Path, typer.Option("--into", help="Folder of the demo.")] = Path("demo-data"),
    jobs: Jobs = DEFAULT_JOBS,
    as_json: AsJson = False,
) -> None:
    """Run the monitor on three models of real flights in 2013.

    Writes ten months of logs, processes every day and shows the results. One of the models was
    broken on purpose.
    """
    from monitor.demo import demo as flights
    from monitor.demo.flight_classes import write_class_logs
    from monitor.demo.flights import write_flights_logs
    from monitor.pipeline.run import run as run_days

    config = flights.write_config(folder)
    with err.status("flights: training on January and February, scoring March to December"):
        logs = write_flights_logs(folder / "logs")
        write_class_logs(folder / "logs")
    reports = []
    for name, model in config.models.items():
        with progress(name, quiet=as_json) as on_progress:
            reports.append(
                run_days(
                    config,
                    name,
                    logs.first_day,
                    logs.last_day,
                    as_of=end_of_outcomes(None, model),
                    clock=now,
                    skip_unchanged=True,
                    jobs=jobs,
                    on_progress=on_progress,
                )
            )
    stop_at_failures(reports, write_configured_pages(config, config.models))
    months = {name: flights.month_ends(config, name) for name in config.models}
    drifts, repairs = flights.drifts(config), flights.repairs(config)
    if as_json:
        found = {"logs": logs, "reports": reports, "months": months, "drifts": drifts}
        print_json({**found, "repairs": repairs})
        return
    say(flights.introduction(logs), highlight=False)
    _print_results(months, drifts)
    say(flights.conclusion(), soft_wrap=True, highlight=False)
    say(flights.repair_table(repairs))
    say(flights.repair_conclusion(), soft_wrap=True, highlight=False)
    say(flights.next_steps(sys.argv[0], folder), soft_wrap=True, highlight=False)


def _print_results(
    months: dict[str, list["Evaluation"]], drifts: dict[str, list["IncidentSummary"]]
) -> None:
    from monitor.report.incidents import incident_table
    from monitor.report.tables import evaluation_table, legend

    for name, evaluations in months.items():
        say(evaluation_table(f"{name}, the 28 days before each month's end", evaluations))
    say(legend())
    say()
    say(incident_table("The drifts that were found", drifts))
