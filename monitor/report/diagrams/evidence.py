"""The evidence for a calibration drift over the days, its limit and its incidents."""

from collections.abc import Sequence
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from monitor.drift.records.verdict import Verdict
from monitor.report.diagrams.canvas import draw_nothing, dress, head, make_axes
from monitor.report.diagrams.scales import broken, day_number, show_days
from monitor.report.diagrams.series import ROOM, draw_line, in_order, name_once, owner
from monitor.report.diagrams.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONG = 5  # log10: evidence from here on is labelled as a power of ten
LEAST_TOP = 3.0  # log10: an axis shows at least evidence of 1,000 to 1
POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def draw_evidence(
    verdicts: Sequence[Verdict], *, axes: "Axes | None" = None, theme: Theme = LIGHT
) -> "Axes":
    """Draw the evidence for a calibration drift over time, with its limit and all incidents.

    Parameters
    ----------
    verdicts : sequence of Verdict
        Of one model and segment; a line breaks where days are missing.
    axes : Axes, optional
        Where to draw; by default in a new figure. The vertical axis is log10 of the odds.
    theme : Theme
        Its colours.

    Returns
    -------
    Axes
        That were drawn into.

    Raises
    ------
    ValueError
        If two verdicts are of the same day.
    """
    panel = make_axes(axes, theme, height=2.6)
    dress(panel, theme)
    ordered = in_order(verdicts)
    if not ordered:
        return draw_nothing(panel, theme, "Evidence for a calibration drift", "no verdicts")
    days = [verdict.day for verdict in ordered]
    for start, opened, last in incident_spans(ordered):
        panel.axvspan(
            day_number(max(start, days[0])) - 0.5, day_number(opened) - 0.5,
            color=theme.alarm, alpha=0.10, lw=0, label="drift, not yet found",
        )  # fmt: skip
        panel.axvspan(
            day_number(opened) - 0.5, day_number(last) + 0.5,
            color=theme.alarm, alpha=0.28, lw=0, label="incident",
        )  # fmt: skip
    limits = np.array([v.limit if v.compared else np.nan for v in ordered])
    reached = np.array([np.nan if v.reached is None else v.reached for v in ordered])
    x, evidence, limit = broken(days, reached, limits)
    draw_line(panel, x, evidence, None, theme.main, "evidence (starts again at the limit)")
    draw_line(panel, x, limit, None, theme.ink, "limit", style="--")
    panel.set(ylim=(0.0, np.nanmax([LEAST_TOP, *evidence, *limit]) * ROOM))
    panel.set_ylabel("evidence (odds to 1)")
    panel.locator_params(axis="y", integer=True, nbins=5)
    panel.yaxis.set_major_formatter(_odds)
    show_days(panel, days)
    name_once(panel)
    below = f"{owner(ordered[0])}, {days[0]} to {days[-1]}"
    head(panel, theme, "Evidence for a calibration drift", below, columns=2)
    return panel


def incident_spans(verdicts: Sequence[Verdict]) -> list[tuple[date, date, date]]:
    """List incidents as estimated first day, day found and last day open, of verdicts in order."""
    spans = []
    of_incident = groupby(
        (v for v in verdicts if v.incident),
        key=lambda v: v.incident and v.incident.opened,
    )
    for opened, during in of_incident:
        days = list(during)
        first = days[0].incident
        assert opened
        assert first
        spans.append((first.started, opened, days[-1].day))
    return spans


def _odds(log10: float, _: object = None) -> str:
    whole = round(log10)
    return f"{10**whole:,}" if whole < LONG else f"10{str(whole).translate(POWERS)}"
