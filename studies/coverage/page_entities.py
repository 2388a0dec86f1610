"""The section of docs/coverage.md on entities, from the counts of studies/coverage/entities.py."""

import json
from collections.abc import Mapping
from pathlib import Path

from studies.coverage.page_more import cell

COUNTS = Path(__file__).with_name("entities.json")
BEGIN = "<!-- `python -m studies.coverage.entities` writes from here on. -->\n"
END = "<!-- end of entities. -->\n"
Counts = dict[str, list[list[int]]]  # of a measure: held and tried, without and with the key
REMOVED, GAIN = "log loss that an intercept removes", "gain of a map in the shadow"
CAUSES = tuple(f"log loss by {cause}" for cause in ("prior shift", "slope", "shape", "the rest"))
TCE, ABOVE = "TCE@N*", "*TCE is above chance (▲)*"
NAMES = (
    *("intercept", "slope", "RBS", "RBS, prior-adjusted", "ECE", "ECE, prior-adjusted"),
    *(REMOVED, *CAUSES, GAIN, TCE, ABOVE),
)
WORDS = """
## Where rows hang together

Written by `python -m studies.coverage.entities` from `studies/coverage/entities.json`. Entries:
coverage at 95 % ± its Monte-Carlo error, *without → with* `entity`; the last line is how often TCE
of a calibrated model is above its 95 % quantile by chance, nominally 5.9 % (`tce_null_reference`).

Entities have a score of their own, around which each of their rows scatters, and every row is
calibrated by itself, or has a slope of 0.8. *Independent*: 12,000 rows, each of an entity of its
own. *500 x 24*: 500 entities that are scored 24 times a day, with *one outcome* for the day or
outcomes that share 30 % of a latent variance. *Customers*: 1,000 that come every day, share 50 %
over days, and of whom 3 % leave a day. *Campaigns*: 200 with 15 rows a day each, that share 3 %, at
a prevalence of some 10 %. ECE has 20 resamples a world, as in the daily job, with which its
interval holds the truth 93 to 97 % of the time for independent rows.

How it is done: for a number that is a mean or has a standard error, the sums over 64 buckets of
what each row adds to it (its influence) say by how much its variance exceeds that of independent
rows, the *design effect*; its interval is wider by the root of that. ECE and TCE by chance are
worked out in simulated worlds; there the positives of each bin of scores move by what buckets
deviate from it, drawn with replacement (`monitor/metrics/core/dispersion.py`). What a map gains has
the variances over days and over buckets added, less that over buckets of days. A design effect is
known to some 18 % only, and is never below 1. The error of a cause over several days is at least
that of all their rows attributed as one. The interval of a prevalence to expect takes
the design effects of the reference's scores and outcomes, and of the scores of one of its days.

"""


FINDINGS = """\
What to see in it:

- Of entities that are scored 24 times with one outcome, the intervals of intercept, slope, RBS and
  ECE hold the truth 1 to 34 % of the time without the key, and TCE is above chance on 95 % of the
  days. With it they hold it 95 to 98 % of the time, and TCE is above chance on 5 %.
- With the key nearly all hold it 92 to 98 % of the time. Of drifted scores what an intercept
  removes, alone or as the shift of the prior, is held 82 to 94 % of the time, as with few
  independent rows: the last column has about as many as the drifted 500 x 24 and customers are
  worth, and holds it 86 to 87 %. ECE of drifted campaigns is held 90 % of the time.
- The causes of an error gain as much: of 24 rows with one outcome 36 to 64 % hold the truth without
  the key, and nearly all with it. In 16 % of these samples no increasing curved map fits: then
  shape explains 0 and has no interval, and is not counted. The rest knows rows by the bins of their
  scores, so with the key its own bins are made of those, and are fewer.
- Where rows are independent the key costs nothing.
"""


def section(counts: Mapping[str, Counts]) -> str:
    """Write the section between its marks."""
    lines = ["| number | " + " | ".join(counts) + " |", "|---" + "|---:" * len(counts) + "|"]
    for name in NAMES:
        cells = [
            " → ".join(cell(*pair) for pair in of[name]) if name in of else "-"
            for of in counts.values()
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return BEGIN + WORDS + "\n".join([*lines, "", FINDINGS, END])


def stored_section() -> str:
    """Write the section from what is stored; nothing if nothing is."""
    return section(json.loads(COUNTS.read_text())) if COUNTS.exists() else ""
