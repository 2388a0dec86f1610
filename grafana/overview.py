"""The table of every model: one row says whether a person has to look."""

from grafana_foundation_sdk.builders import common as parts
from grafana_foundation_sdk.builders import table
from grafana_foundation_sdk.models import common, dashboard
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue as Property
from panels import KINDS, MOMENT, asked, said, thresholds, verdict_words
from queries import (
    JUDGED_MODELS,
    MODELS,
    WINDOWS_OF_MODELS,
    evidence_share,
    milliseconds,
    newest,
    recent,
    segments_drifting,
    verdict,
    while_open,
)


def overview(to_model: str) -> table.Panel:
    """Build the table, each model linked to its own dashboard."""
    columns = {
        "Verdict": verdict(JUDGED_MODELS),
        "Kind of drift": f"{newest('drift_kind', JUDGED_MODELS, 'model, kind')} == 1",
        "Since": milliseconds(
            while_open(newest("drift_started_timestamp_seconds", JUDGED_MODELS), JUDGED_MODELS)
        ),
        "Segments drifting": segments_drifting(MODELS),
        "Evidence / limit": evidence_share(JUDGED_MODELS),
        "Prior shift": newest("prior_shift_logit", JUDGED_MODELS),
        "Coverage": newest("outcome_coverage_ratio", WINDOWS_OF_MODELS),
        "Last day judged": milliseconds(newest("verdict_timestamp_seconds", JUDGED_MODELS)),
        "Last success": milliseconds(newest("last_success_timestamp_seconds", MODELS)),
        "Owner": f"max by (model, owner, severity) ({recent('model_info', MODELS)})",
    }
    panel = asked(table.Panel(), columns, now=True, rows=True).unit("short").height(7)
    for transformation in arranged(list(columns)):
        panel.with_transformation(transformation)
    styled(panel, to_model)
    panel.sort_by([parts.TableSortByFieldState().display_name("Verdict").desc(desc=True)])
    return said(
        panel,
        "Models",
        "One row for each model, the worst verdict first. An incident is open where a kind of "
        "drift is named; open ones of any segment are counted, whichever segment is chosen above. "
        "Evidence of 100 % of its limit opens an incident. Prior shift is in "
        "logit: +0.7 doubles the odds. Coverage is the share of predictions whose outcome is "
        "known. Click a model to see why.",
        none="no model has reported in the last 26 hours",
        width=24,
    )


def arranged(columns: list[str]) -> list[dashboard.DataTransformerConfig]:
    """Join the answers by model, then name and order the columns."""
    letters = {name: f"Value #{chr(ord('A') + place)}" for place, name in enumerate(columns)}
    names = {field: name for name, field in letters.items()}
    unnamed = [letters[name] for name in ("Kind of drift", "Owner")]  # their labels are the news
    for field in unnamed:
        del names[field]
    names |= {"model": "Model", "kind": "Kind of drift", "owner": "Owner", "severity": "Severity"}
    order = ["Model", *columns, "Severity"]
    return [
        dashboard.DataTransformerConfig(id_val="merge", options={}),
        dashboard.DataTransformerConfig(
            id_val="organize",
            options={
                "excludeByName": dict.fromkeys(["Time", *unnamed], True),
                "includeByName": {},
                "indexByName": {field: order.index(name) for field, name in names.items()},
                "renameByName": names,
            },
        ),
    ]


def styled(panel: table.Panel, to_model: str) -> None:
    """Give each column its unit, its colours and its link."""
    kinds = {kind: dashboard.ValueMappingResult(text=kind.replace("_", " ")) for kind in KINDS}
    age = {"unit": "dateTimeFromNow"}
    looks: dict[str, dict[str, object]] = {
        "Model": {"links": [{"title": "Open the model", "url": to_model}]},
        "Verdict": {
            "mappings": verdict_words(),
            "custom.cellOptions": {"type": "color-background", "mode": "basic"},
        },
        "Kind of drift": {"mappings": [dashboard.ValueMap(options=kinds)], "noValue": "none"},
        "Since": {"unit": MOMENT, "noValue": "no incident"},
        "Segments drifting": {
            "decimals": 0,
            "thresholds": thresholds("text", {"red": 1}).build(),
            "color": {"mode": "thresholds"},
            "custom.cellOptions": {"type": "color-text"},
            "noValue": "no verdict yet",
        },
        "Evidence / limit": {
            "unit": "percentunit",
            "decimals": 0,
            "min": 0,
            "max": 1,
            "thresholds": thresholds("green", {"yellow": 0.5, "orange": 0.8}).build(),
            "color": {"mode": "thresholds"},
            "custom.cellOptions": {"type": "gauge", "mode": "basic", "valueDisplayMode": "text"},
            "noValue": "no reference yet",
        },
        "Prior shift": {"decimals": 2, "noValue": "no reference yet"},
        "Coverage": {"unit": "percentunit", "decimals": 1, "noValue": "no final window"},
        "Last day judged": {**age, "noValue": "no reference yet"},
        "Last success": {**age, "noValue": "none within 26 hours"},
    }
    for column, properties in looks.items():
        values = [Property(id_val=key, value=value) for key, value in properties.items()]
        panel.override_by_name(column, values)
    panel.align(common.FieldTextAlignment.LEFT).min_width(100)
