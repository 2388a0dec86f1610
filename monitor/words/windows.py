"""Sentences on the causes of a calibration error, and on what an intercept or map gains. Pure."""

from math import isnan, sqrt

from monitor.drift.records.region_state import Break
from monitor.evaluation.evaluation import (
    NAMES,
    RECENT_DAYS,
    Causes,
    Evaluation,
    InterceptCorrection,
    Lost,
    MapGain,
)
from monitor.metrics.core.estimate import NORMAL_95, Estimate
from monitor.words.labels import population_sentence
from monitor.words.numbers import amount


def week_sentences(
    week: Evaluation,
    *,
    drifting: bool,
    incomplete: bool = False,
    level: bool = False,
    place: Break | None = None,
) -> tuple[str, ...]:
    """Say what explains the error of a window, and how much of it an intercept would remove.

    While an error of the level is open, what an intercept removes is called the level, not the
    prior. A drift that is open at one place of the scores, `place`, has a number of its own.
    Incomplete outcomes have another prior than complete ones, so nothing is said of them.
    """
    span = f"{week.window_days} days to {week.day}" if week.window_days > 1 else f"day {week.day}"
    of_all = week.population
    said = (population_sentence(of_all, week.prevalence, span),) if of_all else ()
    causes, correction = week.told_causes, week.told_correction
    if not causes or not correction or incomplete:
        return said
    explained = f"all predictions of the {span}" if of_all and of_all.causes else f"the {span}"
    corrected = f"all predictions of the {span}" if of_all and of_all.correction else f"the {span}"
    return (
        *said,
        causes_sentence(causes, explained, level=level),
        *((place_sentence(place),) if place and place.total and place.profile.any() else ()),
        correction_sentence(correction, corrected, drifting=drifting),
        *((lost_sentence(week.lost, week.matched, span, level=level),) if week.lost else ()),
        *hanging_sentences(week, span),
    )


def hanging_sentences(window: Evaluation, span: str) -> tuple[str, ...]:
    """Say that intervals count entities, and how far; nothing of a model without entities."""
    if window.design_effect is None:
        return ()
    alone = max(1.0, float(f"{window.matched / window.design_effect:.2g}"))
    said = f"the {window.matched:,} outcomes of the {span} vary as much as about {alone:,.0f}"
    return (f"Intervals and TCE by chance count entities, not rows: {said} independent ones.",)


def cause_name(name: str, *, level: bool) -> str:
    """Name a cause of an error as the verdict does.

    Examples
    --------
    >>> [cause_name(name, level=True) for name in ("prior_shift", "slope", "rest")]
    ['level', 'slope', 'rest']
    """
    return "level" if level and name == "prior_shift" else name.replace("_", " ")


def place_sentence(place: Break) -> str:
    """Say what a break at one place of the scores costs, beside the causes of the week.

    Notes
    -----
    With g the logarithm of the likelihood of its tilt over none and N all rows since it began, it
    is g / N with the standard error ``sqrt(2 g) / N`` of a squared normal estimate.
    """
    # It loads mathematics, which only a break at one place needs.
    from monitor.drift.incidents.broken import size_of  # noqa: PLC0415

    gain = size_of(place)[2]
    cost = Estimate.normal(gain / place.total, sqrt(2.0 * gain) / place.total)
    return (
        f"Slope, shape and rest hold what the break at one place explains: {cost:.4f value} nats a "
        f"prediction since it began ({cost:.4f interval}), against the curve of the reference."
    )


def causes_sentence(causes: Causes, of: str, *, level: bool = False) -> str:
    """Name the causes of a calibration error; `of` says of which predictions."""

    def share(name: str) -> str:
        value, error = getattr(causes.log_loss, name), getattr(causes.log_loss_errors, name)
        word = cause_name(name, level=level)
        if isnan(value):
            return f"{word} unknown"
        sure = isnan(error) or abs(value) > NORMAL_95 * error
        return f"{word} {value:z.4f}" + ("" if sure else " (n.s.)")

    shares = ", ".join(map(share, NAMES))
    return f"The calibration error of {of}, in nats of log loss, by cause: {shares}."


def lost_sentence(lost: Lost, predictions: int, span: str, *, level: bool = False) -> str:
    """Say what a miscalibration cost, in all and by cause."""
    unit = f" {lost.currency}" if lost.currency else ""
    by = "the calibration error"
    if lost.threshold is not None:
        by = f"decisions at a score of {lost.threshold:g} on miscalibrated scores"
    whole = lost.all.value * predictions
    parts = {name: getattr(lost, name) for name in NAMES}
    shares = ", ".join(
        f"{cause_name(name, level=level)} {amount(part.value)}"
        + ("" if part.low > 0.0 or part.high < 0.0 else " (n.s.)")
        for name, part in parts.items()
        if part
    )
    ends = lost.all.written(amount, "interval")
    return (
        f"In the {span}, {by} lost {amount(lost.all.value)}{unit} a prediction ({ends}), "
        f"{amount(whole)}{unit} over {predictions:,} outcomes; by cause: {shares}."
    )


def correction_sentence(correction: InterceptCorrection, of: str, *, drifting: bool) -> str:
    """Say how much of an error one intercept would remove; `of` says of which predictions."""
    removed = Estimate.normal(correction.log_loss.value, correction.log_loss.standard_error)
    gain = (
        f"{removed:z.4f value} of the {correction.log_loss_before:z.4f} nats of log loss of "
        f"{of} ({removed:z.4f interval})"
    )
    delta = f"{correction.delta:+z.2f value}"
    if removed.low <= 0.0:
        return f"Adding an intercept is not worthwhile: the best one, {delta}, would remove {gain}."
    also = f" and {correction.squared_error:z.4f value} of the squared error"
    limits = " It corrects the level, not the drift." if drifting else ""
    return f"Adding {delta} to the log-odds of every score would remove {gain},{also}.{limits}"


def map_sentence(gain: MapGain, *, of_all: bool = False) -> str:
    """Say what the calibration map in the shadow gained, and whether it has begun to harm.

    `of_all` says that this is of all predictions, estimated from the labelled ones.
    """

    def by(change: Estimate, unit: str) -> str:
        return f"by {change:.4f value}{unit} ({change:.4f interval})"

    nats, whose = " nats a prediction", "all predictions of " if of_all else ""
    if gain.harms:
        days, recent = min(gain.days, RECENT_DAYS), gain.recent
        lost = Estimate(-recent.value, -recent.high, -recent.low)
        return (
            f"The calibration map makes scores worse: over {whose}the last {days} compared days it "
            f"raised the log loss {by(lost, nats)}. Do not use it; fit another one "
            "with calibration-monitor recalibrate."
        )
    since = f"Over {whose}the {gain.days} days on which the calibration map was compared"
    if gain.log_loss.low > 0.0:
        return (
            f"{since}, it lowered the log loss {by(gain.log_loss, nats)} and the Brier score "
            f"{by(gain.brier, '')}."
        )
    return f"{since}, it is not certain that it helps: the log loss fell {by(gain.log_loss, nats)}."
