"""The dashboard of a model's errors: how large they are, what causes them, what would repair them.

What only some models have, classes or a calibration map, is a line in a panel that every model has.
A row of its own would stay without them: Grafana repeats a row once even over no values, and hides
none by a condition before its second schema of dashboards.
"""

from typing import Any

from grafana_foundation_sdk.builders import stat, timeseries
from grafana_foundation_sdk.models import common, dashboard
from model import marked as with_marks
from model_now import in_figures
from pages import laid_out, linked, of_model
from panels import (
    ADJUSTED,
    BROWN,
    CAUSES,
    CYAN,
    NEUTRAL,
    OLIVE,
    TEAL,
    band,
    colored,
    dashed,
    fixed,
    lines,
    marked,
    number,
    said,
    stacked,
    with_intervals,
)
from queries import EXPECTED, FITS, JUDGED, WINDOW, interval, newest, while_it_fits

from monitor.measures.measure import Measure, Panel
from monitor.measures.windows import OF_WINDOWS

NO_WINDOW = "no final window yet"
NO_REFERENCE = "no reference yet, or a segment"
SHOWN = 3  # classes in a panel
PRIOR = f'{WINDOW}, adjusted="prior"'
TWICE = (
    "Raw: as the consumer got the scores. Prior: with a shift of the base rate forgiven. Map: "
    "through the calibration map of the configuration, if it names one. Population: of all "
    "predictions, where labels are chosen by score (label_rate)."
)
# Where classes exist, lines of them in the panel of a measure: legend -> query, and what they say.
OF_CLASSES = {
    "ece_ratio": (
        {"class {{class}}": f"topk({SHOWN}, {newest('class_ece_ratio', PRIOR, 'class')})"},
        f"Of a model with classes, also the {SHOWN} worst, with the priors of classes forgiven.",
    ),
    "rbs": (
        {"vectors, {{adjusted}}": newest("vector_rbs", WINDOW, "adjusted")},
        "Of a model with classes, also that of the probabilities of all classes together.",
    ),
}
ALL, ALL_SCORES = "outcomes, all predictions", "scores, all predictions"


def errors() -> dashboard.Dashboard:
    """Build the dashboard."""
    begun = with_marks(
        of_model(
            "calibration-errors",
            "Calibration: errors of a model and their causes",
            "How large a model's calibration errors are, what explains them, and what a repair "
            "would gain.",
        )
    )
    linked(begun, "calibration-fleet", "calibration-model", "calibration-data")
    return laid_out(
        begun,
        [
            *(declared(measure) for measure in OF_WINDOWS if measure.panel),
            *(causes(), gains()),
            *(slope(), intercept(), prevalence()),
            *(reference_slope(), reference_intercept(), unknown(), patience()),
        ],
    )


def declared(measure: Measure[Any]) -> timeseries.Panel:
    """Draw a measure of raw, prior-adjusted and mapped scores as its declaration says."""
    words: Panel = measure.panel  # type: ignore[assignment] # only such are drawn
    of_classes, meaning = OF_CLASSES.get(measure.name, ({}, ""))
    values = {"{{adjusted}}": newest(measure.name, WINDOW, "adjusted")}
    panel = colored(lines(values | of_classes, unit=words.unit), ADJUSTED)
    if words.unit == "percentunit":
        panel.min(0)
    if words.decimals is not None:
        panel.decimals(words.decimals)
    if words.calibrated is not None:
        marked(panel, words.calibrated)
    text = f"{words.says} {TWICE} {meaning}".strip()
    return said(panel, words.title, text, none=NO_WINDOW, width=8)


def causes() -> timeseries.Panel:
    """Stack the causes of the error."""
    parts = {"{{cause}}": newest("log_loss_explained", WINDOW, "cause")}
    panel = lines(parts, unit="short", axis="nats per prediction")
    return said(
        colored(stacked(panel), CAUSES),
        "What explains the error",
        "How much log loss each cause costs. Prior shift: the base rate moved. Slope: too extreme "
        "or too timid. Shape: bent otherwise. Rest: what no curve explains. The largest area says "
        "what to repair. Of the whole model only.",
        none="too few outcomes, or a segment",
        width=12,
    )


def gains() -> timeseries.Panel:
    """Draw what a correction of the intercept, or the calibration map, would be worth."""
    found = {
        "intercept": ("intercept_log_loss_removed", WINDOW, BROWN),
        "map, all days": ("map_log_loss_removed", JUDGED, OLIVE),
        "map, last 28 days": ("map_recent_log_loss_removed", JUDGED, TEAL),
    }
    return said(
        with_intervals(found, axis="nats per prediction", at=0),
        "What a repair would gain",
        "How much log loss goes away if the intercept of the scores is added to every logit; and, "
        "where the configuration names a calibration map, with the map: below 0 it harms. If a "
        "band reaches 0 (dashed), the gain is not certain. The bands are 95 % intervals; those of "
        "a map take the outcomes of a day for dependent.",
        none="too few outcomes, or a segment",
        width=12,
    )


