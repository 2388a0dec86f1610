"""What a map of the part that drifted keeps on later days, beside maps of all rows.

    python -m studies.maps.parts

makes an environment for MCGrad below `--environments` (default: .venv/peers) with pip, and writes
the table of docs/map-promises.md below its mark. Seeds are fixed.
"""

import argparse
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy.special import expit

from monitor.days.summary import ColumnPart
from monitor.drift.curve.reference import fit_reference
from monitor.drift.verdicts.pair_sums import sum_day
from monitor.drift.where.column_sums import in_both, over_days
from monitor.drift.where.values_off import where_of
from monitor.metrics.core.coarse import Coarse, coarsen, occupied, sum_of, tally_of
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.core.tally import tally_on_grid
from monitor.metrics.maps.calibration_map import IDENTITY, CalibrationMap, apply_calibration_map
from monitor.metrics.maps.choosing import choose_map
from monitor.metrics.maps.daily_counts import DailyCounts, daily_counts
from monitor.metrics.maps.fitting import can_fit, fit_calibration_map
from monitor.metrics.maps.part_gains import gains_by_part
from studies.maps.page import ROOT, marks, write_section
from studies.maps.worlds import wander
from studies.peers.run import environment

REFERENCE, FITTED, LATER = 28, 21, 28  # days: before the drift, since it began, and after the map
ROWS, SLOPE, PRIOR, SPREAD, MIDDLE = 4_000, 0.6, 0.2, 1.3, -1.0
PLACES = {2: 4, 10: 4, 50: 4}  # segments and streams
LEAST_SHARE = 0.02  # of the segment that drifts
MARKS = marks("parts")

Mapped = Callable[[Floats, Ints], Floats]  # scores and segments to probabilities


@dataclass(frozen=True)
class World:
    """Rows of all days: scores, segments, outcomes and days; and which segment drifts."""

    scores: Floats
    segments: Ints
    outcomes: Ints
    days: Ints
    drifting: int

    def rows(self, first: int, last: int) -> "World":
        """Keep some days."""
        kept = (self.days >= first) & (self.days < last)
        return World(
            self.scores[kept],
            self.segments[kept],
            self.outcomes[kept],
            self.days[kept],
            self.drifting,
        )


def draw(count: int, rng: np.random.Generator) -> World:
    """Draw segments of unequal size with priors of their own; one is off from day 28 on."""
    shares = 1.0 / np.arange(1.0, count + 1.0)
    shares /= shares.sum()
    drifting = int(rng.choice(np.flatnonzero((shares >= LEAST_SHARE) & (shares < 0.5))))
    days = np.repeat(np.arange(REFERENCE + FITTED + LATER), ROWS)
    segments = rng.choice(count, days.size, p=shares)
    priors = np.array([wander(PRIOR, days[-1] + 1, rng) for _ in range(count)])
    x = rng.normal(MIDDLE, SPREAD, days.size)
    slope = np.where((segments == drifting) & (days >= REFERENCE), SLOPE, 1.0)
    truth = expit(slope * x + priors[segments, days])
    outcomes = (rng.random(days.size) < truth).astype(np.int64)
    return World(np.asarray(expit(x)), segments, outcomes, days, drifting)


def counted(rows: World) -> list[dict[int, Coarse]]:
    """Count each day by segment."""
    found = []
    for day in np.unique(rows.days):
        of_day = rows.rows(day, day + 1)
        parts = {}
        for segment in np.unique(of_day.segments):
            one = of_day.segments == segment
            parts[int(segment)] = coarsen(tally_on_grid(of_day.outcomes[one], of_day.scores[one]))
        found.append(parts)
    return found


def counts_of(days: list[dict[int, Coarse]], wanted: set[int]) -> DailyCounts:
    """Count some segments together."""
    nothing = Coarse(*np.zeros((2, 1024), np.int64))
    return daily_counts(
        [tally_of(sum_of([nothing, *(c for s, c in day.items() if s in wanted)])) for day in days]
    )


def proposed(data: DailyCounts) -> CalibrationMap:
    """Give the map that is worth it, or none."""
    choice = choose_map(data)
    return choice.chosen.fitted.map if choice.worth_it else IDENTITY


