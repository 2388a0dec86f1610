"""One message for one cause: what explains an alert holds it back, whichever came first.

Alertmanager is real, with the routes of `alerts`; Prometheus is the test.
"""

import json
from pathlib import Path

import pytest

from tests.alerts.test_messages import PAGER, TICKETS, Alert, alert, held_back, post
from tests.support.alerting import alertmanager, await_posts
from tests.support.receivers import Posts, receiving

MISSING, BLIND = "CalibrationEvaluationMissing", "CalibrationBlind"
# Causes that are of no model, and those of one, with what each explains.
OF_ALL = ("CalibrationExporterAbsent", "CalibrationStoreNotWritable")
OF_A_MODEL = {
    "CalibrationDataError": (MISSING, BLIND, "CalibrationOutcomesMissing"),
    "CalibrationConfigInvalid": (MISSING,),
}
MODELS = ("bids", "ctr")


def causes(name: str) -> list[Alert]:
    """Write the alerts of a cause: one of all models, or one of each."""
    if name in OF_A_MODEL:
        return [alert(name, model) for model in MODELS]
    one = alert(MISSING, "")
    one["labels"] = {"alertname": name, "severity": "ticket"}
    one["annotations"] = {"summary": name, "description": f"The story of {name} at length."}
    return [one]


def explained(name: str) -> list[Alert]:
    """Write the alerts that it explains, and one of each model that it does not."""
    effects = OF_A_MODEL.get(name, (MISSING,))
    return [alert(effect, model) for effect in effects for model in MODELS]


def sent_of(name: str, posts: Posts) -> int:
    """Count the messages that tell the story of an alert."""
    told = (post for post in posts if post[0] in (PAGER, TICKETS))
    return sum(f"The story of {name} " in json.dumps(post[1]) for post in told)


@pytest.mark.parametrize("order", ["cause first", "effect first"])
@pytest.mark.parametrize("name", [*OF_ALL, *OF_A_MODEL])
def test_a_cause_holds_back_what_it_explains(tmp_path: Path, name: str, order: str) -> None:
    """The effect that came before was told once; the one that comes after is never told."""
    effects = {(a["labels"]["model"], a["labels"]["alertname"], "") for a in explained(name)}
    with receiving() as received, alertmanager(tmp_path, received) as where:
        first, second = causes(name), explained(name)
        if order == "effect first":
            first, second = second, first
        post(where, first)
        await_posts(received.posts, lambda: bool(received.posts))
        if order == "effect first":
            names = {effect for _, effect, _ in effects}
            await_posts(received.posts, lambda: all(sent_of(n, received.posts) for n in names))
        post(where, second)
        await_posts(received.posts, lambda: held_back(where) >= effects)
        told = {effect: sent_of(effect, received.posts) for _, effect, _ in effects}

        assert held_back(where) == effects
        if order == "cause first":
            assert set(told.values()) == {0}
