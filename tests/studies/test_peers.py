"""The logs of docs/comparison.md have the truth that it states; its table is what was found."""

import json

import numpy as np
import pytest

from monitor.metrics import fit_cox, tally
from studies.peers import tables, world
from studies.peers.run import KEPT, PAGE, PEERS
from tests.support.paths import ROOT

KEPT_ANSWERS = json.loads(KEPT.read_text())


def cox(truth: str) -> tuple[float, float]:
    """Fit intercept and slope to 100,000 predictions of a day of a kind."""
    scores, outcomes = world.draw_day(truth, 100_000, np.random.default_rng(3))
    found = fit_cox(tally(outcomes, scores))
    assert found is not None
    return found.intercept, found.slope


def test_days_are_what_the_page_says() -> None:
    """Sound days are calibrated, a prior shift moves the intercept alone, a drift the slope.

    The standard errors are 0.01 of a slope and 0.015 of an intercept.
    """
    assert cox("sound") == pytest.approx((0.0, 1.0), abs=0.05)
    shift = np.log(0.35 / 0.65) - np.log(0.2 / 0.8)
    assert cox("prior shift") == pytest.approx((shift, 1.0), abs=0.05)
    assert cox("drift")[1] == pytest.approx(world.SLOPE, abs=0.03)
    assert cox("rescaled")[1] == pytest.approx(world.SLOPE, abs=0.03)


def test_the_table_is_what_was_found() -> None:
    """The page shows the answers that are kept, of this monitor and of all peers."""
    assert set(KEPT_ANSWERS) == {"calibration-monitor", *PEERS} == set(tables.NAMES)
    assert PAGE.read_text().endswith(tables.MARK + "\n" + tables.tables(KEPT_ANSWERS))


def test_this_monitor_calls_no_prior_shift_a_drift() -> None:
    """What the page promises of this monitor is what was measured."""
    rules = {log: kept["rules"] for log, kept in KEPT_ANSWERS["calibration-monitor"].items()}
    drift = "verdict `calibration_drift`"

    assert tables.count(rules["changes"][drift], world.CHANGES, "prior shift") == "0 of 21"
    for log, truth in ((world.CHANGES, "drift"), (world.RESCALED, "rescaled")):
        assert tables.found_on(rules[log.name][drift], log, truth) in {"day 1", "day 2"}
    assert not any(rules["late"].values())


def test_each_peer_has_its_worker_and_a_pinned_version() -> None:
    """The environment of a peer pins the version that was measured."""
    for name in PEERS:
        wanted = (ROOT / "studies" / "peers" / "environments" / f"{name}.txt").read_text()

        assert f"{name}=={KEPT_ANSWERS[name]['changes']['version']}\n" in wanted
        assert (ROOT / "studies" / "peers" / f"{name}_worker.py").exists()
