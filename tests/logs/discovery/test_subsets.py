"""Logs that hold more than one model: which rows are counted, and what is said about the others."""

from datetime import date, timedelta
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import expit, logit

from monitor.config import TODO
from monitor.logs.discovery import guess
from tests.support.cases import some
from tests.support.undescribed import active

FIRST, DAYS, ROWS = date(2026, 4, 1), 5, 400


def put(root: Path, rng: np.random.Generator, day: date, columns: dict[str, np.ndarray]) -> None:
    """Write a day with its columns in a random order, and its rows too."""
    root.mkdir(parents=True, exist_ok=True)
    names, rows = list(columns), rng.permutation(len(next(iter(columns.values()))))
    table = pa.table({names[i]: columns[names[i]][rows] for i in rng.permutation(len(names))})
    pq.write_table(table, root / f"{day}.parquet")


def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw ids, calibrated scores and outcomes of a day."""
    scores = expit(rng.normal(-1, 1.3, ROWS))
    ids = np.array([f"{n}-{i:04}" for i in range(ROWS)])
    return ids, scores, (rng.random(ROWS) < scores).astype(int)


def test_repeats_that_no_column_explains_are_to_decide(tmp_path: Path) -> None:
    """If half of the ids repeat with other scores, nothing is rejected in silence."""
    rng = np.random.default_rng(9)
    for n in range(DAYS):
        ids, scores, labels = draw(rng, n)
        day = FIRST + timedelta(n)
        twice = {"id": np.tile(ids, 2), "score": np.concatenate([scores, rng.random(ROWS)])}
        put(tmp_path / "p", rng, day, twice)
        put(tmp_path / "o", rng, day, {"id": ids, "label": labels})

    (model,) = guess([str(tmp_path)]).models

    assert [f"{s.section}.{s.key}" for s in model.to_decide] == ["predictions.where"]
    assert "checks.prediction_repeated" not in active(model)


@pytest.mark.parametrize(("centre", "seed"), some(product([-1.0, 0.0, 1.0], range(2)), 3))
def test_which_of_two_alike_came_true_is_said(seed: int, centre: float, tmp_path: Path) -> None:
    """A label agrees with an outcome as often as the outcome with it, whatever they are called.

    Where the confidence predicts one of them by chance, that is unsure; else it is to decide.
    """
    rng = np.random.default_rng(80 + seed)
    names = ["Urteil", "tatsaechlich", "a", "b"]
    said, true = rng.permutation(names)[:2]
    for n in range(DAYS):
        scores = expit(rng.normal(centre, 1.3, ROWS))
        ids, outcomes = np.arange(ROWS) + ROWS * n, (rng.random(ROWS) < scores).astype(int)
        likely, words = scores > 0.5, np.array(["legit", "fraud"])
        columns = {"id": ids, "Sicherheit": np.where(likely, scores, 1 - scores)}
        columns |= {said: words[likely.astype(int)], true: words[outcomes]}
        put(tmp_path, rng, FIRST + timedelta(n), columns)

    guesses = guess([str(tmp_path)])

    (model,) = guesses.models
    decided = active(model)["outcomes.outcome"] != TODO
    assert decided == (not guesses.lacking)
    told = " ".join([*model.doubts] if decided else [s.why for s in model.to_decide])
    for part in (said, true, "never below 0.5", "score_means: probability_of_label"):
        assert part in told


def test_words_that_nobody_knows_are_to_decide(tmp_path: Path) -> None:
    """The comment has both settings, first the one with which higher scores have more ones."""
    rng = np.random.default_rng(5)
    for n in range(DAYS):
        ids, scores, labels = draw(rng, n)
        day = FIRST + timedelta(n)
        put(tmp_path / "p", rng, day, {"id": ids, "score": scores})
        words = np.array(["zeta", "beta"])[labels.astype(int)]
        put(tmp_path / "o", rng, day, {"id": ids, "outcome": words})

    (model,) = guess([str(tmp_path)]).models

    (setting,) = model.to_decide
    assert f"{setting.section}.{setting.key}" == "outcomes.outcome_means"
    assert setting.why.index("{positive: [beta], negative: [zeta]}") < setting.why.index(
        "{positive: [zeta], negative: [beta]}"
    )
    assert not any("other class" in doubt for doubt in model.doubts)


@pytest.mark.parametrize(
    ("form", "seed"), some(product(["columns", "list", "flags", "one log"], range(3)), 2)
)
def test_probabilities_of_classes_are_read(seed: int, form: str, tmp_path: Path) -> None:
    """Each column gets the class that it predicts; it is a doubt if its name does not say so."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 6))
    kinds = [str(kind) for kind in rng.permutation(["cat", "dog", "fish", "cow", "hen"])[:count]]
    tells = bool(seed % 2)  # whether names say the class
    names = [f"p_{kind}" if tells else f"q{i}" for i, kind in enumerate(kinds)]
    prior = rng.dirichlet(np.full(count, 20.0))
    for n in range(DAYS):
        ids, _, _ = draw(rng, n)
        vectors = rng.dirichlet(3 * prior, ROWS)
        happened = np.array([rng.choice(count, p=vector) for vector in vectors])
        scored = {"id": ids, **dict(zip(names, vectors.T, strict=True))}
        if form == "list":
            scored = {"id": ids, "probs": np.array([*map(list, vectors), None], dtype=object)[:-1]}
        scored |= {"x": rng.random(ROWS), "flag": rng.random(ROWS) < 0.5}
        observed = {"species": np.array(kinds)[happened]}
        if form == "flags":
            observed = {f"is_{kind}": (happened == i).astype(int) for i, kind in enumerate(kinds)}
        day = FIRST + timedelta(n)
        if form == "one log":
            put(tmp_path / "p", rng, day, scored | observed)
        else:
            put(tmp_path / "p", rng, day, scored)
            put(tmp_path / "o", rng, day, {"id": ids, **observed})

    (model,) = guess([str(tmp_path)]).models
    settings = active(model)

    if form == "flags":  # a column of 0 and 1 for each class is no class that came true
        assert any("are the probabilities of classes" in doubt for doubt in model.doubts)
        return
    classes = dict(settings["predictions.classes"])  # type: ignore[call-overload]
    if form == "list":
        assert classes == {"names": kinds, "vector": "probs"}
    else:
        read = dict(zip(classes["vector"], classes["names"], strict=True))
        assert read == dict(zip(names, kinds, strict=True))
    assert settings["outcomes.outcome"] == "species"
    measured = any("which class each probability is of was measured" in d for d in model.doubts)
    assert measured == (not tells or form == "list")


