"""The manifests: validated against published schemas, and in agreement with each other."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from monitor.cli.assets import composed, shipped
from monitor.config import Config
from tests.conftest import Ended
from tests.support.exporting import COMMAND
from tests.support.paths import ROOT

FOLDER = ROOT / "deploy" / "kubernetes"
CONTENTS = {name: (ROOT / name).read_bytes() for name in shipped()}
VERSIONS = ("1.31", "1.37")  # of Kubernetes: the oldest and newest that these are made for

Json = dict[str, Any]


def everything() -> list[Json]:
    """Read every resource, those that `assets` composes too."""
    texts = {path.name: path.read_text() for path in FOLDER.glob("*.yaml")}
    texts |= {Path(name).name: content.decode() for name, content in composed(CONTENTS).items()}
    del texts["kustomization.yaml"]
    return [one for text in texts.values() for one in yaml.safe_load_all(text)]


RESOURCES = {f"{one['kind']}-{one['metadata']['name']}": one for one in everything()}
OF_OPERATOR = "PrometheusRule", "ServiceMonitor"
OF_KUBERNETES = {name: one for name, one in RESOURCES.items() if one["kind"] not in OF_OPERATOR}


def pod_of(name: str) -> Json:
    """Give the specification of the pods that a resource starts."""
    spec = RESOURCES[name]["spec"]
    return dict(
        (spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec)["template"]["spec"]
    )


PODS = ("Deployment-calibration-monitor-exporter", "CronJob-calibration-monitor-run")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", OF_KUBERNETES)
def test_kubernetes_knows_every_field(name: str, version: str) -> None:
    """Each resource follows the schema that Kubernetes publishes, without an unknown field."""
    kubernetes_validate.validate(OF_KUBERNETES[name], version, strict=True)


def test_the_operator_is_listed_with_the_rest() -> None:
    """Every file is a resource of the kustomization, written by us or composed by `assets`."""
    listed = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    there = {path.name for path in FOLDER.glob("*.yaml")} - {"kustomization.yaml"}
    made = {Path(name).name for name in composed(CONTENTS)}

    assert set(listed) == there | {name for name in made if not name.startswith("dashboard-")}


def test_the_monitor_finds_the_exporter() -> None:
    """Monitor, service and pods agree on labels and on the port, which is the program's."""
    monitor = RESOURCES["ServiceMonitor-calibration-monitor"]["spec"]
    service = RESOURCES["Service-calibration-monitor-exporter"]
    deployment = RESOURCES[PODS[0]]["spec"]
    (container,) = pod_of(PODS[0])["containers"]
    (port,) = container["ports"]
    manual = subprocess.run(
        [COMMAND, "serve", "--help"], check=True, capture_output=True, text=True
    )

    assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert service["spec"]["selector"] == deployment["template"]["metadata"]["labels"]
    assert deployment["selector"]["matchLabels"] == deployment["template"]["metadata"]["labels"]
    assert [end["port"] for end in monitor["endpoints"]] == ["metrics"]
    assert service["spec"]["ports"][0]["targetPort"] == port["name"] == "metrics"
    assert str(port["containerPort"]) in manual.stdout


@pytest.mark.parametrize("name", PODS)
def test_the_pods_run_without_rights(name: str) -> None:
    """The pods pass the `restricted` standard that their namespace enforces."""
    pod = pod_of(name)
    (container,) = pod["containers"]

    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not container["image"].endswith(":latest")
    assert ":" in container["image"]


@pytest.mark.parametrize("name", PODS)
def test_what_a_pod_mounts_exists(name: str) -> None:
    """Every mount is a volume, and every volume a resource of the manifests or a scratch folder."""
    pod = pod_of(name)
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    (container,) = pod["containers"]

    assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes)
    for volume in volumes.values():
        if "configMap" in volume:
            assert f"ConfigMap-{volume['configMap']['name']}" in RESOURCES
        elif "persistentVolumeClaim" in volume:
            claim = volume["persistentVolumeClaim"]["claimName"]
            assert f"PersistentVolumeClaim-{claim}" in RESOURCES
        else:
            assert volume["emptyDir"] == {}


def test_the_configuration_is_one(command: Callable[..., Ended]) -> None:
    """The program reads it, the image looks for it there, and its store is on the volume."""
    text = RESOURCES["ConfigMap-calibration-monitor"]["data"]["monitor.yaml"]
    config = Config.model_validate(yaml.safe_load(text))
    recipe = (ROOT / "deploy" / "container" / "Dockerfile").read_text()

    for name in PODS:
        (container,) = pod_of(name)["containers"]
        mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"][:2]}
        assert f"CALIBRATION_MONITOR_CONFIG={mounts['configuration']}/monitor.yaml" in recipe
        assert config.store.startswith(f"{mounts['store']}/")
        words = [word for word in container["args"] if not word.startswith(("0", "https"))]
        assert command(words[0], "--help").code == 0
        assert [w for w in words[1:] if w not in command(words[0], "--help").out] == []
