"""The first row of a model's dashboard: in words what `show` says, and which alerts are open.

A panel can show text only from labels, so numbers and dates become labels of the answer. They are
made in the query; no gauge has such a label.
"""

from grafana_foundation_sdk.builders import stat, table
from grafana_foundation_sdk.models import common, dashboard
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue as Property
from panels import asked, number, said, sized
from queries import JUDGED, MODEL, as_label, newest, two_digits, with_labels

STARTED = newest("drift_started_date_seconds", JUDGED)
STATES_IN_WORDS = {
    "acknowledged": "A planned change covers what was found (known_drifts)",
    "ok": "No change against the reference",
    "reference_changed": "The reference itself changed: what is compared with it says little",
    "insufficient_data": "Too few outcomes to judge the model",
    "not_comparable": "Read with other settings than the reference: nothing was compared",
    "data_error": "The logs of the newest day failed a check: nothing was judged",
}
FIGURES = {
    "prior_shift": (
        "prior_shift_logit",
        "Only the base rate moved: by {{value}} in log-odds (95 % {{low}} to {{high}})",
    ),
    "level_drift": (
        "level_change_logit",
        "All scores, or a class's, are off by {{value}} in log-odds (95 % {{low}} to {{high}})",
    ),
}
DRIFT = "Calibration drift: {{kind}} since {{year}}-{{month}}-{{day}}"
SLOPE = ", slope {{value}} (95 % {{low}} to {{high}})"
BEYOND = ", slope {{value}} or further from 1"
SIZE = ", off by {{value}} in log-odds at most"
LABELS = ", as if {{value}} % (95 % {{low}} to {{high}}) were wrong"
WORSE = "It has become worse: the slope was {{before}}"
UNDECIDED = "What is left of it is smaller than this volume can tell"
LEFT = "{{left}} of it did not come with the base rate"
NO_PAGE = "It is a ticket, no page so far"
ALERTS = (
    "CalibrationDrift",
    "CalibrationValueDrift",
    "CalibrationLevelDrift",
    "CalibrationPriorShift",
    "CalibrationOutcomesMissing",
    "CalibrationEvaluationMissing",
    "CalibrationDataRejected",
    "CalibrationDataError",
    "CalibrationInsufficientData",
    "CalibrationNotComparable",
    "CalibrationReferenceChanged",
    "CalibrationMixMoved",
    "CalibrationOneDay",
    "CalibrationBlind",
    "CalibrationKnownDriftLong",
    "CalibrationConfigInvalid",
    "CalibrationResultsUnreadable",
    "CalibrationMapHarms",
    "CalibrationBudgetBurnFast",
    "CalibrationBudgetBurnSlow",
)


def in_words() -> stat.Panel:
    """Say the verdict in a sentence."""
    size, labels = (newest(name, JUDGED) for name in ("drift_size_logit", "drift_labels_ratio"))
    with_slope = with_labels(drift(), figures("drift_slope"))
    sentences = {
        DRIFT + SLOPE: f"{with_slope} unless on (model) {size} unless on (model) {labels}",
        DRIFT + BEYOND: with_labels(
            f"{drift()} unless on (model) {newest('drift_slope_low', JUDGED)}",
            {"value": f"round({newest('drift_slope', JUDGED)}, 0.01)"},
        )
        + f" unless on (model) {size} unless on (model) {labels}",
        DRIFT + SIZE: with_labels(drift(), {"value": f"round({size}, 0.01)"}),
    }
    percent = {
        name: query.replace("round(", "round(100 * ")
        for name, query in figures("drift_labels_ratio").items()
    }
    sentences[DRIFT + LABELS] = with_labels(drift(), percent)
    for state, (gauge, sentence) in FIGURES.items():
        # A class that is off has no incident; an error of all scores has one, named above.
        query = f"{held(state)} unless on (model) {size}" if "level" in state else held(state)
        sentences[sentence] = with_labels(query, figures(gauge))
    worse = {"before": f"round({newest('drift_slope_before', JUDGED)}, 0.01)"}
    sentences[WORSE] = with_labels(f"{newest('drift_worsenings', JUDGED)} > 0", worse)
    sentences[UNDECIDED] = f"{newest('drift_undecided', JUDGED)} == 1"
    left = {"left": f"round({newest('drift_unexplained_logit', JUDGED)}, 0.01)"}
    sentences[LEFT] = with_labels(f"{newest('drift_unexplained_logit', JUDGED)} > 0", left)
    sentences[NO_PAGE] = f"{newest('drift_urgent', JUDGED)} == 0"
    sentences |= {sentence: held(state) for state, sentence in STATES_IN_WORDS.items()}
    return said(
        sized(number(sentences, unit="none", named=True).height(3), value=26),
        "In words",
        "What `calibration-monitor show` says of this model and segment, in one sentence. Dates "
        "are those of the model's time zone. The report page has the reasons.",
        none="No verdict yet: the model has no reference",
        width=24,
    )


