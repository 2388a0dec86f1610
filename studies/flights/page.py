"""The results of `studies/flights/run.py` as Markdown tables and as a picture."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from studies.flights.watch import Watched

# The first day on which the slope differs from March, by model; the first with another curve.
SLOPE_HOLDS = {"flights": date(2013, 8, 1), "flights-stretched": date(2013, 6, 1)}
BENT_FROM, LAST = date(2013, 6, 1), date(2013, 12, 31)
COLUMNS = {
    "slope": "slope, `flights`",
    "stretched": "slope, `flights-stretched`",
    "within": "slope within parts of the day, `flights`",
    "ends": "bend of the ends, logit",
}
OF_PARTS = {"hour": "hour", "carrier": "carrier", "destination": "destination"}
RED, BLUE, GREY = "#b2182b", "#2166ac", "#4d4d4d"


def markdown(months: Sequence[Mapping[str, Any]], watched: Mapping[str, Sequence[Watched]]) -> str:
    """Write the tables."""
    parts = [truth_table(months, COLUMNS | {k: f"{v} part" for k, v in OF_PARTS.items()})]
    for model, rules in watched.items():
        parts.append(alerts_table(model, rules))
    parts.append("![Slope by month, and every rule's alarms](drift-flights.svg)\n")
    return "\n".join(parts)


def truth_table(months: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> str:
    """Tabulate the results of the regressions."""
    lines = [
        f"| month | late | {' | '.join(columns.values())} |",
        "| --- " * (len(columns) + 2) + "|",
    ]
    for month in months:
        cells = " | ".join(f"{month[c][0]:.2f} ± {month[c][1]:.2f}" for c in columns)
        lines.append(f"| {month['month']:%B} | {100 * month['prevalence']:.0f} % | {cells} |")
    return "\n".join(lines) + "\n"


def spans(model: str) -> dict[str, tuple[date, date]]:
    """Name the periods in which alerts are counted separately."""
    holds = SLOPE_HOLDS[model]
    found = {"before June": (date.min, BENT_FROM)}
    if holds > BENT_FROM:
        found["June, July"] = (BENT_FROM, holds)
    return found | {f"from {holds:%B} on": (holds, date.max)}


def alerts_table(model: str, rules: Sequence[Watched]) -> str:
    """Tabulate when each rule alerted."""
    counted, holds = spans(model), SLOPE_HOLDS[model]
    shares_of = f"days on alarm before → from {holds:%B} on"
    lines = [
        f"| `{model}` | alerts {' | '.join(counted)} | {shares_of} | the first |",
        "| --- " * (len(counted) + 3) + "|",
    ]
    for found in rules:
        counts = [sum(a <= day < b for day in found.alerts) for a, b in counted.values()]
        cells = " | ".join(str(count) for count in counts)
        shares = " → ".join(f"{100 * share:.0f} %" for share in shares_on(found, holds))
        lines.append(f"| {found.rule} | {cells} | {shares} | {first_dates(found)} |")
    return "\n".join(lines) + "\n"


def shares_on(found: Watched, holds: date) -> tuple[float, float]:
    """Return the shares of days on alarm while the slope was unchanged, and after."""
    before = sum(day < holds for day in found.alarms)
    return (
        before / (holds - found.first).days,
        (len(found.alarms) - before) / ((LAST - holds).days + 1),
    )


def first_dates(found: Watched) -> str:
    """List the first three alerts, with the names that the detector gave."""
    listed = [
        f"{day.day} {day:%b}" + (f" `{kind}`" if kind else "")
        for day, kind in list(found.alerts.items())[:3]
    ]
    more = ", …" if len(found.alerts) > len(listed) else ""
    return ", ".join(listed) + more if listed else "none"


def draw(
    months: Sequence[Mapping[str, Any]],
    watched: Mapping[str, Sequence[Watched]],
    path: Path,
) -> None:
    """Draw the slope of every month above the alarms of every rule, a column for each model."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams |= {"svg.hashsalt": "flights", "font.size": 9, "svg.fonttype": "none"}
    figure, panels = plt.subplots(
        2,
        2,
        figsize=(11, 6.4),
        sharex=True,
        sharey="row",
        height_ratios=(3, 4),
        layout="constrained",
    )
    for column, (model, rules) in enumerate(watched.items()):
        _draw_slopes(panels[0, column], model, months)
        _draw_alarms(panels[1, column], model, rules)
    panels[0, 0].set_ylabel("slope of the outcomes\non the scores' log-odds")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _draw_slopes(panel: Any, model: str, months: Sequence[Mapping[str, Any]]) -> None:
    shown = {"stretched": (RED, "s", "day and origin")}
    if model == "flights":
        shown = {
            "slope": (BLUE, "o", "day and origin"),
            "within": (GREY, "D", "day, origin and part of the day"),
        }
    middles = np.array([month["month"] for month in months], "datetime64[D]") + 13
    for offset, (key, (color, marker, label)) in enumerate(shown.items()):
        values, errors = np.array([month[key] for month in months]).T
        panel.errorbar(
            middles + 4 * offset,
            values,
            1.96 * errors,
            fmt=marker,
            color=color,
            markersize=5,
            capsize=2,
            label=label,
        )
    panel.axhline(1.0, color="black", linewidth=0.8)
    panel.set(ylim=(0.0, 1.4))
    panel.set_title(model, pad=18)
    panel.legend(
        loc="lower left",
        framealpha=1.0,
        edgecolor="none",
        title="an intercept for each …",
        alignment="left",
    )
    _mark_truth(panel, model)
    above = {"va": "bottom", "fontsize": 8, "transform": panel.get_xaxis_transform()}
    panel.text(SLOPE_HOLDS[model], 1.01, "slope falls", **above)
    if SLOPE_HOLDS[model] > BENT_FROM:
        panel.text(BENT_FROM, 1.01, "curve bends", **above)


