"""The files that an installation needs besides the program: rules, dashboards, DAG, manifests.

They lie in the top folders of the repository, where people look for them, and the wheel carries
them inside the package (`force-include` in pyproject.toml).
"""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from textwrap import indent
from typing import Annotated

import typer

from monitor.base.errors import ConfigError
from monitor.cli.printing import say_line
from monitor.export.fleet_dashboard import resized

PACKAGED = Path(str(files("monitor"))) / "assets"
CHECKOUT = Path(str(files("monitor"))).parent
PARTS = ("alerts", "dags", "deploy", "grafana/dashboards", "grafana/provisioning")
SINGLE = ("constraints.txt", "grafana/prometheus.yml", "monitor.example.yaml")
RULES = "alerts/calibration.rules.yml"
ROUTES = "alerts/alertmanager.yml"
DASHBOARDS = "grafana/dashboards"
FLEET = f"{DASHBOARDS}/fleet.json"
KUBERNETES = "deploy/kubernetes"
METADATA = """\
metadata:
  name: {name}
  namespace: calibration-monitor
  labels:
    app.kubernetes.io/name: calibration-monitor
"""


def assets(
    folder: Annotated[Path, typer.Option("--into", help="The folder to write them to.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that differ.")] = False,
    owners: Annotated[
        Path | None,
        typer.Option(
            "--owners",
            help="A table of owners, such as {owners: {risk: {slack: '#risk'}}}: each gets a route "
            "and receivers of Alertmanager.",
        ),
    ] = None,
    models: Annotated[
        int | None,
        typer.Option(min=1, help="How many rows the table of the fleet's dashboard shows."),
    ] = None,
) -> None:
    """Write rules, dashboards, DAG and manifests.

    Also the Alertmanager configuration, the runbook, an example of monitor.yaml, and the wheel of
    this program, from which deploy/container/Dockerfile builds an image.
    """
    from monitor.base.files import writing
    from monitor.cli.own_wheel import own_wheel
    from monitor.cli.owner_routes import TEMPLATES, owner_links, with_owners
    from monitor.config.owners import read_owners

    contents = {name: (_source() / name).read_bytes() for name in sorted(shipped())}
    if models:
        contents[FLEET] = resized(contents[FLEET], models)
    contents |= composed(contents) | own_wheel()
    if owners:
        shared = contents[ROUTES].decode("utf-8")
        table = read_owners(owners)
        contents[ROUTES] = with_owners(shared, table).encode("utf-8")
        contents[f"{Path(ROUTES).parent}/{TEMPLATES}"] = owner_links(table).encode("utf-8")
    if not force:
        _refuse_to_overwrite(folder, contents)
    for name, content in contents.items():
        with writing(str(folder / name)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
    written = [str(folder / name) for name in contents]
    said = "\n".join(f"written: {path}" for path in written)
    say_line(said)


def shipped() -> Iterator[str]:
    """List the files by their place in the repository, which they keep."""
    yield from SINGLE
    for part in PARTS:
        for path in (_source() / part).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(_source()).as_posix()


def composed(contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """Put the rules and the dashboards into manifests, so that each is kept in one file only."""
    rules = contents[RULES].decode("utf-8")
    rule = "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\n"
    rule += METADATA.format(name="calibration-monitor") + "spec:\n" + indent(rules, "  ")
    boards = {
        f"{KUBERNETES}/dashboard-{Path(name).stem}.yaml": _config_map(name, content).encode()
        for name, content in contents.items()
        if name.startswith(DASHBOARDS)
    }
    return {**boards, f"{KUBERNETES}/prometheusrule.yaml": rule.encode()}


def _config_map(name: str, content: bytes) -> str:
    """Put a dashboard into a manifest of its own, without blanks.

    `kubectl apply` keeps a whole manifest in an annotation, which holds 262,144 bytes at most.
    """
    text = json.dumps(json.loads(content), separators=(",", ":"), ensure_ascii=False)
    manifest = "apiVersion: v1\nkind: ConfigMap\n"
    manifest += METADATA.format(name=f"calibration-monitor-dashboard-{Path(name).stem}")
    manifest += (
        '    grafana_dashboard: "1" # which the sidecar of Grafana\'s Helm chart looks for\n'
    )
    return f"{manifest}data:\n  calibration-{Path(name).name}: |\n    {text}\n"


def _source() -> Path:
    """Find the files: in the installed package, or in the checkout."""
    return PACKAGED if PACKAGED.is_dir() else CHECKOUT


def _refuse_to_overwrite(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Raise ConfigError if files with other content exist: they may have local settings."""
    there = {name: folder / name for name in contents if (folder / name).exists()}
    differing = [
        path
        for name, path in there.items()
        if not path.is_file() or path.read_bytes() != contents[name]
    ]
    if differing:
        some = "a file" if len(differing) == 1 else f"{len(differing)} files"
        msg = (
            f"--into {folder}: has {some} with other content, first {differing[0]}; write to "
            "another folder and compare, or overwrite with --force."
        )
        raise ConfigError(msg)
