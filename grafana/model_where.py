"""The row of a model's dashboard about where an open drift sits; it needs segments."""

from grafana_foundation_sdk.builders import stat, timeseries
from grafana_foundation_sdk.models import common
from panels import MOMENT, beside, lines, marked, number, said
from queries import MODEL, WHOLE, milliseconds, newest, while_open

NO_PLACES = "no incident, or no segments configured"
SHOWN = 10  # values in a panel: those with most evidence
PLACE = "model, column, value"
NAME = "{{column}} = {{value}}"
OF_WHOLE = f'{MODEL}, segment="{WHOLE}"'


def places() -> list[timeseries.Panel | stat.Panel]:
    """Give the panels from left to right."""
    return [explained(), evidence(), slopes(), counts(), errors(), alone()]


def _worst(gauge: str) -> str:
    """Ask for the evidence, or another gauge of values that are off, of those with most of it."""
    ranked = newest("value_evidence_log10", MODEL, PLACE)
    if gauge == "value_evidence_log10":
        return while_open(f"topk({SHOWN}, {ranked})", OF_WHOLE)
    off = f"{ranked} and on ({PLACE}) {newest('value_flagged', MODEL, PLACE)} == 1"
    chosen = f"{newest(gauge, MODEL, PLACE)} and on ({PLACE}) topk({SHOWN}, {off})"
    return while_open(f"({chosen})", OF_WHOLE)


def explained() -> stat.Panel:
    """Name the few values that explain the drift."""
    share = while_open(newest("drift_explained_ratio", MODEL, "model, values"), OF_WHOLE)
    told = f"{newest('drift_in_segments', OF_WHOLE)} == 1"
    names = {
        "{{values}}": f"{share} unless on (model) {told}",
        "{{values}}, with an alert of its own": f"{share} and on (model) {told}",
    }
    panel = number(names, unit="percentunit").decimals(0).height(8)
    return said(
        panel.text_mode(common.BigValueTextMode.VALUE_AND_NAME),
        "Explained by",
        "The few values without which the rest of the traffic is as before, and the share of the "
        "evidence that goes with them.",
        none="no few values explain it",
        width=6,
    )


def evidence() -> timeseries.Panel:
    """Draw the values that are most off."""
    return said(
        lines({NAME: _worst("value_evidence_log10")}, unit="short", axis="log10")
        .legend(beside())
        .decimals(1)
        .min(0),
        "Evidence by value",
        f"The {SHOWN} values of columns whose curve moved most clearly since the drift began, each "
        "compared with itself in the reference, within its own prior. 3 means that a change "
        "explains the outcomes 10^3 times better than none.",
        none=NO_PLACES,
        width=9,
    )


def slopes() -> timeseries.Panel:
    """Draw how far they are off."""
    panel = lines({NAME: _worst("value_slope")}, unit="short", axis="slope").legend(beside())
    return said(
        marked(panel.decimals(2), 1),
        "Slope by value",
        "1: the outcomes of the value follow its scores as in the reference. Below 1: they have "
        f"become too extreme. Above 1: too timid. Of the values that are off, the {SHOWN} with "
        "most evidence.",
        none=NO_PLACES,
        width=9,
    )


def counts() -> stat.Panel:
    """Count the values that are off, and those without gauges."""
    found = {
        "off": while_open(newest("values_flagged", MODEL), OF_WHOLE),
        "left out": while_open(newest("values_left_out", MODEL), OF_WHOLE),
    }
    return said(
        number(found, unit="short").text_mode(common.BigValueTextMode.VALUE_AND_NAME).height(8),
        "Values",
        "How many values are off beyond the tolerance; at most one in 20 of them by chance, over "
        "all columns together. Left out: compared, but beyond the exporter's limit.",
        none=NO_PLACES,
        width=6,
    )


def errors() -> timeseries.Panel:
    """Draw their share of the error."""
    panel = lines({NAME: _worst("value_error_ratio")}, unit="percentunit").legend(beside())
    return said(
        panel.decimals(0).min(0).max(1),
        "Share of the error by value",
        "Of the error that all values of its column have since the drift began, the share of each "
        f"of the {SHOWN} with most evidence that are off.",
        none=NO_PLACES,
        width=9,
    )


def alone() -> stat.Panel:
    """Name the values that drift by themselves."""
    labels = f"{PLACE}, kind, severity"
    since = milliseconds(newest("value_drift_started_date_seconds", MODEL, labels))
    panel = number({f"{NAME}, {{{{kind}}}}": since}, unit=MOMENT).decimals(0).height(8)
    return said(
        panel.text_mode(common.BigValueTextMode.VALUE_AND_NAME),
        "Values that drift alone",
        "Since when the outcomes of a single value no longer fit its scores, while the whole may "
        "be as before. Each has an alert of its own.",
        none="none does",
        width=9,
    )
