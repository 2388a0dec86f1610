"""The verdict in the terminal: its reasons, a correction, and the expected prevalence."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import date
from math import isnan
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from monitor.base.segment_names import shown
from monitor.config.schema import Verdicts
from monitor.drift.records.verdict import Verdict
from monitor.evaluation.evaluation import Evaluation, Expectation
from monitor.read.results import Results
from monitor.read.standing import Standing, newest_verdicts
from monitor.report.columns import in_lines, verdict_cells
from monitor.report.tables import plain_table
from monitor.words.advice import COUNTED_AGAIN, what_can_be_found
from monitor.words.advice import sensitivity as able_to_find
from monitor.words.label_change import ASKED, few_outcomes
from monitor.words.numbers import percent
from monitor.words.trust import Trust
from monitor.words.verdict import WITHHELD
from monitor.words.windows import map_sentence, week_sentences

LEAST_KNOWN = Verdicts.outcome_coverage_limit  # that of the alert too
MOST_REASONS = 5  # sentences of a first look
PROMISE = "On average at least", "Such an alert is false"
LEAST_SHOWN = -3.0  # log10 of a probability; smaller ones are shown as a power of ten
EXPECTED = (
    "expected     prevalence if only the prior changed, computed from the scores alone",
    "fit          probability of such scores if so; far below 0.001, ignore 'expected'",
    "rates kept   prevalence if every score comes true as often as in the reference",
)
# What `show --json` gives of a verdict and of a window.
OF_VERDICT = ("state", "day", "reasons", "detectable", "reference_slope", "reference_intercept")
OF_VALUE = (
    *("column", "value", "kind", "opened", "started", "size", "size_error"),
    *("evidence", "recovery", "beside", "urgent", "share", "mean", "rate", "expected"),
)
OF_WEEK = ("day", "window_days", "causes", "correction")
STYLES = {"slope": ".2f", "prior shift": "+z.2f"}
COLOURS = {"ok": "green", "calibration_drift": "red", "data_error": "red"}


def reasons(standing: Standing) -> tuple[str, ...]:
    """Give the sentences of the verdict, and those on the day's outcomes and the week's error."""
    of_verdict = standing.verdict.reasons if standing.verdict else ()
    return (*about_outcomes(standing), *of_verdict, *about_week(standing))


def few_known(standing: Standing) -> str:
    """Say that few outcomes of the day are known, where CalibrationOutcomesMissing does."""
    alone, week = standing.alone, standing.week
    if not alone or not week or not alone.final or not alone.coverage < LEAST_KNOWN * week.coverage:
        return ""
    return few_outcomes(alone.day, alone.coverage, week.coverage)


def about_outcomes(standing: Standing) -> tuple[str, ...]:
    """Say it in a sentence."""
    said = few_known(standing)
    return (f"{said[0].upper()}{said[1:]}. {ASKED['lost']}",) if said else ()


def about_week(standing: Standing) -> tuple[str, ...]:
    """Name the causes of the week's error, and what an intercept or a map would remove."""
    verdict, week, gain = standing.verdict, standing.week, standing.map_gain
    if not verdict or not week or not week.final:
        return ()
    of_week = week_sentences(
        week,
        drifting=verdict.distortion is not None,
        incomplete=verdict.incomplete,
        level=verdict.level_incident is not None,
        place=verdict.incident.place if verdict.incident else None,
    )
    of_all = week.population is not None
    return (*of_week, map_sentence(gain, of_all=of_all)) if gain else of_week


def document(standing: Standing) -> dict[str, Any]:
    """Lay out for programs what stands of a segment."""
    week, about = standing.week, {"sentences": about_week(standing)}
    further = {"lost": week.lost, "population": week.population} if week else {}
    return {
        "verdict": standing.verdict and _columns(standing.verdict, OF_VERDICT),
        "values": _values(standing.verdict) if standing.verdict else [],
        "week": week
        and _columns(week, OF_WEEK)
        | {name: value for name, value in further.items() if value}
        | about,
        "map_gain": standing.map_gain,
        "expected": [
            _columns(e, ("day", "predicted", "matched"))
            | {field.name: getattr(e.expected, field.name, None) for field in fields(Expectation)}
            for e in standing.waiting
        ],
    }


def _values(verdict: Verdict) -> list[dict[str, Any]]:
    """Lay out the values that drift by themselves, the clearest first."""
    return [
        _columns(value, OF_VALUE) for value in (verdict.values.ranked if verdict.values else ())
    ]


def _columns(of: object, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(of, name) for name in names}


