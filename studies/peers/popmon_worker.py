"""popmon: a stability report against the reference, with its default traffic lights."""

import pandas as pd
import popmon

from studies.peers.worker import Alarms, answer

COLUMNS = ["scored_at", "score", "outcome"]
# Of a column with two values it is minus infinity every day, which is a red light.
LEFT_OUT = "chi2_zscore"
RED = 2.0  # of the traffic lights 0, 1 and 2


def alarms(reference: pd.DataFrame, rows: pd.DataFrame) -> Alarms:
    """Give the days with a red light for the scores, and for the outcomes."""
    reference, rows = (
        frame.loc[frame["outcome"].notna(), COLUMNS].astype({"outcome": bool})
        for frame in (reference, rows)
    )
    report = popmon.df_stability_report(
        rows,
        reference=reference,
        reference_type="external",
        time_axis="scored_at",
        time_width="1d",
        time_offset=str(rows["scored_at"].min().normalize()),
        features=["scored_at:score", "scored_at:outcome"],
    )
    lights = report.datastore["traffic_lights"]
    return {
        f"red light, {feature}s": [
            f"{day:%Y-%m-%d}"
            for day, row in lights[feature].iterrows()
            if (row.drop(row.filter(like=LEFT_OUT).index).to_numpy() >= RED).any()
        ]
        for feature in ("score", "outcome")
    }


if __name__ == "__main__":
    answer("popmon", alarms)
