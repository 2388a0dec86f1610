"""How soon a drift is found beside the detectors that users have, all tuned to be as often wrong.

    python -m studies.drift.beside [--streams 30] [--workers 1] [--write]

Every rule watches the same streams, with the same reference. Its limit is the one that a year
without a drift reaches as often as the promise allows; it is found on streams of their own. With
--write the table goes into docs/drift-simulations.md. A stream-year takes half a second.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from math import exp, inf, log
from typing import NamedTuple

import numpy as np
from scipy.special import expit, gammaln

from monitor.drift.curve.reference import Reference, fit_reference
from monitor.drift.incidents.detecting import advance, new_detector
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.grid import Floats
from monitor.metrics.logistic.conditional import score_directions
from monitor.metrics.logistic.intercept import solve_factor
from studies.drift.estimates import median, print_median, print_share
from studies.drift.layout import in_processes, publish, read_options
from studies.drift.rules import FALSE_ALERT_DAYS, FIRST, pool, raw_ece
from studies.drift.scenario import PROMISE, SOUND, YEAR
from studies.drift.tables import table
from studies.drift.worlds import DRIFTS, World, stream, whole_drift

BEGIN, END = "<!-- beside others: studies/drift/beside.py -->", "<!-- end of beside others -->"
FIRST_SEED, TUNED_ON, REFERENCE, START, FOLLOWED = 180_000, 190_000, 28, 60, 120
WORLDS = World(0.3, 500), World(0.05, 20_000)
FOUND = ("slope 0.8", "slope 0.9", "top tenth -0.4")
OURS, PIT, ORACLE = "**evidence detector**", "PIT e-process", "oracle"
USUAL = log(FALSE_ALERT_DAYS)
ALLOWED = 0.5  # standard deviations of a day's loss that Page and Hinkley's test forgives
PIT_BINS, PIT_PRIOR, PIT_DAYS = 10, 50.0, 28
INTRO = (
    f"A drift begins on day {START}; {{streams}} streams of each kind. Each rule is tuned on "
    f"as many sound years, of which {1.0 - exp(-PROMISE):.0%} reach its limit; "
    f"{FALSE_ALERT_DAYS:,} to 1 is untuned. *False*: other sound years with an alarm. *x*: "
    "the delay over that of the *oracle*, a CUSUM that knows curve, drift and size. "
    f"*Page-Hinkley*: on the log loss, forgiving {ALLOWED} standard deviations. *PIT "
    "e-process*: in the manner of PITMonitor.\n"
)


class Task(NamedTuple):
    """A stream: its world, its drift or none, its seed."""

    world: World
    drift: str
    seed: int


def watch(task: Task) -> dict[str, Floats]:
    """Give what each rule says on each day after the reference; the oracle's by its drift."""
    start = START if task.drift else 0
    truth = DRIFTS.get(task.drift, SOUND)
    days = FOLLOWED + start if task.drift else YEAR
    drawn = stream(task.world, truth, task.seed, reference=REFERENCE, days=days, start=start)
    first = list(islice(drawn, REFERENCE))
    rest, reference = list(drawn), fit_reference(first)
    known, watched = [pool(day) for day in first], [pool(day) for day in rest]
    found = {
        f"z-test, {length} day{'s' * (length > 1)}": slope_z(reference, known, watched, length)
        for length in (1, 7, 28)
    }
    found |= {
        "Page-Hinkley": page_hinkley(reference, known, watched),
        PIT: pit_process(reference, known, watched, task.seed),
        "ECE": np.array([raw_ece(day) for day in watched]),
        OURS: evidence(reference, rest),
    }
    for drift in (task.drift,) if task.drift else FOUND:
        found[f"{ORACLE}, {drift}"] = oracle(task.world, drift, watched)
    return found


def evidence(reference: Reference, days: Sequence[Mapping[str, Coarse]]) -> Floats:
    """Give the logarithm of the evidence of each day, never set back."""
    detector, found = new_detector(), []
    for t, parts in enumerate(days):
        detector, _ = advance(detector, reference, [FIRST + timedelta(t)], parts)
        found.append(detector.evidence * log(10.0))
    return np.array(found)


def slope_z(
    reference: Reference, known: Sequence[Coarse], days: Sequence[Coarse], length: int
) -> Floats:
    """Test the slope of the last days, whatever their intercepts."""
    sums = np.array([_slope(reference, day) for day in [*known[1 - length or None :], *days]])
    if length == 1:
        sums = sums[-len(days) :]
    of_span = np.array([np.convolve(sums[:, j], np.ones(length), "valid") for j in (0, 1)])
    return np.asarray(np.abs(of_span[0]) / np.sqrt(np.maximum(of_span[1], 1e-9)))


def _slope(reference: Reference, day: Coarse) -> tuple[float, float]:
    seen = np.nonzero(day.counts)[0]
    score, information = score_directions(
        reference.curve[seen],
        day.counts[seen],
        day.positives[seen],
        np.ascontiguousarray(reference.directions[:1, seen]),
    )
    return float(score[0]), float(information[0])


def page_hinkley(reference: Reference, known: Sequence[Coarse], days: Sequence[Coarse]) -> Floats:
    """Add up how far the log loss of each day is above its mean (Page, 1954; Hinkley, 1971)."""
    own = np.array([_log_loss(reference, day) for day in known])
    found, total = [], 0.0
    for day in days:
        off = (_log_loss(reference, day) - own.mean()) / own.std(ddof=1)
        total = max(0.0, total + off - ALLOWED)
        found.append(total)
    return np.array(found)


def _log_loss(reference: Reference, day: Coarse) -> float:
    p = np.clip(expit(reference.curve), 1e-12, 1.0 - 1e-12)
    lost = day.positives @ np.log(p) + (day.counts - day.positives) @ np.log1p(-p)
    return -float(lost) / float(day.counts.sum())