def standing_text(
    standing: Standing,
    trusted: Trust | None,
    today: date,
    taken: str | None = None,
    *,
    old: bool,
    briefly: bool = False,
) -> RenderableType:
    """Write the verdict, an answer and its reasons, causes of the week's error, and expectations.

    `briefly` names five reasons at most, and only says that there are expectations.
    """
    parts = list[RenderableType]()
    longer = f"--windows {standing.week.window_days if standing.week else 1}"
    if v := standing.verdict:
        age = (today - v.day).days
        ago = f" ({age:,} days ago)" if old else ""
        head = Text(f"\n{v.model}, segment {shown(v.segment)}, {v.day}{ago}: ", style="bold")
        head.append(v.state, style=COLOURS.get(v.state, "yellow"))
        able = (what_can_be_found(v.detectable),) if v.detectable else ()
        sentences = (*about_outcomes(standing), *v.reasons, *able, *about_week(standing))
        parts.append(head)
        if trusted:
            parts += [_said("Can it be trusted? ", trusted.answer)]
            parts += [_said("What to do? ", trusted.step)]
            parts += [_said("Who has it? ", taken)] if taken else []
            parts += [Text(), Text("Why", style="bold")]
        # How often such an alert is false, which is so of every one, comes last.
        urgent = sorted(sentences, key=lambda sentence: sentence.startswith(PROMISE))
        said = urgent[:MOST_REASONS] if briefly else sentences
        parts += [*map(_indented, said)]
        if more := len(sentences) - len(said):
            parts.append(_indented(f"And {more} more: add {longer}.", "dim"))
        parts.append(Text())
    if standing.waiting and briefly:
        parts += [Text(_awaited(standing.waiting, longer), style="dim"), Text()]
    elif standing.waiting:
        parts.append(expectation_table(standing.waiting))
    return Group(*parts)


def expectation_table(waiting: Sequence[Evaluation]) -> RenderableType:
    """Show the prevalence to expect on days whose outcomes are still arriving."""
    columns = ("day", "predictions", "known", "expected", "95 %", "fit", "rates\nkept")
    table = plain_table(
        "Outcomes are still arriving: no verdict yet, but the prevalence to expect", columns
    )
    for e in waiting:
        cells = (f"{e.day}*", f"{e.predicted:,}", percent(e.coverage))
        table.add_row(*cells, *(_expected_cells(e.expected) if e.expected else ["-"] * 4))
    return Group(table, Text("\n".join(EXPECTED), style="dim"), Text())


def sensitivity(results: Results) -> list[str]:
    """Say of each segment what its detector can find, and what would help."""
    return [
        f"{shown(v.segment)}: {able_to_find(v.detectable)}{_again(v)}"
        for v in newest_verdicts(results)
        if v.detectable
    ]


def _again(verdict: Verdict) -> str:
    """Say that entities seem to be counted again, where they do."""
    return f" {COUNTED_AGAIN}" if "counted again" in verdict.facts.faults else ""


def verdict_table(title: str, verdicts: Sequence[Verdict]) -> RenderableType:
    """Show verdicts of one model and segment, one line for each day."""
    table = plain_table(title, in_lines(["day", "verdict", "evidence", *STYLES]))
    for v in verdicts:
        table.add_row(
            f"{v.day}",
            Text(v.state, style=COLOURS.get(v.state, "")),
            evidence_text(v),
            *verdict_cells(v, STYLES, "-"),
        )
    return table


def evidence_text(verdict: Verdict) -> str:
    """Write the evidence that a day reached and its limit, log10, or that it is withheld."""
    if not verdict.compared:
        return "-"
    return WITHHELD if verdict.reached is None else f"{verdict.reached:.1f} of {verdict.limit:.1f}"


def _said(question: str, answer: str) -> RenderableType:
    return Text.assemble((question, "bold"), answer)


def _indented(sentence: str, style: str = "") -> RenderableType:
    return Padding(Text(sentence, style=style), (0, 0, 0, 2), expand=False)


def _awaited(waiting: Sequence[Evaluation], longer: str) -> str:
    """Say of which days outcomes are still arriving, where no table says it."""
    first, last = min(e.day for e in waiting), max(e.day for e in waiting)
    days = f"{first} to {last}" if first < last else f"{first}"
    return f"Outcomes of {days} are still arriving: {longer} shows the prevalence to expect."


def _expected_cells(e: Expectation) -> tuple[str, ...]:
    return (
        percent(e.prevalence),
        "-" if isnan(e.low) else e.estimate.written(percent, "range"),
        "-" if isnan(e.fit_log10_p) else chance(e.fit_log10_p),
        percent(e.unshifted),
    )


def chance(log10_p: float) -> str:
    """Write a probability, or its power of ten if it is small."""
    return f"10^{log10_p:.0f}" if log10_p < LEAST_SHOWN else f"{10**log10_p:.3f}"