@pytest.mark.parametrize(
    ("kind", "beside"),
    some(product(["points", "grades", "letters", "decision"], ["nothing", "an old score"]), 3),
)
def test_what_is_no_probability_is_to_decide(kind: str, beside: str, tmp_path: Path) -> None:
    """Points, grades and decisions are named with how to map them, also beside another score."""
    rng = np.random.default_rng(len(kind))
    written = {
        "points": lambda p: np.round(600 - 50 * logit(p)).clip(300, 850).astype(int),
        "grades": lambda p: np.ceil(10 * p).astype(int).clip(1, 10),
        "letters": lambda p: np.array([*"ABCDE"])[(5 * p).astype(int).clip(0, 4)],
        "decision": lambda p: (p > 0.4).astype(int),
    }
    for n in range(DAYS):
        ids, scores, labels = draw(rng, n)
        day = FIRST + timedelta(n)
        scored = {"id": ids, "score": written[kind](scores)}
        if beside != "nothing":
            scored["old_score"] = expit(logit(scores) + rng.normal(0, 3, ROWS))
        put(tmp_path / "p", rng, day, scored)
        put(tmp_path / "o", rng, day, {"id": ids, "label": labels})

    (model,) = guess([str(tmp_path)]).models

    (setting,) = model.to_decide
    assert f"{setting.section}.{setting.key}" == "predictions.score"
    assert ("score is " if beside == "nothing" else "score may be the score") in setting.why
    how = {"points": "points of a scorecard", "decision": "a decision and no probability"}
    assert how.get(kind, "grades") in setting.why
    if kind in ("grades", "letters"):
        assert "CASE score WHEN" in setting.why
    assert active(model)["outcomes.outcome"] == "label"


