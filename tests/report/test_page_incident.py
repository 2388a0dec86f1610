"""An open drift on the report page: one description, its course, its repair and next steps."""

import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from monitor.base.segment_names import WHOLE
from monitor.config import Config, load_config
from monitor.config.schema import Report
from monitor.drift.records.day_evidence import KINDS
from monitor.drift.records.region_state import Break
from monitor.drift.records.verdict import SLOPE_KINDS, Verdict
from monitor.metrics.core.tally import tally_on_grid
from monitor.metrics.maps.calibration_map import CalibrationMap, apply_calibration_map
from monitor.metrics.maps.daily_counts import daily_counts
from monitor.pipeline.verdicts.references import read_references
from monitor.read.incidents import IncidentSummary
from monitor.read.results import results_of
from monitor.read.standing import Standing
from monitor.report.page import assemble
from monitor.report.page.content import Page
from monitor.report.page.day import day_on_page
from monitor.report.page.html import model_html
from monitor.report.page.repair import OF_ROWS, repair_of, tenths_of
from monitor.report.page.restarts import restarts
from monitor.report.page.still import LEFT, SQUARE, TOP, repair_svg
from monitor.report.page.tables import incident_rows
from monitor.words.broken import map_at
from monitor.words.next_steps import SECTION
from monitor.words.trust import NO_MAP
from monitor.words.verdict import MEANINGS, sentences
from tests.conftest import run_command
from tests.support.cases import some
from tests.support.paths import ROOT
from tests.words.test_facts import SEEDS, Drawn, verdict_of

CLASSES = """\
store: store
models:
  animals:
    predictions:
      path: "predictions/{day}.parquet"
      classes: {names: [cat, dog, eel], vector: [cat, dog, eel]}
    outcomes: {path: "outcomes/{day}.parquet"}
  highest:
    predictions:
      path: "predictions/{day}.parquet"
      classes: {names: [cat, dog, eel], top: {scores: best}}
    outcomes: {path: "outcomes/{day}.parquet"}
  empty:
    predictions: {path: "predictions/{day}.parquet"}
    outcomes: {path: "outcomes/{day}.parquet"}
"""


@pytest.fixture(scope="module")
def config(two_models: Path) -> Config:
    """Load the configuration of the two models."""
    return load_config(two_models / "monitor.yaml")


@pytest.fixture(scope="module")
def page(config: Config) -> Page:
    """Assemble the page of the model that drifts."""
    return assemble.model_page(config, "fraud", read_references(config, "fraud").fitted)


def test_the_repair_is_what_the_command_says(two_models: Path, page: Page) -> None:
    """Word for word, with the same command among the next steps; the map halves the error."""
    ended = run_command(
        "recalibrate", "--config", two_models / "monitor.yaml", "--model", "fraud", "--json"
    )
    told = json.loads(ended.out)
    assert page.repair

    assert told["worth_it"]
    assert [*page.repair.sentences] == told["sentences"]
    assert f"{page.repair.command} --out map.json" in [s.command for s in page.next_steps]
    assert page.repair.span[1] == page.day.day
    before = sum(abs(each.score - each.share) for each in page.repair.tenths)
    after = sum(abs(each.mapped - each.share) for each in page.repair.tenths)
    assert after < 0.5 * before
    assert model_html(page).count('class="still"') == 3


def test_the_runbook_is_a_link_where_its_address_is_configured(config: Config, page: Page) -> None:
    """Without an address the command that writes it stands there, to copy."""
    report = Report(path="pages", runbook="https://wiki.test/runbook")
    linked = assemble.model_page(
        config.model_copy(update={"report": report}),
        "fraud",
        read_references(config, "fraud").fitted,
    )
    link = '<a href="https://wiki.test/runbook#calibrationdrift">'

    assert "calibration-monitor assets --into monitoring" in [s.command for s in page.next_steps]
    assert link not in model_html(page)
    assert f"{link}{SECTION}</a>" in model_html(linked)
    assert "calibration-monitor assets" not in model_html(linked)
    assert "## CalibrationDrift\n" in (ROOT / "alerts/runbook.md").read_text()


