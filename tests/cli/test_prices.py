"""What errors are worth: what the keys can be, and who says what was lost."""

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from scipy.special import expit

from monitor.config import load_config
from monitor.metrics import net_benefit, tally_on_grid
from tests.conftest import run_command

DAY = date(2026, 3, 3)
LOGS: dict[str, Any] = {
    "predictions": {"path": "{day}.parquet"},
    "outcomes": {"in_predictions": True},
    "settled_after": 0,
}
DECISION = {"threshold": 0.2, "benefit": 4, "cost": 1, "currency": "EUR"}
PRICE = {"per_nat": 12.5, "currency": "EUR"}


def load(folder: Path, **models: dict[str, Any]) -> Path:
    """Write a configuration of models with the same logs."""
    path = folder / "monitor.yaml"
    settings = {name: {**LOGS, **keys} for name, keys in models.items()}
    path.write_text(yaml.safe_dump({"store": "store", "models": settings}))
    return path


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            {"decision": DECISION, "value": PRICE},
            "value cannot be combined with decision; remove value, or it",
        ),
        ({"decision": {**DECISION, "threshold": 1.0}}, "decision.threshold"),
        ({"decision": {**DECISION, "benefit": 0}}, "decision.benefit"),
        ({"decision": {**DECISION, "cost": -1}}, "decision.cost"),
        ({"value": {"per_nat": 1.0}}, "value.currency"),
        ({"value": {**PRICE, "currency": "\n"}}, "value.currency"),
        (
            {"decision": DECISION, "label_rate": "by_score"},
            "decision cannot be combined with label_rate; remove decision, or it",
        ),
        (
            {"value": PRICE, "predictions": {**LOGS["predictions"], "weight": "w"}},
            "value cannot be combined with predictions.weight",
        ),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, keys: dict[str, Any], said: str) -> None:
    """The message names the key."""
    config = load_config(load(tmp_path, good={}, bad=keys))
    assert said in config.invalid["bad"].message


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run three days of models with the same logs, of which two have a price."""
    root, rng = tmp_path_factory.mktemp("prices"), np.random.default_rng(2)
    for back in range(3):
        z = rng.normal(-1.5, 1.0, 5000)
        rows = {
            "prediction_id": np.arange(z.size),
            "score": expit(z),
            "outcome": (rng.random(z.size) < expit(z + 0.8)).astype(int),
        }
        pq.write_table(pa.table(rows), root / f"{DAY - timedelta(days=back)}.parquet")
    path = load(root, free={}, decides={"decision": DECISION}, priced={"value": PRICE})
    for back in (2, 1, 0):
        done = run_command("run", "--begin", "--day", DAY - timedelta(days=back), "--config", path)
        assert done.code == 0, done.err
    return root


def shown(folder: Path, model: str) -> tuple[str, dict[str, Any]]:
    """Ask what is said of a model, and for its week as JSON."""
    of_model = ("show", "--model", model, "--config", folder / "monitor.yaml")
    text, document = run_command(*of_model), run_command(*of_model, "--json")
    assert (text.code, document.code) == (0, 0), text.err + document.err
    return " ".join(text.out.split()), json.loads(document.out)


def test_show_says_what_was_lost(folder: Path) -> None:
    """Of the week, with its interval, in the unit that was given; of no model without a price."""
    text, _ = shown(folder, "decides")
    assert "decisions at a score of 0.2 on miscalibrated scores lost 0." in text
    assert "EUR over 15,000 outcomes; by cause: prior shift 0." in text
    text, _ = shown(folder, "priced")
    assert "the calibration error lost 0." in text
    assert " lost " not in shown(folder, "free")[0]


def test_the_gauge_has_what_was_lost(folder: Path) -> None:
    """By cause, with ends; the whole lies near what one exact count gives; without a price none."""
    out = folder / "m.prom"
    done = run_command("textfile", "--into", out, "--config", folder / "monitor.yaml")
    assert done.code == 0, done.err
    samples = {
        line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
        for line in out.read_text().splitlines()
        if line.startswith("calibration_value_lost")
    }
    assert not any('model="free"' in name for name in samples)

    def of(model: str, cause: str, end: str = "") -> float:
        labels = f'{{cause="{cause}",currency="EUR",maturity="final",model="{model}"'
        labels += ',segment="all",window="1d"}'
        return samples[f"calibration_value_lost{end}{labels}"]

    day = pq.read_table(folder / f"{DAY}.parquet").to_pydict()
    z, y = np.log(day["score"]) - np.log1p(-np.array(day["score"])), np.array(day["outcome"])
    recalibrated = net_benefit(tally_on_grid(y, expit(z + 0.8)), 0.2, benefit=4, cost=1).value
    as_decided = net_benefit(tally_on_grid(y, expit(z)), 0.2, benefit=4, cost=1).value
    low, high = of("decides", "all", "_low"), of("decides", "all", "_high")
    assert 0.0 < low < recalibrated - as_decided < high
    assert low < of("decides", "prior_shift") < high
    assert 0.0 < of("priced", "all", "_low") < of("priced", "all") < of("priced", "all", "_high")


def test_another_price_is_computed_again_and_only_that(folder: Path) -> None:
    """A changed decision makes stored evaluations out of date; all other models keep theirs."""
    path = load(folder, free={}, decides={"decision": {**DECISION, "threshold": 0.3}})
    before = {
        p: p.read_bytes() for p in (folder / "store" / "evaluations").rglob("*") if p.is_file()
    }
    span = ("--from", DAY, "--to", DAY, "--config", path)
    for model in ("free", "decides"):
        done = run_command("backfill", "--model", model, *span)
        assert done.code == 0, done.err
    changed = {p.relative_to(folder).parts[2] for p, was in before.items() if p.read_bytes() != was}
    assert len(changed) == 1
    assert "decides" in changed.pop()


def test_check_names_the_better_threshold(folder: Path) -> None:
    """Where cost / (benefit + cost) is another one; not where it is the same."""
    path = load(
        folder,
        off={"decision": {"threshold": 0.2, "benefit": 1, "cost": 4}},
        decides={"decision": DECISION},
    )
    done = run_command("check", "--day", DAY, "--config", path)
    assert done.code == 0, done.err
    said = " ".join((done.out + done.err).split())
    assert "off: decision.threshold is 0.2, but calibrated scores make the most of 0.8" in said
    assert "decides: decision.threshold" not in said


def test_a_budget_is_compared_with_what_was_lost(tmp_path: Path, folder: Path) -> None:
    """The gauge is the sum of the causes without the prior's, over the budget; with limits."""
    budget = {"per_prediction": 0.01}
    path = load(
        folder,
        free={"budget": budget},
        decides={"decision": DECISION, "budget": budget},
        priced={"value": PRICE},
    )
    out = tmp_path / "m.prom"
    done = run_command("textfile", "--into", out, "--config", path)
    assert done.code == 0, done.err
    families = text_string_to_metric_families(out.read_text())
    samples = [sample for family in families for sample in family.samples]

    def of(name: str, **labels: str) -> dict[str, float]:
        return {
            sample.labels.get("cause", ""): sample.value
            for sample in samples
            if sample.name == f"calibration_{name}" and labels.items() <= sample.labels.items()
        }

    day = {"segment": "all", "window": "1d"}
    nats = of("log_loss_explained", model="free", **day)
    drifting = sum(value for cause, value in nats.items() if cause != "prior_shift")
    lost = of("value_lost", model="decides", **day)
    counted = lost["all"] - lost["prior_shift"]
    # Both to the digits of a text of numbers.
    assert of("budget_burn_ratio", model="free", **day)[""] == pytest.approx(drifting / 0.01)
    assert of("budget_burn_ratio", model="decides", **day)[""] == pytest.approx(counted / 0.01)
    assert of("budget_page_limit_ratio") == {"": 4.0}
    assert of("budget_burn_ratio", model="priced") == {}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"windows": [1, 7]}, "windows lacks 28"),
        ({"budget": {"per_prediction": 0}}, "budget.per_prediction"),
        ({"budget": {"per_prediction": 1, "page": 0.5}}, "budget.page: is gone"),
    ],
)
def test_a_budget_that_cannot_be_is_refused(
    tmp_path: Path, keys: dict[str, Any], said: str
) -> None:
    """The message names the key."""
    settings = {"budget": {"per_prediction": 1.0}, **keys}
    config = load_config(load(tmp_path, good={}, bad=settings))
    assert said in config.invalid["bad"].message
