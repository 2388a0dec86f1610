"""netcal: its ECE, with the rule that people write around it."""

import pandas as pd
from netcal.metrics import ECE

from studies.peers.worker import Alarms, above_usual, answer


def alarms(reference: pd.DataFrame, rows: pd.DataFrame) -> Alarms:
    """Give the days on which ECE is above its usual range."""
    ece = ECE(bins=10)

    def measure(outcomes: pd.Series, scores: pd.Series) -> float:
        return float(ece.measure(scores.to_numpy(), outcomes.to_numpy().astype(int)))

    return {"ECE > mean + 3 sd": above_usual(reference, rows, measure)}


if __name__ == "__main__":
    answer("netcal", alarms)