def test_where_no_map_can_be_drawn_the_panel_says_why(tmp_path: Path) -> None:
    """Classes, highest scores, and a store that has too little: a reason, and no curve."""
    path = tmp_path / "monitor.yaml"
    path.write_text(CLASSES)
    config = load_config(path)
    drifting = next(v for seed in range(SEEDS) if (v := verdict_of(Drawn(seed))).incident)

    def said(model: str) -> str:
        repair = repair_of(config, replace(drifting, model=model, segment=WHOLE, where=None), 7)
        assert repair.tenths == ()
        return repair.sentences[0]

    assert said("animals") == OF_ROWS
    assert said("highest") == NO_MAP
    assert "no final day with outcomes is stored" in said("empty")


@pytest.mark.parametrize("seed", some(range(3), 3))
def test_tenths_are_means_of_rows(seed: int) -> None:
    """Compared with rows that are sorted and cut; a tenth is off by the rows of one score."""
    rng = np.random.default_rng(seed)
    scores = np.repeat(rng.beta(1.0, 6.0, 500), 20)
    outcomes = rng.random(scores.size) < scores
    bent = CalibrationMap("platt", -0.3, (0.7,))
    tenths = tenths_of(daily_counts([tally_on_grid(outcomes, scores)]), bent)
    order = np.argsort(scores, kind="stable")
    mapped = apply_calibration_map(scores, bent)

    assert len(tenths) == 10
    for each, rows in zip(tenths, np.array_split(order, 10), strict=True):
        spread = np.ptp(scores[rows]) + 0.002  # one score moves over an edge, and the grid
        assert each.score == pytest.approx(scores[rows].mean(), abs=0.1 * spread + 0.002)
        assert each.mapped == pytest.approx(mapped[rows].mean(), abs=0.1 * spread + 0.002)
        assert each.share == pytest.approx(outcomes[rows].mean(), abs=0.05)
    # Every point is inside the drawing, on either axis.
    rare = [replace(each, score=each.score / 50, mapped=each.mapped / 50) for each in tenths]
    for drawn in (repair_svg(tenths), repair_svg(rare)):
        assert drawn.count("<circle") == 20
        assert "nan" not in drawn
        assert ' cx="-' not in drawn
        assert ' cy="-' not in drawn


