"""Draw the diagrams of docs/notebook.md from the results of the demo.

    make demo
    python -m studies.flights.diagrams [--demo demo-data]

Writes `docs/figures/flights-*.svg`: the stretched model of the demo, in June, when it breaks, and
over the year.
"""

import argparse
from datetime import date, timedelta
from pathlib import Path

from monitor.base.segment_names import WHOLE
from monitor.config import Config, load_config
from monitor.days.summary import merge_summaries, whole
from monitor.drift.curve.reference import Reference
from monitor.drift.fold.inputs import reference_of_day
from monitor.drift.records.verdict import Verdict
from monitor.evaluation.evaluation import Evaluation
from monitor.metrics.core.tally import Tally
from monitor.pipeline.verdicts.references import read_references
from monitor.report.diagrams import (
    draw_causes,
    draw_corp,
    draw_evidence,
    draw_prevalence,
    draw_prior_adjusted,
    draw_reference,
    draw_test_based,
    svg,
)
from monitor.store.store import Store

FOLDER = Path(__file__).parents[2] / "docs" / "figures"
MODEL, LAST, DAYS, WEEK = "flights-stretched", date(2013, 6, 30), 28, 7


def window(store: Store) -> Tally:
    """Add up the outcomes of the four weeks to the end of June."""
    days = [LAST - timedelta(days=i) for i in range(DAYS)]
    return whole(merge_summaries([store.read_summary(MODEL, day)[0] for day in days])).tally


def reference_of(config: Config) -> Reference:
    """Fit the reference that the end of June is compared with."""
    found = reference_of_day(LAST, read_references(config, MODEL).fitted)
    assert found
    reference = found.streams[WHOLE]
    assert isinstance(reference, Reference)
    return reference


def results(store: Store) -> tuple[list[Verdict], list[Evaluation]]:
    """Read all verdicts, and the evaluations of the windows of a week."""
    verdicts = [
        verdict
        for day in store.days("verdicts", MODEL)
        for verdict in store.read_verdicts(MODEL, day)[0]
        if verdict.segment == WHOLE
    ]
    evaluations = [
        found
        for day in store.days("evaluations", MODEL)
        for found in store.read_evaluations(MODEL, day)[0]
        if found.segment == WHOLE and found.window_days == WEEK
    ]
    return verdicts, evaluations


def main() -> None:
    """Draw all diagrams."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--demo", type=Path, default=Path("demo-data"))
    config = load_config(parser.parse_args().demo / "monitor.yaml")
    store = Store(config.store)
    june, reference = window(store), reference_of(config)
    verdicts, evaluations = results(store)
    pictures = {
        "test-based": draw_test_based(june),
        "corp": draw_corp(june),
        "prior-adjusted": draw_prior_adjusted(june),
        "reference": draw_reference(reference, june),
        "evidence": draw_evidence(verdicts),
        "causes": draw_causes(evaluations),
        "prevalence": draw_prevalence(evaluations, reference=reference.prevalence),
    }
    for name, axes in pictures.items():
        path = FOLDER / f"flights-{name}.svg"
        path.write_text(svg(axes, title=axes.get_title(loc="left")))
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
