"""When should the level of a calibration map follow the prior? Simulated, and on real flights.

    python -m studies.maps.follow_prior

writes the tables of docs/map-promises.md below its mark in about two minutes of CPU time. Seeds
are fixed, so the result is always the same.
"""

import tempfile
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from scipy.special import logit

from monitor.demo.flights import STRETCH, write_flights_logs
from monitor.evaluation.expected_prevalence import expect_prevalence, says_prevalence
from monitor.metrics.core.tally import Tally, merge, tally_on_grid
from monitor.metrics.maps.calibration_map import CalibrationMap, shape_of
from monitor.metrics.maps.choosing import losses_by_day
from monitor.metrics.maps.daily_counts import daily_counts
from monitor.metrics.maps.fitting import fit_calibration_map
from monitor.metrics.maps.likelihood import own_losses, pooled_level
from monitor.metrics.maps.map_file import NEWEST_DAYS
from studies.maps.page import marks, write_section
from studies.maps.worlds import WORLDS, World, draw_days, lag

FITTED, LATER = 28, 56
PLACES = {"50 %": (0.5, 4_000), "5 %": (0.05, 20_000)}  # prevalence and predictions a day
DELAY = 3  # days until outcomes are known
REPEATS = 10
RULES = ("scores as they are", "fixed level", "follow outcomes", "follow scores", "best level")
MARKS = marks("follow_prior")


def losses(days: Sequence[Tally], fitted: int, delay: int) -> dict[str, float]:
    """Give the mean log loss of later days by each rule for the level of a line (platt).

    `best level` is the one that suits each day: nobody knows it in time.
    """
    training = days[:fitted]
    found = fit_calibration_map(daily_counts(training), "platt").map
    reference = merge(training)
    sums = dict.fromkeys(RULES, 0.0)
    for place in range(fitted, len(days)):
        today = daily_counts([days[place]])
        levels = {
            "fixed level": found.level,
            "follow outcomes": by_outcomes(found, lag(days, place, NEWEST_DAYS.days, delay)),
            "follow scores": by_scores(found, reference, days[place])
            or by_outcomes(found, lag(days, place, NEWEST_DAYS.days, delay)),
        }
        sums["scores as they are"] += losses_by_day(today, CalibrationMap("identity"))[0].sum()
        for rule, level in levels.items():
            moved = CalibrationMap("platt", level, found.parameters)
            sums[rule] += losses_by_day(today, moved)[0].sum()
        shape = shape_of(today.logits, found)
        sums["best level"] += own_losses(shape, today.counts, today.positives).sum()
    total = sum(day.total for day in days[fitted:])
    return {rule: value / total for rule, value in sums.items()}


def by_outcomes(found: CalibrationMap, recent: Sequence[Tally]) -> float:
    """Fit the level to the newest outcomes, as `--follow-prior` does."""
    data = daily_counts(recent)
    return pooled_level(shape_of(data.logits, found), data.counts, data.positives)[0]


def by_scores(found: CalibrationMap, reference: Tally, today: Tally) -> float | None:
    """Move the level as the scores suggest, as `--follow-prior` does; None if they do not fit."""
    expected = expect_prevalence(reference, today.scores, today.counts)
    if not expected or not says_prevalence(expected):
        return None
    return found.level + float(logit(expected.prevalence) - logit(reference.prevalence))


def simulate(world: World, prevalence: float, rows: int, repeats: int = REPEATS) -> np.ndarray:
    """Give the loss above the best level by repeat and rule, in thousandths of a nat."""
    found = []
    for seed in range(repeats):
        rng = np.random.default_rng([seed, rows])
        days = draw_days(world, prevalence, rows, (FITTED, LATER), rng)
        by_rule = losses(days, FITTED, DELAY)
        found.append([1e3 * (by_rule[rule] - by_rule["best level"]) for rule in RULES[:-1]])
    return np.array(found)


def flights_days(model: str, root: Path) -> list[Tally]:
    """Join the logs of a model of the demo, from 1 June to the end of the year."""
    outcomes = {}
    for path in sorted((root / "outcomes").glob("*.parquet")):
        table = pq.read_table(path, columns=["prediction_id", "outcome"]).to_pydict()
        outcomes.update(zip(table["prediction_id"], table["outcome"], strict=True))
    days, day = [], date(2013, 6, 1)
    while day <= date(2013, 12, 31):
        table = pq.read_table(root / "predictions" / model / f"{day}.parquet").to_pydict()
        rows = [
            (outcomes[key], score)
            for key, score in zip(table["prediction_id"], table["score"], strict=True)
            if key in outcomes
        ]
        days.append(tally_on_grid(*map(np.array, zip(*rows, strict=True))))
        day += timedelta(days=1)
    return days


def simulated_table() -> list[str]:
    """Lay out the simulated worlds."""
    lines = ["| what moves | prevalence | " + " | ".join(RULES[:-1]) + " |"]
    lines.append("|---|---|" + "---:|" * (len(RULES) - 1))
    for name, world in WORLDS.items():
        for place, (prevalence, rows) in PLACES.items():
            found = simulate(world, prevalence, rows)
            error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
            cells = [f"{m:.1f} ± {e:.1f}" for m, e in zip(found.mean(axis=0), error, strict=True)]
            lines.append(f"| {name} | {place} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    return lines


def flights_table() -> list[str]:
    """Lay out the flights of the demo: fitted to three weeks, applied to the rest of the year."""
    lines = ["| model | " + " | ".join(RULES[:-1]) + " |", "|---|" + "---:|" * (len(RULES) - 1)]
    with tempfile.TemporaryDirectory() as folder:
        write_flights_logs(Path(folder))
        for model in STRETCH:
            by_rule = losses(flights_days(model, Path(folder)), 21, 1)
            cells = [f"{1e3 * (by_rule[r] - by_rule['best level']):.1f}" for r in RULES[:-1]]
            lines.append(f"| {model} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Write the tables."""
    unit = (
        f"Mean log loss above the best level of each day, in thousandths of a nat; {REPEATS} "
        "streams each, ± one Monte-Carlo error.\n"
    )
    year = (
        "The models of the demo, fitted to 1 to 21 June and applied from 22 June to 31 December; "
        "in the same units.\n"
    )
    simulated = ["### Simulated worlds\n", unit, *simulated_table()]
    tables = [*simulated, "\n### Flights\n", year, *flights_table()]
    write_section("\n".join(tables), MARKS)


if __name__ == "__main__":
    main()
