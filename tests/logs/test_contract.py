"""Days whose logs break a rule: the message says what, where, which value and what next."""

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from math import nan
from typing import Any

import numpy as np
import pytest

from monitor.days.summary import all_scores
from monitor.metrics.core.tally import Tally, tally_on_grid
from monitor.store.store import Store
from tests.support.damages import (
    DAY,
    DAY_AFTER,
    LATE_RESULTS,
    LOOK,
    MEND,
    NO_OUTCOMES,
    RESULTS,
    RUN,
    SCORED_AT,
    SCORES,
    UNREADABLE,
    Command,
    Damage,
    Project,
    all_of,
    check_refusal,
    checks,
    column,
    content,
    emptied,
    in_two_files,
    mistyped,
    more,
    removed,
    setting,
    tomorrow,
    values,
    without,
    without_column,
)

PROGRAM = (sys.executable, "-c", "from monitor.cli import main; main()")
DAY_BEFORE = date(2026, 3, 1)


def middle_zeroed(whole_file: bytes) -> bytes:
    """Overwrite the data but not the footer, as a bad disk or a lost block does."""
    return whole_file[:4] + bytes(300) + whole_file[304:]


OUTCOME_TYPES = (
    "integer, boolean or floating point, or text (or list its values in outcomes.outcome_means)"
)
AS_TEXT = "as in predictions (or set ids: {cast: text} in the configuration)"


# The damage of the logs, and the message after "ctr 2026-03-02: ".
def if_renamed(column: str, old: str = "OLD_NAME") -> str:
    """Say what to write if the column only got another name."""
    return (
        f"if older files call it something else, write renamed: {{{old}: {column}}} for that log; "
        f"else "
    )