def held(state: str) -> str:
    """Ask whether a state is the verdict."""
    selector = f'{JUDGED}, state="{state}"'
    return f"{newest('verdict', selector)} == 1"


def figures(gauge: str, selector: str = JUDGED) -> dict[str, str]:
    """Ask for a number and its interval, rounded as they are read."""
    ends = {"value": "", "low": "_low", "high": "_high"}
    return {name: f"round({newest(gauge + end, selector)}, 0.01)" for name, end in ends.items()}


def drift() -> str:
    """Name the open drift and its first day."""
    opened = f"{newest('drift_kind', JUDGED, 'model, kind')} == 1"
    date = {part: f"{asked_of}({STARTED})" for part, asked_of in DATE.items()}
    parts = {
        "year": as_label(date["year"], "year"),
        "month": two_digits(as_label(date["month"], "month"), "month"),
        "day": two_digits(as_label(date["day"], "day"), "day"),
    }
    query = f"({opened})"
    for name, part in parts.items():
        query += f" * on (model) group_left ({name}) {part}"
    for _ in range(2):  # a kind has at most two underscores
        query = f'label_replace({query}, "kind", "$1 $2", "kind", "(.+)_(.+)")'
    return query


DATE = {"year": "year", "month": "month", "day": "day_of_month"}


def alerts() -> table.Panel:
    """List the alerts of the model, with links to silence them and to what to do."""
    query = f"max by (alertname, segment, severity, alertstate) (ALERTS{{{MODEL}}})"
    for name in ALERTS:
        query = f'label_replace({query}, "section", "{name.lower()}", "alertname", "{name}")'
    panel = asked(table.Panel(), {"alerts": query}, now=True, rows=True).unit("short").height(5)
    names = {
        "alertname": "Alert",
        "segment": "Segment",
        "severity": "Severity",
        "alertstate": "State",
        "section": "Section",
    }
    panel.with_transformation(
        dashboard.DataTransformerConfig(
            id_val="organize",
            options={
                "excludeByName": {"Time": True, "Value": True, "Value #A": True},
                "includeByName": {},
                "indexByName": {field: place for place, field in enumerate(names)},
                "renameByName": names,
            },
        )
    )
    panel.override_by_name("Section", [Property(id_val="custom.hidden", value=True)])
    panel.override_by_name("Alert", [Property(id_val="links", value=links())])
    return said(
        panel.align(common.FieldTextAlignment.LEFT),
        "Alerts of this model",
        "The alerts that are pending or firing now, whichever segment is chosen. Click one to "
        "silence it in Alertmanager, or to read in the runbook what to do.",
        none="none",
        width=10,
    )


def links() -> list[dict[str, object]]:
    """Link an alert to Alertmanager, with the silence filled in, and to its part of the runbook."""
    silenced = '{alertname="${__data.fields.Alert}", model="${model}"}'
    for sign, written in {
        "{a": "%7Ba",
        '"}': "%22%7D",
        '"': "%22",
        "=": "%3D",
        ", ": "%2C",
    }.items():
        silenced = silenced.replace(sign, written)
    return [
        {"title": "Silence it", "url": f"${{alertmanager}}/#/silences/new?filter={silenced}"},
        {"title": "What to do", "url": "${runbook}#${__data.fields.Section}"},
    ]
