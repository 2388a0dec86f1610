"""Diagrams for people, static and in two themes, drawn with matplotlib (the extra `report`).

Rule 1: every function draws into `axes`, or into a new figure, and returns the axes; a diagram of
several panels divides the axes that it gets and returns the main panel.
Rule 2: data stay in their own units (probabilities, dates), so a caller can add to a diagram.
Rule 3: matplotlib is imported when something is drawn, and its global settings stay as they are.
"""

from monitor.report.diagrams.bins import draw_bins
from monitor.report.diagrams.canvas import png, svg
from monitor.report.diagrams.causes import draw_causes
from monitor.report.diagrams.corp import draw_corp, draw_prior_adjusted
from monitor.report.diagrams.evidence import draw_evidence
from monitor.report.diagrams.prevalence import draw_prevalence
from monitor.report.diagrams.reference import draw_reference
from monitor.report.diagrams.tce import draw_test_based
from monitor.report.diagrams.theme import DARK, LIGHT, Theme

__all__ = [
    "DARK",
    "LIGHT",
    "Theme",
    "draw_bins",
    "draw_causes",
    "draw_corp",
    "draw_evidence",
    "draw_prevalence",
    "draw_prior_adjusted",
    "draw_reference",
    "draw_test_based",
    "png",
    "svg",
]