MISSING: dict[str, tuple[Damage, str]] = {
    "no predictions": (
        removed("predictions", DAY),
        (
            f"no predictions of 2026-03-02 at {SCORES}; there are days 2026-03-01 to 2026-03-01. "
            "Wait for the log, or correct predictions.path in the configuration."
        ),
    ),
    "no predictions at all": (
        removed("predictions", DAY_BEFORE, DAY),
        (
            f"no predictions of 2026-03-02 at {SCORES}; there are no days at all. "
            "Wait for the log, or correct predictions.path in the configuration."
        ),
    ),
    "no outcomes": (removed("outcomes", DAY), NO_OUTCOMES.format("2026-03-02", RESULTS)),
    "a hole in the outcomes": (
        all_of(
            setting("windows:", "settled_after: 2\n    windows:"),
            lambda p: p.path("outcomes", DAY_AFTER).rename(p.path("outcomes", "2026-03-04")),
        ),
        NO_OUTCOMES.format("2026-03-03", LATE_RESULTS),
    ),
    "no outcome column": (
        without_column("outcomes", "outcome"),
        (
            f"the outcomes have no column 'outcome', only prediction_id, observed_at ({RESULTS}); "
            f"{if_renamed('outcome')}"
            "correct outcomes.outcome in the configuration, or the log."
        ),
    ),
    "a column that the second file lacks": (
        in_two_files(without("score")),
        (
            "the predictions have no column 'score', only prediction_id, country, scored_at "
            "({folder}/predictions/2026-03-02/1.parquet); did you mean 'scored_at'? "
            f"{if_renamed('score')}"
            "correct predictions.score in the configuration, or the log."
        ),
    ),
    "several columns of both logs": (
        all_of(
            lambda p: p.write(
                "predictions", without("score")(without("country")(p.rows("predictions")))
            ),
            lambda p: p.write(
                "outcomes",
                p.rows("outcomes") | {"prediction_id": ["a"] * 40, "outcome": [DAY] * 40},
            ),
        ),
        (
            f"the predictions have no column 'score', only prediction_id, scored_at ({SCORES}); "
            f"did you mean 'scored_at'? {if_renamed('score')}"
            "correct predictions.score in the configuration, or the log."
            "\nctr 2026-03-02: the predictions have no column 'country', only prediction_id, "
            f"scored_at ({SCORES}); {if_renamed('country')}"
            "correct segments.column in the configuration, or the log."
            "\nctr 2026-03-02: "
            + mistyped("prediction_id", "VARCHAR", f"BIGINT, {AS_TEXT}", RESULTS, "outcomes.id")
            + "\nctr 2026-03-02: "
            + mistyped(
                *("outcome", "DATE", OUTCOME_TYPES, RESULTS),
                "outcomes.outcome",
            )
        ),
    ),
    "no row": (
        all_of(emptied("predictions"), emptied("outcomes")),
        "the log contains no valid prediction" + LOOK.format("empty_day"),
    ),
    "no outcome matches": (
        emptied("outcomes"),
        "none of 40 predictions has an outcome" + LOOK.format("no_outcomes"),
    ),
    "nothing but zeros": (
        column("outcomes", "outcome", [0] * 40),
        "all 40 outcomes are 0" + LOOK.format("one_class"),
    ),
    "nothing but ones": (
        column("outcomes", "outcome", [1] * 40),
        "all 40 outcomes are 1" + LOOK.format("one_class"),
    ),
    "nothing but ones so far": (
        column("outcomes", "outcome", [1.0] * 30 + [nan] * 10),
        "all 30 outcomes are 1, and 10 predictions have none; if theirs come later, raise "
        "settled_after (days: 1)" + LOOK.format("one_class"),
    ),
}
MISTYPED: dict[str, tuple[Damage, str]] = {
    "scores that are texts": (
        column("predictions", "score", ["0.5"] * 40),
        mistyped("score", "VARCHAR", "floating point", SCORES, "predictions.score"),
    ),
    "scores that are integers": (
        column("predictions", "score", [0, 1] * 20),
        mistyped("score", "BIGINT", "floating point", SCORES, "predictions.score"),
    ),
    "outcomes that are words": (
        column("outcomes", "outcome", ["1", "no"] * 20),
        (
            "column 'outcome' contains 'no', which is not a number, true or false; correct the "
            "log, or outcomes.outcome (or list its values in outcomes.outcome_means) in the "
            "configuration, then rerun this day."
        ),
    ),
    "ids of two types in two files": (
        in_two_files(lambda rows: rows | {"prediction_id": list(map(str, rows["prediction_id"]))}),
        mistyped(
            *("prediction_id", "VARCHAR", f"BIGINT, {AS_TEXT}"),
            *("{folder}/predictions/2026-03-02/1.parquet", "predictions.id"),
        ),
    ),
    "ids of another type in a later partition": (
        tomorrow(prediction_id=["203"], outcome=[1]),
        mistyped(*("prediction_id", "VARCHAR", f"BIGINT, {AS_TEXT}", LATE_RESULTS, "outcomes.id")),
    ),
    "ids that are fractions": (
        column("predictions", "prediction_id", np.arange(40) / 2),
        (
            "column 'prediction_id' contains '0.5', which is no whole number, and so no id; "
            "correct the log, then rerun this day."
        ),
    ),
    "ids that are several, because they were floats": (
        column("outcomes", "prediction_id", 1.43349558619761333e17 + 16.0 * np.arange(40)),
        (
            "column 'prediction_id' contains '1.4334955861976133e+17', which is 16 ids: a DOUBLE "
            "holds whole numbers up to 9,007,199,254,740,992 one by one, so ids were lost when the "
            "log was written; write them as integers or text, then rerun this day."
        ),
    ),
    "times that are other texts": (
        column("predictions", "scored_at", ["noon"] * 40),
        (
            "column 'scored_at' contains 'noon', which is not a time such as "
            "2026-03-01T10:00:00Z; correct the log, or predictions.time in the configuration, then "
            "rerun this day."
        ),
    ),
    "a zone in the predictions only": (
        column("outcomes", "observed_at", [SCORED_AT.replace(tzinfo=None)] * 40),
        mistyped(
            *("observed_at", "TIMESTAMP", "a timestamp with time zone, as in predictions"),
            *(RESULTS, "outcomes.time"),
        ),
    ),
    "a zone in the outcomes only": (
        column("predictions", "scored_at", [SCORED_AT.replace(tzinfo=None)] * 40),
        mistyped(
            *("observed_at", "TIMESTAMP WITH TIME ZONE"),
            *("a timestamp without time zone, as in predictions", RESULTS, "outcomes.time"),
        ),
    ),
}
# The same with the failing check, whose remedy follows this message.
BROKEN_ROWS: dict[str, tuple[Damage, str, str]] = {
    "a prediction without id": (
        values("predictions", "prediction_id", {3: None}),
        "1 of 40 predictions have no id, first 0.09523809523809523 (id null)",
        "prediction_id_missing",
    ),
    "an outcome without id": (
        values("outcomes", "prediction_id", {3: None, 9: None}),
        "2 of 40 outcomes have no id, id null",
        "outcome_id_missing",
    ),
    "a score that is NaN": (
        values("predictions", "score", {3: nan, 5: nan}),
        "2 of 40 predictions have no score (null or NaN), first nan (id 203)",
        "score_missing",
    ),
    "a score that is null": (
        values("predictions", "score", {3: None}),
        "1 of 40 predictions have no score (null or NaN), first null (id 203)",
        "score_missing",
    ),
    "a score above 1": (
        values("predictions", "score", {3: 1.7, 4: 1.7}),
        "2 of 40 scores lie outside [0, 1], first 1.7 (id 203)",
        "score_out_of_range",
    ),
    "a score below 0": (
        values("predictions", "score", {3: -0.1}),
        "1 of 40 scores lie outside [0, 1], first -0.1 (id 203)",
        "score_out_of_range",
    ),
    "an outcome of 2": (
        values("outcomes", "outcome", {6: 2, 9: 2}),
        "2 of 40 outcomes are neither 0 nor 1, first 2 (id 206)",
        "outcome_invalid",
    ),
    "an outcome of a half": (
        column("outcomes", "outcome", [0.5] + [0.0, 1.0, 1.0] * 13),
        "1 of 40 outcomes are neither 0 nor 1, first 0.5 (id 200)",
        "outcome_invalid",
    ),
    "an outcome that is null": (
        values("outcomes", "outcome", {6: None}),
        "1 of 40 outcomes are neither 0 nor 1, first null (id 206)",
        "outcome_invalid",
    ),
    "fractions in a later partition than the integers": (
        all_of(
            more("predictions", {"prediction_id": 299}),
            tomorrow(prediction_id=[299], outcome=[0.4]),
        ),
        "1 of 41 outcomes are neither 0 nor 1, first 0.4 (id 299)",
        "outcome_invalid",
    ),
    "two predictions with one id": (
        more("predictions", {"prediction_id": 207}),
        "2 of 41 predictions share their id with another, first id 207, 2 times",
        "prediction_repeated",
    ),
    "an id twice, both without outcome, in two segments": (
        more("predictions", {"prediction_id": 299}, {"prediction_id": 299, "country": "FR"}),
        "2 of 42 predictions share their id with another, first id 299, 2 times",
        "prediction_repeated",
    ),
    "an id twice, once without score": (
        all_of(
            checks(score_missing="reject"),
            more("predictions", {"prediction_id": 299}, {"prediction_id": 299, "score": None}),
        ),
        "2 of 42 predictions share their id with another, first id 299, 2 times",
        "prediction_repeated",
    ),
    "two outcomes that contradict": (
        more("outcomes", {"prediction_id": 201, "outcome": 1}),
        "2 of 41 outcomes contradict another, first id 201, which has 0 and 1",
        "outcome_conflicting",
    ),
    "an outcome today and another tomorrow": (
        tomorrow(prediction_id=[203, 204], outcome=[1, 1]),
        "2 of 42 outcomes contradict another, first id 204, which has 0 and 1",
        "outcome_conflicting",
    ),
    "an outcome logged twice, once as null": (
        more("outcomes", {"prediction_id": 203, "outcome": None}),
        "2 of 41 outcomes contradict another, first id 203, which has 1 and null",
        "outcome_conflicting",
    ),
    "an outcome without prediction": (
        all_of(
            checks(outcome_orphan="fail"), more("outcomes", {"prediction_id": 999, "outcome": 1})
        ),
        "1 of 41 outcomes have no prediction, first id 999",
        "outcome_orphan",
    ),
    "an outcome before its prediction": (
        values("outcomes", "observed_at", {8: SCORED_AT - timedelta(hours=2)}),
        "1 of 40 outcomes are earlier than their prediction, first 2026-03-01 22:00:00+00 (id 208)",
        "outcome_early",
    ),
    "an outcome long before our era": (
        values("outcomes", "observed_at", {4: -200_000_000_000_000_000}),
        (
            "1 of 40 outcomes are 0 and have a time at which nothing can have been observed, "
            "first 4369-04-02 (BC) 04:26:40+00 (id 204)"
        ),
        "outcome_time_impossible",
    ),
}
# The damage of a file, and the file that the message names.
UNREADABLE_FILES: dict[str, tuple[Damage, str]] = {
    "truncated predictions": (content("predictions", lambda f: f[:500]), SCORES),
    "truncated outcomes": (content("outcomes", lambda f: f[:500]), RESULTS),
    "a file without a byte": (content("outcomes", lambda _: b""), RESULTS),
    "garbage": (content("predictions", lambda _: b"\x00 this is no Parquet \xff" * 9), SCORES),
    "a page of zeros": (content("predictions", middle_zeroed), SCORES),
    "a later partition that is cut off": (
        content("outcomes", lambda f: f[:-1], DAY_AFTER),
        LATE_RESULTS,
    ),
    "a name of a column that is not UTF-8": (
        content("outcomes", lambda f: f.replace(b"outcome", b"outc\xffme")),
        RESULTS,
    ),
}
THREE_PROBLEMS = (
    all_of(
        values("predictions", "score", {1: None, 2: 1.5}), values("outcomes", "outcome", {7: 7})
    ),
    "1 of 40 predictions have no score (null or NaN), first null (id 201)"
    + MEND.format("score_missing")
    + "\nctr 2026-03-02: 1 of 40 scores lie outside [0, 1], first 1.5 (id 202)"
    + MEND.format("score_out_of_range")
    + "\nctr 2026-03-02: 1 of 40 outcomes are neither 0 nor 1, first 7 (id 207)"
    + MEND.format("outcome_invalid"),
)
OF_TIMES = (
    "; fix the log, then rerun this day; or list {} under checks.unknown, and such rows "
    "count as without an outcome, or under checks.accept, and they count."
)
OF_CORRECTIONS = (
    "; if later outcomes correct earlier ones, set outcomes.duplicates to latest. Else fix the "
    "log, then rerun this day; or list outcome_conflicting under checks.reject, and such rows are "
    "left out and counted, which biases the prevalence if most corrections are to one value."
)
REMEDIES = {"outcome_conflicting": OF_CORRECTIONS, "outcome_time_impossible": OF_TIMES}
BROKEN_LOGS = {
    **MISSING,
    **MISTYPED,
    **{
        case: (
            damage,
            said + REMEDIES.get(check, MEND).format(check),
        )
        for case, (damage, said, check) in BROKEN_ROWS.items()
    },
    **{case: (damage, f + UNREADABLE) for case, (damage, f) in UNREADABLE_FILES.items()},
    "three problems at once": THREE_PROBLEMS,
}


