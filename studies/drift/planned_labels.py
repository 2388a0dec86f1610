"""How soon a drift is found with labels at planned rates, and with labels drawn uniformly.

    python -m studies.drift.planned_labels [--streams 40]

20,000 predictions a day, priors that move from day to day, 28 days of reference, and then a slope
of 0.8, or a top tenth that is overpredicted. What is judged is what the daily run judges. The table
goes into docs/chosen-labels.md.
"""

import argparse
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.incidents.label_plan import evenly_drawn, plan_labels
from monitor.drift.records.verdict import WEEK
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats

PAGE = Path("docs/chosen-labels.md")
BEGIN, END = "<!-- planned: begin -->", "<!-- planned: end -->"
ROWS, REFERENCE, AFTER, SPREAD, MOVING = 20_000, 28, 90, 1.3, 0.2
FIRST, KNOWN_AT = date(2026, 1, 1), datetime(2027, 1, 1, tzinfo=UTC)
LIMITS = Limits(false_alert_days=1000)
LEAST = 0.6  # of the labels: what a plan should do with, at most
BUDGETS = {-1.5: 1_000, -3.0: 2_000, 0.0: 1_000}  # by the centre of the scores' log-odds
TOP = 1.28  # standard deviations: the highest tenth
HALVED = 0.69  # log-odds


class World(NamedTuple):
    """Predictions a day by coarse cell, and the log-odds of the outcomes before and after."""

    predictions: Floats
    before: Floats
    after: Floats


def world(centre: float, kind: str) -> World:
    """Describe calibrated scores that become too extreme, or too high at the top."""
    density = np.exp(-0.5 * ((CENTRES - centre) / SPREAD) ** 2)
    top = np.where(centre + TOP * SPREAD < CENTRES, HALVED, 0.0)
    after = centre + 0.8 * (CENTRES - centre) if kind == "slope 0.8" else CENTRES - top
    return World(ROWS * density / density.sum(), CENTRES, after)


def draw(number: int, curve: Floats, labelled: Floats, rng: np.random.Generator) -> Day:
    """Draw the labels of a day, with a prior of its own."""
    counts = rng.poisson(labelled)
    positives = rng.binomial(counts, expit(curve + rng.normal(0.0, MOVING)))
    parts = {(WHOLE, WHOLE): Coarse(counts, positives)}
    return Day(FIRST + timedelta(number), True, KNOWN_AT, float(counts.sum() / ROWS), parts)


def wait(of: World, before: Floats, after: Floats, seed: int) -> int | None:
    """Count days until a drift is open, labelled at some rates before and after it begins."""
    rng = np.random.default_rng([31, seed])
    days = [draw(i, of.before, before * of.predictions, rng) for i in range(REFERENCE)]
    days += [draw(REFERENCE + i, of.after, after * of.predictions, rng) for i in range(AFTER)]
    verdicts = judge(
        *("study", days[REFERENCE:]),
        references=[fit_model_reference(days[:REFERENCE], LIMITS)],
        limits=LIMITS,
        recent=days[REFERENCE - WEEK : REFERENCE],
        recall={day.day: day for day in days}.get,
    )
    opened = (t for t, (whole, *_) in enumerate(verdicts) if whole.state == "calibration_drift")
    return next((t + 1 for t in opened), None)


def learned(of: World, budget: float) -> Reference:
    """Fit the reference that a plan rests on: 28 days with labels drawn uniformly."""
    rng = np.random.default_rng([32, int(budget)])
    rates = evenly_drawn(of.predictions, budget).rates
    return fit_reference(
        [dict(draw(i, of.before, rates * of.predictions, rng).parts) for i in range(REFERENCE)]
    )


def rows(centre: float, kind: str, streams: int) -> list[list[str]]:
    """Give the rows of a world."""
    of, budget = world(centre, kind), BUDGETS[centre]
    reference = learned(of, budget)
    evenly = evenly_drawn(of.predictions, budget).rates
    direction = 0 if kind == "slope 0.8" else 3
    fewer = LEAST * budget
    designs = {
        f"{budget:,}, uniform": (evenly, evenly),
        f"{fewer:,.0f}, uniform": (evenly_drawn(of.predictions, fewer).rates,) * 2,
        f"{fewer:,.0f}, planned": (plan_labels(reference, of.predictions, fewer).rates,) * 2,
        f"{fewer:,.0f}, planned after the reference": (
            evenly,
            plan_labels(reference, of.predictions, fewer).rates,
        ),
    }
    if direction:
        own = plan_labels(reference, of.predictions, fewer, direction=direction).rates
        designs[f"{fewer:,.0f}, planned for it"] = (own, own)
        designs[f"{fewer:,.0f}, planned for it after the reference"] = (evenly, own)
    prevalence = float((of.predictions * expit(of.before)).sum() / ROWS)
    made = []
    for name, (before, after) in designs.items():
        waits = [wait(of, before, after, seed) for seed in range(streams)]
        seen = [days for days in waits if days is not None]
        middle = median([AFTER + 1 if days is None else days for days in waits])
        delay = f"{middle:.0f}" if middle <= AFTER else f"more than {AFTER}"
        made.append([f"{prevalence:.0%}, {kind}", name, f"{len(seen)} of {streams}", delay])
        print(*made[-1], sep=" | ", flush=True)
    return made


def main() -> None:
    """Watch all streams and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=40)
    streams = parser.parse_args().streams
    head = ["prevalence, drift", "labels a day", "found", "median days"]
    cases = [*((centre, "slope 0.8") for centre in BUDGETS), (-1.5, "top halved")]
    table = [head, ["---"] * len(head)]
    for centre, kind in cases:
        table += rows(centre, kind, streams)
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in table)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