def test_the_onset_of_a_long_drift_is_in_view(
    config: Config, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few days a page has in full: the older ones show evidence, and no bins."""
    monkeypatch.setattr(assemble, "DAYS_SHOWN", 4)
    short = assemble.model_page(config, "fraud", read_references(config, "fraud").fitted)

    verdicts = results_of(config, "fraud").verdicts(page.day.day)
    drifts = {v.segment: v.incident for v in verdicts if v.incident}
    onset = min(min(drift.start_low, drift.started) for drift in drifts.values())
    assert drifts.keys() > {WHOLE}
    assert short.days[0].day == onset - timedelta(days=7)
    assert short.detailed == short.days[-1].day - timedelta(days=3)
    in_full = {day.day: day for day in page.days}
    for day in short.days:
        same = in_full[day.day]
        early = day.day < short.detailed
        assert bool(day.reliability) == (not early)
        assert [*day.segments] == [row for row in same.segments if row[0] in drifts or not early]
        assert (day.state, day.reasons, day.figures) == (same.state, same.reasons, same.figures)


def test_every_fall_of_the_evidence_to_zero_has_its_reason(page: Page) -> None:
    """The reasons stand exactly on the days after the limit was reached, and on the first."""
    reasons, from_zero = restarts(page.days), True
    seen = set()
    for day, reason in zip(page.days, reasons, strict=True):
        verdict = day.whole.verdict
        if verdict and verdict.compared:
            assert bool(reason) == from_zero, day.day
            seen.add(reason.partition(" on ")[0])
            if verdict.final:  # a day that awaits outcomes goes on from the last one that did not
                from_zero = (verdict.reached or 0.0) >= verdict.limit

    assert seen == {
        "",
        "starts again from zero after the days of its reference",
        "starts again from zero, because it reached the limit",
    }


def test_one_incident_has_one_description() -> None:
    """Whatever is drawn: sentence, table and figure are of the same kind, and so is its size."""
    kinds = set()
    for seed in range(SEEDS):
        verdict = verdict_of(Drawn(seed))
        incident = verdict.incident
        if verdict.state not in {"calibration_drift", "undecided"} or not incident:
            continue
        told = verdict.headline(incident)
        past = IncidentSummary(
            incident.opened,
            incident.started,
            incident.start_low,
            incident.start_high,
            incident.kind,
            incident.evidence,
            kind_now=told.kind,
        )
        ((_, _, _, _, named, *_),) = incident_rows({verdict.segment: [past]}).rows
        figures = {
            f.label: f for f in day_on_page(verdict.day, {WHOLE: Standing(verdict=verdict)}).figures
        }
        kinds.add(told.kind)

        assert told.kind.replace("_", " ") in named.partition(", at first")[0]
        if told.kind in MEANINGS and not verdict.of_third_choices:
            assert MEANINGS[told.kind] in sentences(verdict)[0]
        assert "Size" not in figures or "Slope" not in figures
        if "Size" in figures:
            assert figures["Size"].value == f"{told.size:.2f}"
            assert told.kind.replace("_", " ") in figures["Size"].note
        assert ("Size" in figures) == (told.kind not in SLOPE_KINDS)
    assert kinds >= {*KINDS}


def at_one_value() -> Verdict:
    """Draw an open drift, and let 5 % of the rows have the score 0.5."""
    drawn = (verdict_of(Drawn(seed)) for seed in range(SEEDS))
    bent = (v for v in drawn if v.state == "calibration_drift" and v.distortion)
    found = next(v for v in bent if v.incident is v.distortion)
    assert found.incident
    place = Break(
        *("value", 512, 513, 0.5, 0.5, 0.0, float("nan"), 100, 24, 2_000),
        profile=np.zeros(16),
        information=1.0,
    )
    return replace(
        found, detector=replace(found.detector, incident=replace(found.incident, place=place))
    )


def test_the_place_of_a_drift_is_marked_in_the_diagram(page: Page) -> None:
    """At its scores, with the sentence of the verdict."""
    verdict = at_one_value()
    assert verdict.incident
    drawn = next(day.reliability for day in page.days if day.reliability)
    marked = replace(page.day, whole=Standing(verdict), reliability=replace(drawn, delta=None))
    days = [*page.days[: page.chosen], marked, *page.days[page.chosen + 1 :]]
    html = model_html(replace(page, days=days))
    before = model_html(page)

    assert "5 % of the rows have the score 0.50 (none in the reference); 24 % of them" in html
    assert html.count('<rect class="place"') == before.count('<rect class="place"') + 1
    (x, wide) = re.findall(r'class="place" x="([0-9.]+)".*?width="([0-9.]+)"', html)[0]
    middle = (float(x) + float(wide) / 2 - LEFT) / (SQUARE - LEFT - TOP)
    assert middle == pytest.approx(0.5, abs=0.001)  # a tenth of a pixel
    assert "where the drift sits" in html


def test_what_a_map_can_do_for_a_place_is_said() -> None:
    """Nothing for one value; in a region only what bends does."""
    incident = at_one_value().incident
    assert incident
    place = incident.place
    assert place
    region = replace(place, family="region", first_score=0.3, last_score=0.5)

    assert "no map can separate these rows" in map_at(place, bends=True)
    assert map_at(region, bends=True).endswith(
        "scores from 0.30 to 0.50, and this map bends there."
    )
    assert "only a spline or isotonic map" in map_at(region, bends=False)
