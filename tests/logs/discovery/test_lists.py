"""Lists of predictions in records are found, with the ids of their elements; so are dates."""

import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from monitor.logs.discovery import guess
from tests.support import served_logs

Command = Callable[..., Any]
FIRST, DAYS, ROWS = date(2026, 4, 10), 5, 240
ID = {"sql": "CAST((request->'$.records'->>position)->>'$.id' AS BIGINT)"}
WAYS: dict[str, Any] = {
    "json": ("response.predictions", ID),
    "texts": ("response", ID),
    "separated": ({"list": "response", "separator": "\n"}, ID),
}


def drawn(seed: int) -> list[tuple[date, list[dict[str, Any]]]]:
    """Draw calibrated predictions of some days."""
    rng = np.random.default_rng(seed)
    days = []
    for n in range(DAYS):
        p = rng.beta(1, 2, ROWS).round(6)
        y = (rng.random(ROWS) < p).astype(int)
        at = FIRST + timedelta(days=n)
        days.append(
            (
                at,
                [
                    {
                        "prediction_id": 1000 * n + i + 1,
                        "country": "DE",
                        "scored_at": at,
                        "score": float(p[i]),
                        "outcome": int(y[i]),
                    }
                    for i in range(ROWS)
                ],
            )
        )
    return days


@pytest.mark.parametrize("form", WAYS)
def test_lists_are_found_with_their_ids(
    form: str, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list is exploded, the id of each element is in the request, and every row counts."""
    monkeypatch.chdir(tmp_path)
    for folder in ("p", "o"):
        (tmp_path / folder).mkdir()
    for day, rows in drawn(3):
        pq.write_table(served_logs.requests(rows, form), tmp_path / "p" / f"{day}.parquet")
        known = {"key": [r["prediction_id"] for r in rows], "label": [r["outcome"] for r in rows]}
        pq.write_table(pa.table(known), tmp_path / "o" / f"{day}.parquet")

    done = command("init", "p", "o")

    assert done.code == 0, done.err
    assert f" {ROWS} " in done.out
    (model,) = yaml.safe_load((tmp_path / "monitor.yaml").read_text())["models"].values()
    log = model["predictions"]
    assert (log["explode"], log["id"]) == WAYS[form]
    assert "element" in str(log["score"])
    assert model["outcomes"]["id"] == "key"


@pytest.mark.parametrize("as_text", [False, True], ids=["objects", "texts"])
def test_answers_by_name_are_a_model_each(*, as_text: bool, tmp_path: Path) -> None:
    """A question of yes and no has a score, one with options has classes; reviews name theirs."""
    rng, teams = np.random.default_rng(5), ["billing", "delivery", "other"]
    served, reviews = list[str](), ["decision,at,question,answer"]
    for day, rows in drawn(5):
        for row in rows:
            shares = rng.dirichlet([0.6, 0.6, 0.6])
            team = rng.choice(teams, p=shares)
            answers = {
                "refund": {"noul": row["score"]},
                "team": {
                    "choice": teams[0],
                    "probabilities": dict(zip(teams, shares, strict=True)),
                },
            }
            said = json.dumps(answers) if as_text else answers
            of = {"id": f"d{row['prediction_id']}", "at": f"{day}T08:00:00Z", "answers": said}
            served.append(json.dumps(of))
            at = f"{of['id']},{day}T09:00:00Z"
            reviews += [f"{at},refund,{'yes' if row['outcome'] else 'no'}", f"{at},team,{team}"]
    (tmp_path / "decisions.jsonl").write_text("\n".join(served))
    (tmp_path / "reviews.csv").write_text("\n".join(reviews))

    refund, team = guess([str(tmp_path)]).models

    assert (refund.name, refund.to_decide, team.name, team.to_decide) == ("refund", [], "team", [])
    of = {(s.section, s.key): s.value for s in refund.settings}
    assert of["predictions", "score"] == {"sql": "answers->>'$.refund.noul'"}
    assert of["outcomes", "where"] == "question = 'refund'"
    of = {(s.section, s.key): s.value for s in team.settings}
    vector = {"sql": "answers->>'$.team.probabilities'"}
    assert of["predictions", "classes"] == {"names": teams, "vector": vector}
    assert of["outcomes", "where"] == "question = 'team'"


@pytest.mark.parametrize(("form", "found"), [("%d/%m/%Y", True), ("%m/%d/%Y", True), ("", False)])
def test_dates_in_another_order(
    form: str, *, found: bool, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only where one order is possible; else the day is to be decided."""
    monkeypatch.chdir(tmp_path)
    shift = timedelta(days=0 if found else -9)  # the first twelve days of a month
    lines = [
        f"{day + shift:{form or '%d/%m/%Y'}},{r['prediction_id']},{r['score']},{r['outcome']}\n"
        for day, rows in drawn(4)
        for r in rows
    ]
    (tmp_path / "all.csv").write_text("".join(["seen,case,score,outcome\n", *lines]))

    done = command("init", "all.csv")

    (model,) = yaml.safe_load((tmp_path / "monitor.yaml").read_text())["models"].values()
    log = model["predictions"]
    assert log["day"] == ({"sql": f"try_strptime(seen, '{form}')"} if found else "TODO"), done.err
