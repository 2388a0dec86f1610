"""Read the whole store of a model, and list what is damaged, missing or left over."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from monitor.base.errors import DataError
from monitor.store.chain import DIGESTS
from monitor.store.months import days_of_month, spans_of
from monitor.store.names import DAILY, KINDS, day_file, name_before
from monitor.store.store import RECORDS, Store

MADE_BY = {"summaries": "backfill", "evaluations": "evaluate", "verdicts": "evaluate"}
LOCKS = re.compile(r"lock|leases/(lease-\d+|staged-.+)")


@dataclass(frozen=True)
class StoreCheck:
    """What the store has of a model.

    Attributes
    ----------
    model : str
        Its name.
    files : int
        How many files were read.
    damaged, missing : tuple of str
        A sentence for each such file, with the command that writes it again.
    left_over : tuple of str
        Files that no command reads, and unfinished runs, each with what to do.
    """

    model: str
    files: int
    damaged: tuple[str, ...]
    missing: tuple[str, ...]
    left_over: tuple[str, ...]


def check_store(store: Store, name: str) -> StoreCheck:
    """Read every file of a model.

    Raises
    ------
    DataError
        If the store cannot be reached.
    """
    days = {kind: store.days(kind, name) for kind in DAILY}
    damaged = {
        (kind, day): error
        for kind in DAILY
        for day in days[kind]
        if (error := store.damage(kind, name, day))
    }
    # A file that was exchanged is told of as damaged, because it is as wrong.
    damaged = {(k, d): error for k, d, error in store.broken_links(name)} | damaged
    records = store.records(name)
    of_records = [error for record in records if (error := store.record_damage(name, record))]
    of_decisions, lost = store.decision_damage(name)
    missing = [
        (kind, day) for kind, day in _missing(store, name, days) if (kind, day) not in damaged
    ]
    months = [(kind, month) for kind in KINDS for month in store.months(kind, name)]
    alone = sum(len(store.days_alone(kind, name)) for kind in DAILY)
    of_records_alone = [
        record for record in records if record in RECORDS or record.startswith(DIGESTS)
    ]
    return StoreCheck(
        name,
        files=alone
        + len(store.days_alone("runs", name))
        + len(of_records_alone)
        + len(months)
        + len(store.decision_names(name)),
        # The days of a damaged month share its error.
        damaged=tuple(
            dict.fromkeys(map(str, [*damaged.values(), *of_records, *filter(None, [of_decisions])]))
        ),
        missing=(*_sentences(name, missing), *map(_lost, lost)),
        left_over=tuple(_left_over(store, name, days)),
    )


def _missing(store: Store, name: str, days: dict[str, list[date]]) -> Iterator[tuple[str, date]]:
    """List results that other files of the store show must be there.

    `prune` keeps summaries of references and days before the oldest evaluation, so these need no
    evaluation, and no verdict before the oldest verdict.
    """
    summarised = set(days["summaries"])
    for kind in ("evaluations", "verdicts"):
        oldest = min(days[kind], default=date.min)
        there = set(days[kind])
        yield from ((kind, day) for day in days["summaries"] if day >= oldest and day not in there)
    for day in days["evaluations"]:
        if day not in summarised:
            yield "summaries", day
    for day in sorted(set(days["verdicts"]) - summarised - set(days["evaluations"])):
        if not _is_of_failed_day(store, name, day):
            yield "summaries", day


def _is_of_failed_day(store: Store, name: str, day: date) -> bool:
    try:
        return all(v.state == "data_error" for v in store.read_verdicts(name, day)[0])
    except DataError:  # which is listed as damaged
        return True


def _sentences(name: str, missing: Sequence[tuple[str, date]]) -> Iterator[str]:
    """Say which files are missing, those of one kind and of days in a row at once."""
    for kind, command in MADE_BY.items():
        days = [day for of, day in missing if of == kind]
        for first, last in spans_of(days) if days else ():
            call = f"calibration-monitor {command} --model {name} --from {first} --to {last}"
            many = f" and {(last - first).days} days after it" if first < last else ""
            are = "are" if many else "is"
            yield f"{name}: {day_file(kind, name, first)}{many} {are} missing; run {call}."


def _lost(file: str) -> str:
    return f"{file.split('/')[1]}: {file} is missing; restore it from a backup."


def _left_over(store: Store, name: str, days: dict[str, list[date]]) -> Iterator[str]:
    there, expected = {*store.names(name)}, set[str]()
    for file in (day_file(kind, name, day) for kind in DAILY for day in days[kind]):
        earlier = name_before(file)
        expected.add(earlier if earlier in there and file not in there else file)
    records = *RECORDS, *days["summaries"], *store.digest_records(name)
    expected |= {f"runs/{name}/{record}.json" for record in records}
    months = [(kind, month) for kind in KINDS for month in store.months(kind, name)]
    expected |= {f"{kind}/{name}/{month}" for kind, month in months}
    expected |= {*store.decision_names(name)}
    for file in sorted(there):
        place = file.removeprefix(f"runs/{name}/")
        if file not in expected and not LOCKS.fullmatch(place):
            yield f"{name}: {file} is no file that this program reads; delete it."
    for kind, month in months:
        made_again = {*days_of_month(month)} <= {*store.days_alone(kind, name)}
        if made_again and store.month_damage(kind, name, month):
            yield (
                f"{name}: {kind}/{name}/{month} is damaged, but its days have files of their own; "
                f"run calibration-monitor store compact --model {name}."
            )
    beside = dict.fromkeys(("columns", "entities", "mapped", "arrivals"), "summaries")
    rests_on = {**beside, "revisions": "verdicts"}
    for kind, basis in rests_on.items():
        for day in sorted(set(days[kind]) - set(days[basis])):
            yield f"{name}: {day_file(kind, name, day)} rests on nothing; delete it."
    if unfinished := store.unfinished(name):
        yield (
            f"{name}: a run of days from {unfinished[0]} on has not finished; run "
            f"calibration-monitor run --model {name}."
        )
