"""The measures of verdicts."""

from math import isfinite, nan

from monitor.drift.wording import shape_size
from monitor.measures.measure import INTERVAL, Interval, Measure, Unit, as_is
from monitor.measures.snapshot import SECONDS_A_DAY, seconds_of
from monitor.measures.units import (
    DAYS,
    FLAG,
    LOG10,
    LOGIT,
    LOGIT_SIZE,
    RATIO,
    SECONDS,
    SLOPE,
    SLOPE_SIZE,
    TIME,
    VALUES,
)
from monitor.measures.verdict_scopes import (
    COMPARED,
    DETECTABLE,
    ENDED,
    ENDING,
    EXPLAINED,
    INCIDENT,
    JUDGED_DAY,
    KIND,
    KIND_EVIDENCE,
    NO_DRIFT,
    NO_REFERENCE,
    PLACE,
    STATE,
    VERDICT,
    WHERE,
    WITHHELD,
    start,
)

NO_LIFT = f"{NO_REFERENCE}, or while all outcomes are equal"


def finite(value: float) -> float:
    """Take a number; a change that is never found has none."""
    return value if isfinite(value) else nan


OF_VERDICTS = (
    Measure(
        "verdict",
        STATE,
        as_is,
        "Verdict on the newest judged day: 1 for its state, 0 for the other states.",
        FLAG,
    ),
    Measure(
        "verdict_timestamp_seconds",
        JUDGED_DAY,
        as_is,
        "When the newest judged day ended, in the model's time zone.",
        TIME,
    ),
    Measure(
        "verdict_date_seconds",
        VERDICT,
        lambda v: seconds_of(v.day),
        "The newest judged day: the Unix time of that date's midnight in UTC.",
        TIME,
    ),
    Measure(
        "evidence_log10",
        COMPARED,
        lambda v: v.reached,
        "Evidence of a calibration drift that was reached, log10, over all kinds. A prior shift "
        "does not change it. A drift opens at calibration_evidence_limit_log10, and the evidence "
        "starts again from 0 on the day after.",
        LOG10,
        WITHHELD,
    ),
    Measure(
        "kind_evidence_log10",
        KIND_EVIDENCE,
        as_is,
        "Accumulated evidence, log10, for one kind of distortion of the reference curve.",
        LOG10,
    ),
    Measure(
        "evidence_limit_log10",
        VERDICT,
        lambda v: v.limit,
        "Evidence, log10, at which the monitor reports a calibration drift. For a segment it "
        "depends on the other segments of that day.",
        LOG10,
    ),
    Measure(
        "drift_kind",
        KIND,
        as_is,
        "Kind of the open calibration drift: 1 for that kind, 0 for the others and while none is "
        "open.",
        FLAG,
    ),
    Measure(
        "drift_evidence_log10",
        INCIDENT,
        lambda incident: incident.evidence,
        "Evidence, log10, with which the open calibration drift was found. It stays when the "
        "kind changes.",
        LOG10,
    ),
    Measure(
        "drift_started_timestamp_seconds",
        start(lambda incident: incident.started),
        as_is,
        "Estimated start of the open calibration drift.",
        TIME,
    ),
    Measure(
        "drift_started_low_timestamp_seconds",
        start(lambda incident: incident.start_low),
        as_is,
        "First day of the 90 % interval of the start of the open calibration drift.",
        TIME,
    ),
    Measure(
        "drift_started_high_timestamp_seconds",
        start(lambda incident: incident.start_high),
        as_is,
        "Last day of the 90 % interval of the start of the open calibration drift.",
        TIME,
    ),
    Measure(
        "tolerated_slope_change",
        DETECTABLE,
        lambda detectable: finite(detectable.tolerated),
        "Changes of the slope below this are tolerated with this reference.",
        SLOPE_SIZE,
    ),
    Measure(
        "detectable_slope_change",
        DETECTABLE,
        lambda detectable: finite(detectable.found),
        "Changes of the slope above this are found with this reference.",
        SLOPE_SIZE,
    ),
    Measure(
        "slope_detection_days",
        DETECTABLE,
        lambda detectable: finite(detectable.days),
        "Days that a slope of 0.8 takes to be found with the volume of the reference.",
        DAYS,
    ),
    Measure(
        "unknown_scores_ratio",
        COMPARED,
        lambda v: v.evidence.unknown_share if v.evidence else None,
        "Share of the scores of the judged day that lie where the reference does not know its "
        "curve. The verdict says nothing about them.",
        RATIO,
        "without a reference, or on a day that no outcomes were judged on",
    ),
    Measure(
        "reference_slope",
        COMPARED,
        lambda v: v.reference_slope,
        "Slope of the outcomes of the reference on its own scores: 1 if they were calibrated, "
        "apart from the prior.",
        Unit("slope, -10 to 10", -10.0, 10.0),
        interval=Interval(unit=SLOPE),
    ),
    Measure(
        "reference_intercept_logit",
        COMPARED,
        lambda v: v.reference_intercept,
        "How far the log-odds of all scores of the reference were off on average: above 0 if more "
        "came true than expected.",
        LOGIT,
        interval=INTERVAL,
    ),
    Measure(
        "drift_started_date_seconds",
        INCIDENT,
        lambda incident: seconds_of(incident.started),
        "First day of the open calibration drift: the Unix time of that date's midnight in UTC, "
        "whatever the model's time zone.",
        TIME,
    ),
    Measure(
        "drift_size_logit",
        INCIDENT,
        shape_size,
        "How far the log-odds are off where the open calibration drift is strongest; not of drifts "
        "that calibration_drift_slope measures.",
        LOGIT_SIZE,
        f"{NO_DRIFT}, and of kinds `too_extreme` and `too_timid`",
    ),
    Measure(
        "ended_drift_date_seconds",
        ENDING,
        lambda ended: seconds_of(ended.closed),
        "Day on which the last calibration drift closed, and why, until another one opens: the "
        "Unix time of that date's midnight in UTC.",
        TIME,
    ),
    Measure(
        "ended_drift_duration_seconds",
        ENDED,
        lambda ended: (ended.closed - ended.started).days * SECONDS_A_DAY,
        "How long the last calibration drift lasted, from its first day to the one on which it "
        "closed.",
        SECONDS,
    ),
    Measure(
        "drift_slope",
        COMPARED,
        lambda v: v.slope,
        "Slope of the outcomes on the reference curve since the open drift began, or over 7 "
        "days if none is open.",
        Unit("slope, 0.25 to 2", 0.25, 2.0),
        NO_LIFT,
        interval=INTERVAL,
    ),
    Measure(
        "value_evidence_log10",
        PLACE,
        lambda place: place.evidence,
        "Evidence, log10, that the curve of a value of a column moved since the open calibration "
        "drift began, compared with itself in the reference.",
        LOG10,
    ),
    Measure(
        "value_flagged",
        PLACE,
        lambda place: place.flagged,
        "Whether the value of a column is off beyond the tolerance: 1 yes, 0 no. At most one in 20 "
        "flagged values is flagged by chance, over all columns.",
        FLAG,
    ),
    Measure(
        "value_slope",
        PLACE,
        lambda place: place.slope.value if place.slope else None,
        "Slope of the outcomes of a value of a column since the open calibration drift began, "
        "divided by its slope in the reference.",
        SLOPE_SIZE,
    ),
    Measure(
        "value_error_ratio",
        PLACE,
        lambda place: place.share,
        "Share of the error of all values of a column that one value has, since the open "
        "calibration drift began.",
        RATIO,
    ),
    Measure(
        "values_flagged",
        WHERE,
        lambda where: len(where.flagged) + where.flagged_left_out,
        "Values of columns that are off beyond the tolerance, with or without gauges of their own.",
        VALUES,
    ),
    Measure(
        "drift_explained_ratio",
        EXPLAINED,
        as_is,
        "Share of the evidence of the open calibration drift that comes from few values of "
        "columns. Without them the rest is as before.",
        Unit("ratio, 0.5 to 1", 0.5, 1.0),
    ),
    Measure(
        "values_left_out",
        WHERE,
        lambda where: where.left_out,
        "Values of columns that were compared, but have no gauges of their own because of the "
        "exporter's limit.",
        VALUES,
    ),
    Measure(
        "prior_shift_logit",
        COMPARED,
        lambda v: v.shift,
        "Shift of the reference curve, in logit, that makes it right on average over 7 days.",
        LOGIT,
        NO_LIFT,
        interval=INTERVAL,
    ),
    Measure(
        "level_change_logit",
        COMPARED,
        lambda v: v.level_change,
        "Change of the level, in logit over 7 days, that the change of the prevalence does not "
        "explain.",
        LOGIT,
        NO_LIFT,
        interval=INTERVAL,
    ),
    Measure(
        "reference_prevalence_ratio",
        COMPARED,
        lambda v: v.reference_prevalence,
        "Share of outcomes that are 1 in the reference.",
        RATIO,
    ),
)