def _draw_alarms(panel: Any, model: str, rules: Sequence[Watched]) -> None:
    from matplotlib.patches import PathPatch

    for row, found in enumerate(rules):
        color = RED if found.rule.startswith("**") else GREY
        panel.axhspan(row - 0.32, row + 0.32, color="#f2f2f2", zorder=0)
        panel.add_patch(PathPatch(_runs(found.alarms, row), color=color, linewidth=0))
        panel.plot([*found.alerts], [row] * len(found.alerts), "v", markersize=6, color="black")
    panel.set_yticks(range(len(rules)), [found.rule.replace("*", "") for found in rules])
    panel.set(ylim=(len(rules) - 0.5, -0.5))
    panel.set_xlim(date(2013, 3, 1), date(2014, 1, 1))
    starts = [date(2013, month, 1) for month in range(3, 13)]
    panel.set_xticks(starts, [f"{start:%b}" for start in starts], ha="left")
    _mark_truth(panel, model)


def _runs(alarms: Sequence[date], row: int) -> Any:
    """Outline the spans of days on alarm, as one path: a patch for each would fill a file."""
    from matplotlib.path import Path as Outline

    days = np.array(alarms, "datetime64[D]").astype(float)
    if not days.size:
        return Outline(np.zeros((0, 2)))
    gaps = np.nonzero(np.diff(days) > 1)[0]
    first, last = np.append(days[0], days[gaps + 1]), np.append(days[gaps], days[-1]) + 1
    low, high = row - 0.32, row + 0.32
    corners = [
        [(a, low), (b, low), (b, high), (a, high), (a, low)]
        for a, b in zip(first, last, strict=True)
    ]
    return Outline.make_compound_path(*(Outline(one, closed=True) for one in corners))


def _mark_truth(panel: Any, model: str) -> None:
    panel.axvline(SLOPE_HOLDS[model], color="black", linestyle="--", linewidth=1)
    if SLOPE_HOLDS[model] > BENT_FROM:
        panel.axvline(BENT_FROM, color="black", linestyle=":", linewidth=1)