def of_part(before: list[dict[int, Coarse]], now: list[dict[int, Coarse]]) -> Mapped:
    """Do what `recalibrate` does: a map of the segments that explain the drift, or of all."""
    columns = [
        [
            {"segment": {str(s): ColumnPart(*_cells(c), int(c.counts.sum())) for s, c in d.items()}}
            for d in days
        ]
        for days in (before, now)
    ]
    reference = fit_reference(before)
    sums = ([sum_day(reference, day)[0] for day in days] for days in columns)
    found = where_of(reference, in_both(*map(over_days, sums)), "too_extreme").explanation
    every = {s for day in now for s in day}
    data = counts_of(now, every)
    if found:
        wanted = {int(one.value) for one in found.conditions}
        return partial(_map_some, proposed(counts_of(now, wanted)), wanted)
    whole = choose_map(data)
    parts = {str(s): counts_of(now, {s}) for s in every}
    parts = {name: part for name, part in parts.items() if part.rarer >= 30}
    harms = any(one.harmed for one in gains_by_part(data, parts, whole.chosen.fitted.map.kind))
    return partial(_map_some, IDENTITY if harms else proposed(data), every)


def _cells(part: Coarse) -> tuple[Ints, Ints, Ints]:
    seen = occupied(part)
    return seen.cells, seen.counts, seen.positives


def _map_some(found: CalibrationMap, wanted: set[int], scores: Floats, segments: Ints) -> Floats:
    inside = np.isin(segments, list(wanted))
    return np.where(inside, apply_calibration_map(scores, found), scores)


def of_each(now: list[dict[int, Coarse]]) -> Mapped:
    """Fit an isotonic regression to each segment that can bear one."""
    maps: dict[int, CalibrationMap] = {}
    for segment in {s for day in now for s in day}:
        data = counts_of(now, {segment})
        able = can_fit(data, "isotonic")
        maps[segment] = fit_calibration_map(data, "isotonic").map if able else IDENTITY

    def mapped(scores: Floats, segments: Ints) -> Floats:
        found = scores.copy()
        for segment, one in maps.items():
            inside = segments == segment
            found[inside] = apply_calibration_map(scores[inside], one)
        return found

    return mapped


def of_mcgrad(now: World, later: World, python: Path) -> Floats:
    """Fit MCGrad to the rows with their segment, in an environment of its own."""
    worker = Path(__file__).with_name("mcgrad_worker.py")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rows.npz"
        np.savez(
            path,
            scores=now.scores,
            segments=now.segments,
            outcomes=now.outcomes,
            later_scores=later.scores,
            later_segments=later.segments,
        )
        subprocess.run([str(python), str(worker), path], check=True)  # noqa: S603
        return np.asarray(np.load(f"{path}.found.npy"), np.float64)


def gains(later: World, mapped: Floats) -> tuple[float, float]:
    """Give the gain of a prediction in the part that drifted and in the rest, thousandths."""

    def loss(p: Floats) -> Floats:
        inside = np.clip(p, 1e-6, 1.0 - 1e-6)
        return -np.log(np.where(later.outcomes == 1, inside, 1.0 - inside))

    gained = 1000.0 * (loss(later.scores) - loss(mapped))
    inside = later.segments == later.drifting
    return float(gained[inside].mean()), float(gained[~inside].mean())


def follow(count: int, seed: int, mcgrad: Path | None) -> Mapping[str, tuple[float, float]]:
    """Fit all maps to one stream; MCGrad only if there is a Python that has it."""
    world = draw(count, np.random.default_rng([seed, count]))
    now, later = (
        world.rows(REFERENCE, REFERENCE + FITTED),
        world.rows(REFERENCE + FITTED, REFERENCE + FITTED + LATER),
    )
    before, since = counted(world.rows(0, REFERENCE)), counted(now)
    every = {s for day in since for s in day}
    found: dict[str, Mapped] = {
        "the part": of_part(before, since),
        "all": partial(_map_some, proposed(counts_of(since, every)), every),
        "isotonic each": of_each(since),
    }
    answers = {name: gains(later, one(later.scores, later.segments)) for name, one in found.items()}
    if mcgrad:
        answers["MCGrad"] = gains(later, of_mcgrad(now, later, mcgrad))
    return answers


def table(found: Mapping[int, list[Mapping[str, tuple[float, float]]]]) -> str:
    """Write the table of the page."""
    lines = [
        "| segments | map | the part | the rest | the rest, worst stream |",
        "|---:|---|---:|---:|---:|",
    ]
    for count, streams in found.items():
        for name in streams[0]:
            inside, rest = np.array([stream[name] for stream in streams]).T
            error = [of.std(ddof=1) / np.sqrt(of.size) for of in (inside, rest)]
            lines.append(
                f"| {count} | {name} | {inside.mean():+.2f} ± {error[0]:.2f} | "
                f"{rest.mean():+.2f} ± {error[1]:.2f} | {rest.min():+.2f} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--environments", type=Path, default=ROOT / ".venv" / "peers")
    options = parser.parse_args()
    mcgrad = environment("mcgrad", options.environments)
    found = {
        count: [follow(count, seed, mcgrad) for seed in range(streams)]
        for count, streams in PLACES.items()
    }
    write_section(table(found), MARKS)


if __name__ == "__main__":
    main()
