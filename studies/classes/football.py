"""Watch three-way forecasts of football: home, draw and away.

    python -m studies.classes.football spi_matches.csv [--known]

The file is the one that FiveThirtyEight published as soccer-spi, under CC BY 4.0; it is not part
of this project. The first season is the reference. What is judged are weeks of matches, as
published, and with logits that are too large by a factor from the third season on. Matches that
cannot end in a draw have probability 0 of one, but the result in the file may be that of 90
minutes, so they are left out, but for one row.
"""

import argparse
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

from monitor.base.segment_names import WHOLE
from monitor.drift.fold.inputs import Day, Limits, fit_model_reference
from monitor.drift.records.verdict import Verdict
from monitor.drift.verdicts.judge import judge
from studies.classes.worlds import Rows, day_of_pairs, day_of_rest

PROBABILITIES = ["prob1", "probtie", "prob2"]
SECOND_SEASON, THIRD_SEASON = date(2017, 7, 15), date(2018, 7, 15)
FACTORS = (1.0, 1.25, 1.5, 0.75)
LIMITS = Limits(judge_every=7)


def rows_by_day(path: Path, factor: float, *, every: bool, known: bool) -> Iterator[Rows]:
    """Read the matches with a result, day by day; all of them, or those that may be drawn.

    If `known`, only in leagues that the reference has.
    """
    matches = pd.read_csv(path).dropna(subset=["score1", "score2", *PROBABILITIES])
    matches = matches if every else matches[matches["probtie"] > 0.0]
    if known:
        leagues = matches["league"][matches["date"] < str(SECOND_SEASON)].unique()
        matches = matches[matches["league"].isin(leagues)]
    for day, of_day in matches.groupby("date", sort=True):
        vectors = of_day[PROBABILITIES].to_numpy(float)
        when = date.fromisoformat(str(day))
        if when >= THIRD_SEASON:
            vectors = vectors**factor
        vectors = vectors / vectors.sum(axis=1, keepdims=True)
        difference = (of_day["score1"] - of_day["score2"]).to_numpy()
        yield Rows(when, vectors, np.where(difference > 0, 0, np.where(difference < 0, 2, 1)))


def verdicts_of(days: list[Day]) -> list[Verdict]:
    """Fit the first season, and give the verdicts of the whole after it."""
    reference = fit_model_reference([d for d in days if d.day < SECOND_SEASON], LIMITS)
    later = [day for day in days if day.day >= SECOND_SEASON]
    judged = judge("football", later, references=[reference], limits=LIMITS)
    return [v for verdicts in judged for v in verdicts if v.segment == WHOLE]


def said(verdicts: list[Verdict]) -> str:
    """Say when drifts opened."""
    opened = [v.day for v in verdicts if v.incident and v.incident.opened == v.day]
    return ", ".join(map(str, opened)) or "nothing"


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("matches", type=Path)
    parser.add_argument("--known", action="store_true", help="leagues of the reference only")
    given = parser.parse_args()
    for every, factor in ((True, 1.0), *((False, factor) for factor in FACTORS)):
        rows = list(rows_by_day(given.matches, factor, every=every, known=given.known))
        pairs = verdicts_of([day_of_pairs(of_day) for of_day in rows])
        rest = verdicts_of([day_of_rest(of_day) for of_day in rows])
        matches = sum(of_day.labels.size for of_day in rows if of_day.day < SECOND_SEASON)
        all_matches = sum(of_day.labels.size for of_day in rows)
        of = "all matches" if every else f"factor {factor}"
        print(
            f"{of}: {matches:,} matches of reference, {all_matches - matches:,} judged;"
            f" pairs open {said(pairs)}; one class against the rest {said(rest)};"
            f" slope at the end {pairs[-1].slope and f'{pairs[-1].slope:.2f interval}'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
