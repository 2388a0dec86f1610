"""The dashboard of one model: what is wrong, since when, where, what it costs, and what to do."""

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.models import dashboard
from model_now import details, strip
from model_verdict import lines_over_time, verdicts
from model_words import alerts, in_words
from pages import budget, constant, laid_out, linked, of_model
from panels import BROWN, CYAN, OLIVE, PINK, SOURCE, TEAL
from queries import DAY, JUDGED, MODEL, at_end, newest, recent

ADDRESSES = {
    "alertmanager": "https://alertmanager.example.org",
    "runbook": "https://runbooks.example.org/runbook.md",
}


def model() -> dashboard.Dashboard:
    """Build the dashboard."""
    begun = of_model(
        "calibration-model",
        "Calibration: one model",
        "Whether a model's probabilities can still be trusted, since when not, and what to do.",
    )
    marked(begun).with_variable(budget())
    for name, address in ADDRESSES.items():
        begun.with_variable(constant(name, address))
    linked(begun, "calibration-fleet", "calibration-errors", "calibration-data")
    parts = [[in_words()], strip(), [verdicts(), alerts()], lines_over_time(), details()]
    return laid_out(begun, [panel for part in parts for panel in part])


def marked(page: builders.Dashboard) -> builders.Dashboard:
    """Shade open incidents, and mark what people did, in every panel."""
    for mark in (incidents(), references(), maps(), rebases(), acknowledgements()):
        page.annotation(mark)
    return page


def incidents() -> builders.AnnotationQuery:
    """Shade the days of an open incident in every panel."""
    opened = f"{newest('drift_kind', JUDGED, 'kind')} == 1"
    named = f'label_replace({opened}, "alertname", "calibration drift", "", "")'
    shade = builders.AnnotationQuery().name("Incidents").datasource(SOURCE).enable(enable=True)
    return shade.icon_color(PINK).expr(named)


def references() -> builders.AnnotationQuery:
    """Mark the first day of each reference: a model was released then."""
    selected = recent("reference_start_timestamp_seconds", MODEL)
    return marks("References", "new reference", TEAL, f"max by (model, reference) ({selected})")


def maps() -> builders.AnnotationQuery:
    """Mark the first day of each deployed map."""
    selected = recent("map_deployed_timestamp_seconds", MODEL)
    return marks("Maps", "map deployed", OLIVE, f"max by (model, map) ({selected})")


def rebases() -> builders.AnnotationQuery:
    """Mark when somebody began a reference, and name who."""
    selected = recent("rebased_timestamp_seconds", MODEL)
    return marks("Rebases", "rebase", CYAN, f"max by (model, by) ({selected})")


def acknowledgements() -> builders.AnnotationQuery:
    """Mark when somebody took the drift that is open, and name who."""
    taken = newest("acknowledged_timestamp_seconds", JUDGED, "by")
    return marks("Acknowledgements", "acknowledged", BROWN, taken)


def marks(name: str, words: str, color: str, times: str) -> builders.AnnotationQuery:
    """Mark the day after each of some moments.

    At its own time a moment was not exported yet, so what is known at the end is asked.
    """
    age = f"(time() - {at_end(times)})"
    named = f'label_replace({age} >= 0 < {DAY}, "alertname", "{words}", "", "")'
    mark = builders.AnnotationQuery().name(name).datasource(SOURCE).enable(enable=True)
    return mark.icon_color(color).expr(named)
