"""Which channels the owners of models read: the table from which their routes are written."""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from monitor.base.errors import ConfigError
from monitor.config.complaints import complaints, problems_of
from monitor.config.sections import Section
from monitor.config.yaml_files import read_yaml


def _written(pattern: str, rule: str) -> AfterValidator:
    """Accept what a pattern matches whole; else say the rule in words."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(rule)
        return text

    return AfterValidator(check)


def _quoted(name: Any) -> Any:
    """Refuse a name that YAML reads as a number, a date or a truth."""
    if not isinstance(name, str):
        msg = 'is no text in YAML; put the name into quotes, as in "7"'
        raise ValueError(msg)  # noqa: TRY004 - which the validator turns into a message
    return name


SecretFile = Annotated[
    str,
    _written(
        r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}",
        "must be the name of a file in the folder of secrets, of at most 100 letters, digits, or "
        "_ . -",
    ),
]
Channel = Annotated[
    str,
    _written(r"[#@][^\s,]{1,79}", "must be a channel with its sign, such as '#risk' or '@ana'"),
]
Address = Annotated[
    str, _written(r"https?://[^\s/]\S*", "must be an address that begins with http:// or https://")
]
# Alertmanager compares it with the label as it is; a quote or a backslash would end the comparison.
OwnerName = Annotated[
    str,
    BeforeValidator(_quoted),
    _written(
        r"[^\s\"\\\x00-\x1f\x7f][^\"\\\x00-\x1f\x7f]{0,79}",
        "must be the `owner` of models, of at most 80 characters, without quote, backslash or "
        "control character",
    ),
]


class Owner(Section):
    """Where one owner hears of alerts.

    Attributes
    ----------
    pagerduty, opsgenie : str or None
        What rings for pages: the name of the file with the key, in the folder of secrets.
    slack : str or None
        The channel for tickets and the digest, such as `#risk`.
    teams : str or None
        What hears of tickets and the digest in Microsoft Teams: the name of the file with the
        address of the workflow, in the folder of secrets.
    webhook : str or None
        Address that gets pages and tickets as JSON, of an issue tracker for example.
    webhook_token : str or None
        The name of the file with the token that the webhook asks for.
    runbook, dashboard : str or None
        Addresses in place of those of the alerts.
    """

    pagerduty: SecretFile | None = None
    opsgenie: SecretFile | None = None
    slack: Channel | None = None
    teams: SecretFile | None = None
    webhook: Address | None = None
    webhook_token: SecretFile | None = None
    runbook: Address | None = None
    dashboard: Address | None = None

    @model_validator(mode="after")
    def _hears_something(self) -> "Owner":
        if not (self.pagerduty or self.opsgenie or self.slack or self.teams or self.webhook):
            msg = "names no channel; add pagerduty, opsgenie, slack, teams or webhook"
            raise ValueError(msg)
        if self.webhook_token and not self.webhook:
            msg = "has a webhook_token and no webhook"
            raise ValueError(msg)
        return self


class Owners(Section):
    """The table of owners."""

    owners: Annotated[dict[OwnerName, Owner], Field(min_length=1, max_length=1000)]


def read_owners(path: Path) -> dict[str, Owner]:
    """Read the table of owners.

    Raises
    ------
    ConfigError
        If the file cannot be read, or one of its values cannot be used.
    """
    content = read_yaml(path, option="--owners")
    if problems := problems_of(content, Owners):
        raise ConfigError("\n".join(complaints(path, problems, Owners)))
    return dict(Owners.model_validate(content).owners)
