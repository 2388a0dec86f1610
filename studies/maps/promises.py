"""Does a map keep what `recalibrate` promises? Beside scikit-learn, netcal and betacal, in one run.

    python -m studies.maps.promises

makes an environment for netcal and betacal below `--environments` (default: .venv/peers) with pip,
and writes the tables of docs/map-promises.md below its mark. Seeds are fixed, so all but the times
are always the same.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from monitor.metrics.core.grid import Floats
from monitor.metrics.core.tally import tally_on_grid
from monitor.metrics.maps.calibration_map import KINDS, CalibrationMap, apply_calibration_map
from monitor.metrics.maps.choosing import choose_map, losses_by_day
from monitor.metrics.maps.daily_counts import DailyCounts, daily_counts
from monitor.metrics.maps.likelihood import own_losses
from studies.maps.page import marks, write_section
from studies.maps.worlds import SPREAD, wander
from studies.peers.run import environment

FITTED, LATER = 28, 28
PRIOR = 0.3  # standard deviation of the log-odds of the prior from day to day
PLACES = {  # prevalence, predictions a day, streams
    "50 %, 100": (0.5, 100, 30),
    "50 %, 1k": (0.5, 1_000, 20),
    "5 %, 1k": (0.05, 1_000, 20),
    "50 %, 10k": (0.5, 10_000, 4),
    "0.5 %, 10k": (0.005, 10_000, 4),
    "5 %, 100k": (0.05, 100_000, 2),
}
OF_SCIKIT_LEARN = ("sigmoid", "isotonic", "temperature")
MARKS = marks("promises")

Curve = Callable[[Floats], Floats]
# Log-odds of the truth by log-odds of the score, both from their middle.
CURVES: dict[str, Curve] = {
    "sound": lambda x: x,
    "slope 0.8": lambda x: 0.8 * x,
    "slope 0.8, +0.5": lambda x: 0.8 * x + 0.5,
    "slope 0.6": lambda x: 0.6 * x,
    "low end": lambda x: np.where(x < 0.0, 0.5 * x, x),
    "wave": lambda x: x + 0.6 * np.sin(1.5 * x),
    "step": lambda x: x + 0.8 * (x > 0.5),
}


@dataclass(frozen=True)
class Stream:
    """What became of one stream: gains in log loss of a prediction, and CPU seconds.

    Attributes
    ----------
    kind : str
        The family that `auto` chose; identity if no map was worth it.
    kept, total_kept : bool
        Whether the promised interval of the shape's gain, and of the whole gain, held what came.
    ours : float
        What came of the map that was proposed; 0 without one.
    chosen : float
        What came of the family that `auto` preferred, whether or not it was worth it.
    theirs : mapping of str to float
        What came of each method of the other packages.
    seconds : mapping of str to float
        CPU seconds of the fit, from counts (ours) and from rows (theirs).
    """

    kind: str
    kept: bool
    total_kept: bool
    ours: float
    chosen: float
    theirs: dict[str, float]
    seconds: dict[str, float]


class AsScored(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities are its only column."""

    def __init__(self) -> None:
        self.classes_ = np.array([0, 1])

    def fit(self, scores: Floats, outcomes: Floats) -> "AsScored":  # noqa: ARG002
        """Learn nothing."""
        return self

    def predict(self, scores: Floats) -> Floats:
        """Give the likelier class."""
        return (scores[:, 0] >= 0.5).astype(float)

    def predict_proba(self, scores: Floats) -> Floats:
        """Give the scores."""
        return np.column_stack([1.0 - scores[:, 0], scores[:, 0]])


def draw(
    curve: Curve, prevalence: float, rows: int, rng: np.random.Generator
) -> tuple[list[Floats], list[Floats]]:
    """Draw scores and outcomes of all days; the prior wanders."""
    middle = logit(prevalence)
    scores, outcomes = [], []
    for prior in wander(PRIOR, FITTED + LATER, rng):
        x = rng.normal(0.0, SPREAD, rows)
        scores.append(expit(middle + x))
        outcomes.append(rng.random(rows) < expit(middle + curve(x) + prior))
    return scores, outcomes


Fit = Callable[[Floats, Floats, Floats], dict[str, tuple[Floats, float]]]


def follow(curve: Curve, prevalence: float, rows: int, seed: int, fit_others: Fit) -> Stream:
    """Fit to the first days, and see what comes of it on the others."""
    rng = np.random.default_rng([seed, rows])
    scores, outcomes = draw(curve, prevalence, rows, rng)
    tallies = [tally_on_grid(y, s) for s, y in zip(scores, outcomes, strict=True)]
    later = daily_counts(tallies[FITTED:])
    begun = process_time()
    choice = choose_map(daily_counts(tallies[:FITTED]))
    seconds = {"ours": process_time() - begun}
    proposed = choice.chosen.fitted.map if choice.worth_it else CalibrationMap("identity")
    promised, shape = choice.chosen.log_loss, choice.chosen.shape
    came, own = gain(later, choice.chosen.fitted.map), own_gain(later, choice.chosen.fitted.map)
    found = fit_others(*map(np.concatenate, (scores[:FITTED], outcomes[:FITTED], scores[FITTED:])))
    theirs = {m: gain_of_rows(scores[FITTED:], outcomes[FITTED:], p) for m, (p, _) in found.items()}
    seconds |= {method: taken for method, (_, taken) in found.items()}
    return Stream(
        proposed.kind,
        kept=shape.low - 1e-12 <= own <= shape.high + 1e-12,
        total_kept=promised.low - 1e-12 <= came <= promised.high + 1e-12,
        ours=gain(later, proposed),
        chosen=came,
        theirs=theirs,
        seconds=seconds,
    )