def slope() -> timeseries.Panel:
    """Draw the slope of the scores themselves, and of those that a map makes."""
    slopes = {"scores": ("slope", WINDOW, BROWN), "map": ("map_slope", WINDOW, OLIVE)}
    return said(
        with_intervals(slopes, axis="slope", at=1).decimals(2),
        "Slope of the scores",
        "1 (dashed): the scores spread as the outcomes do. Below 1: too extreme. Above 1: too "
        "timid. Each day may have its own base rate. It needs no reference. Map: of the scores "
        "that the calibration map makes, if one is compared. The bands are 95 % intervals.",
        none=NO_WINDOW,
        width=8,
    )


def intercept() -> timeseries.Panel:
    """Draw the shift that makes the scores right on average."""
    shift = {"intercept": ("intercept_logit", WINDOW, BROWN)}
    return said(
        with_intervals(shift, axis="logit", at=0).decimals(2),
        "Intercept of the scores",
        "Add this to the logit of every score, and the scores are right on average in this "
        "window. It needs no reference. The band is the 95 % interval. Of the whole model only.",
        none="no final window yet, or a segment",
        width=8,
    )


def prevalence() -> timeseries.Panel:
    """Draw the share of positives beside what was expected."""
    expected = interval("expected_prevalence_ratio", JUDGED, "model", EXPECTED)
    ratios = {
        "outcomes": newest("prevalence_ratio", WINDOW),
        "scores": newest("mean_score_ratio", WINDOW),
        "reference": newest("reference_prevalence_ratio", JUDGED),
        **{name: while_it_fits(query, JUDGED) for name, query in expected.items()},
        **interval("population_prevalence_ratio", WINDOW, "model", ALL),
        **interval("population_mean_score_ratio", WINDOW, "model", ALL_SCORES),
        "{{class}}": f"topk({SHOWN}, {newest('class_prevalence_ratio', WINDOW, 'class')})",
        "{{class}}, scores": f"topk({SHOWN}, {newest('class_mean_score_ratio', WINDOW, 'class')})",
    }
    panel = colored(lines(ratios, unit="percentunit"), {"outcomes": TEAL, "scores": BROWN})
    panel.override_by_name(EXPECTED, dashed(CYAN))
    panel.override_by_name(ALL, [fixed(TEAL)]).override_by_name(ALL_SCORES, [fixed(BROWN)])
    for name, color in {EXPECTED: CYAN, ALL: TEAL, ALL_SCORES: BROWN}.items():
        band(panel, f"{name} low", f"{name} high", color)
    return said(
        panel.override_by_name("reference", dashed(NEUTRAL)),
        "Prevalence",
        "The share of outcomes that are 1, beside the mean score and the share in the reference. "
        "The cyan line is a forecast for days whose outcomes are not in yet, made where the "
        "daily job runs with --unsettled, with its 95 % interval; it is drawn only while a moved "
        f"base rate alone explains the scores (log10 p of at least {FITS}). Where labels are "
        "chosen by score, the bands are 95 % intervals of the prevalence and the mean score of "
        f"all predictions. Of a model with classes, also the {SHOWN} most frequent ones.",
        none=NO_WINDOW,
        width=8,
    )


def reference_slope() -> stat.Panel:
    """Show whether the reference itself was calibrated."""
    return said(
        in_figures("reference_slope"),
        "Slope of the reference",
        "1: the scores were calibrated in the reference, apart from the prior. Below 1 they were "
        "too extreme from the start, above 1 too timid; no verdict reports that, because it "
        "compares with the reference. In brackets the 95 % interval.",
        none=NO_REFERENCE,
        width=6,
    )


def reference_intercept() -> stat.Panel:
    """Show whether the reference's scores were right on average."""
    value = {"intercept": newest("reference_intercept_logit", JUDGED)}
    return said(
        number(value, unit="short").decimals(2),
        "Intercept of the reference, log-odds",
        "0: as many predictions of the reference came true as expected. Above 0 more did, below 0 "
        "fewer; no verdict reports that, because it compares with the reference.",
        none=NO_REFERENCE,
        width=6,
    )


def unknown() -> stat.Panel:
    """Show how many scores lie where nothing is known of the curve."""
    share = {"share": newest("unknown_scores_ratio", JUDGED)}
    return said(
        number(share, unit="percentunit").decimals(1),
        "Scores beyond the reference",
        "The share of the day's scores that lie where the reference has too few outcomes to know "
        "its curve. Of these only a break at one place is judged. If it stays above a few "
        "percent, re-base the reference.",
        none=NO_REFERENCE,
        width=6,
    )


def patience() -> stat.Panel:
    """Show how long a drift takes to be found."""
    days = {"days": newest("slope_detection_days", JUDGED)}
    return said(
        number(days, unit="suffix: days").decimals(0).text_mode(common.BigValueTextMode.VALUE),
        "A slope of 0.8 is found in",
        "In half of all cases, with the volume of the reference. If it is never found at this "
        "volume, judge several days together (judge_every), or choose a longer reference.",
        none="no reference yet, never found, or a segment",
        width=6,
    )
