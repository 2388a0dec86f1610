"""Commands that show results: the last days of a model, and a demo on real flights."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo

import typer

from monitor.base.errors import ConfigError, DataError
from monitor.base.segment_names import WHOLE, shown
from monitor.cli.options import (
    DEFAULT_CONFIG,
    DEFAULT_JOBS,
    AsJson,
    ConfigPath,
    OneModel,
    config_of_store,
    end_of_outcomes,
    may_have_logs,
    must_be_one_of,
    must_be_stored,
    now,
)
from monitor.cli.printing import (
    answer,
    print_json,
    progress,
    say,
    say_aside,
    say_doubts,
    say_line,
    stop_at_failures,
    working,
)
from monitor.cli.reporting import write_configured_pages

DAYS_SHOWN = 14
FAILED = 4  # the exit code of --fail-on
MOST_DRIFTS = 3  # of each model of the demo at a first look
LONG = 100  # days without a reference: then outcomes are rare, and reading them takes long

if TYPE_CHECKING:
    from monitor.config import Config, Model
    from monitor.drift.records.values import MovingPriors
    from monitor.drift.records.verdict import Verdict
    from monitor.read.results import Evaluations, Results
    from monitor.read.standing import Standing
    from monitor.words.trust import Trust


def show(
    name: OneModel = None,
    config_path: ConfigPath = DEFAULT_CONFIG,
    segment: Annotated[str, typer.Option(help="A segment, or all.")] = WHOLE,
    window: Annotated[
        int | None,
        typer.Option(
            "--windows",
            metavar="LENGTH",
            help="Also show windows of this length in days, such as 7, with all sentences and the "
            "prevalence to expect.",
        ),
    ] = None,
    days: Annotated[
        int | None,
        typer.Option(
            min=1, help="Also list the verdicts of this many days; with --windows 14 by default."
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
            callback=may_have_logs,
            help="Show what was known on this morning: the verdicts as they were then, and stop.",
        ),
    ] = None,
    revised: Annotated[
        bool,
        typer.Option(
            "--revisions", help="List each verdict that was revised, with what it said, and stop."
        ),
    ] = False,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on",
            metavar="GROUPS",
            help="End with exit code 4 if a model, or a segment of it, is in one of these groups, "
            "with commas between them: drift, level, labels, blind.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show whether a model can be trusted, what to do, and why.

    Without --model all models, the worst first; of a configuration of one model, that one.

    Also shows evidence, prevalence and slope of the last weeks, and the segments. --windows adds
    the errors of windows, what explains them, and the prevalence to expect while outcomes are still
    arriving.
    """
    from monitor.read.results import results_of

    config = config_of_store(config_path, name)
    if name is None and len(config.names) > 1:
        given = {"--segment": segment != WHOLE, "--windows": bool(window), "--days": bool(days)}
        given |= {"--incidents": past, "--as-of": bool(morning), "--revisions": revised}
        _must_be_of_all([option for option, is_given in given.items() if is_given])
        failed = _failing(config, config.names, None, fail_on)
        _show_all(config, failed, as_json=as_json)
        _end_with(failed, as_json=as_json)
        return
    name = name or config.names[0]
    model = config.model(name)
    if window is not None:
        must_be_one_of("--windows", window, model.windows)
    must_be_one_of("--segment", segment, model.every_segment)
    results = results_of(config, name, kept=True)
    if fail_on and (past or revised or morning):
        msg = "--fail-on: is about the newest verdict; leave out --incidents, --as-of, --revisions."
        raise ConfigError(msg)
    if past:
        _show_incidents(results, segment, as_json=as_json)
    elif revised or morning:
        at = morning.date() if morning else None
        _show_past(results, model, segment, at, days=days, as_json=as_json)
    else:
        failed = _failing(config, [name], segment if segment != WHOLE else None, fail_on)
        _show_newest(results, config, segment, window, failed, days=days, as_json=as_json)
        _end_with(failed, as_json=as_json)


Failed = Mapping[str, Mapping[str, Sequence[str]]]  # segments, by group, by model


def _failing(
    config: "Config", names: Sequence[str], segment: str | None, fail_on: str | None
) -> Failed | None:
    """List what the call fails for; None if it was not asked to fail."""
    from monitor.read.failing import failing, groups_of
    from monitor.read.results import results_of
    from monitor.read.standing import nearest_to_week, standings

    if fail_on is None:
        return None
    groups, found = groups_of(fail_on), dict[str, Mapping[str, Sequence[str]]]()
    for name in names:
        model, results = config.shown(name), results_of(config, name)
        asked = [segment] if segment else model.every_segment
        stands = standings(results, asked, nearest_to_week(model.windows))
        newest = next((s.verdict.day for s in stands.values() if s.verdict), None)
        old = newest is not None and _is_old(results, model, newest, _today(model))
        if failed := failing(stands, groups, old=old):
            found[name] = failed
    return found


