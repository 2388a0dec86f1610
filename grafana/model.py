"""The dashboard of one model: what is wrong with it, since when, and how sure that is."""

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.models import dashboard
from model_classes import classes
from model_errors import attribution, calibration_errors, shadow
from model_found import findable
from model_health import health
from model_now import false_alerts, last_drift, owner, report, segments, strip
from model_verdict import drift, priors, verdicts
from model_where import places
from model_words import alerts, in_words
from pages import budget, choice, constant, laid_out, link, page
from panels import SOURCE
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
    begun.annotation(incidents()).annotation(deployments())
    begun.annotation(acknowledgements())
    begun.link(link("All models", "/d/calibration-fleet?var-datasource=${datasource}"))
    return laid_out(
        with_choices(begun),
        [
            ("", [in_words()]),
            ("", strip()),
            ("", [*verdicts(), alerts()]),
            ("", [segments(), last_drift(), false_alerts(), owner(), report()]),
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
    return shade.icon_color("red").expr(named)


def deployments() -> builders.AnnotationQuery:
    """Mark the first day of each configured reference: a model was released then."""
    selected = recent("reference_start_timestamp_seconds", MODEL)
    # At its own time a start was not exported yet, so what is known at the end is asked.
    age = f"(time() - max by (model, reference) ({at_end(selected)}))"
    named = f'label_replace({age} >= 0 < {DAY}, "alertname", "new reference", "", "")'
    mark = builders.AnnotationQuery().name("Deployments").datasource(SOURCE).enable(enable=True)
    return mark.icon_color("blue").expr(named)


def acknowledgements() -> builders.AnnotationQuery:
    """Mark when somebody took the drift that is open, and name who."""
    age = f"(time() - {newest('acknowledged_timestamp_seconds', JUDGED, 'by')})"
    named = f'label_replace({age} >= 0 < {DAY}, "alertname", "acknowledged", "", "")'
    mark = builders.AnnotationQuery().name("Acknowledgements").datasource(SOURCE)
    return mark.enable(enable=True).icon_color("purple").expr(named)


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