def pit_process(
    reference: Reference, known: Sequence[Coarse], days: Sequence[Coarse], seed: int
) -> Floats:
    """Bet on where the probability integral transforms of each day fall; logarithms."""
    rng = np.random.default_rng([seed, 7])
    before = [_pit_counts(reference, day, rng) for day in known]
    found, total = [], -inf
    for day in days:
        now = _pit_counts(reference, day, rng)
        bets = PIT_PRIOR + np.sum(before[-PIT_DAYS:], axis=0)
        # Bins are known one after the other: the predictive of a Dirichlet prior on them.
        gained = gammaln(bets + now).sum() - gammaln(bets).sum()
        gained += float(gammaln(bets.sum()) - gammaln((bets + now).sum()))
        total = float(np.logaddexp(total, 0.0) + gained + now.sum() * log(PIT_BINS))
        before.append(now)
        found.append(total)
    return np.array(found)


def _pit_counts(reference: Reference, day: Coarse, rng: np.random.Generator) -> Floats:
    """Draw the transforms of a day: of outcome 0 below 1 - p, of 1 above, evenly; shape (10,)."""
    seen = np.nonzero(day.counts)[0]
    p, edges = expit(reference.curve[seen])[:, None], np.linspace(0.0, 1.0, PIT_BINS + 1)
    below = np.diff(np.clip(edges / (1.0 - p), 0.0, 1.0), axis=1)
    above = np.diff(np.clip((edges - (1.0 - p)) / p, 0.0, 1.0), axis=1)
    positives = day.positives[seen]
    drawn = rng.multinomial(day.counts[seen] - positives, below) + rng.multinomial(positives, above)
    return np.asarray(drawn.sum(axis=0), np.float64)


def oracle(world: World, drift: str, days: Sequence[Coarse]) -> Floats:
    """Add up the likelihood of the drift over that of the true curve, from when it is largest."""
    curves = np.stack([CENTRES, CENTRES + whole_drift(world, DRIFTS[drift])])
    found, total = [], 0.0
    for day in days:
        without, having = (_profile(curve, day) for curve in curves)
        total = max(0.0, total + having - without)
        found.append(total)
    return np.array(found)


def _profile(curve: Floats, day: Coarse) -> float:
    """Give the log-likelihood of a day at the intercept that fits its positive outcomes."""
    seen, hits = np.nonzero(day.counts)[0], int(day.positives.sum())
    counts, positives = day.counts[seen], day.positives[seen]
    if hits in {0, int(counts.sum())}:
        return 0.0
    odds = np.exp(curve[seen] - curve[seen].max())
    factor, _ = solve_factor(odds, counts, hits)
    return float(positives @ np.log(factor * odds) - counts @ np.log1p(factor * odds))


def rows(
    world: World,
    tuning: Sequence[Mapping[str, Floats]],
    sound: Sequence[Mapping[str, Floats]],
    drifted: Mapping[str, Sequence[Mapping[str, Floats]]],
) -> Iterator[list[str]]:
    """Lay out false alarms and delays of each rule in a world, the oracle first."""
    limits = {
        name: float(np.quantile([of[name].max() for of in tuning], exp(-PROMISE)))
        for name in tuning[0]
    }
    best = {
        drift: list(delays([of[name] for of in drifted[drift]], limits[name]))
        for drift in FOUND
        for name in [f"{ORACLE}, {drift}"]
    }
    yield [f"{world}", ORACLE, "", *(print_median(best[drift], FOLLOWED) for drift in FOUND)]
    rules = [name for name in tuning[0] if not name.startswith(ORACLE)]
    own = [(f"{rule}, {FALSE_ALERT_DAYS:,} to 1", rule, USUAL) for rule in (OURS, PIT)]
    for label, rule, limit in [*own, *((rule, rule, limits[rule]) for rule in rules)]:
        false = print_share([bool(of[rule].max() >= limit) for of in sound])
        cells = [f"{world}", label, false]
        for drift in FOUND:
            found = list(delays([of[rule] for of in drifted[drift]], limit))
            text = print_median(found, FOLLOWED) if 2 * len(found) > len(sound) else "always on"
            if found and "always" not in text and median(found)[0] < inf:
                text += f", x{median(found)[0] / median(best[drift])[0]:.1f}"
            cells.append(text)
        yield cells


def delays(found: Sequence[Floats], limit: float) -> Iterator[float]:
    """Count the days from the first of the drift to the alarm, from 1; none if on alarm before."""
    for values in found:
        if values[:START].max() < limit:
            over = np.nonzero(values[START:] >= limit)[0]
            yield float(over[0]) + 1.0 if over.size else inf


def main() -> None:
    """Watch all streams, print the table, and write it where it belongs."""
    options = read_options(__doc__, streams=30)
    heads = [
        *("world", "rule", "false, % of years"),
        *(f"{drift}, days" for drift in FOUND),
    ]
    laid_out = []
    with in_processes(watch, options.workers) as watched:
        for world in WORLDS:
            tuning, sound = (
                watched([Task(world, "", first + n) for n in range(options.streams)])
                for first in (TUNED_ON, FIRST_SEED)
            )
            drifted = {
                drift: watched([Task(world, drift, FIRST_SEED + n) for n in range(options.streams)])
                for drift in FOUND
            }
            laid_out += rows(world, tuning, sound, drifted)
            print(f"{world}: {len(laid_out)} rows", flush=True)
    text = "\n".join([INTRO.format(streams=options.streams), *table(heads, laid_out)])
    publish(text, BEGIN, END, write=options.write)


if __name__ == "__main__":
    main()
