"""The rows of a model's dashboard about the size of the error and its causes."""

from typing import Any

from grafana_foundation_sdk.builders import timeseries
from panels import (
    ADJUSTED,
    BROWN,
    CAUSES,
    CYAN,
    NEUTRAL,
    OLIVE,
    PINK,
    TEAL,
    band,
    colored,
    dashed,
    interval_band,
    lines,
    marked,
    said,
    stacked,
)
from queries import JUDGED, MODEL, WINDOW, interval, newest

from monitor.measures.measure import Measure, Panel
from monitor.measures.windows import OF_WINDOWS

NO_WINDOW = "no final window yet"
TWICE = (
    "Raw: as the consumer got the scores. Prior: with a shift of the base rate forgiven. Map: "
    "through the calibration map of the configuration, if it names one. Population: of all "
    "predictions, where labels are chosen by score (label_rate)."
)


def calibration_errors() -> list[timeseries.Panel]:
    """Draw every error that has a panel twice: raw, and with the prior forgiven."""
    shown = [declared(measure) for measure in OF_WINDOWS if measure.panel]
    return [shown[0], tce_published(), *shown[1:]]


def declared(measure: Measure[Any]) -> timeseries.Panel:
    """Draw a measure as its declaration says."""
    words: Panel = measure.panel  # type: ignore[assignment] # only such are drawn
    if measure.interval:
        panel, bands = twice(measure.name, words.unit), f" {words.bands}"
    else:
        values = {"{{adjusted}}": newest(measure.name, WINDOW, "adjusted")}
        panel, bands = colored(lines(values, unit=words.unit), ADJUSTED), ""
    if words.unit == "percentunit":
        panel.min(0)
    if words.decimals is not None:
        panel.decimals(words.decimals)
    if words.calibrated is not None:
        marked(panel, words.calibrated)
    return said(panel, words.title, f"{words.says} {TWICE}{bands}", none=NO_WINDOW, width=6)


def twice(gauge: str, unit: str) -> timeseries.Panel:
    """Draw an error with its intervals."""
    panel = lines(interval(gauge, WINDOW, "adjusted", "{{adjusted}}"), unit=unit)
    for name, color in ADJUSTED.items():
        interval_band(panel, name, color)
    return panel


def tce_published() -> timeseries.Panel:
    """Draw TCE as published, within what chance gives."""
    values = {"{{adjusted}}": newest("tce_published_ratio", WINDOW, "adjusted")}
    chance = {
        f"chance {label}": newest("tce_null_ratio", f'{WINDOW}, quantile="{quantile}"')
        for label, quantile in (("low", "0.05"), ("high", "0.95"), ("99 %", "0.99"))
    }
    panel = colored(lines(values | chance, unit="percentunit").min(0), ADJUSTED)
    return said(
        band(panel, "chance low", "chance high", NEUTRAL).override_by_name(
            "chance 99 %", dashed(NEUTRAL)
        ),
        "TCE as published",
        "The share of predictions that the outcomes reject, with the bin sizes of the paper. It "
        "grows with volume: compare it with the band, where 90 % of calibrated models lie, "
        "and not with other models. " + TWICE,
        none=NO_WINDOW,
        width=6,
    )


def attribution() -> list[timeseries.Panel]:
    """Draw how much of the error each cause explains, in both scores."""
    parts = (
        "Slope: too extreme or too timid. Shape: bent otherwise. Rest: what no curve explains. "
        "The largest area says what to repair."
    )
    return [
        said(
            causes("log_loss_explained", "nats per prediction"),
            "Log loss explained",
            "How much log loss each cause costs. Prior shift: the base rate moved. " + parts,
            none=NO_WINDOW,
            width=8,
        ),
        said(
            causes("squared_error_explained", "squared probability"),
            "Squared error explained",
            "How much squared error each cause costs. Prior shift: the base rate moved. " + parts,
            none=NO_WINDOW,
            width=8,
        ),
        removed(),
        lost(),
        burnt(),
    ]


