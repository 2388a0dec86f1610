"""How soon a changed judge is found from a few reviews a day, and how often an ECE cries wolf.

    python -m studies.drift.judges [--streams 20] [--bound]

Judges that answer with nine confidences, many of them 1.0, and are too sure: people review 250 or
500 of the answers a day. How many are right moves from week to week, as questions become harder.
After 28 days of reference a judge stays as it is for a year, or an update makes its confidences
say less: a slope of 0.6. Beside the daily verdict is an alert on ECE: ten bins of equal width,
above the mean of the reference's days by three of their standard deviations. The table goes into
docs/judges.md.
"""

import argparse
from datetime import UTC, date, datetime, timedelta
from math import log, sqrt
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, rel_entr

from monitor.base.segment_names import WHOLE
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.verdict import WEEK
from monitor.drift.verdicts.judge import judge
from monitor.metrics.core.coarse import CELLS_IN_ONE, COARSE_COUNT, Coarse
from monitor.metrics.core.grid import Floats, locate

PAGE = Path("docs/judges.md")
BEGIN, END = "<!-- judges: begin -->", "<!-- judges: end -->"
REFERENCE, YEAR, UPDATED = 28, 365, 30
BOUND = "<!-- bound: begin -->", "<!-- bound: end -->"
MANY, STEPS = 400_000, 20
# Of the slope (docs/drift.md): the tolerance and the change to be found, at least; and the kinds.
LEAST_TOLERATED, LEAST_EFFECT, KINDS = 0.03, 0.10, 8
FIRST, KNOWN_AT = date(2026, 1, 1), datetime(2027, 12, 31, tzinfo=UTC)
LIMITS = Limits(false_alert_days=1000)
SURE = 0.8  # the slope of a judge that is too sure from the start
FOUND_WITHIN, BINS, SIGMAS = 5, 10, 3.0
WANDERS, HALF_LIFE = 0.4, 14.0  # of the log-odds of being right: standard deviation, days


class Judge(NamedTuple):
    """What a judge says, the log-odds behind it, and how many of its answers people review."""

    confidences: Floats
    centre: float
    spread: float
    reviews: int


WIDE = np.array([0.02, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.98, 1.0])
NARROW = np.array([0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0])
JUDGES = {
    "0.02 to 1, 250 reviews": Judge(WIDE, 1.0, 2.5, 250),
    "0.5 to 1, 250 reviews": Judge(NARROW, 1.8, 1.5, 250),
    "0.5 to 1, 500 reviews": Judge(NARROW, 1.8, 1.5, 500),
}


class Reviews(NamedTuple):
    """Confidences of a day's reviewed answers, and whether people agreed."""

    confidences: Floats
    right: Floats


def answers(of: Judge, prior: float, slope: float, rng: np.random.Generator) -> Reviews:
    """Draw the reviews of a day."""
    x = rng.normal(of.centre, of.spread, of.reviews)
    nearest = np.abs(of.confidences - expit(x)[:, None]).argmin(axis=1)
    log_odds = SURE * (of.centre + slope * (x - of.centre)) + prior
    return Reviews(of.confidences[nearest], rng.random(of.reviews) < expit(log_odds))


def priors(days: int, rng: np.random.Generator) -> Floats:
    """Draw by how much the log-odds of being right move, day after day."""
    kept = 0.5 ** (1.0 / HALF_LIFE)
    steps = rng.normal(0.0, WANDERS, days)
    for t in range(1, days):
        steps[t] = kept * steps[t - 1] + np.sqrt(1.0 - kept**2) * steps[t]
    return steps


def day_of(number: int, of: Reviews) -> Day:
    """Count the reviews of a day."""
    cells = locate(of.confidences)[0] // CELLS_IN_ONE
    counts, positives = (
        np.bincount(cells, weights, COARSE_COUNT).astype(np.int64)
        for weights in (np.ones(of.right.size), of.right)
    )
    parts = {(WHOLE, WHOLE): Coarse(counts, positives)}
    return Day(FIRST + timedelta(number), True, KNOWN_AT, 1.0, parts)


def ece(of: Reviews) -> float:
    """Compute the usual ECE."""
    bins = np.minimum((BINS * of.confidences).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, of.right - of.confidences, BINS)).sum() / bins.size)


class Stream(NamedTuple):
    """Days with a drift open, by number since the reference, and those with a high ECE."""

    drifting: list[int]
    high: list[int]


