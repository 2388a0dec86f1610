"""Draw the diagrams of docs/notebook.md from the results of the demo.

    make demo
    python -m tools.notebook_pictures [--demo demo-data]

Writes `docs/figures/flights-*.svg`: the stretched model of the demo, in June, when it breaks, and
over the year.
"""

import argparse
from datetime import date, timedelta
from pathlib import Path

from monitor.base.segment_names import WHOLE
from monitor.drift.curve.reference import Reference
from monitor.drift.fold.inputs import reference_of_day
from monitor.metrics.core.tally import Tally, merge
from monitor.read.results import Results, results_in
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

FOLDER = Path(__file__).parents[1] / "docs" / "figures"
MODEL, LAST, DAYS, WEEK = "flights-stretched", date(2013, 6, 30), 28, 7


def window(results: Results) -> Tally:
    """Add up the outcomes of the four weeks to the end of June."""
    days = [LAST - timedelta(days=i) for i in range(DAYS)]
    return merge(part.tally for day in days for part in results.summary(day).segments.values())


def reference_of(results: Results) -> Reference:
    """Read the reference that the end of June was compared with."""
    found = reference_of_day(LAST, [*results.store.read_fits(MODEL).values()])
    assert found
    reference = found.streams[WHOLE]
    assert isinstance(reference, Reference)
    return reference


def main() -> None:
    """Draw all diagrams."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--demo", type=Path, default=Path("demo-data"))
    results = results_in(str(parser.parse_args().demo.absolute() / "store"), MODEL)
    june, reference = window(results), reference_of(results)
    verdicts = results.of_segment(WHOLE, results.days("verdicts"))
    evaluations = [
        found
        for day in results.days("evaluations")
        for found in results.evaluations(day)
        if found.segment == WHOLE and found.window_days == WEEK
    ]
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
