"""One day of a report page from its verdicts, evaluations and summaries. Pure."""

from collections.abc import Mapping, Sequence
from datetime import date
from math import isnan

from monitor.drift.verdict import Verdict
from monitor.evaluation.evaluate import Evaluation
from monitor.evaluation.expected_prevalence import Expectation
from monitor.evaluation.score_errors import Errors as MeasuredErrors
from monitor.metrics.core.estimate import Estimate
from monitor.report.error_wording import map_sentence, week_sentences
from monitor.report.page.content import (
    Counts,
    DayOnPage,
    Errors,
    Figure,
    Interval,
    Reliability,
    Row,
)
from monitor.report.page.words import NONE, STATES, evidence, interval, minus, odds, share, signed
from monitor.report.too_few import reason, says_ece, says_tce
from monitor.segment_names import WHOLE

SEGMENT_COLUMNS = (
    "segment",
    "verdict",
    "evidence",
    "slope",
    "prior shift",
    "prevalence",
    "mean score",
    "outcomes",
    "coverage",
    "ECE raw",
    "ECE prior",
    "TCE prior",
)


def day_on_page(
    day: date,
    verdicts: Sequence[Verdict],
    evaluations: Sequence[Evaluation],
    *,
    window_days: int,
    reliability: Reliability | None = None,
) -> DayOnPage:
    """Collect what is known of one day.

    Parameters
    ----------
    day : date
        The day.
    verdicts : sequence of Verdict
        Of that day, the whole and its segments; none if it was not judged.
    evaluations : sequence of Evaluation
        Of all windows that end that day.
    window_days : int
        Length of the window to show.
    reliability : Reliability, optional
        Of that window.

    Returns
    -------
    DayOnPage
        With None for what is not known.
    """
    verdict = next((v for v in verdicts if v.segment == WHOLE), None)
    alone = next((e for e in evaluations if (e.segment, e.window_days) == (WHOLE, 1)), None)
    windows = {e.segment: e for e in evaluations if e.window_days == window_days}
    week = windows.get(WHOLE)
    causes = week.causes.log_loss if week and week.causes else None
    expected = alone.expected if alone and not alone.final else None
    return DayOnPage(
        day=day,
        state=verdict.state if verdict else "",
        reasons=(*(verdict.reasons if verdict else ()), *_about(verdict, week, alone)),
        figures=_figures(verdict, alone, week),
        evidence=verdict.reached if verdict else None,
        limit=verdict.limit if verdict and verdict.compared else None,
        slope=_interval(verdict.slope) if verdict else None,
        shift=_interval(verdict.shift) if verdict else None,
        prevalence=_known(alone.prevalence) if alone and alone.final else None,
        mean_score=_known(alone.mean_score) if alone and alone.final else None,
        reference_prevalence=_known(verdict.reference_prevalence) if verdict else None,
        expected=_expected(expected) if expected else None,
        counts=Counts(alone.predicted, alone.matched, dict(alone.rejected)) if alone else None,
        causes=Errors(causes.prior_shift, causes.slope, causes.shape, causes.rest)
        if causes
        else None,
        reliability=reliability,
        segments=_segments({v.segment: v for v in verdicts}, windows),
    )


def _about(
    verdict: Verdict | None, week: Evaluation | None, alone: Evaluation | None
) -> tuple[str, ...]:
    """Say what explains the error of the week, and what a map gained, if the day was judged."""
    if not verdict or not verdict.final or not week:
        return ()
    drifting = verdict.state == "calibration_drift"
    of_week = week_sentences(week, drifting=drifting, incomplete=verdict.incomplete)
    return (*of_week, map_sentence(alone.map_gain)) if alone and alone.map_gain else of_week


def _figures(
    verdict: Verdict | None, alone: Evaluation | None, week: Evaluation | None
) -> tuple[Figure, ...]:
    """Give the key figures beside the sentences."""
    figures = []
    if verdict and verdict.compared:
        figures.append(_evidence(verdict))
    if verdict and verdict.slope:
        slope = verdict.slope
        note = f"{interval(slope)}; 1 is as in the reference"
        figures.append(Figure("Slope", minus(f"{slope.value:.2f}"), note))
    if verdict and verdict.shift:
        note = f"log-odds since the reference, {interval(verdict.shift, '+z.2f')}"
        figures.append(Figure("Prior shift", signed(verdict.shift.value), note))
    if alone and not isnan(alone.prevalence):
        known = verdict and not isnan(verdict.reference_prevalence)
        note = (
            f"{share(verdict.reference_prevalence)} in the reference" if known and verdict else ""
        )
        mean = f"mean score {share(alone.mean_score)}"
        figures.append(Figure("Prevalence", share(alone.prevalence), f"{mean}; {note}".strip("; ")))
    if week and week.prior:
        figures.append(_ece(week, week.prior))
    return tuple(figures)


def _ece(week: Evaluation, prior: MeasuredErrors) -> Figure:
    """Give ECE and TCE, or say that there are too few outcomes for them."""
    note = reason(week)
    if says_tce(week):
        note = f"TCE {share(prior.tce_published)}"
        if week.null:
            note += f", {share(week.null.q05)} to {share(week.null.q95)} by chance"
    return Figure("ECE without the prior", f"{prior.ece:.3f}" if says_ece(week) else NONE, note)


def _evidence(verdict: Verdict) -> Figure:
    """Give the evidence on the day that the open incident was found, else that of the day."""
    incident = verdict.detector.incident
    if incident:
        note = f"found on {incident.opened}; the limit is {odds(verdict.limit)}"
        return Figure("Evidence of this drift", odds(incident.evidence), note)
    note = f"an incident opens at {odds(verdict.limit)}"
    return Figure("Evidence of a drift", evidence(verdict), note)


def _segments(
    verdicts: Mapping[str, Verdict], windows: Mapping[str, Evaluation]
) -> tuple[Row, ...]:
    seen = {*verdicts, *(name for name, e in windows.items() if e.predicted)} - {WHOLE}
    names = [name for name in dict.fromkeys((*windows, *verdicts)) if name in seen]
    return tuple(_segment(name, verdicts.get(name), windows.get(name)) for name in names)


def _segment(name: str, v: Verdict | None, e: Evaluation | None) -> Row:
    return (
        name,
        STATES[v.state if v else ""].word,
        evidence(v),
        f"{v.slope.value:.2f}" if v and v.slope else NONE,
        signed(v.shift.value) if v and v.shift else NONE,
        share(e.prevalence) if e else NONE,
        share(e.mean_score) if e else NONE,
        f"{e.matched:,}" if e else NONE,
        share(e.coverage) if e else NONE,
        f"{e.raw.ece:.3f}" if e and e.raw and says_ece(e) else NONE,
        f"{e.prior.ece:.3f}" if e and e.prior and says_ece(e) else NONE,
        share(e.prior.tce_published) if e and e.prior and says_tce(e) else NONE,
    )


def _known(value: float) -> float | None:
    return None if isnan(value) else value


def _expected(found: Expectation) -> Interval | None:
    return None if isnan(found.prevalence) else (found.prevalence, found.low, found.high)


def _interval(found: Estimate | None) -> Interval | None:
    return (found.value, found.low, found.high) if found else None