@pytest.mark.parametrize("case", BROKEN_LOGS)
def test_broken_logs(case: str, project: Project, command: Command) -> None:
    """A broken day ends with code 3, a line for each failed check, and an unchanged store."""
    damage, expected = BROKEN_LOGS[case]
    check_refusal(damage, RUN, 3, f"ctr 2026-03-02: {expected}", project, command)


def test_any_time_zone_of_the_machine_gives_the_same_message(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real program ends with code 3 and one line, with times in UTC wherever it runs."""
    values("outcomes", "observed_at", {4: SCORED_AT - timedelta(minutes=1)})(project)
    monkeypatch.setenv("TZ", "Asia/Tokyo")

    ended = subprocess.run([*PROGRAM, *map(str, RUN)], capture_output=True, text=True, check=False)

    assert ended.stderr == (
        "ctr 2026-03-02: 1 of 40 outcomes are earlier than their prediction, "
        "first 2026-03-01 23:59:00+00 (id 204)" + MEND.format("outcome_early") + "\n"
    )
    assert ended.returncode == 3


def test_a_day_that_is_not_over_is_refused(project: Project, command: Command) -> None:
    """Asking for logs that are still being written is an error, and the message says so."""
    expected = (
        "ctr: as of 2026-03-02 the logs of 2026-03-02 are still to be written; the last possible "
        "day is 2026-03-01; do later ones when they are over, or pass a later --as-of."
    )
    check_refusal(lambda _: None, (*RUN, "--as-of", DAY), 2, expected, project, command)


def integers(t: Tally) -> list[list[int]]:
    """Return everything that is stored of a tally."""
    assert t.cells is not None
    stored = t.cells.numbers, t.cells.offset_sums, t.counts, t.positives
    return [array.tolist() for array in stored]


def summary_of(project: Project) -> tuple[Store, Any]:
    """Read what was stored of the day."""
    store = Store(str(project.folder / "store"))
    return store, store.read_summary("ctr", DAY)[0]


REJECTED: dict[str, tuple[Damage, int, int, int]] = {
    # check: (damage, rows rejected, predictions left, outcomes left)
    "score_missing": (values("predictions", "score", {3: nan, 5: nan}), 2, 38, 38),
    "score_out_of_range": (values("predictions", "score", {3: 1.7}), 1, 39, 39),
    "outcome_invalid": (values("outcomes", "outcome", {6: 2, 9: 2}), 2, 40, 38),
    "outcome_early": (
        values("outcomes", "observed_at", {8: SCORED_AT - timedelta(hours=2)}),
        *(1, 40, 39),
    ),
    "prediction_repeated": (more("predictions", {"prediction_id": 207}), 2, 39, 39),
    "outcome_conflicting": (more("outcomes", {"prediction_id": 201, "outcome": 1}), 2, 40, 39),
    "outcome_orphan": (more("outcomes", {"prediction_id": 999, "outcome": 1}), 1, 40, 40),
}


@pytest.mark.parametrize("check", REJECTED)
def test_rejected_rows_are_left_out_and_counted(
    check: str, project: Project, command: Command
) -> None:
    """With `reject` the day is processed without the broken rows, and the store has their number.

    A repeated prediction takes its outcome along, which then has no prediction any more.
    """
    damage, rejected, predicted, matched = REJECTED[check]
    all_of(checks(**{check: "reject"}), damage)(project)

    ended = command(*RUN)

    evaluation = summary_of(project)[0].read_evaluations("ctr", DAY)[0][0]
    assert ended.code == 0
    assert evaluation.rejected[check] == rejected
    assert (evaluation.predicted, evaluation.matched) == (predicted, matched)


NEVER, EPOCH = datetime(9999, 12, 31, tzinfo=UTC), datetime(1970, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("timed", [True, False], ids=["both times", "of outcomes"])
@pytest.mark.parametrize(
    ("time", "policy", "counted"),
    [
        (None, {}, False),
        (NEVER, {"outcome_time_impossible": "unknown"}, False),
        (EPOCH, {"outcome_time_impossible": "unknown"}, False),
        (None, {"outcome_time_missing": "accept"}, True),
        (NEVER, {"outcome_time_impossible": "accept"}, True),
    ],
    ids=["null", "9999", "1970", "null accepted", "9999 accepted"],
)
def test_an_outcome_of_0_that_was_never_observed_is_unknown(
    time: datetime | None,
    policy: dict[str, str],
    *,
    counted: bool,
    timed: bool,
    project: Project,
    command: Command,
) -> None:
    """A 0 whose time means "not yet" is no negative; an outcome of 1 counts whatever its time.

    Where a prediction has another row whose outcome was observed, that one counts.
    """
    outcomes = project.rows("outcomes")
    zero, one, again = (outcomes["outcome"].index(value) for value in (0, 1, 0))
    other = outcomes["outcome"].index(0, again + 1)
    for row in (zero, other) if counted else (zero, one, other):
        outcomes["observed_at"][row] = time if row != one or not timed else None
    for name in outcomes if not counted else ():
        seen = {"outcome": 1, "observed_at": SCORED_AT}
        outcomes[name].append(seen.get(name, outcomes[name][other]))
    project.write("outcomes", outcomes)
    checks(**policy)(project)
    if not timed:
        setting(", time: scored_at", "")(project)

    ended = command(*RUN)

    assert ended.code == 0, ended.err
    evaluation = summary_of(project)[0].read_evaluations("ctr", DAY)[0][0]
    assert (evaluation.predicted, evaluation.matched) == (40, 40 if counted else 39)
    unknown = {name: n for name, n in evaluation.rejected.items() if "_time_" in name and n}
    check = "outcome_time_missing" if time is None else "outcome_time_impossible"
    assert unknown == ({} if counted else {check: 1})


ROW_CHECKS = (*REJECTED, "prediction_id_missing", "outcome_id_missing")


def test_all_that_can_be_rejected(project: Project, command: Command) -> None:
    """With `reject` broken rows are counted by check, and only valid rows are tallied."""
    checks(**dict.fromkeys(ROW_CHECKS, "reject"))(project)
    predictions, outcomes = project.rows("predictions"), project.rows("outcomes")
    scores, happened = np.array(predictions["score"]), np.array(outcomes["outcome"])
    segments = np.array([c if c in {"DE", "FR"} else "other" for c in predictions["country"]])
    predictions["prediction_id"][0] = None
    predictions["score"][1:5] = [nan, None, 1.7, -0.1]
    predictions["prediction_id"][5] = predictions["prediction_id"][6]
    outcomes["outcome"][7] = 2
    outcomes["observed_at"][8] = SCORED_AT - timedelta(days=1)
    for identity, outcome in ((209, 1), (209, 0), (None, 1), (999, 1)):
        outcomes["prediction_id"].append(identity)
        outcomes["outcome"].append(outcome)
        outcomes["observed_at"].append(SCORED_AT)
    project.write("predictions", predictions)
    project.write("outcomes", outcomes)

    ended = command(*RUN)

    assert ended.code == 0
    _, summary = summary_of(project)
    assert summary.rejected == {
        "prediction_id_missing": 1,
        "prediction_repeated": 2,
        "score_missing": 2,
        "score_out_of_range": 2,
        "outcome_id_missing": 1,
        "outcome_invalid": 1,
        "outcome_conflicting": 3,
        "outcome_early": 1,
        "outcome_orphan": 3,  # 999, and those of 200 and 205, whose predictions lost these ids
    }
    for name, part in summary.segments.items():
        clean = (segments == name) & (np.arange(40) >= 10)
        assert part.predicted == np.sum((segments == name) & (np.arange(40) >= 7))
        assert integers(part.tally) == integers(tally_on_grid(happened[clean], scores[clean]))


ODD_DAYS: dict[str, tuple[Damage, bool, int]] = {
    # check: (damage, whether the day is final, predictions)
    "one_class": (column("outcomes", "outcome", [0] * 40), True, 40),
    "no_outcomes": (emptied("outcomes"), False, 40),  # what has no outcome yet has not settled
    "empty_day": (all_of(emptied("predictions"), emptied("outcomes")), True, 0),
}


@pytest.mark.parametrize("check", ODD_DAYS)
def test_odd_days_can_be_accepted(check: str, project: Project, command: Command) -> None:
    """With `accept` the day is processed; undefined numbers are absent, its scores are kept."""
    damage, final, predicted = ODD_DAYS[check]
    all_of(checks(**{check: "accept"}), damage)(project)

    ended = command(*RUN)

    store, summary = summary_of(project)
    evaluations = [e for e in store.read_evaluations("ctr", DAY)[0] if e.window_days == 1]
    assert ended.code == 0
    assert [e.segment for e in evaluations] == ["all", "DE", "FR", "other"]
    assert {(e.final, e.positives, e.shift, e.null) for e in evaluations} == {
        (final, 0, None, None)
    }
    assert all((e.raw is None) == (e.matched == 0) for e in evaluations)
    assert evaluations[0].predicted == predicted
    for part in summary.segments.values():
        assert part.awaited.counts.sum() == part.predicted - part.tally.total
        assert all_scores(part)[1].sum() == part.predicted