def burnt() -> timeseries.Panel:
    """Draw how fast the budget of miscalibration is burnt."""
    limits = {"page": PINK, "ticket": BROWN}
    panel = lines(
        interval("budget_burn_ratio", WINDOW, "model", "burnt")
        | {name: newest(f"budget_{name}_limit_ratio", MODEL) for name in limits},
        unit="short",
        axis="times the budget",
    )
    interval_band(panel, "burnt", TEAL)
    for name, color in limits.items():
        panel.override_by_name(name, dashed(color))
    return said(
        panel,
        "How fast the budget is burnt",
        "What miscalibration cost, as a multiple of what the budget allows. At 1 it lasts 28 days. "
        "It pages above the pink line over 7 days and over the last, and is a ticket above the "
        "brown one over 28 days and over 7. The band is a 95 % interval.",
        none="no budget is configured",
        width=12,
    )


def lost() -> timeseries.Panel:
    """Draw what miscalibration cost, where errors have a price."""
    whole, cause = f'{WINDOW}, cause="all"', f'{WINDOW}, cause!="all"'
    asked = interval("value_lost", whole, "currency", "all")
    panel = lines(
        asked | {"{{cause}}": newest("value_lost", cause, "cause")},
        unit="short",
        axis="per prediction",
    )
    interval_band(panel, "all", CYAN)
    return said(
        colored(panel, CAUSES),
        "What miscalibration cost",
        "Lost per prediction, in the unit of value or decision: in all, and by cause. All that a "
        "cause lost would have been saved by correcting it. The band is a 95 % interval of all.",
        none="no value or decision is configured",
        width=12,
    )


def removed() -> timeseries.Panel:
    """Draw what a correction of the intercept would be worth."""
    gains = {
        "log loss, nats": ("intercept_log_loss_removed", BROWN),
        "squared error": ("intercept_squared_error_removed", TEAL),
    }
    asked: dict[str, str] = {}
    for name, (gauge, _) in gains.items():
        asked |= interval(gauge, WINDOW, "model", name)
    panel = lines(asked, unit="short", axis="per prediction")
    for name, (_, color) in gains.items():
        interval_band(panel, name, color)
    return said(
        panel,
        "What an intercept would repair",
        "How much error goes away if the intercept of the scores (above) is added to every logit. "
        "If a band reaches 0, the gain is not certain. The bands are 95 % "
        "intervals.",
        none="too few outcomes",
        width=8,
    )


def shadow() -> list[timeseries.Panel]:
    """Draw what a calibration map in the shadow gains, and the slope that it leaves."""
    gains = {
        "log loss, all days": ("map_log_loss_removed", OLIVE),
        "log loss, last 28 days": ("map_recent_log_loss_removed", BROWN),
        "Brier score, all days": ("map_squared_error_removed", TEAL),
    }
    asked: dict[str, str] = {}
    for name, (gauge, _) in gains.items():
        asked |= interval(gauge, JUDGED, "model", name)
    gained = lines(asked, unit="short", axis="per prediction")
    for name, (_, color) in gains.items():
        interval_band(gained, name, color)
    slopes = {"raw": ("slope", BROWN), "map": ("map_slope", OLIVE)}
    slope = lines(
        {
            k: v
            for name, (g, _) in slopes.items()
            for k, v in interval(g, WINDOW, "model", name).items()
        },
        unit="short",
    )
    for name, (_, color) in slopes.items():
        interval_band(slope, name, color)
    return [
        said(
            gained,
            "What the calibration map gains",
            "By how much the losses would have fallen with the map that the configuration names. "
            "Below 0 it harms; while a band reaches 0, that is not certain. The bands are 95 % "
            "intervals that take the outcomes of a day for dependent.",
            none="no map is compared",
            width=12,
        ),
        said(
            marked(slope, 1),
            "Slope with and without the map",
            "The slope of the outcomes on the log-odds of the scores, as they are and through the "
            "map. 1 (dashed) is right; below it the scores are too extreme. The bands are 95 % "
            "intervals.",
            none="no map is compared",
            width=12,
        ),
    ]


def causes(gauge: str, axis: str) -> timeseries.Panel:
    """Stack the causes of an error."""
    panel = lines({"{{cause}}": newest(gauge, WINDOW, "cause")}, unit="short", axis=axis)
    return colored(stacked(panel), CAUSES)
