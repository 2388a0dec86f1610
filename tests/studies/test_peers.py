"""The logs of docs/comparison.md have the truth that it states; its table is what was found."""

import json

from studies.peers import tables, world
from studies.peers.run import KEPT, PAGE, PEERS
from tests.support.paths import ROOT

KEPT_ANSWERS = json.loads(KEPT.read_text())


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
