"""Routes of Alertmanager for each owner, added to those that all models share, and their links."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import yaml

from monitor.config.owners import Owner

SECRETS = "/etc/alertmanager/secrets/"
SLACK = "https://slack.com/api/chat.postMessage"
WRITTEN = """\
# Written by calibration-monitor assets --owners; write it again when owners change.
# The file without owners says what each route is for, and how to start Alertmanager.
# Secrets are files, one value in each, readable by Alertmanager only:
{secrets}
"""
TEMPLATES = "templates/owners.tmpl"
LINKS = """\
{{/* Written by calibration-monitor assets --owners: addresses of owners for those of alerts. */}}
"""
IN_ADDRESS = ":/?#[]@!$&'*+,;=%~"  # all else could end a link in Slack or in Teams
ADDRESS = """\
{{{{ define "calibration.{name}_of" -}}}}
{{{{ {choices}
{{{{- else }}}}{{{{ .Annotations.{name}_url }}}}{{{{ end -}}}}
{{{{ end }}}}
"""
TICKET = ("calibration.headline", "calibration.teams")
DIGEST = ("calibration.models", "calibration.teams")
Block = dict[str, Any]


def with_owners(shared: str, owners: Mapping[str, Owner]) -> str:
    """Add a route and receivers for each owner to a configuration of Alertmanager.

    A page rings where the owner has a pager, tickets and the digest go to the owner's channel, and
    what an owner has no channel for goes to the receivers that all share. A webhook is no pager:
    that of an owner without one gets the page too, beside the shared pager.

    Parameters
    ----------
    shared : str
        The configuration that is shipped.
    owners : mapping of str to Owner
        The table.
    """
    content = yaml.safe_load(shared)
    content["templates"].append(TEMPLATES)  # after the shared ones, some of which it replaces
    receivers = {receiver["name"]: receiver for receiver in content["receivers"]}
    _, page, info = content["route"]["routes"]
    for place, (name, owner) in enumerate(owners.items(), start=1):  # after the watchdog
        own = {
            "page": {**_pagers(owner, receivers["pagerduty"]), **_webhook(owner)},
            "ticket": {
                **_slack(owner, receivers["slack-tickets"]),
                **_teams(owner, TICKET, resolved=True),
                **_webhook(owner),
            },
            "info": {
                **_slack(owner, receivers["slack-digest"]),
                **_teams(owner, DIGEST, resolved=False),
            },
        }
        named = {kind: f"{name} {kind}" for kind, configs in own.items() if configs}
        content["receivers"] += [{"name": named[kind], **own[kind]} for kind in named]
        inner = [
            {**page, "receiver": named.get("page", page["receiver"])},
            {**info, "receiver": named.get("info", info["receiver"])},
        ]
        tickets = named.get("ticket", content["route"]["receiver"])
        route = {"matchers": [f'owner="{name}"'], "receiver": tickets, "routes": inner}
        content["route"]["routes"].insert(place, route)
    content = json.loads(json.dumps(content))  # what several routes share is written out in each
    text: str = yaml.safe_dump(content, sort_keys=False, width=100, allow_unicode=True)
    secrets = "\n".join(f"#   {path}" for path in sorted({*_secrets(content["receivers"])}))
    return WRITTEN.format(secrets=secrets) + text


def owner_links(owners: Mapping[str, Owner]) -> str:
    """Write templates of Alertmanager that put addresses of owners in place of the alerts'."""
    text = LINKS
    for link in ("dashboard", "runbook"):
        choices = [
            f'if eq .Labels.owner "{name}" }}}}{quote(address, safe=IN_ADDRESS)}'
            for name, owner in owners.items()
            if (address := getattr(owner, link))
        ]
        if choices:
            text += ADDRESS.format(name=link, choices="\n{{- else ".join(choices))
    return text


def _pagers(owner: Owner, shared: Block) -> Block:
    """Give the receivers of pages; empty if nothing of the owner hears them."""
    (pagerduty,) = shared["pagerduty_configs"]
    board, book = (link["href"] for link in pagerduty["links"])
    receivers: Block = {}
    if owner.pagerduty:
        own = {"routing_key_file": SECRETS + owner.pagerduty}
        receivers["pagerduty_configs"] = [{**pagerduty, **own}]
    elif owner.webhook and not owner.opsgenie:
        receivers["pagerduty_configs"] = [pagerduty]
    if owner.opsgenie:
        receivers["opsgenie_configs"] = [
            {
                "api_key_file": SECRETS + owner.opsgenie,
                "send_resolved": True,
                "message": pagerduty["description"],
                "description": pagerduty["details"]["firing"],
                "source": board,
                "details": {"runbook": book},
                "priority": "P1",
            }
        ]
    return receivers


def _slack(owner: Owner, shared: Block) -> Block:
    """Give the channel of Slack; empty if the owner has none."""
    if not owner.slack:
        return {}
    (slack,) = shared["slack_configs"]
    token = {"credentials_file": f"{SECRETS}slack-token"}
    own = {"api_url": SLACK, "channel": owner.slack, "http_config": {"authorization": token}}
    inherited = {key: value for key, value in slack.items() if key != "api_url_file"}
    return {"slack_configs": [{**own, **inherited, **own}]}


def _teams(owner: Owner, templates: tuple[str, str], *, resolved: bool) -> Block:
    """Give the channel of Microsoft Teams; empty if the owner has none.

    Source: the settings of msteamsv2_configs, which Alertmanager has since 0.28.
    """
    if not owner.teams:
        return {}
    title, text = (f'{{{{ template "{name}" . }}}}' for name in templates)
    channel = {"webhook_url_file": SECRETS + owner.teams, "send_resolved": resolved}
    return {"msteamsv2_configs": [{**channel, "title": title, "text": text}]}


def _webhook(owner: Owner) -> Block:
    """Give the webhook; empty if the owner has none."""
    if not owner.webhook:
        return {}
    token = owner.webhook_token and {"credentials_file": SECRETS + owner.webhook_token}
    more = {"http_config": {"authorization": token}} if token else {}
    return {"webhook_configs": [{"url": owner.webhook, "send_resolved": True, **more}]}


def _secrets(part: Any) -> Iterator[str]:
    """Find the files that a configuration names."""
    if isinstance(part, str) and part.startswith(SECRETS):
        yield part
    for inner in (
        part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    ):
        yield from _secrets(inner)