def watch(of: Judge, days: int, slope: float, seed: int) -> Stream:
    """Judge a stream whose judge is updated when the reference ends."""
    rng = np.random.default_rng([33, seed])
    moving = priors(REFERENCE + days, rng)
    slopes = [1.0] * REFERENCE + [slope] * days
    drawn = [answers(of, p, b, rng) for p, b in zip(moving, slopes, strict=True)]
    counted = [day_of(t, reviews) for t, reviews in enumerate(drawn)]
    verdicts = judge(
        *("study", counted[REFERENCE:]),
        references=[fit_model_reference(counted[:REFERENCE], LIMITS)],
        limits=LIMITS,
        recent=counted[REFERENCE - WEEK : REFERENCE],
        recall={day.day: day for day in counted}.get,
    )
    errors = np.array([ece(reviews) for reviews in drawn])
    usual = errors[:REFERENCE]
    limit = usual.mean() + SIGMAS * usual.std(ddof=1)
    drifting = [t for t, (whole, *_) in enumerate(verdicts) if whole.state == "calibration_drift"]
    return Stream(drifting, np.flatnonzero(errors[REFERENCE:] > limit).tolist())


def row(name: str, change: str, streams: list[Stream], days: int) -> list[str]:
    """Give the row of a judge: the verdict, and the alert on ECE."""
    waits = [stream.drifting[0] + 1 for stream in streams if stream.drifting]
    soon = sum(wait <= FOUND_WITHIN for wait in waits)
    middle = f"; median day {median(waits):.0f}" if waits else ""
    a_week = 7 * sum(len(stream.high) for stream in streams) / len(streams) / days
    of = len(streams)
    return [name, change, f"{soon} of {of}", f"{len(waits)} of {of}{middle}", f"{a_week:.1f}"]


def nats_a_day(of: Judge, slope: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """Compute what the reviews of a day say of an update, on average.

    Returns
    -------
    most : float
        Nats for who knows the curve before and after, but no prior: the Kullback-Leibler divergence
        of the outcomes from the curve before with the intercept that is nearest.
    tested : float
        Nats for the likelihood ratio of the least change that the verdict must find against the
        largest that it tolerates, both of which 28 days of reference decide (docs/drift.md).
    effect : float
        This least change of the slope.
    """
    x = rng.normal(of.centre, of.spread, MANY)
    said = np.abs(of.confidences - expit(x)[:, None]).argmin(axis=1)
    rows = np.bincount(said, minlength=of.confidences.size)
    before, after = (
        np.bincount(said, expit(SURE * (of.centre + b * (x - of.centre))), rows.size) / rows
        for b in (1.0, slope)
    )
    rows = of.reviews * rows / MANY
    curve, level = logit(before), 0.0
    for _ in range(STEPS):  # Newton's, to the intercept that gives as many right answers
        p = expit(curve + level)
        level += float((rows * (after - p)).sum() / (rows * p * (1.0 - p)).sum())
    p = expit(curve + level)
    most = float((rows * (rel_entr(after, p) + rel_entr(1.0 - after, 1.0 - p))).sum())
    weights = rows * before * (1.0 - before)
    distances = curve - (weights * curve).sum() / weights.sum()
    information = float((weights * distances**2).sum())
    tolerated = max(LEAST_TOLERATED, 2.0 / sqrt(REFERENCE * information))
    effect = max(LEAST_EFFECT, 3.0 * tolerated)
    change = 1.0 - slope
    tested = information * ((effect - tolerated) * change - (effect**2 - tolerated**2) / 2.0)
    return most, tested, effect


def write_bound() -> None:
    """Write what an update says a day, and how soon that opens an incident on average."""
    needed = log(LIMITS.false_alert_days)
    head = ["confidences", "nats a day, at most", "days to 6.9 nats"]
    head += ["least change of the slope that is tested", "nats a day for it", "days to 9.0 nats"]
    table = [head, ["---"] * len(head)]
    for name, of in JUDGES.items():
        most, tested, effect = nats_a_day(of, 0.6, np.random.default_rng(1))
        days = needed / most, (needed + log(KINDS)) / tested
        cells = f"{most:.1f}", f"{days[0]:.1f}", f"{effect:.2f}", f"{tested:.1f}", f"{days[1]:.1f}"
        table.append([name, *cells])
        print(*table[-1], sep=" | ", flush=True)
    write_table(table, *BOUND)


def main() -> None:
    """Watch all streams and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=20)
    parser.add_argument("--bound", action="store_true", help="what a day says only")
    given = parser.parse_args()
    streams = given.streams
    write_bound()
    if given.bound:
        return
    head = ["confidences", "judge", f"drift within {FOUND_WITHIN} days", "drift at all"]
    head.append(f"days a week with ECE {SIGMAS:g} sd above")
    table = [head, ["---"] * len(head)]
    for name, of in JUDGES.items():
        for change, days, slope in (("as before", YEAR, 1.0), ("slope 0.6", UPDATED, 0.6)):
            watched = [watch(of, days, slope, seed) for seed in range(streams)]
            table.append(row(name, change, watched, days))
            print(*table[-1], sep=" | ", flush=True)
    write_table(table, BEGIN, END)


def write_table(table: list[list[str]], begin: str, end: str) -> None:
    """Replace a table of the page."""
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in table)
    before, _, rest = PAGE.read_text().partition(begin)
    PAGE.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}")


if __name__ == "__main__":
    main()