@pytest.mark.parametrize(("name", "decided"), [("is_weekend", False), ("label", True)])
def test_an_outcome_that_nothing_predicts(name: str, decided: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """It is taken with a doubt if its name says that it is the outcome, else it is to decide."""
    rng = np.random.default_rng(17)
    for n in range(DAYS):
        ids, scores, _ = draw(rng, n)
        day = FIRST + timedelta(n)
        put(tmp_path / "p", rng, day, {"id": ids, "score": scores})
        put(tmp_path / "o", rng, day, {"id": ids, name: (rng.random(ROWS) < 0.3).astype(int)})

    (model,) = guess([str(tmp_path)]).models

    assert any(doubt.startswith(f"no column predicts `{name}`") for doubt in model.doubts)
    assert [f"{s.section}.{s.key}" for s in model.to_decide] == (
        [] if decided else ["outcomes.outcome"]
    )
    assert (active(model)["outcomes.outcome"] == name) == decided


def test_labels_that_come_true_together_are_a_doubt(tmp_path: Path) -> None:
    """A score and an outcome for each label: one pair is taken, and another is said to fit too."""
    rng = np.random.default_rng(8)
    for n in range(DAYS):
        ids, *_ = draw(rng, n)
        scores = expit(rng.normal([[-1.0, 0.0, 0.5]], 1.5, (ROWS, 3)))
        labels = (rng.random((ROWS, 3)) < scores).astype(int)
        day = FIRST + timedelta(n)
        put(
            tmp_path / "p",
            rng,
            day,
            {"id": ids} | {f"p_{k}": scores[:, i] for i, k in enumerate("abc")},
        )
        put(
            tmp_path / "o",
            rng,
            day,
            {"id": ids} | {f"is_{k}": labels[:, i] for i, k in enumerate("abc")},
        )

    (model,) = guess([str(tmp_path)]).models

    (said,) = [doubt for doubt in model.doubts if " fits `p_" in doubt]
    label = active(model)["outcomes.outcome"]
    assert said.startswith(f"`{label}` (1 in ")
    assert f"fits `{active(model)['predictions.score']}`" in said


def test_horizons_and_durations(tmp_path: Path) -> None:
    """A horizon that the outcomes do not wait for, and a flag of censoring, are said."""
    rng = np.random.default_rng(3)
    for n in range(DAYS):
        ids, scores, labels = draw(rng, n)
        day = FIRST + timedelta(n)
        put(tmp_path / "a" / "p", rng, day, {"id": ids, "p_90d": scores})
        put(tmp_path / "a" / "o", rng, day, {"id": ids, "y_30d": labels})
        cut = (rng.random(ROWS) < 0.3).astype(int)
        duration = rng.integers(1, 400, ROWS)
        put(tmp_path / "b" / "p", rng, day, {"id": ids, "score": scores})
        put(
            tmp_path / "b" / "o",
            rng,
            day,
            {"id": ids, "duration_days": duration, "censored": cut, "event": labels},
        )

    horizons, durations = guess([str(tmp_path)]).models

    assert horizons.doubts[0] == "`p_90d` says 90 days and `y_30d` 30"
    assert horizons.doubts[1].startswith("`y_30d` says 30 days, but the outcomes are there after 0")
    assert active(durations)["outcomes.outcome"] == "event"
    assert durations.doubts[-1].startswith("`event` stands beside `duration_days`")