def _today(model: "Model") -> date:
    return now().astimezone(ZoneInfo(model.time_zone)).date()


def _end_with(failed: Failed | None, *, as_json: bool) -> None:
    """End with the code of `--fail-on` where something is in its groups."""
    if not failed:
        return
    for name, by_group in () if as_json else failed.items():
        said = "; ".join(
            f"{group}: {', '.join(map(shown, segments))}" for group, segments in by_group.items()
        )
        say_line(f"--fail-on: {name}, {said}", style="red")
    raise typer.Exit(FAILED)


def _must_be_of_all(options: list[str]) -> None:
    """Refuse options that are about one model."""
    if options:
        msg = f"{', '.join(options)}: is about one model; name it with --model."
        raise ConfigError(msg)


def _show_all(config: "Config", failed: Failed | None, *, as_json: bool) -> None:
    """Show what stands of every model, the worst first."""
    from monitor.report.all_models import models_table
    from monitor.report.page.index import INDEX_COLUMNS, index_of

    entries = index_of(config).entries
    listed = [dict(zip(INDEX_COLUMNS, e.cells, strict=True)) | {"state": e.state} for e in entries]
    document = {"models": listed} if failed is None else {"models": listed, "failed_on": failed}
    answer(document, models_table(entries), as_json=as_json)


def _trust(
    results: "Results",
    model: "Model",
    stands: "Standing",
    beside: "Sequence[Verdict]",
) -> "Trust | None":
    """Say whether a segment can be trusted, and what to do.

    A drift in a segment counts for the whole: `beside` are the verdicts of all.
    """
    from monitor.drift.records.verdict import DRIFTING
    from monitor.read.standing import day_that_contradicts
    from monitor.report.verdicts import few_known
    from monitor.words.trust import after_one_day, trust

    verdict = stands.verdict
    if verdict is None:
        return None
    segment = verdict.segment

    elsewhere = [
        other.segment
        for other in beside
        if segment == WHOLE != other.segment and other.state in DRIFTING
    ]
    awaits_first = verdict.facts.obstacle == "no reference" and not model.verdicts.references
    until_first = _until_first(results, model) if awaits_first else ""
    said = trust(
        *(verdict, elsewhere, until_first, model.maps),
        counted=model.has_places,
        few_known=few_known(stands),
    )
    lately = day_that_contradicts(results, verdict)
    return after_one_day(said, *lately) if lately else said


def _is_old(results: "Results", model: "Model", newest: date, today: date) -> bool:
    from monitor.read.standing import is_old

    return is_old(results.days("verdicts"), newest, today, model.settled_after)


def _until_first(results: "Results", model: "Model") -> str:
    """Say what is missing for a first reference; empty if it has been long in coming."""
    from monitor.pipeline.verdicts.references import needs_of_first
    from monitor.words.trust import first_verdict

    days = results.days("evaluations")
    evaluations = [e for day in days[:LONG] for e in results.evaluations(day)]
    outcomes = [
        (e.positives, e.matched - e.positives)
        for e in evaluations
        if e.final and (e.segment, e.window_days) == (WHOLE, 1) and e.predicted
    ]
    if len(days) > LONG or not outcomes:
        return ""
    return first_verdict(needs_of_first(outcomes), days[0], days[-1], model.settled_after + 1)


