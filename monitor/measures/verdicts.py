"""The measures of verdicts."""

from math import isfinite, nan

from monitor.drift.records.life import STATES_MEAN, life_state
from monitor.drift.records.verdict import OF_LABELS, Verdict
from monitor.measures import units
from monitor.measures import verdict_scopes as of
from monitor.measures.measure import Measure, Unit
from monitor.measures.snapshot import SECONDS_A_DAY, seconds_of

NO_LIFT = f"{of.NO_REFERENCE}, or while all outcomes are equal"


def finite(value: float) -> float:
    """Take a number; a change that is never found has none."""
    return value if isfinite(value) else nan


def may_page(verdict: Verdict) -> bool:
    """Return whether the open drift is urgent and certain, and one of the scores."""
    incident = verdict.incident
    if incident is None or life_state(incident) == "undecided" or incident.improved:
        return False
    return incident.urgent and verdict.state not in OF_LABELS


OF_VERDICTS = (
    Measure(
        "verdict",
        of.STATE,
        "Verdict on the newest judged day: 1 for its state, 0 for the other states.",
        units.FLAG,
    ),
    Measure(
        "verdict_timestamp_seconds",
        of.JUDGED_DAY,
        "When the newest judged day ended, in the model's time zone.",
        units.TIME,
        of_segments=False,
    ),
    Measure(
        "verdict_date_seconds",
        of.VERDICT,
        "The newest judged day: the Unix time of that date's midnight in UTC.",
        units.TIME,
        lambda v: seconds_of(v.day),
    ),
    Measure(
        "evidence_log10",
        of.COMPARED,
        "Evidence of a calibration drift that was reached, log10, over all kinds. A prior shift "
        "does not change it. A drift opens at calibration_evidence_limit_log10, and the evidence "
        "starts again from 0 on the day after. With several classes, that of the segments all and "
        "third choices is the mean of both.",
        units.LOG10,
        lambda v: v.reached,
        absent=of.WITHHELD,
        heading="evidence",
        column="evidence",
    ),
    Measure(
        "evidence_limit_log10",
        of.VERDICT,
        "Evidence, log10, at which the monitor reports a calibration drift. For a segment it "
        "depends on the other segments of that day.",
        units.LOG10,
        lambda v: v.limit,
        column="limit",
    ),
    Measure(
        "drift_kind",
        of.KIND,
        "Kind of the open calibration drift, of the curve or of the level: 1 for that kind, 0 for "
        "the others and while none is open.",
        units.FLAG,
    ),
    Measure(
        "drift_evidence_log10",
        of.INCIDENT,
        "Evidence, log10, with which the open calibration drift was found. It stays when the "
        "kind changes.",
        units.LOG10,
        lambda incident: incident.evidence,
    ),
    Measure(
        "drift_started_timestamp_seconds",
        of.start(lambda incident: incident.started),
        "Estimated start of the open calibration drift.",
        units.TIME,
    ),
    Measure(
        "drift_started_low_timestamp_seconds",
        of.start(lambda incident: incident.start_low),
        "First day of the 90 % interval of the start of the open calibration drift.",
        units.TIME,
    ),
    Measure(
        "drift_started_high_timestamp_seconds",
        of.start(lambda incident: incident.start_high),
        "Last day of the 90 % interval of the start of the open calibration drift.",
        units.TIME,
    ),
    Measure(
        "tolerated_slope_change",
        of.DETECTABLE,
        "Changes of the slope below this are hardly ever reported with this reference.",
        units.SLOPE_SIZE,
        lambda detectable: finite(detectable.tolerated),
        exported=False,
        column="tolerated_slope_change",
    ),
    Measure(
        "detectable_slope_change",
        of.DETECTABLE,
        "Changes of the slope above this are found with this reference.",
        units.SLOPE_SIZE,
        lambda detectable: finite(detectable.found),
        exported=False,
        column="detectable_slope_change",
    ),
    Measure(
        "slope_detection_days",
        of.DETECTABLE,
        "Days that a slope of 0.8 takes to be found with the volume of the reference, in half of "
        "all cases.",
        units.DAYS,
        lambda detectable: finite(detectable.days),
        absent="without a reference, or if it is more than 400",
        of_segments=False,
    ),
    Measure(
        "unknown_scores_ratio",
        of.COMPARED,
        "Share of the scores of the judged day that lie where the reference does not know its "
        "curve. Of these only a break at one place is judged.",
        units.RATIO,
        lambda v: v.evidence.unknown_share if v.evidence else None,
        absent="without a reference, or on a day that no outcomes were judged on",
        column="unknown_share",
        of_segments=False,
    ),
    Measure(
        "reference_slope",
        of.COMPARED,
        "Slope of the outcomes of the reference on its own scores: 1 if they were calibrated, "
        "apart from the prior.",
        units.SLOPE,
        lambda v: v.reference_slope,
        interval=True,
        of_segments=False,
    ),
    Measure(
        "reference_intercept_logit",
        of.COMPARED,
        "How far the log-odds of all scores of the reference were off on average: above 0 if more "
        "came true than expected.",
        units.LOGIT,
        lambda v: v.reference_intercept,
        of_segments=False,
    ),
    Measure(
        "drift_started_date_seconds",
        of.INCIDENT,
        "First day of the open calibration drift: the Unix time of that date's midnight in UTC, "
        "whatever the model's time zone.",
        units.TIME,
        lambda incident: seconds_of(incident.started),
    ),
    Measure(
        "shift_started_date_seconds",
        of.SHIFT,
        "First of the days in a row with this prior shift or level drift: the Unix time of that "
        "date's midnight in UTC.",
        units.TIME,
        seconds_of,
    ),
    Measure(
        "awaited_reference_date_seconds",
        of.AWAITED,
        "First day of the new reference that has too few days or outcomes to be used yet: "
        "the Unix time of that date's midnight in UTC.",
        units.TIME,
        seconds_of,
    ),
    Measure(
        "not_comparable_date_seconds",
        of.UNLIKE,
        "Days of what is read otherwise than the reference and so not compared: the first day that "
        "was read so (`since`), and the first and the last day of the reference. The Unix time of "
        "that date's midnight in UTC.",
        units.TIME,
    ),
    Measure(
        "reference_changed_date_seconds",
        of.CHANGED,
        "The first of the days of the reference that differ from those before, where it is not of "
        "one kind: the Unix time of that date's midnight in UTC.",
        units.TIME,
    ),
    Measure(
        "moved_share_ratio",
        of.MOVED,
        "Share of the predictions of the newest judged day that a segment has, where it is far "
        "outside of what the reference had; at most 20 segments of a model.",
        units.RATIO,
    ),
    Measure(
        "one_day_date_seconds",
        of.ONE_DAY,
        "The newest judged day, if it alone contradicts the reference, and in what: the Unix time "
        "of that date's midnight in UTC. No drift opens on a single day; it does on the next one "
        "if that says the same.",
        units.TIME,
    ),
    Measure(
        "drift_size_logit",
        of.SHAPE,
        "How far the log-odds are off where the open calibration drift is strongest; not of drifts "
        "that calibration_drift_slope measures. Of the values that explain it, where some do.",
        units.LOGIT_SIZE,
    ),
    Measure(
        "ended_drift_date_seconds",
        of.ENDING,
        "Day on which the last calibration drift closed, and why, until another one opens: the "
        "Unix time of that date's midnight in UTC.",
        units.TIME,
        lambda ended: seconds_of(ended.closed),
    ),
    Measure(
        "ended_drift_duration_seconds",
        of.ENDED,
        "How long the last calibration drift lasted, from its first day to the one on which it "
        "closed.",
        units.SECONDS,
        lambda ended: (ended.closed - ended.started).days * SECONDS_A_DAY,
    ),
    Measure(
        "drift_worsenings",
        of.INCIDENT,
        "How often the open calibration drift has become worse since it opened; its start and size "
        "are those since the last time.",
        units.TIMES,
        lambda incident: incident.worse.times if incident.worse else 0,
    ),
    Measure(
        "drift_slope_before",
        of.WORSE,
        "Slope of the outcomes on the reference curve before the open calibration drift became "
        "worse.",
        Unit("slope, 0.25 to 2", 0.25, 2.0),
        lambda worse: worse.slope,
    ),
    Measure(
        "acknowledged_until_timestamp_seconds",
        of.TAKEN,
        "End of the last day until which somebody has taken the open drift; 0 if nobody has. Of a "
        "value that drifts by itself, the segment is `column = value`.",
        units.TIME,
    ),
    Measure(
        "acknowledged_timestamp_seconds",
        of.TAKER,
        "When somebody took the open drift, and who, of a segment or of a value.",
        units.TIME,
    ),
    Measure(
        "drift_undecided",
        of.INCIDENT,
        f"Whether {STATES_MEAN['undecided']}: 1 yes, 0 no.",
        units.FLAG,
        lambda incident: life_state(incident) == "undecided",
    ),
    Measure(
        "drift_urgent",
        of.OPEN,
        "Whether the open calibration drift may page: 0 while it is undecided, of a change for the "
        "better, where labels changed, and of an error of the level until it exceeds "
        "level_page_odds with certainty.",
        units.FLAG,
        may_page,
    ),
    Measure(
        "drift_labels_ratio",
        of.LABELS,
        "Share of the positive outcomes that seem to be lost since the open drift began, or of the "
        "negative ones that seem to be recorded as positive.",
        units.RATIO,
        lambda labels: labels,
        interval=True,
    ),
    Measure(
        "drift_unexplained_logit",
        of.UNEXPLAINED,
        "How much of calibration_drift_size_logit did not come with the base rate, while the open "
        "drift is an error of the level of all scores.",
        units.LOGIT_SIZE,
    ),
    Measure(
        "drift_class_info",
        of.OF_CLASS,
        "The class whose scores are off, while the open drift is one of a class; always 1.",
        units.INFO,
    ),
    Measure(
        "drift_slope",
        of.COMPARED,
        "Slope of the outcomes on the reference curve since the open drift began, or over 7 "
        "days if none is open. Of the values that explain the drift, where some do.",
        Unit("slope, 0.125 to 8", 0.125, 8.0),
        lambda v: v.headline_slope,
        absent=NO_LIFT,
        interval=True,
        heading="slope",
        column="slope",
    ),
    Measure(
        "value_evidence_log10",
        of.PLACE,
        "Evidence, log10, that the curve of a value of a column moved since the open calibration "
        "drift began, compared with itself in the reference.",
        units.LOG10,
        lambda place: place.evidence,
    ),
    Measure(
        "value_flagged",
        of.PLACE,
        "Whether the value of a column is off beyond the tolerance: 1 yes, 0 no. At most one in 20 "
        "flagged values is flagged by chance, over all columns.",
        units.FLAG,
        lambda place: place.flagged,
    ),
    Measure(
        "value_drift_started_date_seconds",
        of.ALONE,
        "First day of the open drift of a value of a column that drifts by itself, at most 20 of a "
        "model: the Unix time of that date's midnight in UTC, whatever the model's time zone.",
        units.TIME,
    ),
    Measure(
        "values_flagged",
        of.WHERE,
        "Values of columns that are off beyond the tolerance, with or without gauges of their own.",
        units.VALUES,
        lambda where: len(where.flagged) + where.flagged_left_out,
    ),
    Measure(
        "drift_explained_ratio",
        of.EXPLAINED,
        "Share of the evidence of the open calibration drift that comes from few values of "
        "columns. Without them the rest is as before.",
        Unit("ratio, 0.5 to 1", 0.5, 1.0),
    ),
    Measure(
        "drift_in_segments",
        of.OF_WHOLE,
        "Whether the open calibration drift of the whole comes from segments that have alerts of "
        "their own: 1 yes, 0 no. Theirs then stand for it.",
        units.FLAG,
        lambda v: bool(v.explanation and v.explanation.in_segments),
    ),
    Measure(
        "prior_shift_logit",
        of.COMPARED,
        "Shift of the reference curve, in logit, that makes it right on average over 7 days.",
        units.LOGIT,
        lambda v: v.shift,
        absent=NO_LIFT,
        interval=True,
        heading="prior shift",
        column="shift",
    ),
    Measure(
        "level_change_logit",
        of.COMPARED,
        "Change of the level, in logit over 7 days, that the change of the prevalence does not "
        "explain; with several classes, of the one that stands out, if one does.",
        units.LOGIT,
        lambda v: v.level_change,
        absent=NO_LIFT,
        interval=True,
        column="level_change",
    ),
    Measure(
        "class_level_change_logit",
        of.OFF_CLASS,
        "How much too low the scores of the class that is off are over 7 days, in logit; below 0, "
        "too high.",
        units.LOGIT,
        lambda change: change.value,
    ),
    Measure(
        "reference_prevalence_ratio",
        of.COMPARED,
        "Share of outcomes that are 1 in the reference.",
        units.RATIO,
        lambda v: v.reference_prevalence,
        column="reference_prevalence",
    ),
)
