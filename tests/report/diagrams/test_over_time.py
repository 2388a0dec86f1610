"""Evidence, causes and prevalence over the days are drawn as they are stored."""

from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest

from monitor.evaluation.evaluation import Evaluation
from monitor.report.diagrams import draw_causes, draw_evidence, draw_prevalence, svg
from monitor.report.diagrams.evidence import incident_spans
from monitor.report.diagrams.scales import day_number

FIRST = date(2026, 3, 1)


def line(axes: Any, name: str) -> Any:
    """Find the line with a name."""
    (found,) = (drawn for drawn in axes.get_lines() if drawn.get_label().startswith(name))
    return found


def names(axes: Any) -> list[str]:
    """Read the legend."""
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_evidence_reaches_its_limit_on_the_day_of_an_alert(verdicts: list[Any]) -> None:
    """The stored evidence is 0 after an alert; the line shows what was reached."""
    axes = draw_evidence(verdicts)

    drawn = line(axes, "evidence").get_ydata()
    assert np.isnan(drawn[:5]).all()
    assert drawn[20] == 3.2
    assert drawn[19] == pytest.approx(0.13 * 19)
    assert line(axes, "limit").get_ydata()[-1] == 3.0
    assert [label.get_text() for label in axes.get_yticklabels()][:2] == ["1", "10"]


def test_incidents_are_shaded(verdicts: list[Any]) -> None:
    """One shade goes from the drift's estimated start to its finding, one to its last day."""
    start, found, last = (FIRST + timedelta(days=n) for n in (14, 20, 30))

    axes = draw_evidence(verdicts)

    assert incident_spans(verdicts) == [(start, found, last)]
    spans = [(p.get_x(), p.get_x() + p.get_width()) for p in axes.patches]
    begun, opened, ended = (day_number(day) for day in (start, found, last))
    assert spans == [(begun - 0.5, opened - 0.5), (opened - 0.5, ended + 0.5)]
    assert names(axes)[:2] == ["drift, not yet found", "incident"]


def test_causes_share_a_scale_but_for_the_prior_shift(evaluations: list[Evaluation]) -> None:
    """Every cause has a panel with its newest value; days without causes are left out."""
    panels = draw_causes(evaluations).figure.axes

    captions = [panel.texts[0].get_text() for panel in panels]
    assert [text.partition(":")[0] for text in captions] == [
        "prior shift", "slope", "shape", "rest",
    ]  # fmt: skip
    assert captions[1] == "slope: 0.0040 ± 0.0039 at the end"
    assert len({panel.get_ylim() for panel in panels}) == 2
    assert panels[0].get_ylim() != panels[1].get_ylim() == panels[3].get_ylim()
    days = panels[0].get_lines()[1].get_xdata()
    assert days[-1] == day_number(FIRST + timedelta(days=36))


def test_prevalence_has_expectations_where_outcomes_are_awaited(
    evaluations: list[Evaluation],
) -> None:
    """The three last days show the prevalence to expect, with its interval."""
    axes = draw_prevalence(evaluations, reference=0.22)

    prevalence = line(axes, "prevalence").get_ydata()
    assert prevalence[[0, 36]] == pytest.approx([0.2, 0.236])
    assert names(axes)[1:] == ["prevalence (95 %)", "mean score", "reference", "expected (95 %)"]
    assert names(axes)[0] == "outcomes still arriving"
    assert len(axes.containers) == 3
    bar = axes.containers[0].lines[2][0].get_segments()[0]
    assert bar[:, 1] == pytest.approx([0.2, 0.31])


def test_order_does_not_matter_and_days_count_once(
    verdicts: list[Any], evaluations: list[Evaluation]
) -> None:
    """Results are sorted by day; two of one day are an error."""
    assert svg(draw_evidence(verdicts[::-1])) == svg(draw_evidence(verdicts))
    with pytest.raises(ValueError, match="there are two results of 2026-03-01: give those of one"):
        draw_causes([*evaluations, evaluations[0]])
