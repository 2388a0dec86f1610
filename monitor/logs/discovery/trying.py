"""The reader of runs tries a configuration on some days, with each check as lenient as can be.

What it leaves out becomes settings with their counts, so that `init` never disagrees with a run.
Before a check leaves rows out, the setting is tried that makes them right.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import Any

from pydantic import ValidationError

from monitor.base.errors import ConfigError, DataError
from monitor.base.files import looking_once
from monitor.config import CHECKS, TODO, UNDATED, Engine, Model
from monitor.config.checks import listed
from monitor.days.summary import Summary, whole
from monitor.logs.days.batches import summarise_days
from monitor.logs.days.days import newest_settled_day
from monitor.logs.discovery.pairing import Setting
from monitor.logs.discovery.samples.reading import SAMPLED_DAYS
from monitor.logs.engines.databases import open_databases
from monitor.logs.sources.source import days_of
from monitor.words.guesses import say
from monitor.words.numbers import percent
from monitor.words.plausibility import ORPHANS, about_orphans

MILD = "unknown", "reject", "accept"  # answers that stop no day, the mildest first
LENIENT = {check: next(a for a in MILD if a in known) for check, known in CHECKS.items()}
MOST_REJECTED = 0.05  # share of the rows of a day that a check may leave out unasked
LARGE = 5_000_000  # predictions of a day: one such day takes seconds, and says enough
FEW = 5  # positives of a day: with fewer, a day without any is not rare
# Where scores lie that are read as percent or as log-odds, but are probabilities.
NARROW = {"percent": (0.0, 0.0101), "logit": (0.4999, 0.7311)}
FAR = 0.1  # how far scores of other days reach
Found = Mapping[date, Summary]


def tried(
    settings: Sequence[Setting], as_of: date, repeats: float
) -> tuple[list[Setting], list[str]]:
    """Add the settings that the rows of some days need, and say which are unsure.

    Parameters
    ----------
    settings : sequence of Setting
        A complete configuration of a model, without checks of rows.
    as_of : date
        Outcomes of this day and later are not read.
    repeats : float
        Share of the sampled ids that repeat, on whatever day.
    """
    (found, doubts), kept = _read(settings, as_of), [*settings]
    for check, change in CHANGES.items():
        if count := _count(found, check)[0]:
            changed = [*change(kept, count)]
            again, _ = _read(changed, as_of)
            if again and not _count(again, check)[0]:
                found, kept = again, changed
    orphans = [about_orphans(*of.left_out.get(ORPHANS, (0, 0))) for of in found.values()]
    doubts += [remark.sentence.rstrip(".") for remark in max(orphans, key=len, default=[])]
    doubts += _about_scale(found, next((s.value for s in kept if s.key == "score_means"), ""))
    settled = any(s.key == "duplicates" and s.section == "predictions" for s in kept)
    for setting, doubt in _answers(found, 0.0 if settled else repeats):
        kept.append(setting)
        doubts += filter(None, [doubt])
    return kept, doubts


def _read(settings: Sequence[Setting], as_of: date) -> tuple[Found, list[str]]:
    """Read the newest day, and some that are settled if any is; say why a day lacks a column."""
    lenient = LENIENT | {s.key: s.value for s in settings if s.section == "checks"}
    written: dict[str, Any] = {"checks": listed(lenient)}
    for setting in settings:
        if setting.active and setting.section != "checks":
            place = written.setdefault(setting.section, {}) if setting.section else written
            place[setting.key] = setting.value
    with suppress(ConfigError, DataError, ValidationError), looking_once():
        model = Model.model_validate(written)
        days = [day for day in days_of(model, "predictions") if day < as_of]
        newest = days[-1:]
        with suppress(DataError):
            last = newest_settled_day("init", model, as_of=as_of)
            days = [day for day in days if day <= last]
        settled = [days[int(part * (len(days) - 1))] for part in (1, *SAMPLED_DAYS)]
        read_days = _summaries(model, as_of, [*dict.fromkeys([*newest, *settled])])
        faults = [of for of in read_days.values() if isinstance(of, DataError) and of.fault]
        wrong = [f"{of}" for of in faults if of.fault and of.fault.check == "column"]
        found = {day: of for day, of in read_days.items() if isinstance(of, Summary)}
        return found, [said.removeprefix("init ").rstrip(".") for said in wrong[:1] if found]
    return {}, []


def _summaries(model: Model, as_of: date, days: Sequence[date]) -> dict[date, Summary | DataError]:
    """Read the first of some days as a run does; and the others, unless it is large."""
    read = dict[date, Summary | DataError]()
    with open_databases(Engine()) as databases:
        for some in (days[:1], sorted(days[1:])):
            read |= summarise_days("init", model, some, as_of=as_of, databases=databases)
            if any(isinstance(of, Summary) and whole(of).predicted > LARGE for of in read.values()):
                break
    return dict(sorted(read.items()))


def _about_scale(found: Found, means: str) -> Iterator[str]:
    """Say which day has probabilities where the scores of another are something else."""
    narrow = NARROW.get(means)
    ends = {d: (s[0], s[-1]) for d, of in found.items() if (s := whole(of).tally.scores).size}
    if narrow:
        within = [d for d, (least, most) in ends.items() if narrow[0] <= least <= most <= narrow[1]]
        other = [d for d, (least, most) in ends.items() if d not in within and most - least > FAR]
        if within and other:
            yield say("scale", within=within[0], day=other[0], means=means)


def _count(found: Found, check: str) -> tuple[int, int]:
    """Count the rows that break a check, and those that could."""
    counts = [of.left_out.get(f"the check {check}", (0, 0)) for of in found.values()]
    return sum(rows for rows, _ in counts), sum(of for _, of in counts)


def _answers(found: Found, repeats: float) -> Iterator[tuple[Setting, str]]:
    """Say what each broken check is to do, with a doubt where one day alone breaks it."""
    for check, answer in LENIENT.items():
        broken = {d: summary for d, summary in found.items() if _count({d: summary}, check)[0]}
        rows, of = _count(broken, check)
        share, facts = rows / max(1, of), {"rows": rows, "of": of, "check": check, "answer": answer}
        if check == "prediction_repeated" and max(share, repeats) > MOST_REJECTED:
            why = say("which rows", share=percent(max(share, repeats), 0))
            yield Setting("predictions", "where", TODO, why), ""
        elif not rows or (CHECKS[check][0] == answer and check not in UNDATED):
            continue
        elif check == "outcome_conflicting":
            why = say("which is latest", conflicts=rows)
            yield Setting("outcomes", "duplicates", TODO, why), ""
        elif len(broken) > 1 or check in UNDATED or share <= MOST_REJECTED:
            why = say("left out", **facts)
            alone = len(broken) == 1 and check not in UNDATED
            doubt = f"{min(broken)}: {why.rstrip('.')}" if alone else ""
            yield Setting("checks", check, answer, why), doubt
    tallies = [whole(of).tally for of in found.values() if of.final and not of.classes]
    if any(of.total_positives < FEW or of.total_positives == of.total for of in tallies):
        yield Setting("checks", "one_class", "accept", say("few")), ""


def _without_times(settings: Sequence[Setting], early: int) -> Iterator[Setting]:
    """Leave out times, of which those of outcomes are not always after their predictions."""
    dated = {s.section for s in settings if s.key == "day"}
    for setting in settings:
        of_times = setting.key == "time" or (
            setting.key == "time_unit" and setting.section not in dated
        )
        why = f"{setting.why}{say('early', early=early)}" if setting.key == "time" else ""
        yield replace(setting, active=False, why=why) if of_times else setting


def _keep_identical(settings: Sequence[Setting], _: int) -> Iterator[Setting]:
    yield from settings
    yield Setting("predictions", "duplicates", "keep_identical", say("twice"))


def _latest(settings: Sequence[Setting], conflicts: int) -> Iterator[Setting]:
    """Let the latest outcome count, where a time says which it is."""
    for setting in settings:
        hidden = setting.section == "outcomes" and setting.key in ("time", "time_unit")
        yield replace(setting, active=True) if hidden and not setting.why else setting
    yield Setting("outcomes", "duplicates", "latest", say("latest", conflicts=conflicts))


CHANGES: Mapping[str, Callable[[Sequence[Setting], int], Iterator[Setting]]] = {
    "outcome_early": _without_times,
    "prediction_repeated": _keep_identical,
    "outcome_conflicting": _latest,
}
