"""Which channels the owners of models read: the table from which their routes are written."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from monitor.config.complaints import complaints, problems_of
from monitor.config.sections import Section
from monitor.config.yaml_files import read_yaml
from monitor.errors import ConfigError

SecretFile = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
Channel = Annotated[str, StringConstraints(pattern=r"^[#@][^\s,]{1,79}$")]
Address = Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]+\S*$")]
OwnerName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._@-]{0,79}$")]


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
