"""docs/coverage.md, from the counts of studies/coverage/run.py."""

from collections.abc import Iterable, Mapping
from itertools import product
from math import sqrt
from typing import Any

from studies.coverage import page_entities
from studies.coverage.page_more import stored_section
from studies.coverage.worlds import PREVALENCES, SIZES, World, key

LEAST, MOST = 90.0, 97.0
ROUND, CLOSED_IN_ROUND, REPLICATES = 20, 250, 100  # samples of either kind, resamples
Counts = Mapping[str, Mapping[str, Any]]

# measure, what finds the interval, what it holds
KINDS = """\
| prevalence | `intervals.prevalence_interval`, Wilson | the true share |
| mean score | `intervals.mean_score_interval`, normal | the mean of all scores |
| intercept | `intervals.normal_interval` of `fit_intercept` | the intercept, in logit |
| Cox intercept; Cox slope | `intervals.normal_interval` of `fit_cox` | the line |
| Brier score | `intervals.brier_interval`, square of the next | the expected score |
| RBS | `intervals.rbs_interval`, delta method | its root, a bound of CE_2 and CE_1 |
| log score | `intervals.log_score_interval`, normal in the logarithm | the expected score |
| CORP uncertainty | `intervals.uncertainty_interval`, Wilson | the score of the true prevalence |
| AUC | `intervals.auc_interval`, DeLong in logit | the AUC |
| Tjur's R2 | `intervals.tjur_interval`, Welch in the logarithm | the difference of means |
| TCE@N* | `tce_at_size`, Hoeffding's bound, *wide by design* | mean TCE of samples of N* rows |
| ECE, PAVA-BC bins | `ece_interval.ece_interval`, inverted | mean of abs(P(y=1 given s) - s) |
| ECE, PAVA-BC bins, prior-adjusted | the same with `adjusted="prior"` | the same after the shift |
| ECE, 15 uniform bins | bootstrap, inverted | ECE of endless rows in these bins |
| ACE, 10 bins | bootstrap, inverted | the same |
| MCE(Q), 10 bins | bootstrap, inverted | the widest gap of endless rows |
| CE_2, 10 quantile bins | bootstrap, inverted; squared for `mean_squared_gap` | the same |
| debiased CE_2 squared | bootstrap, inverted; its root above 0 | the same |
| smooth ECE | bootstrap, inverted | smooth ECE of endless rows |
| KS; Kuiper; SKCE | bootstrap, inverted | the same of endless rows |
| CORP miscalibration; CORP miscalibration, log | bootstrap, inverted | what a rising map saves |
| CORP discrimination | bootstrap, bias-corrected | of endless rows |
| TCE, paper's sizes | bootstrap, inverted mean | *mean* TCE of samples of this size |
| MCE, 15 uniform bins | bootstrap, inverted mean: **misses** | *mean* MCE, samples of this size |
"""

WORDS = """\
# Intervals and how often they hold the truth

For anyone who uses an interval: how often does it hold the truth? `python -m studies.coverage.run`
counts it; nominal confidence is 95 %. Intervals of calibration errors are *inverted*: they hold the
errors that could have given the value observed, which may lie above its interval; a plain bootstrap
never holds 0. Where only some predictions were labelled, see [chosen
labels](chosen-labels.md#the-numbers-of-all-predictions).

| measure | interval | what it holds |
|---|---|---|
{kinds}
"Bootstrap" is `bootstrap.bootstrap_interval` with the method named. Published TCE rises with the
rows of any model, so its interval is for the mean over samples of the same size.

## Calibrated

{calibrated}

## Slope 0.8, prior right

{slope}

Columns: prevalence, rows; at the end all nine together. Entries: coverage in percent ± its
Monte-Carlo error, from at least {repetitions} samples for bootstrap intervals ({replicates}
replicates) and {closed} for closed forms. `!` marks coverage below 90 %, `+` above 97 %, both by
more than two such errors; `-` where most samples have no such interval.

{findings}
"""

FINDINGS = """\
All nine worlds together, every interval but two holds the truth 90-97 % of the time. TCE@N* is on
the safe side by design. MCE over uniform bins has no usable interval below a prevalence of 50 %:
use MCE(Q). The lowest cells are drifted models with few positives, 84 to 90 %.
"""


def cell(sides: Iterable[int]) -> str:
    """Print a coverage in percent, its Monte-Carlo error, and a mark if it is out of range."""
    _, right, _ = sides = list(sides)
    tries = sum(sides)
    # With every interval right the error is not 0: add two tries of each kind.
    smoothed = (right + 2) / (tries + 4)
    share, error = 100 * right / tries, 100 * sqrt(smoothed * (1 - smoothed) / (tries + 4))
    mark = " !" if share + 2 * error < LEAST else " +" if share - 2 * error > MOST else ""
    return f"{share:.0f} ± {error:.1f}{mark}"


def table(slope: float, counts: Counts) -> str:
    """Lay out one table: measures down, prevalence and size across."""
    columns = [World(p, slope, size) for p, size in product(PREVALENCES, SIZES)]
    heads = [f"{100 * w.prevalence:g} %, {w.size:,}" for w in columns]
    lines = ["| measure | " + " | ".join(heads) + " | all |", "|---" + "|---:" * 10 + "|"]
    entries = [counts[key(world)] for world in columns]
    for name in entries[0]["truths"]:
        found = [entry["held"].get(name, [0, 0, 0]) for entry in entries]
        rates = [sum(sides) / entry["rounds"] for sides, entry in zip(found, entries, strict=True)]
        kept = [rate >= max(rates) / 2 for rate in rates]
        cells = [cell(sides) if keep else "-" for sides, keep in zip(found, kept, strict=True)]
        total = [sum(side) for side in zip(*found, strict=True)]
        lines.append(f"| {name} | " + " | ".join([*cells, cell(total)]) + " |")
    return "\n".join(lines)


def page(counts: Counts) -> str:
    """Write the page."""
    rounds = min(entry["rounds"] for entry in counts.values())
    text = WORDS.format(
        kinds=KINDS,
        calibrated=table(1.0, counts),
        slope=table(0.8, counts),
        repetitions=rounds * ROUND,
        closed=f"{rounds * CLOSED_IN_ROUND:,}",
        replicates=REPLICATES,
        findings=FINDINGS,
    )
    return text + stored_section() + page_entities.stored_section()