def fit_scikit_learn(
    scores: Floats, outcomes: Floats, later: Floats
) -> dict[str, tuple[Floats, float]]:
    """Fit scikit-learn's calibrations to rows; map later ones, and count CPU seconds."""
    answers = {}
    for method in OF_SCIKIT_LEARN:
        begun = process_time()
        fitted = CalibratedClassifierCV(FrozenEstimator(AsScored()), method=method)
        fitted.fit(scores[:, None], outcomes.astype(int))
        found = fitted.predict_proba(later[:, None])[:, 1]
        answers[method] = bounded(found), process_time() - begun
    return answers


def bounded(mapped: Floats) -> Floats:
    """Keep scores from 0 and 1, which steps and bins give, and whose loss is infinite."""
    return np.asarray(np.clip(mapped, 1e-5, 1.0 - 1e-5), np.float64)


@contextmanager
def all_others(environments: Path) -> Iterator[Fit]:
    """Start netcal and betacal in their environment, beside scikit-learn."""
    command = [str(environment("netcal", environments)), str(Path(__file__).with_name("others.py"))]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as worker,
    ):

        def fit(scores: Floats, outcomes: Floats, later: Floats) -> dict[str, tuple[Floats, float]]:
            path = f"{folder}/rows.npz"
            np.savez(path, scores=scores, outcomes=outcomes.astype(int), later=later)
            assert worker.stdin and worker.stdout  # noqa: PT018 - they are pipes
            worker.stdin.write(f"{path}\n")
            worker.stdin.flush()
            while (line := worker.stdout.readline()) != "done\n":  # netcal prints, too
                if not line:
                    sys.exit("netcal and betacal ended before their answer.")
            with np.load(f"{path}.found.npz") as found:
                names = [name for name in found.files if not name.endswith(" seconds")]
                answers = {n: (bounded(found[n]), float(found[f"{n} seconds"])) for n in names}
            return fit_scikit_learn(scores, outcomes, later) | answers

        yield fit


def gain(later: DailyCounts, found: CalibrationMap) -> float:
    """Give the gain of a prediction on later days."""
    before, after = (losses_by_day(later, m)[0].sum() for m in (CalibrationMap("identity"), found))
    return float((before - after) / later.counts.sum())


def own_gain(later: DailyCounts, found: CalibrationMap) -> float:
    """Give the gain of the shape: every day has the level that suits it, before and after."""
    moved = logit(apply_calibration_map(expit(later.logits), found))
    before, after = (
        own_losses(x, later.counts, later.positives).sum() for x in (later.logits, moved)
    )
    return float((before - after) / later.counts.sum())


def gain_of_rows(scores: list[Floats], outcomes: list[Floats], mapped: Floats) -> float:
    """Give the gain of a prediction of rows."""
    p, y = np.concatenate(scores), np.concatenate(outcomes)
    before, after = (np.where(y, q, 1.0 - q) for q in (p, mapped))
    return float(np.log(after / before).mean())


def rows_of(name: str, place: str, streams: list[Stream]) -> str:
    """Lay out one world at one volume."""
    kinds = [f"{sum(s.kind == kind for s in streams)}" for kind in KINDS]
    best = max(streams[0].theirs, key=lambda m: np.mean([s.theirs[m] for s in streams]))
    behind = np.array([s.theirs[best] - s.ours for s in streams])
    error = behind.std(ddof=1) / np.sqrt(len(streams))
    kept = [np.mean([s.kept for s in streams]), np.mean([s.total_kept for s in streams])]
    cells = [
        name,
        place,
        f"{len(streams)}",
        " / ".join(kinds),
        *(f"{share:.0%}" for share in kept),
        f"{1e3 * np.mean([s.ours for s in streams]):.2f}",
        f"{1e3 * np.mean([s.chosen for s in streams]):.2f}",
        f"{best} {1e3 * np.mean([s.theirs[best] for s in streams]):.2f}",
        f"{1e3 * behind.mean():+.2f} ± {1e3 * error:.2f}",
        f"{np.mean([s.seconds['ours'] for s in streams]):.2f}",
        f"{np.mean([s.seconds[best] for s in streams]):.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


def in_all(everything: dict[str, list[Stream]]) -> str:
    """Add up how often promises were kept."""
    streams = [stream for found in everything.values() for stream in found]
    sound = everything["sound"]
    none = sum(s.kind == "identity" for s in sound)
    return (
        f"Of all {len(streams)} streams, the interval held the gain of the shape in "
        f"{np.mean([s.kept for s in streams]):.0%} and that of the whole map in "
        f"{np.mean([s.total_kept for s in streams]):.0%}. "
        f"{none} of {len(sound)} sound streams got no map."
    )


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = Path(__file__).parents[2] / ".venv" / "peers"
    parser.add_argument("--environments", type=Path, default=default, metavar="FOLDER")
    environments = parser.parse_args().environments
    heads = [
        "curve", "prevalence, predictions a day", "streams", " / ".join(KINDS), "shape kept",
        "whole kept", "proposed", "chosen", "best of the others", "behind it", "s, ours",
        "s, theirs",
    ]  # fmt: skip
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    everything: dict[str, list[Stream]] = {name: [] for name in CURVES}
    with all_others(environments) as fit_others:
        for place, (prevalence, rows, streams) in PLACES.items():
            for name, curve in CURVES.items():
                found = [
                    follow(curve, prevalence, rows, seed, fit_others) for seed in range(streams)
                ]
                lines.append(rows_of(name, place, found))
                print(lines[-1], flush=True)
                everything[name] += found
    lines += ["", in_all(everything)]
    write_section("\n".join(lines), MARKS)


if __name__ == "__main__":
    main()
