"""What the Prometheus operator accepts of the two kinds that we use, as JSON schemas.

Written after its published definitions, which have all of these fields in version 0.93: those of
PrometheusRule, and of ServiceMonitor those that a monitor like ours may have. The API server drops
or refuses fields that it does not know, so here an unknown one is an error.
"""

from typing import Any

Schema = dict[str, Any]

DURATION = {
    "type": "string",
    "pattern": r"^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?"
    r"(([0-9]+)ms)?)$",
}
TEXT = {"type": "string"}
TEXTS = {"type": "object", "additionalProperties": TEXT}


def a(required: tuple[str, ...] = (), **fields: Schema) -> Schema:
    """Describe an object that has these fields and no others."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
    }


def many(items: Schema) -> Schema:
    """Describe a list."""
    return {"type": "array", "items": items}


def resource(kind: str, spec: Schema) -> Schema:
    """Describe a resource of the operator."""
    return a(
        ("apiVersion", "kind", "metadata", "spec"),
        apiVersion={"const": "monitoring.coreos.com/v1"},
        kind={"const": kind},
        metadata=a(("name",), name=TEXT, namespace=TEXT, labels=TEXTS, annotations=TEXTS),
        spec=spec,
    )


RULE = a(
    ("expr",),
    record=TEXT,
    alert=TEXT,
    expr={"type": ["string", "integer"]},
    **{"for": DURATION},
    keep_firing_for=DURATION | {"minLength": 1},
    labels=TEXTS,
    annotations=TEXTS,
)
GROUP = a(
    ("name",),
    name=TEXT | {"minLength": 1},
    interval=DURATION,
    query_offset=DURATION,
    limit={"type": "integer"},
    labels=TEXTS,
    rules=many(RULE),
)
RELABELING = a(
    sourceLabels=many(TEXT),
    separator=TEXT,
    targetLabel=TEXT,
    regex=TEXT,
    modulus={"type": "integer"},
    replacement=TEXT,
    action={"enum": ["replace", "keep", "drop", "hashmod", "labelmap", "labeldrop", "labelkeep"]},
)
ENDPOINT = a(
    port=TEXT,
    path=TEXT,
    scheme={"enum": ["http", "https"]},
    interval=DURATION,
    scrapeTimeout=DURATION,
    honorLabels={"type": "boolean"},
    relabelings=many(RELABELING),
    metricRelabelings=many(RELABELING),
)
SELECTOR = a(matchLabels=TEXTS)
MONITOR = a(
    ("endpoints", "selector"),
    jobLabel=TEXT,
    selector=SELECTOR,
    namespaceSelector=a(any={"type": "boolean"}, matchNames=many(TEXT)),
    endpoints=many(ENDPOINT),
)

SCHEMAS = {
    "PrometheusRule": resource("PrometheusRule", a(groups=many(GROUP))),
    "ServiceMonitor": resource("ServiceMonitor", MONITOR),
}
