"""MCGrad: its multicalibration error by segment, with the p-value that its documentation reads."""

import pandas as pd
from mcgrad.metrics import MulticalibrationError

from studies.peers.worker import Alarms, answer, by_day

SIGNIFICANT = 0.05


def alarms(reference: pd.DataFrame, rows: pd.DataFrame) -> Alarms:
    """Give the days on which the error is significant, over all segments and of the whole."""
    del reference  # it tests each day against its own scores
    found: Alarms = {"multicalibration error, p < 0.05": [], "global ECCE, p < 0.05": []}
    for day, of_day in by_day(rows):
        error = MulticalibrationError(
            of_day, "outcome", "score", categorical_segment_columns=["segment"]
        )
        for rule, p in zip(found, (error.mce_pvalue, error.global_ecce_pvalue), strict=True):
            if p < SIGNIFICANT:
                found[rule].append(day)
    return found


if __name__ == "__main__":
    answer("mcgrad", alarms)