def _show_newest(
    results: "Results",
    config: "Config",
    segment: str,
    window: int | None,
    failed: Failed | None,
    *,
    days: int | None,
    as_json: bool,
) -> None:
    """Show what stands of a segment, and its last days."""
    from monitor.read.acknowledgements import who_has_taken, who_has_taken_values
    from monitor.read.labels import labels_of
    from monitor.read.standing import nearest_to_week, newest
    from monitor.read.unfinished import unfinished
    from monitor.report.recent import recent_text, recent_weeks, segment_table
    from monitor.report.too_few import document
    from monitor.report.verdicts import document as standing_document
    from monitor.report.verdicts import standing_text, verdict_table
    from monitor.words.trust import none_since

    name, model = results.model, config.model(results.model)
    stopped = unfinished(results.store, name)
    if stopped and not as_json:
        say_line(f"{stopped}", style="yellow")
    chosen = _last_evaluations(results, segment, days or DAYS_SHOWN, window or 1)
    week, latest = nearest_to_week(model.windows), newest(results)
    stands, beside = latest.of(segment, week), latest.verdicts
    last = stands.verdict.day if stands.verdict else None
    today = _today(model)
    trusted = _trust(results, model, stands, beside)
    none_later = [none_since(name, last)] if last and _is_old(results, model, last, today) else []
    labels = labels_of(results, model, stands)
    taken = who_has_taken(results, stands.verdict, today)
    of_values = who_has_taken_values(results, stands.verdict, today)
    strata = _strata(config, name, stands.verdict)
    recent = recent_weeks(results, segment, week, last)
    judged = _last_verdicts(results, segment, days, week) if days else []
    if as_json:
        content: dict[str, Any] = {"trust": trusted and trusted._asdict()}
        content |= {"taken": taken, "taken_values": of_values, "strata_instead": strata}
        content |= standing_document(stands) | (recent.document if recent else {})
        content["verdicts"] = [
            {"day": v.day, "state": v.state, "reasons": v.reasons} for v in judged
        ]
        content["evaluations"] = [*map(document, chosen)]
        further = {"unfinished": stopped, "doubts": model.doubts, **labels.document}
        further |= {} if failed is None else {"failed_on": failed}
        print_json({**content, **further})
        for sentence in none_later:
            say_aside(sentence, style="yellow")
        return
    say(standing_text(stands, trusted, today, taken, old=bool(none_later), briefly=window is None))
    sentences = *none_later, *labels.sentences, *_mixed(config, name, chosen)
    _say_warnings(name, of_values, strata, sentences)
    say_doubts("", model.doubts)
    if recent:
        say(recent_text(recent))
        if segment == WHOLE and recent.segments:
            say(segment_table(f"{name}, segments on {last}", recent))
    if judged:
        say(verdict_table(f"{name}, segment {shown(segment)}, verdicts by day", judged))
    if window is not None:
        _say_windows(f"{name}, segment {shown(segment)}", window, chosen)


def _say_windows(which: str, window: int, chosen: "Evaluations") -> None:
    """Show windows of one length, and the classes of the newest."""
    from monitor.report.classes import class_table
    from monitor.report.tables import evaluation_table, legend

    length = f"{window} days" if window > 1 else "1 day"
    say(evaluation_table(f"{which}, windows of {length}", chosen), legend())
    if chosen and chosen[-1].classes:
        say(class_table(f"{chosen[-1].model}, classes, {length} to {chosen[-1].day}", chosen[-1]))


def _mixed(config: "Config", name: str, chosen: "Evaluations") -> list[str]:
    """Say which windows mix days that were read in two ways."""
    from monitor.pipeline.verdicts.reading import mixed_windows

    newest = chosen[-1:]
    return [said for e in newest if (said := mixed_windows(config, name, e.segment, e.day))]


def _last_evaluations(results: "Results", segment: str, days: int, window: int) -> "Evaluations":
    """Read the evaluations of a segment and window on the last days; some day must be stored."""
    stored = results.days("evaluations")[-days:]
    must_be_stored(results.model, stored)
    of_days = (e for day in stored for e in results.evaluations(day))
    return [e for e in of_days if (e.segment, e.window_days) == (segment, window)]


def _last_verdicts(results: "Results", segment: str, days: int, week: int) -> "list[Verdict]":
    """Read what was said of a segment on the last days."""
    from monitor.read.standing import day_by_day

    of_days = day_by_day(results, results.days("verdicts")[-days:], week)
    of_segment = (by_name[segment].verdict for by_name in of_days if segment in by_name)
    return [verdict for verdict in of_segment if verdict]


def _say_warnings(
    name: str,
    of_values: Mapping[str, str],
    strata: "MovingPriors | None",
    sentences: tuple[str, ...],
) -> None:
    """Say who has the values that drift, and why all this may not mean what it seems to."""
    from monitor.words.values import strata_instead_of_drift

    for value, holder in of_values.items():
        say_line(f"Who has {value}? {holder}")
    if strata:
        say_line(strata_instead_of_drift(name, strata), style="yellow")
    for sentence in sentences:
        say_line(sentence, style="yellow")


def _strata(config: "Config", name: str, verdict: "Verdict | None") -> "MovingPriors | None":
    """Find the column whose moving priors explain the open drift of the whole."""
    if not (verdict and verdict.incident and config.model(name).columns):
        return None
    from monitor.pipeline.verdicts.asked_where import strata_instead

    with suppress(DataError):  # days without counts of columns, or without a reference
        return strata_instead(config, name, verdict)
    return None


