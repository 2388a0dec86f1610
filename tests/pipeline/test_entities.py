"""Verdicts of a model with entities: the same bytes however they came."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
from scipy.special import expit

from monitor.base.segment_names import WHOLE
from monitor.config import Config, load_config
from monitor.days.summary import Segment, Summary
from monitor.metrics.core.tally import tally_on_grid
from monitor.pipeline.runs.evaluations import evaluate_days
from monitor.pipeline.verdicts.references import first_sensitivity, read_references
from monitor.store.sealing import open_table
from monitor.store.store import Store
from monitor.words.windows import week_sentences
from studies.drift.entity_worlds import KNOWN_AT, Rows, as_day, customers, draw_rows

CONFIG = """\
store: {store}
models:
  ctr:
    predictions: {{path: "logs/predictions/{{day}}.parquet", entity: customer}}
    outcomes: {{path: "logs/outcomes/{{day}}.parquet"}}
    verdicts: {{references: [{{first: 2026-01-01, last: 2026-01-28}}]}}
"""
REFERENCE, DAYS = 28, 46


def counted(number: int, rows: Rows) -> Summary:
    """Count the rows of a day."""
    day = as_day(number, rows)
    segment = Segment(tally_on_grid(rows.outcomes > 0, expit(rows.logits)), rows.logits.size)
    return Summary(
        *("ctr", (day.day,), {WHOLE: segment}, {}, True, KNOWN_AT), entities=day.entities
    )


def drawn_rows() -> Iterator[Rows]:
    """Draw customers who return, whose outcomes change soon after the reference."""
    return draw_rows(customers(0.03), 4, 0.8, REFERENCE + 5, DAYS)


def configured(folder: Path) -> Config:
    """Write and load a configuration with a store of its own."""
    folder.mkdir()
    (folder / "monitor.yaml").write_text(CONFIG.format(store=folder / "store"))
    return load_config(folder / "monitor.yaml")


def test_check_prices_what_hangs_together_within_a_day(tmp_path: Path) -> None:
    """Before there is a reference, the rows of one day say how far they hang together."""
    model = configured(tmp_path / "first").models["ctr"]
    again = counted(0, Rows(*(np.repeat(values, 4) for values in next(drawn_rows()))))

    said = first_sensitivity(model, again)

    assert "Outcomes of these days hang together: 28 days count as about" in said
    assert "hang together" not in first_sensitivity(model, replace(again, entities={}))


def test_stored_windows_count_entities_and_say_so(tmp_path: Path) -> None:
    """The same bytes again, a column only with entities, wider intervals, and a sentence."""
    summaries = [counted(number, rows) for number, rows in enumerate(islice(drawn_rows(), 7))]
    last, stored = summaries[-1].days[0], {}
    for name in ("with", "again", "without"):
        config = configured(tmp_path / name)
        for s in summaries:
            kept = replace(s, entities={}) if name == "without" else s
            Store(config.store).write_summary(kept)
        references = read_references(config, "ctr")
        evaluate_days(config, "ctr", references, (last, last))
        path = Path(config.store) / "evaluations" / "ctr" / f"{last}.arrows.zst"
        week = Store(config.store).read_evaluations("ctr", last)[0][1]
        stored[name] = path.read_bytes(), open_table(path.read_bytes())[0].column_names, week

    assert stored["with"][0] == stored["again"][0]
    assert [name for name in stored["with"][1] if name not in stored["without"][1]] == [
        "design_effect"
    ]
    week, alone = stored["with"][2], stored["without"][2]
    assert week.design_effect > 1.5
    assert week.shift.high - week.shift.low > 1.2 * (alone.shift.high - alone.shift.low)
    said = week_sentences(week, drifting=False)[-1]
    assert said.startswith("Intervals and TCE by chance count entities, not rows: the ")
    assert len(week_sentences(alone, drifting=False)) == 2
