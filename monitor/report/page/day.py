"""One day of a report page from its verdicts, evaluations and summaries. Pure."""

from collections.abc import Mapping
from datetime import date
from math import isnan

from monitor.base.segment_names import WHOLE
from monitor.drift.records.places import explained_by
from monitor.drift.records.verdict import SLOPE_KINDS, Verdict
from monitor.evaluation.errors import Errors
from monitor.evaluation.evaluation import Evaluation
from monitor.read.standing import Standing
from monitor.report.columns import Styles, verdict_cells, window_cells
from monitor.report.page.content import (
    DayOnPage,
    Figure,
    Reliability,
    Row,
)
from monitor.report.page.words import (
    NONE,
    STATES,
    STYLES,
    evidence,
    interval,
    minus,
    share,
    share_of,
    signed,
)
from monitor.report.too_few import reason, says_ece, says_tce
from monitor.report.verdicts import reasons
from monitor.words.label_change import AS_IF
from monitor.words.numbers import odds

WINDOW_STYLES: Styles = {
    "prevalence": share_of,
    "mean score": share_of,
    "outcomes": ",",
    "coverage": share_of,
    "ECE raw": ".3f",
    "ECE prior": ".3f",
    "TCE prior": share_of,
}
SEGMENT_COLUMNS = (
    "segment",
    "verdict",
    "evidence",
    *STYLES,
    *WINDOW_STYLES,
)


def day_on_page(
    day: date, standings: Mapping[str, Standing], *, reliability: Reliability | None = None
) -> DayOnPage:
    """Collect what is known of one day.

    Parameters
    ----------
    day : date
        The day.
    standings : mapping of str to Standing
        By the day itself, of the whole and of its segments.
    reliability : Reliability, optional
        Of the window that ends on the day.

    Returns
    -------
    DayOnPage
        With None for what is not known.
    """
    whole = standings.get(WHOLE, Standing())
    return DayOnPage(
        day=day,
        whole=whole,
        reasons=reasons(whole),
        figures=_figures(whole.verdict, whole.alone, whole.week),
        reliability=reliability,
        segments=[
            _segment(name, s.verdict, s.week) for name, s in standings.items() if name != WHOLE
        ],
    )


def _figures(
    verdict: Verdict | None, alone: Evaluation | None, week: Evaluation | None
) -> tuple[Figure, ...]:
    """Give the key figures beside the sentences."""
    figures = []
    if verdict and verdict.compared:
        figures.append(_evidence(verdict))
    explained = verdict.explanation if verdict else None
    told = verdict.headline(verdict.incident) if verdict and verdict.incident else None
    if told and (labels := told.labels):
        note = f"{AS_IF[labels.family]}, {labels.share.written(share, 'interval')}"
        figures.append(Figure("Labels", share(labels.share.value), note))
    elif told and told.kind not in SLOPE_KINDS:
        kind = told.kind.replace("_", " ")
        figures.append(Figure("Size", f"{told.size:.2f}", f"log-odds where it is largest: {kind}"))
    elif verdict and (slope := verdict.headline_slope):
        note = "; ".join(filter(None, [interval(slope), "1 is as in the reference"]))
        note += f"; of {explained_by(explained)}" if explained else ""
        figures.append(Figure("Slope", minus(f"{slope:.2f value}"), note))
    if verdict and verdict.shift:
        note = f"log-odds since the reference, {interval(verdict.shift, '+z.2f interval')}"
        figures.append(Figure("Prior shift", signed(verdict.shift.value), note))
    if alone and not isnan(alone.prevalence):
        compared = verdict if verdict and verdict.has_reference else None
        note = f"{share(compared.reference_prevalence)} in the reference" if compared else ""
        mean = f"mean score {share(alone.mean_score)}"
        notes = [mean, note, _of_all(alone)]
        figures.append(
            Figure("Prevalence", share(alone.prevalence), "; ".join(filter(None, notes)))
        )
    if week and week.prior:
        figures.append(_ece(week, week.prior))
    return tuple(figures)


def _of_all(alone: Evaluation) -> str:
    """Say of which predictions a prevalence is, where labels are chosen, and give that of all."""
    of_all = alone.population
    return f"of the labelled, {share(of_all.prevalence.value)} of all" if of_all else ""


def _ece(week: Evaluation, prior: Errors) -> Figure:
    """Give ECE and TCE, or say that there are too few outcomes for them."""
    note = reason(week)
    if says_tce(week):
        note = f"TCE {share(prior.tce_published)}"
        if week.null:
            note += f", {share(week.null.q05)} to {share(week.null.q95)} by chance"
    if week.population:
        note += "; of the labelled"
    return Figure("ECE without the prior", f"{prior.ece:.3f}" if says_ece(week) else NONE, note)


def _evidence(verdict: Verdict) -> Figure:
    """Give the evidence on the day that the open incident was found, else that of the day."""
    incident = verdict.incident
    if incident:
        note = f"found on {incident.opened}; the limit is {odds(verdict.limit)}"
        return Figure("Evidence of this drift", odds(incident.evidence), note)
    note = f"an incident opens at {odds(verdict.limit)}"
    return Figure("Evidence of a drift", evidence(verdict), note)


def _segment(name: str, v: Verdict | None, e: Evaluation | None) -> Row:
    return (
        name,
        STATES[v.state if v else ""].word,
        evidence(v),
        *verdict_cells(v, STYLES, NONE),
        *window_cells(e, WINDOW_STYLES, NONE),
    )
