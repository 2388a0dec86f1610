"""What rows mean, if the configuration says so: each setting on real files, counted by hand."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from monitor.base.errors import DataError
from monitor.config import Engine, Model
from monitor.config.checks import Checks
from monitor.days.summary import Summary, whole
from monitor.logs import open_databases, summarise_day
from monitor.logs.days.days import batches_of
from monitor.logs.days.many_days import read_days
from monitor.logs.engines.session import open_session
from monitor.store.store import Store

DAY = date(2026, 3, 2)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SCORES = [0.1, 0.2, 0.3, 0.4]
UUIDS = [uuid.UUID(int=3**60 + i) for i in range(4)]
Columns = Mapping[str, Any]


def write(root: Path, log: str, columns: Columns, *, day: date = DAY) -> None:
    """Write one day of a log."""
    (root / log).mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(dict(columns)), root / log / f"{day}.parquet")


def model_of(root: Path, **keys: Mapping[str, Any] | int) -> Model:
    """Describe the logs, with more keys of either log or of the model."""
    logs = {
        log: {"path": f"{root}/{log}/{{day}}.parquet", **keys.pop(log, {})}  # type: ignore[dict-item]
        for log in ("predictions", "outcomes")
    }
    given = Checks.model_validate(keys.pop("checks", {}))
    lenient = dict.fromkeys(("one_class", "no_outcomes"), "accept")
    listed_there = {check for answer in dict(given).values() for check in answer}
    checks = given.also({k: v for k, v in lenient.items() if k not in listed_there})
    return Model.model_validate({**logs, "settled_after": 0, "checks": checks.model_dump(), **keys})


def summarise(
    root: Path,
    scored: Columns,
    *observed: Columns,
    as_of: date = DAY + timedelta(days=99),
    **keys: Mapping[str, Any] | int,
) -> Summary:
    """Write a day of predictions and its outcomes of some days, and summarise it."""
    write(root, "predictions", scored)
    for later, columns in enumerate(observed):
        write(root, "outcomes", columns, day=DAY + timedelta(days=later))
    return summarise_day("ctr", model_of(root, **keys), DAY, as_of=as_of)


def counted(summary: Summary) -> tuple[int, int, int]:
    """Count predictions, outcomes, and outcomes of 1."""
    part = whole(summary)
    return part.predicted, part.tally.total, part.tally.total_positives


# Filters


LOG = {
    "prediction_id": [1, 2, 3, 4],
    "score": SCORES,
    "Model Version": ["v3", "v2", "v3", None],
    "tenant": ["a", "b", "a", "test"],
}
OUTCOMES = {"prediction_id": [1, 2, 3, 4], "outcome": [0, 1, 1, 1], "kind": ["x", "x", "y", "x"]}


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("modelversion = 3", "the predictions have no column 'modelversion', .* correct .*where"),
        ("user > tenant", "the predictions have no column 'user'"),
        ("score", "predictions.where gives DOUBLE, not true or false: score"),
        ("sqrt(tenant) > 1", "predictions.where cannot be applied"),
    ],
)
def test_a_filter_must_suit_the_columns(tmp_path: Path, where: str, message: str) -> None:
    """A wrong column or type is a data error that names the filter."""
    with pytest.raises(DataError, match=message):
        summarise(tmp_path, LOG, OUTCOMES, predictions={"where": where})


# Scores at the ends


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_scores_that_rounding_left_beyond_an_end_are_that_end(kind: str, tmp_path: Path) -> None:
    """An average of float32 softmaxes gives 1.0000001, fastText 1.00001; 1.0001 is an error."""
    beyond = np.array([1.0000001, -1e-9, 1.00001, -1e-5], kind)

    summary = summarise(tmp_path, {**LOG, "score": beyond}, OUTCOMES)

    at_ends = summarise(tmp_path, {**LOG, "score": [1.0, 0.0, 1.0, 0.0]}, OUTCOMES)
    assert summary.rejected == {}
    for name in ("scores", "counts", "positives"):
        ours, theirs = (getattr(whole(each).tally, name) for each in (summary, at_ends))
        assert ours.tolist() == theirs.tolist()
    with pytest.raises(DataError, match=r"1 of 4 scores lie outside \[0, 1\], first 1\.0001"):
        summarise(tmp_path, {**LOG, "score": [1.0001, 1.0, 0.5, 0.1]}, OUTCOMES)


# Ids


def test_ids_of_other_days_may_have_another_type(tmp_path: Path) -> None:
    """Their ids are no ids of today's outcomes; the days after a change are read alone and as one.

    An outcome without a prediction is looked up among them, and is an orphan.
    """
    days = [DAY + timedelta(days=i) for i in range(3)]
    for day, ids in zip(days, (["a", "b"], [3, 4], [5, 6]), strict=True):
        write(tmp_path, "predictions", {"prediction_id": ids, "score": [0.2, 0.8]}, day=day)
        strangers = [] if day == DAY else [77]
        seen = {"prediction_id": [*ids, *strangers], "outcome": [0, 1, *(1 for _ in strangers)]}
        write(tmp_path, "outcomes", seen, day=day)
    model, as_of = model_of(tmp_path), DAY + timedelta(days=9)
    for day in days[1:]:
        assert summarise_day("m", model, day, as_of=as_of).rejected == {"outcome_orphan": 1}
    with open_databases(Engine(threads=1)) as databases, open_session("m", databases) as session:
        (batch,) = batches_of("m", model, days[1:], as_of=as_of)
        together = [day.violations for day in read_days(session, batch)]
    assert [[(v.check, v.rows) for v in of] for of in together] == [[("outcome_orphan", 1)]] * 2


@pytest.mark.parametrize("kind", ["predictions", "outcomes"])
def test_a_filter_counts_files_of_other_columns_too(kind: str, tmp_path: Path) -> None:
    """A column that only the first file of a day has is no way to count the rows of all."""
    rows = {"prediction_id": [1, 2, 3], "score": [0.1, 0.6, 0.9], "outcome": [0, 1, 1]}
    first = pa.table({"added": [1, 2, 3], **rows})
    second = pa.table({**rows, "prediction_id": [4, 5, 6]})
    for number, table in enumerate((first, second)):
        pq.write_table(table, tmp_path / f"{DAY} {number}.parquet")
    log = {"path": f"{tmp_path}/{{day}} *.parquet"}
    logs = {"predictions": log, "outcomes": log, "settled_after": 0}
    model = Model.model_validate({**logs, kind: log | {"where": "prediction_id <> 5"}})
    summary = summarise_day("m", model, DAY, as_of=date(2026, 12, 31))
    assert summary.left_out[f"{kind}.where"] == (1, 6)


def test_a_repeated_key_of_several_columns(tmp_path: Path) -> None:
    """The message shows the parts by name; equal outcomes of one key become one."""
    predictions = {"user": [1, 1, 2, 2], "item": ["a", "a", "a", "b"], "score": SCORES}
    outcomes = {"user": [2, 2, 2], "item": ["a", "a", "b"], "outcome": [1, 1, 0]}
    keys = {"predictions": {"id": ["user", "item"]}, "outcomes": {"id": ["user", "item"]}}
    with pytest.raises(DataError, match=r"first id \{'user': 1, 'item': a\}, 2 times"):
        summarise(tmp_path, predictions, outcomes, **keys)

    summary = summarise(
        tmp_path, predictions, outcomes, **keys, checks={"reject": ["prediction_repeated"]}
    )
    assert counted(summary) == (2, 2, 1)


@pytest.mark.parametrize(
    ("cast", "of_predictions", "of_outcomes"),
    [
        ("integer", pa.array([1, 2, 3, 4], pa.uint64()), pa.array(["1", "02", " 3", "+4"])),
        ("integer", pa.array([1, 2, 3, 4]), pa.array([1.0, 2.0, 3.0, 4.0])),
        ("uuid", pa.array([str(u) for u in UUIDS]), pa.array([str(u).upper() for u in UUIDS])),
        ("uuid", pa.array([u.bytes for u in UUIDS], pa.uuid()), pa.array([u.hex for u in UUIDS])),
        ("text", pa.array([1, 2, 3, 4]), pa.array(["1", "2", "3", "4"])),
    ],
)
def test_ids_of_two_types(
    tmp_path: Path, cast: str, of_predictions: pa.Array, of_outcomes: pa.Array
) -> None:
    """Ids meet once both are converted; without the setting the message suggests one."""
    predictions = {"prediction_id": of_predictions, "score": SCORES}
    outcomes = {"prediction_id": of_outcomes, "outcome": [0, 1, 0, 1]}
    both = pa.types.is_integer(of_predictions.type), pa.types.is_floating(of_outcomes.type)
    if of_predictions.type != of_outcomes.type and both != (True, True):
        with pytest.raises(DataError, match=r"or set ids: \{cast: "):
            summarise(tmp_path, predictions, outcomes)

    summary = summarise(tmp_path, predictions, outcomes, ids={"cast": cast})
    assert counted(summary) == (4, 4, 2)


def test_an_id_that_cannot_be_converted(tmp_path: Path) -> None:
    """A fraction or a word is no integer, so that row has no id; nothing is rounded."""
    predictions = {"prediction_id": ["1", "2.5", "x", None], "score": SCORES}
    outcomes = {"prediction_id": [1.0, 2.0, 3.0], "outcome": [1, 0, 1]}
    with pytest.raises(DataError, match="3 of 4 predictions have no id that is an integer"):
        summarise(tmp_path, predictions, outcomes, ids={"cast": "integer"})

    summary = summarise(
        *(tmp_path, predictions, outcomes),
        ids={"cast": "integer"},
        checks={"reject": ["prediction_id_missing"]},
    )
    assert counted(summary) == (1, 1, 1)


@pytest.mark.parametrize(
    ("of_predictions", "of_outcomes", "message"),
    [
        (
            [str(u) for u in UUIDS],
            [str(u).upper() for u in UUIDS],
            r"no id in common: predictions .*-.* \(text, 36 .*; outcomes .*set ids: \{cast: uuid",
        ),
        (["001", "002"], ["1", "2"], r"text, 3 characters.*set ids: \{cast: integer\}"),
        (["u1", "u2"], ["x-1", "x-22"], "'x-1' and 'x-22'.*3 to 4 characters.*check .*id"),
        ([1, 2], [11, 12], "'1' and '2'"),
    ],
)
def test_no_id_in_common(
    tmp_path: Path, of_predictions: Sequence[Any], of_outcomes: Sequence[Any], message: str
) -> None:
    """The message shows what the ids of both sides look like, and the setting that may help."""
    predictions = {"prediction_id": of_predictions, "score": SCORES[: len(of_predictions)]}
    outcomes = {"prediction_id": of_outcomes, "outcome": [i % 2 for i in range(len(of_outcomes))]}

    with pytest.raises(DataError, match=message):
        summarise(tmp_path, predictions, outcomes, checks={"fail": ["no_outcomes"]})


# Scores and outcomes


LABELLED = {
    "prediction_id": [1, 2, 3, 4],
    "score": [0.9, 0.2, 0.7, 0.4],
    "label": ["ok", "won", "ok", "won"],
}
OF_LABEL = {"score_means": "probability_of_label", "predicted_label": "label"}
WORDS = {"positive": ["won"], "negative": ["ok"]}


@pytest.mark.parametrize(
    ("labels", "keys"),
    [
        (["ok", "won", "ok", "won"], {"predictions": {"label_means": WORDS}}),
        ([0, 1, 0, 1], {}),
        ([0.0, 1.0, 0.0, 1.0], {}),
        ([False, True, False, True], {}),
        ([-1, 1, -1, 1], {"predictions": {"label_means": {"positive": [1], "negative": [-1]}}}),
        (
            [True, False, True, False],
            {"predictions": {"label_means": {"positive": [False], "negative": [True]}}},
        ),
        (["ok", "won", "ok", "won"], {"outcomes": {"outcome_means": WORDS, "outcome": "said"}}),
        (
            ["7", "9", "7", "9"],
            {"predictions": {"predicted_label": {"sql": "CAST(label AS INTEGER) = 9"}}},
        ),
    ],
)
def test_the_probability_of_a_label(
    tmp_path: Path, labels: Sequence[Any], keys: Mapping[str, Any]
) -> None:
    """Beside the label of outcome 0, the score is 1 minus that of outcome 1."""
    outcomes = {"prediction_id": [1, 2, 3, 4], "outcome": [0, 0, 1, 1]}
    outcomes["said"] = ["ok", "ok", "won", "won"]
    keys = {**keys, "predictions": OF_LABEL | keys.get("predictions", {})}
    tally = whole(summarise(tmp_path, LABELLED | {"label": labels}, outcomes, **keys)).tally

    # A score is remembered to 2**-29 in logit.
    assert tally.scores == pytest.approx([0.1, 0.2, 0.3, 0.4], rel=1e-8)
    assert tally.positives.tolist() == [0, 0, 1, 1]


def test_a_row_without_a_label_has_no_score(tmp_path: Path) -> None:
    """It is left out by the check of missing scores, whose message says so."""
    labels = [None, "won", "ok", "won"]
    outcomes = {"prediction_id": [1, 2, 3, 4], "outcome": [0, 0, 1, 1]}
    keys: Any = {"predictions": OF_LABEL | {"label_means": WORDS}}
    with pytest.raises(DataError, match=r"1 of 4 .*no score or no predicted label.*\(id 1\)"):
        summarise(tmp_path, LABELLED | {"label": labels}, outcomes, **keys)

    keys["checks"] = {"reject": ["score_missing"]}
    assert summarise(tmp_path, LABELLED | {"label": labels}, outcomes, **keys).rejected == {
        "score_missing": 1
    }


@pytest.mark.parametrize(
    ("labels", "means", "message"),
    [
        (
            ["ok", "cat", "ok", "won"],
            {"label_means": WORDS},
            r"'cat', which is not a label that stands .* list it in predictions.label_means",
        ),
        ([0, 1, 2, 1], {}, "column 'label' contains '2', which is not a label that stands"),
        (
            ["ok", "won", "ok", "won"],
            {},
            r"column 'label' of the predictions is VARCHAR, must be .*predictions.label_means\)",
        ),
        (
            [0, 1, 0, 1],
            {"label_means": WORDS},
            "label_means lists values that column 'label' cannot .* list numbers without quotes",
        ),
    ],
)
def test_labels_must_stand_for_an_outcome(
    tmp_path: Path, labels: Sequence[Any], means: Mapping[str, Any], message: str
) -> None:
    """Another label stops the day, and the message shows it."""
    outcomes = {"prediction_id": [1, 2, 3, 4], "outcome": [0, 0, 1, 1]}
    with pytest.raises(DataError, match=message):
        summarise(
            tmp_path, LABELLED | {"label": labels}, outcomes, predictions=OF_LABEL | dict(means)
        )


@pytest.mark.parametrize(
    ("values", "positive", "negative"),
    [
        (pa.array([1, -1, 1, -1]), [1], [-1]),
        (pa.array([1.0, -1.0, 1.0, -1.0]), [1], [-1]),
        (pa.array(["yes", "no", "Y", "no"]), ["yes", "Y"], ["no"]),
        (pa.array(["1", "0", "1", "0"]), [1], [0]),
        (pa.array(["b", "a", "b", "a"]).dictionary_encode(), ["b"], ["a"]),
        (pa.array([True, False, True, False]), [True], [False]),
        (pa.array([3, 9, 5, 7]), [3, 5], [7, 9]),
    ],
)
def test_outcomes_of_other_values(
    tmp_path: Path, values: pa.Array, positive: list[Any], negative: list[Any]
) -> None:
    """Listed values are 1 and 0."""
    ids = [1, 2, 3, 4]
    summary = summarise(
        tmp_path,
        {"prediction_id": ids, "score": SCORES},
        {"prediction_id": ids, "outcome": values},
        outcomes={"outcome_means": {"positive": positive, "negative": negative}},
    )

    assert whole(summary).tally.positives.tolist() == [1, 0, 1, 0]


def test_an_outcome_that_is_not_listed(tmp_path: Path) -> None:
    """Any other value is an invalid outcome; the message shows it as the log has it."""
    ids = [1, 2, 3, 4]
    logs = (
        {"prediction_id": ids, "score": SCORES},
        {"prediction_id": ids, "outcome": ["ok", "fraud", "maybe", None]},
    )
    means = {"outcome_means": {"positive": ["fraud"], "negative": ["ok"]}}
    with pytest.raises(
        DataError, match=r"2 of 4 outcomes are not listed in outcome_means, first maybe \(id 3\)"
    ):
        summarise(tmp_path, *logs, outcomes=means)

    summary = summarise(tmp_path, *logs, outcomes=means, checks={"reject": ["outcome_invalid"]})
    assert counted(summary) == (4, 2, 1)


@pytest.mark.parametrize(
    ("values", "positive", "kind"),
    [
        (["yes", "no"], [True], "texts"),
        ([1, 0], ["1"], "numbers"),
        ([True, False], [1], "true or false"),
    ],
)
def test_listed_values_must_suit_the_column(
    tmp_path: Path, values: list[Any], positive: list[Any], kind: str
) -> None:
    """YAML reads yes as true, which no text can be: the message says what to list."""
    with pytest.raises(DataError, match=f"outcome_means lists values .* list {kind}"):
        summarise(
            tmp_path,
            {"prediction_id": [1, 2], "score": SCORES[:2]},
            {"prediction_id": [1, 2], "outcome": values},
            outcomes={"outcome_means": {"positive": positive, "negative": ["z"]}},
        )


# Absent outcomes


SHOWN = {"prediction_id": [1, 2, 3, 4], "score": SCORES}


ONLY_IDS = {"absent_means": "negative after 0d", "outcome": None}


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_log_of_clicks_needs_no_outcome(tmp_path: Path, ending: str) -> None:
    """Ids and times alone leave the bytes of the same clicks with outcomes of 1."""
    clicked = {"prediction_id": [2, 2, 4], "at": ["2026-03-02T10:00:00"] * 3}
    with_outcomes = summarise(
        *(tmp_path, SHOWN, {**clicked, "outcome": [1, 1, 1]}),
        outcomes={"absent_means": "negative after 0d"},
    )
    without = {"path": f"{tmp_path}/clicks/{{day}}.{ending}", "format": ending, **ONLY_IDS}
    (tmp_path / "clicks").mkdir()
    writer = pq.write_table if ending == "parquet" else pa.csv.write_csv
    writer(pa.table(clicked), tmp_path / f"clicks/{DAY}.{ending}")

    found = summarise(tmp_path, SHOWN, outcomes=without)

    assert counted(found) == counted(with_outcomes) == (4, 4, 2)
    assert as_bytes(found, tmp_path / "a") == as_bytes(with_outcomes, tmp_path / "b")


def test_clicks_without_the_setting_are_told_it(tmp_path: Path) -> None:
    """A click log without a column of outcomes is refused with the setting that reads it."""
    with pytest.raises(DataError, match=r"outcomes\.outcome \(null if every row is a 1\)"):
        summarise(
            *(tmp_path, SHOWN, {"prediction_id": [2]}),
            outcomes={"absent_means": "negative after 0d"},
        )


def test_a_log_without_outcomes_says_when_the_others_are_0(tmp_path: Path) -> None:
    """Without absent_means every known outcome would be 1."""
    with pytest.raises(ValueError, match="absent_means must say when the others are 0"):
        model_of(tmp_path, outcomes={"outcome": None})


def as_bytes(summary: Summary, folder: Path) -> bytes:
    """Return the bytes that a summary has in a store."""
    store = Store(str(folder))
    store.write_summary(summary)
    return store.content("summaries", "ctr", DAY)


def test_clicks_on_nothing_do_not_make_everything_negative(tmp_path: Path) -> None:
    """If no id of the clicks is known, the ids are wrong: that is not a day of negatives."""
    with pytest.raises(DataError, match="no id in common"):
        summarise(
            *(tmp_path, SHOWN, {"prediction_id": [91], "outcome": [1]}),
            outcomes={"absent_means": "negative after 0d"},
            checks={"fail": ["no_outcomes"]},
        )


# Duplicates


def corrections(outcomes: Sequence[int], hours: Sequence[int]) -> Columns:
    """Write several outcomes of prediction 1, and one of prediction 2."""
    return {
        "prediction_id": [1] * len(outcomes) + [2],
        "outcome": [*outcomes, 0],
        "observed_at": [NOON + timedelta(hours=h) for h in (*hours, 1)],
    }


def test_corrections_are_offered_before_rejecting(tmp_path: Path) -> None:
    """The message names `latest` first, and says what rejecting does; with `latest` it does not."""
    scored = {"prediction_id": [1, 2, 3, 4], "score": SCORES}
    observed = {"prediction_id": [1, 2, 3, 4, 4], "outcome": [0, 1, 0, 0, 1], "at": [NOON] * 5}
    first = "set outcomes.duplicates to latest. Else fix the log"

    with pytest.raises(DataError) as plain:
        summarise(tmp_path, scored, observed)
    with pytest.raises(DataError) as latest:
        summarise(tmp_path, scored, observed, outcomes={"duplicates": "latest", "time": "at"})

    assert first in str(plain.value)
    assert "left out and counted, which biases the prevalence if" in str(plain.value)
    assert "set outcomes.duplicates" not in str(latest.value)


def test_two_latest_outcomes_contradict_each_other(tmp_path: Path) -> None:
    """Neither of two outcomes of the same time is later, so both are in conflict."""
    predictions = {"prediction_id": [1, 2], "score": SCORES[:2]}
    latest = {"duplicates": "latest", "time": "observed_at"}
    with pytest.raises(DataError, match="2 of 4 outcomes contradict another"):
        summarise(tmp_path, predictions, corrections([1, 0, 1], [3, 3, 1]), outcomes=latest)
