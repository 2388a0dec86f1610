"""The verdict in the terminal: its reasons, a correction, and the expected prevalence."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from math import isnan
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from monitor.drift.verdict import WEEK, Verdict
from monitor.evaluation.evaluate import Evaluation
from monitor.evaluation.expected_prevalence import Expectation
from monitor.report import error_wording
from monitor.report.tables import percent, plain_table
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
    """

    verdict: Verdict | None
    week: Evaluation | None
    waiting: Sequence[Evaluation]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The causes of the week's error, and how much of it an intercept would remove."""
        if not self.week or not self.week.causes or not self.week.correction:
            return ()
        span = f"{self.week.window_days} days to {self.week.day}"
        if self.week.window_days == 1:
            span = f"day {self.week.day}"
        drifting = bool(self.verdict and self.verdict.state == "calibration_drift")
        return (
            error_wording.causes_sentence(self.week.causes, span),
            error_wording.correction_sentence(self.week.correction, span, drifting=drifting),
        )

    @property
    def document(self) -> dict[str, Any]:
        """The same as a JSON document."""
        v, week = self.verdict, self.week
        return {
            "verdict": v and {"state": v.state, "day": v.day, "reasons": v.reasons},
            "week": week
            and {
                "day": week.day,
                "window_days": week.window_days,
                "causes": week.causes,
                "correction": week.correction,
                "sentences": self.sentences,
            },
            "expected": [
                {"day": e.day, "predicted": e.predicted, "matched": e.matched, **vars(e.expected)}
                for e in self.waiting
            ],
        }


@dataclass(frozen=True)
class Episode:
    """A calibration drift from its alert to its end; `last` is None while it is open."""

    opened: date
    started: date
    kind: str
    last: date | None


def latest(store: Store, model: str, segment: str, windows: Sequence[int]) -> Latest:
    """Collect the newest verdict, the newest final week and the expectations for later days."""
    verdict = newest_verdict(store, model, segment)
    length = max(days for days in windows if days <= WEEK)
    week, waiting = None, list[Evaluation]()
    for day in reversed(store.days("evaluations", model)):
        found = {
            e.window_days: e for e in store.read_evaluations(model, day)[0] if e.segment == segment
        }
        if 1 in found and found[1].expected and (not verdict or day > verdict.day):
            waiting.append(found[1])
        if length in found and found[length].final:
            week = found[length]
            break
    return Latest(verdict, week, waiting[::-1])


def newest_verdict(store: Store, model: str, segment: str) -> Verdict | None:
    """Find the verdict of the newest day that was judged or failed, else the newest; or None."""
    newest = None
    for day in reversed(store.days("verdicts", model)):
        for verdict in store.read_verdicts(model, day)[0]:
            if verdict.segment == segment:
                if verdict.final or verdict.state == "data_error":
                    return verdict
                newest = newest or verdict
    return newest


def episodes(store: Store, model: str, segment: str) -> list[Episode]:
    """List the calibration drifts that were found, each with its first kind."""
    found = list[Episode]()
    for day in store.days("verdicts", model):
        for verdict in store.read_verdicts(model, day)[0]:
            if verdict.segment != segment:
                continue
            now, open_ = verdict.detector.incident, bool(found) and found[-1].last is None
            if open_ and (now is None or now.opened != found[-1].opened):
                found[-1] = replace(found[-1], last=day)
                open_ = False
            if now and not open_:
                found.append(Episode(now.opened, now.started, now.kind, None))
    return found


def latest_text(found: Latest) -> RenderableType:
    """Write the verdict and its reasons, the causes of the week's error, and the expectations."""
    parts = list[RenderableType]()
    if found.verdict:
        v = found.verdict
        head = Text(f"\n{v.model}, segment {v.segment}, {v.day}: ", style="bold")
        head.append(v.state, style=COLOURS.get(v.state, "yellow"))
        parts += [head, *map(_indented, (*v.reasons, *found.sentences)), Text()]
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


def episode_table(title: str, found: dict[str, list[Episode]]) -> RenderableType:
    """Show the calibration drifts of some models, one line each."""
    table = plain_table(title, ("model", "found on", "since", "scores", "closed on"))
    table.columns[3].justify = "left"
    for name, of_model in found.items():
        for e in of_model:
            kind, closed = e.kind.replace("_", " "), f"{e.last}" if e.last else "still open"
            table.add_row(name, f"{e.opened}", f"{e.started}", kind, closed)
        if not of_model:
            table.add_row(name, "none", "", "", "")
    return table


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
