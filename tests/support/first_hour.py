"""What `init` makes of logs that were drawn at random, compared with what is true of them."""

import json
import tempfile
import traceback
from contextlib import chdir
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import yaml

from monitor.base.errors import DataError
from monitor.config import load_config
from monitor.days.summary import Segment, whole
from monitor.logs import summarise_day
from tests.conftest import run_command
from tests.support.strange_logs import DAYS, DRIFT_FROM, FIRST, Draw, Truth, draw

CHECKED = 9  # days after the first: the day whose counts are compared
ENOUGH = 0.97  # share of the outcomes that must have come by `settled_after`
RIGHT, SAID, ASKED, REFUSED, WRONG, WRONG_SAID = (
    *("right", "right, with doubts", "asked", "refused", "wrong", "wrong, with doubts"),
)


@dataclass(frozen=True)
class Result:
    """How a draw ended, and what was printed."""

    drawn: Draw
    kind: str
    said: str = ""


def try_out(seed: int, *, with_verdict: bool, days: int = DAYS) -> Result:
    """Draw logs, run `init` in an empty folder, and compare its configuration with the truth."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        drawn = draw(seed, Path("logs"), days)
        try:
            ended = run_command("init", "logs")
        except Exception:  # noqa: BLE001 - whatever leaves the command
            return Result(drawn, "traceback", traceback.format_exc())
        said = ended.out + ended.err
        if not Path("monitor.yaml").exists():
            return Result(drawn, "no file", said)
        (model,) = yaml.safe_load(Path("monitor.yaml").read_text())["models"].values()
        if "TODO" in json.dumps(model, default=str):
            return Result(drawn, ASKED, said)
        if ended.code:
            return Result(drawn, REFUSED, said)
        difference = compare(drawn)
        if not difference and with_verdict:
            difference = compare_verdict(drawn)
        doubts = bool(model.get("doubts"))
        if difference:
            return Result(drawn, WRONG_SAID if doubts else WRONG, f"{difference}\n{said}")
        return Result(drawn, SAID if doubts else RIGHT, said)


def compare(drawn: Draw) -> str:
    """Compare the counts of one day with the truth; say what differs."""
    config = load_config(Path("monitor.yaml"))
    ((name, model),) = config.models.items()
    day = FIRST + timedelta(CHECKED)
    try:
        summary = summarise_day(name, model, day, as_of=drawn.until)
    except DataError as error:
        return f"{error}"
    if classes := model.predictions.classes:
        right = drawn.classes == dict(zip(classes.columns, classes.names, strict=False))
        return "" if right else f"classes {classes} in place of {drawn.classes}"
    return compare_counts(whole(summary), drawn.truth[day], model.settled_after)


def compare_counts(part: Segment, truth: Truth, settled_after: int) -> str:
    """Compare the counts of a day with the truth; say what differs."""
    scores, outcomes, waits = truth
    come = waits <= settled_after
    if part.predicted != scores.size:
        return f"{part.predicted} predictions in place of {scores.size}"
    if not ENOUGH * scores.size <= part.tally.total <= scores.size:
        return f"{part.tally.total} outcomes in place of {scores.size}"
    ones = int(outcomes[come].sum())
    if part.tally.total == come.sum() and part.tally.total_positives != ones:
        return f"{part.tally.total_positives} outcomes of 1 in place of {ones}"
    mean = float(part.tally.scores @ part.tally.counts) / part.tally.total
    if abs(mean - float(scores[come].mean())) > 0.01:  # of whole points, 1e-3
        return f"a mean score of {mean:.3f} in place of {scores[come].mean():.3f}"
    return ""


def compare_verdict(drawn: Draw) -> str:
    """Backfill the days, and say whether a planted drift is missed, or one is found without."""
    ((name, model),) = load_config(Path("monitor.yaml")).models.items()
    span = "--from", FIRST, "--to", FIRST + timedelta(DAYS - 1)
    ended = run_command("backfill", "--model", name, *span, "--as-of", drawn.until)
    if ended.code:
        return f"backfill ended with {ended.code}: {ended.err[-500:]}"
    shown = run_command("show", "--model", name, "--json")
    text = shown.out
    drifted = "calibration_drift" in text
    # Of outcomes beside the scores the newest days are not known yet.
    enough = drawn.facts["layout"] != "together" or DAYS - model.settled_after > DRIFT_FROM + 3
    if drawn.drifts and enough and not drifted:
        return f"a drift was missed: {text[:500]}"
    return "" if drawn.drifts or not drifted else f"a drift that is none: {text[:500]}"
