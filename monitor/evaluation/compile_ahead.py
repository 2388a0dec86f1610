"""The functions of an evaluation that take longest to compile: `python -m` this compiles them.

They are most of what a first run would wait for, so another process compiles them meanwhile.
"""

import numpy as np

from monitor.evaluation.score_errors import Settings, errors_of_each
from monitor.metrics.core.compiled import claim as claim_function
from monitor.metrics.core.tally import Tally
from monitor.metrics.intervals.ece_interval import ece_interval
from monitor.metrics.test_based.null_reference import tce_null_reference
from monitor.metrics.test_based.tce import rejected_per_bin

ROWS = 1_000


def claim() -> bool:
    """Tell whether this process is the first to ask, and nothing of it is on disk."""
    return claim_function(rejected_per_bin)


def main() -> None:
    """Evaluate made-up scores, in the order in which `evaluate` calls what is compiled."""
    rng = np.random.default_rng(2026)
    scores = np.sort(rng.random(ROWS))
    positives = (rng.random(ROWS) < scores).astype(np.int64)
    t = Tally(scores, np.ones(ROWS, np.int64), positives)
    settings = Settings(alpha=0.05, null_replicates=1, tce_size=ROWS // 2)
    errors_of_each([t], settings, rng)
    tce_null_reference(t, min_size=20, max_size=100, alpha=0.05, replicates=1, rng=rng)
    ece_interval(t, adjusted="raw", replicates=20, rng=rng)


if __name__ == "__main__":
    main()
