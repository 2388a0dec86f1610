"""The table of every model: one row says whether a person has to look."""

from grafana_foundation_sdk.builders import common as parts
from grafana_foundation_sdk.builders import table
from grafana_foundation_sdk.models import common, dashboard
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue as Property
from panels import KINDS, MOMENT, PINK, asked, near_limit, said, thresholds, verdict_words
from queries import (
    JUDGED_MODELS,
    MODELS,
    drift_share,
    evidence_share,
    milliseconds,
    newest,
    recent,
    run_share,
    segments_drifting,
    verdict,
    while_open,
)

from monitor.export.fleet_dashboard import height

MODELS_SHOWN = 10  # `assets --models` writes another number of rows
WIDTHS = {
    "Verdict": 120,
    "Kind of drift": 145,
    "Since": 95,
    "Segments": 84,
    "Evidence / limit": 125,
    "Days in drift": 95,
    "Prior shift": 80,
    "Last day judged": 120,
    "Run age / limit": 110,
}  # in pixels, so that no value is cut; the model and its owner share the rest


def overview(to_model: str) -> table.Panel:
    """Build the table, each model linked to its own dashboard."""
    columns = {
        "Verdict": verdict(JUDGED_MODELS),
        "Kind of drift": f"{newest('drift_kind', JUDGED_MODELS, 'model, kind')} == 1",
        "Since": while_open(
            milliseconds(newest("drift_started_date_seconds", JUDGED_MODELS)), JUDGED_MODELS
        ),
        "Segments": segments_drifting(MODELS),
        "Evidence / limit": evidence_share(JUDGED_MODELS),
        "Days in drift": drift_share(JUDGED_MODELS),
        "Prior shift": newest("prior_shift_logit", JUDGED_MODELS),
        "Last day judged": milliseconds(newest("verdict_date_seconds", JUDGED_MODELS)),
        "Run age / limit": run_share(MODELS),
        "Owner": f"max by (model, owner) ({recent('model_info', MODELS)})",
    }
    panel = asked(table.Panel(), columns, now=True, rows=True).unit("short")
    panel.height(height(MODELS_SHOWN)).cell_height(common.TableCellHeight.SM)
    for transformation in arranged(list(columns)):
        panel.with_transformation(transformation)
    styled(panel, to_model)
    panel.sort_by([parts.TableSortByFieldState().display_name("Verdict").desc(desc=True)])
    return said(
        panel,
        "Models",
        "One row for each model, the worst verdict first. An incident is open where a kind of "
        "drift is named; Segments counts the open ones, whichever segment is chosen above. "
        "Evidence of 100 % of its limit opens an incident, and stays while it is open. Days in "
        "drift are a share of the last 90. A run is overdue at 100 % of its limit. Prior shift is "
        "in logit: +0.7 doubles the odds. Click a model to see why.",
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
    names |= {"model": "Model", "kind": "Kind of drift", "owner": "Owner"}
    order = ["Model", *columns]
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
    looks: dict[str, dict[str, object]] = {
        "Model": {"links": [{"title": "Open the model", "url": to_model}]},
        "Verdict": {
            "mappings": verdict_words(),
            "custom.cellOptions": {"type": "color-background", "mode": "basic"},
        },
        "Kind of drift": {"mappings": [dashboard.ValueMap(options=kinds)], "noValue": "none"},
        "Since": {"unit": MOMENT, "noValue": "no incident"},
        "Segments": {
            "decimals": 0,
            "thresholds": thresholds("text", {PINK: 1}).build(),
            "color": {"mode": "thresholds"},
            "custom.cellOptions": {"type": "color-text"},
            "noValue": "no verdict yet",
        },
        "Evidence / limit": {
            "unit": "percentunit",
            "decimals": 0,
            "min": 0,
            "max": 1,
            "thresholds": near_limit().build(),
            "color": {"mode": "thresholds"},
            "custom.cellOptions": {"type": "gauge", "mode": "basic", "valueDisplayMode": "text"},
            "noValue": "no reference yet",
        },
        "Prior shift": {"decimals": 2, "noValue": "none"},
        "Days in drift": {
            "unit": "percentunit",
            "decimals": 0,
            "thresholds": thresholds("text", {PINK: 0.001}).build(),
            "color": {"mode": "thresholds"},
            "custom.cellOptions": {"type": "color-text"},
            "noValue": "no verdict yet",
        },
        "Last day judged": {"unit": MOMENT, "noValue": "no reference yet"},
        "Run age / limit": {
            "unit": "percentunit",
            "decimals": 0,
            "thresholds": near_limit().build(),
            "color": {"mode": "thresholds"},
            "custom.cellOptions": {"type": "color-text"},
            "noValue": "no success",
        },
    }
    for column, width in WIDTHS.items():
        looks.setdefault(column, {})["custom.width"] = width
    for column, properties in looks.items():
        values = [Property(id_val=key, value=value) for key, value in properties.items()]
        panel.override_by_name(column, values)
    panel.align(common.FieldTextAlignment.LEFT).min_width(100)
