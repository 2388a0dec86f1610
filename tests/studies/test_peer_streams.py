"""The comparison with other continuous tests: what each is given, and when it is said to alarm."""

import numpy as np
from scipy.special import expit

from studies.peers.streams.run import REFERENCE, ROWS, first_alarm, states

START, DAYS = REFERENCE + 12, REFERENCE + 22


def test_a_curve_that_becomes_flat_is_found_where_scores_lie_near_the_ends() -> None:
    """Within three days of 50 rows, as nothing is said before; most scores are near 0 and 1."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        logits = np.clip(rng.normal(0.0, 9.0, ROWS * DAYS), -15.0, 15.0)
        slope = np.where(np.arange(logits.size) < ROWS * START, 1.0, 0.0)
        outcomes = (rng.random(logits.size) < expit(slope * logits)).astype(np.int64)
        words = states(expit(logits), outcomes)
        found.append(first_alarm(words, "calibration_drift", ROWS * REFERENCE))

    assert all(ROWS * START <= last < ROWS * (START + 3) for last in found)