def _show_past(
    results: "Results",
    model: "Model",
    segment: str,
    morning: date | None,
    *,
    days: int | None,
    as_json: bool,
) -> None:
    """Show what was known on a morning, or all that was revised."""
    from monitor.read.revisions import known_on, revisions
    from monitor.report.revisions import document, known_text, revision_table

    name, stored = results.model, results.days("verdicts")
    must_be_stored(name, stored)
    which = f"{name}, segment {shown(segment)}"
    if morning:
        revised = known_on(results, segment, morning, time_zone=model.time_zone)
        title = f"{which}, as known on the morning of {morning}"
        text = known_text(title, revised, days or DAYS_SHOWN)
    else:
        revised = revisions(results, segment, stored[-days:] if days else stored)
        text = revision_table(f"{which}, verdicts that were revised", revised)
    answer({"as_of": morning, "revisions": document(revised)}, text, as_json=as_json)


def _show_incidents(results: "Results", segment: str, *, as_json: bool) -> None:
    from rich.console import Group

    from monitor.read.incidents import incidents
    from monitor.read.value_incidents import value_incidents
    from monitor.report.decisions import decision_documents
    from monitor.report.incidents import incident_details, value_documents, value_table

    must_be_stored(results.model, results.days("verdicts"))
    past = incidents(results).get(segment, [])
    text = incident_details(f"{results.model}, segment {shown(segment)}, all incidents", past)
    values = value_incidents(results) if segment == WHOLE else []
    below = [value_table(f"{results.model}, values that drifted alone", values)] if values else []
    decided = decision_documents(results.store.decisions(results.model))
    document = {"incidents": past, "values": value_documents(values), "decisions": decided}
    answer(document, Group(text, *below), as_json=as_json)


def demo(
    folder: Annotated[Path, typer.Option("--into", help="Folder of the demo.")] = Path("demo-data"),
    tables: Annotated[
        bool, typer.Option("--tables", help="Also show the months of each model, and the repairs.")
    ] = False,
) -> None:
    """Run the monitor on four models of real flights in 2013.

    Writes ten months of logs, processes every day, and says what was found when. Two of the models
    were broken on purpose.
    """
    from monitor.demo import demo as flights
    from monitor.demo.flight_classes import write_class_logs
    from monitor.demo.flights import write_flights_logs
    from monitor.pipeline.days.task import Task
    from monitor.pipeline.runs.run import run as run_days
    from monitor.read.incidents import incidents
    from monitor.read.results import results_of
    from monitor.report.incidents import incident_table
    from monitor.report.tables import evaluation_table, legend, plain_table

    config = flights.write_config(folder)
    with working("flights: training on January and February, scoring March to December"):
        logs = write_flights_logs(folder / "logs")
        write_class_logs(folder / "logs")
    reports = []
    for name, model in config.models.items():
        with progress(name, quiet=False) as on_progress:
            until = end_of_outcomes(None, model)
            task = Task(name, logs.first_day, logs.last_day, until, skip_unchanged=True)
            reports.append(
                run_days(config, task, clock=now, jobs=DEFAULT_JOBS, on_progress=on_progress)
            )
    stop_at_failures(reports, write_configured_pages(config, config.models))
    say(flights.introduction(logs), highlight=False)
    results = {name: results_of(config, name, kept=True) for name in config.models}
    drifts = {name: incidents(of).get(WHOLE, []) for name, of in results.items()}
    first = {name: of_model[:MOST_DRIFTS] for name, of_model in drifts.items()}
    say(incident_table("The drifts that were found", first))
    if more := sum(map(len, drifts.values())) - sum(map(len, first.values())):
        say(f"{more} more drifts: add --tables.")
    say_line(flights.conclusion())
    say_line(flights.next_steps(sys.argv[0], folder))
    if tables:
        say(incident_table("All drifts that were found", drifts))
        for name in config.models:
            title = f"{name}, the 28 days before each month's end"
            say(evaluation_table(title, _month_ends(results[name], config.model(name).windows[-1])))
        say(legend())
        say()
        say(flights.repair_table(flights.repairs(config), plain_table))
        say_line(flights.repair_conclusion())


def _month_ends(results: "Results", longest: int) -> "Evaluations":
    """Collect the evaluation of the whole over the longest window at the end of each month."""
    days = [d for d in results.days("evaluations") if (d + timedelta(days=1)).day == 1]
    return [
        evaluation
        for day in days
        for evaluation in results.evaluations(day)
        if evaluation.segment == WHOLE and evaluation.window_days == longest
    ]
