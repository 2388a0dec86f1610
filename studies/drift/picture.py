"""The picture of `studies/drift/run.py`: days on false alarm against delay, rule by rule."""

from collections.abc import Sequence
from math import isinf
from pathlib import Path

import numpy as np

from studies.drift.estimates import median
from studies.drift.scenario import YEAR
from studies.drift.scenarios import SCENARIOS
from studies.drift.tables import OURS, Found, Results, chosen, days_on, delays, rules_of

NO_ALARM, NO_DELAY, NEVER = 0.02, 0.5, 200.0  # where the picture puts these


def draw(results: Results, path: Path) -> None:
    """Draw days on false alarm against delay for every rule, one panel a drift, at 5 %, 20k."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams |= {"svg.hashsalt": "drift", "font.size": 9, "svg.fonttype": "none"}
    scenario, rules = SCENARIOS["sound (5 %, 20k)"], rules_of(results)
    sound = chosen(results, scenario, "sound")
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True, layout="constrained")
    for panel, name in zip(panels, ("slope 0.8", "slope 0.9"), strict=True):
        found = chosen(results, scenario, name)
        for i, rule in enumerate(rules):
            ours = rule == OURS
            share = 100 * float(np.mean([days_on(f, rule) for f in sound])) / YEAR
            panel.plot(
                drawn_delay(found, rule, scenario.start, i),
                max(share, NO_ALARM),
                marker="*" if ours else "osD^vPX"[i],
                markersize=17 if ours else 8,
                color="#b2182b" if ours else f"C{i}",
                linestyle="none",
                label=rule.strip("*"),
            )
        panel.set(title=f"{name}; {scenario.world} predictions a day", xlabel="median delay, days")
        panel.set(xscale="log", yscale="log", xlim=(0.4, 400), ylim=(NO_ALARM / 2, 200))
        panel.set_xticks(
            [NO_DELAY, 1, 3, 10, 30, NEVER], ["0", "1", "3", "10", "30", "never, or\nalways on"]
        )
        panel.minorticks_off()
        panel.grid(color="#dddddd", linewidth=0.5)
        panel.set_axisbelow(True)
    panels[0].set_ylabel("days on false alarm")
    panels[0].set_yticks([NO_ALARM, 0.1, 1, 10, 100], ["none", "0.1 %", "1 %", "10 %", "100 %"])
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def drawn_delay(found: Sequence[Found], rule: str, start: int, number: int) -> float:
    """Find where a rule belongs on the logarithmic axis of delays."""
    never = NEVER * 1.13 ** (number % 3 - 1)  # apart, where many rules are
    waits = delays(found, rule, start)
    if len(waits) < len(found) / 2:
        return never
    middle = median(waits)[0]
    return never if isinf(middle) else max(middle, NO_DELAY)
