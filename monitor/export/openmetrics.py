"""Past results as OpenMetrics with timestamps, for ``promtool tsdb create-blocks-from``.

Rule 1: only final values and failed days, each from the moment it was known until the next day's
was: what a scrape would have shown, had the monitor run then.
Rule 2: one sample for each change, and repeats between changes that are less than 26 hours apart,
because every panel looks back 26 hours. Where a series ends, its last minute has a sample too, so
that it disappears when it would have disappeared after scrapes.
Rule 3: nothing after the model's newest result is as old as `run_overdue_hours`. From then on the
model is overdue, and a scrape would have shown no news of it.
Rule 4: nothing of the last 3 hours, which the server still keeps in memory and will write itself.
Rule 5: of each day the segments that a scrape would have shown, and no others.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from math import inf, isnan
from pathlib import Path
from typing import Any

from prometheus_client.utils import floatToGoString

from monitor.base.errors import ConfigError
from monitor.base.files import replacing, writing
from monitor.evaluation.evaluation import Evaluation
from monitor.export.snapshot_reader import Reader, verdicts_to_export, with_most_outcomes
from monitor.export.text import labels_text
from monitor.measures.gauges import CATALOGUE, Gauge
from monitor.measures.snapshot import SECONDS_AN_HOUR, Snapshot
from monitor.read.past import Stood, verdicts_that_stood, windows_that_stood
from monitor.read.results import Results, results_of

HEAD = timedelta(hours=3)  # the server's newest data, into which no block may reach
MINUTE = 60  # samples lie on full minutes


@dataclass(frozen=True)
class Known:
    """What was known of a model, and when.

    Attributes
    ----------
    begin, end : float
        From when until before when, Unix time in seconds.
    snapshot : Snapshot
        Final evaluations or verdicts of one day.
    """

    begin: float
    end: float
    snapshot: Snapshot


def newest_end(now: datetime) -> datetime:
    """Find the moment up to which the past may be written."""
    return now - HEAD


def check_end(until: datetime, now: datetime) -> None:
    """Refuse to write what a running server has not written yet."""
    if until > newest_end(now):
        msg = (
            f"--until {until:%Y-%m-%dT%H:%M}: is less than 3 hours ago, and the server still "
            f"writes those itself; take {newest_end(now):%Y-%m-%dT%H:%M} (UTC) or earlier."
        )
        raise ConfigError(msg)


def past(reader: Reader, name: str, first: date, last: date, *, until: datetime) -> list[Known]:
    """Find what was known of a model by the final results of its days `first` to `last`.

    Numbers hold for as long as their window or verdict stood (`monitor.read.past`), but no longer
    than the model takes to become overdue after its newest result.

    Parameters
    ----------
    until : datetime
        Nothing is known from then on.

    Returns
    -------
    list of Known
        Rising by `begin`; what is of the same series does not overlap.
    """
    results = results_of(reader.config, name)
    models = {name: reader.config.model(name)}
    nothing = Snapshot(models, evaluations=[], runs={}, version=reader.version)
    spans = [*_spans(reader, results, first, nothing)]
    newest = max((stood.begin for stood, _ in spans), default=-inf)
    overdue = newest + models[name].verdicts.run_overdue_hours * SECONDS_AN_HOUR
    silent = min(until.timestamp(), overdue)
    of_spans = [
        Known(stood.begin, min(stood.end, silent), snapshot)
        for stood, snapshot in spans
        if stood.day <= last and stood.begin < min(stood.end, silent)
    ]
    return sorted(of_spans, key=lambda span: span.begin)


def _spans(
    reader: Reader, results: Results, first: date, nothing: Snapshot
) -> Iterator[tuple[Stood[Any], Snapshot]]:
    """Put what stood into snapshots, as far as its segments were exported."""
    most = reader.most_segments

    def exported(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
        return with_most_outcomes(evaluations, most)[0]

    for windows in windows_that_stood(results, first, exported):
        yield windows, replace(nothing, evaluations=windows.records)
    evaluated = results.days("evaluations")
    for stood in verdicts_that_stood(results, first):
        before = evaluated[: bisect_right(evaluated, stood.day)]
        beside = exported(results.evaluations(before[-1])) if before else []
        yield stood, replace(nothing, verdicts=verdicts_to_export(stood.records, beside, most))


def openmetrics(models: Sequence[Sequence[Known]], *, repeat: int) -> Iterator[str]:
    """Write the past of several models, line by line, gauge after gauge.

    Parameters
    ----------
    models : sequence of sequence of Known
        What `past` found, of each model.
    repeat : int
        Seconds after which a value that has not changed is written again.
    """
    for gauge in CATALOGUE:
        if "segment" not in gauge.labels:
            continue  # of runs and configurations there is no history
        yield f"# TYPE {gauge.name} gauge\n"
        yield f"# HELP {gauge.name} {gauge.meaning.replace(chr(34), chr(92) + chr(34))}\n"
        for of_model in models:
            for labels, spans in _series(gauge, of_model).items():
                yield from _samples(gauge.name + labels_text(gauge.labels, labels), spans, repeat)
    yield "# EOF\n"


def write(path: Path, content: Iterable[str]) -> int:
    """Replace a file line by line, and count the samples.

    Raises
    ------
    DataError
        If it cannot be written.
    """
    samples = 0
    with writing(str(path)), replacing(path) as file:
        for line in content:
            file.write(line.encode())
            samples += not line.startswith("#")
    return samples


Span = tuple[float, float, float]  # begin, end, value


def _series(gauge: Gauge, spells: Iterable[Known]) -> dict[tuple[str, ...], list[Span]]:
    """Find when each series had which value; a value that did not change is one span."""
    series: dict[tuple[str, ...], list[Span]] = {}
    for spell in spells:
        for labels, value in gauge.samples(spell.snapshot):
            if isnan(value):
                continue
            spans = series.setdefault(labels, [])
            if spans and spans[-1][1:] == (spell.begin, value):
                spans[-1] = spans[-1][0], spell.end, value
            else:
                spans.append((spell.begin, spell.end, value))
    return series


def _samples(name: str, spans: Sequence[Span], repeat: int) -> Iterator[str]:
    """Write each span's beginning, its repeats, and its last minute if nothing follows at once."""
    nexts = [*(begin for begin, _, _ in spans[1:]), inf]
    for (begin, end, value), following in zip(spans, nexts, strict=True):
        written = floatToGoString(value)  # type: ignore[no-untyped-call]
        first, last = _minute(begin), _minute(end) - MINUTE
        for moment in range(first, last + 1, repeat):
            yield f"{name} {written} {moment}\n"
        if following != end and (last - first) % repeat and first < last:
            yield f"{name} {written} {last}\n"


def _minute(moment: float) -> int:
    """Find the first full minute that is not before a moment."""
    return -int(-moment // MINUTE) * MINUTE
