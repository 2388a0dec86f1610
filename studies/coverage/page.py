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

Written by `python -m studies.coverage.run` from `studies/coverage/run.json`; the worlds
are described there. Nominal confidence is 95 %.

A calibration error has no negative side, and chance only raises it. A plain bootstrap of it
never holds 0 and so misses every calibrated model. The intervals here are *inverted*: they
hold the errors that could have given the value observed. The value itself may lie outside,
above its interval; that is what a calibrated model looks like.

How often the intervals of all predictions hold the truth where only some were labelled, at rates of
1 to 100 %, is in [chosen labels](chosen-labels.md#the-numbers-of-all-predictions).

| measure | interval | what it holds |
|---|---|---|
{kinds}
"Bootstrap" is `bootstrap.bootstrap_interval` with the method named. Published TCE has no
population value, as it rises with the rows of any model: its interval is for the mean over
samples of the same size. Spiegelhalter's z, `slope_z` and Hosmer-Lemeshow's statistic are tests:
they come with a p-value, and an interval would say nothing more. The null quantiles of TCE are
chance itself.

## Calibrated

{calibrated}

## Slope 0.8, prior right

{slope}

Columns: prevalence, rows; at the end all nine together. Entries: coverage in percent ± its
Monte-Carlo error, from at least {repetitions} samples for bootstrap intervals ({replicates}
replicates; half as many for smooth ECE) and {closed} for closed forms. `!` marks coverage below
90 %, `+` above 97 %, both by more than two such errors; `-` where most samples have no such
interval: a window no larger than N\\*, or an outcome seen less than twice.

{findings}
"""

FINDINGS = """\
What to see in it:

- **All nine worlds together, every interval but two holds the truth 90-97 % of the time**, on
  calibrated and on drifted data.
- TCE@N* is on the safe side: near 97 % when drifted, above when calibrated. Its bound
  of the variance is for measures that depend on every row alike, and the TCE of a calibrated
  model hardly does.
- MCE over uniform bins has no usable interval below a prevalence of 50 %: a bin that holds
  one row of the sample, or none, decides. Use MCE(Q), and read it with the size of its bin.
- Single cells of the bootstrap are known to a few percent only. The lowest are drifted models
  with few positives (MCE(Q), SKCE and the debiased CE_2 squared 84 to 90 %): there an
  inverted interval takes the shape of the error from a sample that hardly shows it.
- With five expected positives Wilson's, the logit of the AUC and the logarithm of the log
  score keep what plain normal intervals lose: 77 % for the AUC, 72 % for Tjur's R2, 89 % for the
  Brier score (1,000 samples).
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
