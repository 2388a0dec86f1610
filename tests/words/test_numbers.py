from datetime import date
from math import log10, nan

import pytest
from rich.console import Console, RenderableType

from monitor.metrics.core.estimate import Estimate
from monitor.read.incidents import IncidentSummary
from monitor.report.incidents import incident_details
from monitor.report.recent import Recent, RecentDay, recent_text
from monitor.words.numbers import odds, times

DAY = date(2026, 3, 7)


def written(shown: RenderableType) -> str:
    """Write a table as a terminal shows it."""
    console = Console(width=140, color_system=None)
    with console.capture() as captured:
        console.print(shown)
    return captured.get()


@pytest.mark.parametrize(
    ("ratio", "said"), [(1.0, "1"), (1_096.0, "1,100"), (13_440.0, "13,000"), (2e12, "10^12")]
)
def test_evidence_is_the_same_wherever_it_is_shown(ratio: float, said: str) -> None:
    """In a sentence, on a page, in the table of incidents and beside the last weeks."""
    found = IncidentSummary(DAY, DAY, DAY, DAY, "too_extreme", log10(ratio))
    recent = Recent([RecentDay(DAY, evidence=log10(ratio))], 3.0, None, ())

    assert times(log10(ratio)) == said
    assert odds(log10(ratio)).startswith(f"{said}\u00a0")
    assert said in written(incident_details("", [found])).split()
    assert f"{said} to 1; the limit is 1,000" in written(recent_text(recent))


def test_an_estimate_writes_its_uncertainty() -> None:
    """With brackets, without, alone, brief, or as a standard error; a sign is the value's."""
    shift = Estimate.normal(0.58, 0.04)
    stored = Estimate(shift.value, shift.low, shift.high)

    assert f"{shift:+z.2f}" == "+0.58 (95 % +0.50 to +0.66)"
    assert f"{shift:.1f plain}" == "0.6, 95 % 0.5 to 0.7"
    assert f"{shift:.3f interval}" == "95 % 0.502 to 0.658"
    assert f"{shift:+.1f brief}" == "+0.6 (+0.5 to +0.7)"
    assert f"{shift:.1f value} or {shift:.1f range}" == "0.6 or 0.5 to 0.7"
    assert f"{shift:+z.2f error}" == f"{stored:+z.2f error}" == "+0.58 (standard error 0.04)"
    assert f"{shift:+.1f plain error}, {shift:+.2f only error}" == (
        "+0.6, standard error 0.0, standard error 0.04"
    )
    assert f"{shift}" == repr(shift)


@pytest.mark.parametrize("style", ["", " plain", " brief", " value"])
def test_an_estimate_without_an_interval_is_its_value(style: str) -> None:
    """Nothing is claimed that was not computed."""
    alone = Estimate(0.81, nan, nan)

    assert format(alone, f".2f{style}") == "0.81"
    assert f"{alone:.2f interval}" == "no interval"
