"""One year of evidence: prior shifts stay below the limit, a drift crosses it.

    python -m studies.drift.year

Draws docs/drift-year.svg from a simulated stream at 5 %, 20k a day: odds twice as high for a month,
half as high for three weeks, and from day 250 on a slope of 0.8.
"""

from datetime import timedelta
from pathlib import Path

import numpy as np

from monitor.drift.curve.reference import fit_reference
from monitor.drift.incidents.detecting import advance, limit, new_detector, update_incident
from studies.drift.rules import FALSE_ALERT_DAYS, FIRST, pool
from studies.drift.worlds import DRIFTS, World, stream

PICTURE = Path(__file__).parents[2] / "docs" / "drift-year.svg"
WORLD, REFERENCE, DAYS, DRIFTS_FROM, SEED = World(0.05, 20_000), 28, 300, 250, 7


def follow() -> tuple[list[float], list[float], int]:
    """Give evidence and prevalence of each day, and the day of the opening."""
    drawn = stream(WORLD, DRIFTS["slope 0.8"], SEED, days=DAYS, start=DRIFTS_FROM)
    days = list(drawn)
    reference, detector = fit_reference(days[:REFERENCE]), new_detector()
    evidence, prevalence = [], []
    for t, parts in enumerate(days[REFERENCE:]):
        day = FIRST + timedelta(days=t)
        detector, weighed = advance(detector, reference, [day], parts)
        evidence.append(detector.evidence)
        whole = pool(parts)
        prevalence.append(float(whole.positives.sum() / whole.counts.sum()))
        alarm = detector.evidence >= limit(FALSE_ALERT_DAYS)
        detector = update_incident(detector, day, weighed, alarm=alarm)
        if alarm:
            return evidence, prevalence, t
    return evidence, prevalence, DAYS


def main() -> None:
    """Draw the picture."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams |= {"svg.hashsalt": "year", "font.size": 9, "svg.fonttype": "none"}
    evidence, prevalence, opened = follow()
    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 4.2), sharex=True, layout="constrained")
    days = np.arange(len(evidence))
    above.plot(days, 100 * np.array(prevalence), color="#0072b2", linewidth=1)
    above.set_ylabel("prevalence, %")
    below.plot(days, evidence, color="#d55e00", linewidth=1.2)
    below.axhline(limit(FALSE_ALERT_DAYS), color="black", linestyle="--", linewidth=0.8)
    below.text(2, limit(FALSE_ALERT_DAYS) + 0.08, "limit: log10 A = 3", fontsize=8)
    below.axvline(DRIFTS_FROM, color="#999999", linewidth=0.8)
    below.text(DRIFTS_FROM - 2, 2.0, "slope 0.8\nbegins", ha="right", fontsize=8)
    below.text(opened - 2, 3.5, f"found on day {opened}", ha="right", fontsize=8)
    below.set_ylabel("evidence, log10")
    below.set_xlabel("days after the reference")
    below.set_ylim(0, 4.2)
    for panel in (above, below):
        panel.spines[["top", "right"]].set_visible(False)
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
