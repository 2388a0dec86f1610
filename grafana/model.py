"""The dashboard of one model: what is wrong with it, since when, and how sure that is."""

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.models import dashboard
from model_classes import classes
from model_errors import attribution, calibration_errors, shadow
from model_found import findable
from model_health import health
from model_now import details, strip
from model_verdict import drift, priors, verdicts
from model_where import places
from model_words import alerts, in_words
from pages import budget, choice, constant, laid_out, link, page
from panels import BROWN, CYAN, OLIVE, PINK, SOURCE, TEAL
from queries import DAY, JUDGED, MODEL, at_end, newest, recent

ADDRESSES = {
    "alertmanager": "https://alertmanager.example.org",
    "runbook": "https://runbooks.example.org/runbook.md",
}


def model() -> dashboard.Dashboard:
    """Build the dashboard."""
    begun = page(
        "calibration-model",
        "Calibration: one model",
        "Whether a model's probabilities can still be trusted, what is off, and what explains it.",
    )
    for mark in (incidents(), references(), maps(), rebases(), acknowledgements()):
        begun.annotation(mark)
    begun.link(link("All models", "/d/calibration-fleet?var-datasource=${datasource}"))
    return laid_out(
        with_choices(begun),
        [
            ("", [in_words()]),
            ("", strip()),
            ("", [*verdicts(), alerts()]),
            ("Since when, how sure, how fresh, and whose", details()),
            ("Is the curve bent? Independent of the base rate", drift()),
            ("Where does the drift sit?", places()),
            ("What can be found", findable()),
            ("Has the base rate moved?", priors()),
            ("How large is the error?", calibration_errors()),
            ("What explains the error?", attribution()),
            ("Which classes are off?", classes()),
            ("Does the calibration map help?", shadow()),
            ("Are the data complete?", health()),
        ],
    )


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


def with_choices(model: builders.Dashboard) -> builders.Dashboard:
    """Let the user choose a model, a segment of its traffic, and a window."""
    windows = 'calibration_window_outcomes{model="$model"}'
    model.with_variable(choice("model", "label_values(calibration_model_info, model)"))
    model.with_variable(choice("segment", f"label_values({windows}, segment)", "all"))
    model.with_variable(choice("window", f"label_values({windows}, window)", "7d"))
    model.with_variable(budget())
    for name, address in ADDRESSES.items():
        model.with_variable(constant(name, address))
    return model
