"""The verdict in the terminal: its reasons, a correction, and the expected prevalence."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from math import isnan
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from monitor.drift.verdict import WEEK, Verdict
from monitor.drift.wording import WITHHELD, what_can_be_found, what_would_help
from monitor.evaluation.evaluate import Evaluation
from monitor.evaluation.expected_prevalence import Expectation
from monitor.evaluation.map_gain import MapGain
from monitor.report import error_wording
from monitor.report.tables import percent, plain_table
from monitor.segment_names import shown
from monitor.store.store import Store

LEAST_SHOWN = -3.0  # log10 of a probability; smaller ones are shown as a power of ten
EXPECTED = (
    "expected     prevalence if only the prior changed, computed from the scores alone",
    "fit          probability of such scores if so; far below 0.001, ignore 'expected'",
    "rates kept   prevalence if every score comes true as often as in the reference",
)
COLOURS = {"ok": "green", "calibration_drift": "red", "data_error": "red"}


@dataclass(frozen=True)
class Latest:
    """The newest results of one segment.

    Attributes
    ----------
    verdict : Verdict or None
        Of the newest day that was judged, or whose logs failed a check.
    week : Evaluation or None
        Of the newest final window that is nearest to a week.
    waiting : sequence of Evaluation
        Of the later days, whose outcomes are still arriving.
    usual_age : int
        How many days old a verdict is while the daily job runs: days to wait for outcomes.
    map_gain : MapGain or None
        What the calibration map in the shadow gained up to the end of that week.
    """

    verdict: Verdict | None
    week: Evaluation | None
    waiting: Sequence[Evaluation]
    usual_age: int = 0
    map_gain: MapGain | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """The causes of the week's error, and what an intercept or a map would remove."""
        if not self.week:
            return ()
        of_map = (error_wording.map_sentence(self.map_gain),) if self.map_gain else ()
        drifting = bool(self.verdict and self.verdict.state == "calibration_drift")
        incomplete = bool(self.verdict and self.verdict.incomplete)
        of_week = error_wording.week_sentences(self.week, drifting=drifting, incomplete=incomplete)
        return (*of_week, *of_map)

    @property
    def document(self) -> dict[str, Any]:
        """The same as a JSON document."""
        v, week = self.verdict, self.week
        return {
            "verdict": v
            and {
                "state": v.state,
                "day": v.day,
                "reasons": v.reasons,
                "detectable": v.detectable,
                "reference_slope": v.reference_slope,
                "reference_intercept": v.reference_intercept,
            },
            "week": week
            and {
                "day": week.day,
                "window_days": week.window_days,
                "causes": week.causes,
                "correction": week.correction,
                "sentences": self.sentences,
            },
            "map_gain": self.map_gain,
            "expected": [
                {"day": e.day, "predicted": e.predicted, "matched": e.matched, **vars(e.expected)}
                for e in self.waiting
            ],
        }


def latest(
    store: Store, model: str, segment: str, windows: Sequence[int], *, usual_age: int
) -> Latest:
    """Collect the newest verdict, the newest final week and the expectations for later days."""
    verdict = newest_verdict(store, model, segment)
    length = max(days for days in windows if days <= WEEK)
    week, gain, waiting = None, None, list[Evaluation]()
    for day in reversed(store.days("evaluations", model)):
        found = {
            e.window_days: e for e in store.read_evaluations(model, day)[0] if e.segment == segment
        }
        if 1 in found and found[1].expected and (not verdict or day > verdict.day):
            waiting.append(found[1])
        if length in found and found[length].final:
            week = found[length]
            gain = found[1].map_gain if 1 in found else None
            break
    return Latest(verdict, week, waiting[::-1], usual_age, gain)


def newest_verdict(store: Store, model: str, segment: str) -> Verdict | None:
    """Find the verdict of the newest day that was judged or failed, else the newest; or None."""
    newest = None
    for day in reversed(store.days("verdicts", model)):
        for verdict in store.read_verdicts(model, day)[0]:
            if verdict.segment == segment:
                if verdict.shown:
                    return verdict
                newest = newest or verdict
    return newest


def latest_text(found: Latest, today: date) -> RenderableType:
    """Write the verdict and its reasons, the causes of the week's error, and the expectations."""
    parts = list[RenderableType]()
    if found.verdict:
        v = found.verdict
        age = (today - v.day).days
        old = f" ({age:,} days ago)" if age > found.usual_age + WEEK else ""
        head = Text(f"\n{v.model}, segment {shown(v.segment)}, {v.day}{old}: ", style="bold")
        head.append(v.state, style=COLOURS.get(v.state, "yellow"))
        able = (what_can_be_found(v.detectable),) if v.detectable else ()
        parts += [head, *map(_indented, (*v.reasons, *able, *found.sentences)), Text()]
    if found.waiting:
        parts.append(expectation_table(found.waiting))
    return Group(*parts)


def expectation_table(waiting: Sequence[Evaluation]) -> RenderableType:
    """Show the prevalence to expect on days whose outcomes are still arriving."""
    columns = ("day", "predictions", "known", "expected", "95 %", "fit", "rates\nkept")
    table = plain_table(
        "Outcomes are still arriving: no verdict yet, but the prevalence to expect", columns
    )
    for e in waiting:
        if e.expected:
            known = (f"{e.day}*", f"{e.predicted:,}", percent(e.coverage))
            table.add_row(*known, *_expected_cells(e.expected))
    return Group(table, Text("\n".join(EXPECTED), style="dim"), Text())


def sensitivity(store: Store, model: str) -> list[str]:
    """Say of each segment what its detector can find, and what would help."""
    days = store.days("verdicts", model)
    lines = []
    for v in store.read_verdicts(model, days[-1])[0] if days else ():
        if v.detectable:
            found = (what_can_be_found(v.detectable), what_would_help(v.detectable))
            lines.append(f"{shown(v.segment)}: {' '.join(filter(None, found))}")
    return lines


def verdict_table(title: str, verdicts: Sequence[Verdict]) -> RenderableType:
    """Show verdicts of one model and segment, one line for each day."""
    table = plain_table(title, ("day", "verdict", "evidence", "slope", "prior\nshift"))
    for v in verdicts:
        table.add_row(
            f"{v.day}",
            Text(v.state, style=COLOURS.get(v.state, "")),
            evidence_text(v),
            f"{v.slope.value:.2f}" if v.slope else "-",
            f"{v.shift.value:+z.2f}" if v.shift else "-",
        )
    return table


def evidence_text(verdict: Verdict) -> str:
    """Write the evidence that a day reached and its limit, log10, or that it is withheld."""
    if not verdict.compared:
        return "-"
    return WITHHELD if verdict.reached is None else f"{verdict.reached:.1f} of {verdict.limit:.1f}"


def of_segment(store: Store, model: str, segment: str, days: Sequence[date]) -> list[Verdict]:
    """Read the verdicts of one segment on some days."""
    return [
        verdict
        for day in days
        for verdict in store.read_verdicts(model, day)[0]
        if verdict.segment == segment
    ]


def _indented(sentence: str) -> RenderableType:
    return Padding(Text(sentence), (0, 0, 0, 2), expand=False)


def _expected_cells(e: Expectation) -> tuple[str, ...]:
    return (
        percent(e.prevalence),
        "-" if isnan(e.low) else f"{percent(e.low)}-{percent(e.high)}",
        _chance(e.fit_log10_p),
        percent(e.unshifted),
    )


def _chance(log10_p: float) -> str:
    if isnan(log10_p):
        return "-"
    return f"10^{log10_p:.0f}" if log10_p < LEAST_SHOWN else f"{10**log10_p:.3f}"
