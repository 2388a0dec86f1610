"""The factors of the array: their values, which of them are never together, and why."""

from monitor.config.apart import APART
from monitor.config.apart import Apart as ApartSettings
from tests.combinations.covering import Choice, Rules

# The first value of each is the usual one.
FACTORS: dict[str, tuple[str, ...]] = {
    "format": ("parquet", "csv", "json", "csv.gz", "delta"),
    "other_format": ("same", "parquet", "csv"),
    "header": ("written", "none"),
    "layout": ("days", "parts", "table"),
    "dated": ("date", "zoned", "ms"),
    "together": ("no", "yes"),
    "key": ("integer", "text", "uuid", "pair", "field"),
    "cast": ("none", "integer", "uuid", "text"),
    "explode": ("none", "list", "text"),
    "score_means": ("probability", "percent", "logit", "probability_of_0", "probability_of_label"),
    "label": ("outcome", "own"),
    "outcome": ("integer", "float", "boolean", "texts", "numbers", "truths", "clicks"),
    "absent_means": ("none", "0", "1"),
    "scored_where": ("no", "yes"),
    "observed_where": ("no", "yes"),
    "weight": ("none", "predictions", "outcomes"),
    "action": ("none", "logged"),
    "label_rate": ("none", "logged"),
    "scored_twice": ("never", "identical", "different"),
    "scored_duplicates": ("check", "keep_identical"),
    "observed_twice": ("never", "equal", "contradicting", "corrected"),
    "observed_duplicates": ("keep_identical", "latest"),
    "segments": ("none", "one", "list", "primary"),
    "strata": ("none", "one"),
    "entity": ("none", "number", "text", "pair"),
    "classes": ("none", "columns", "list", "struct", "map", "top_columns", "top_lists", "top_map"),
    "sums": ("check", "normalise"),
    "rates": ("equal", "by_class"),
    "time": ("none", "zoned", "naive", "text", "ms"),
    "timed": ("both", "outcomes", "predictions"),
    "time_zone": ("UTC", "America/New_York", "Asia/Kolkata"),
    "calendar": ("none", "closed", "weekdays", "missing_day"),
    "settled_after": ("1", "0", "2", "1d"),
    "read": ("settled", "provisional"),
    "strangers": ("none", "orphans", "late", "both"),
    "broken": ("none", "ids", "scores", "outcomes", "early"),
    "checks": ("reject", "fail"),
    "expressions": ("none", "plain", "typed"),
    "threads": ("2", "1"),
    "days": ("alone", "batch"),
}
# What one row of a log is, rather than where it stands: three of them at a time.
OF_ROWS = (
    "absent_means", "scored_where", "observed_where", "scored_twice", "scored_duplicates",
    "observed_twice", "observed_duplicates", "strangers", "broken",
)  # fmt: skip

Apart = tuple[Choice, Choice]


def _all(factor: str, *but: str) -> list[Choice]:
    return [(factor, value) for value in FACTORS[factor] if value not in but]


def _apart(ones: list[Choice], others: list[Choice]) -> list[Apart]:
    return [(one, other) for one in ones for other in others]


TOP = [("classes", form) for form in FACTORS["classes"] if form.startswith("top")]
WITH_CLASSES, TOGETHER = _all("classes", "none"), [("together", "yes")]
CLICKS, RATED = [("outcome", "clicks")], [("label_rate", "logged")]
WITH_MEANINGS = [("outcome", value) for value in ("texts", "numbers", "truths")]
AS_TEXT = [("format", value) for value in ("csv", "csv.gz", "json")]

# Settings that exclude others, and the values of factors that set them.
GIVEN = {
    "predictions.classes": WITH_CLASSES,
    "predictions.score_means": _all("score_means", "probability"),
    "predictions.weight": [("weight", "predictions")],
    "predictions.entity": _all("entity", "none"),
    "outcomes.weight": [("weight", "outcomes")],
    "outcomes.outcome_means": WITH_MEANINGS,
    "outcomes.absent_means": _all("absent_means", "none"),
    "label_rate": RATED,
    "action": [("action", "logged")],
}


def _are_crossed(pair: ApartSettings) -> bool:
    """Tell whether two settings are of two factors, so that both could be given."""
    return GIVEN[pair.one][0][0] != GIVEN[pair.other][0][0]


# Pairs that the configuration refuses, with the two keys that its message names.
REFUSED: dict[tuple[str, str], list[Apart]] = {
    **{
        (pair.one, pair.other): _apart(GIVEN[pair.one], GIVEN[pair.other])
        for pair in APART
        if {pair.one, pair.other} <= GIVEN.keys() and _are_crossed(pair)
    },
    ("columns", "format: csv"): _apart(
        [("header", "none")], [("format", value) for value in ("parquet", "json")]
    ),
    ("sums: normalise", "top"): _apart(TOP, [("sums", "normalise")]),
    ("weights", "top"): _apart(TOP, [("rates", "by_class")]),
    ("in_predictions", "where"): _apart(TOGETHER, [("observed_where", "yes")]),
    ("in_predictions", "duplicates"): _apart(TOGETHER, [("observed_duplicates", "latest")]),
    ("outcome: null", "in_predictions"): _apart(TOGETHER, CLICKS),
    ("outcome: null", "absent_means"): _apart(CLICKS, [("absent_means", "none")]),
    ("outcomes.absent_means", "settled_after"): _apart(
        [("absent_means", "1")], [("settled_after", "0")]
    ),
    ("duplicates: latest", "time"): _apart(
        [("observed_duplicates", "latest")], [("time", "none"), ("timed", "predictions")]
    ),
    ("in_predictions", "format"): _apart(TOGETHER, _all("other_format", "same")),
    ("a table", "day"): _apart([("format", "delta")], _all("layout", "table")),
}

# Pairs that mean nothing: no user can write them, or one value does not matter beside the other.
MEANINGLESS: dict[str, list[Apart]] = {
    "a log with a row for both has no outcome without a prediction": _apart(
        TOGETHER, _all("strangers", "none")
    ),
    "and no outcome of an id, so it never has two": _apart(
        TOGETHER, _all("observed_twice", "never")
    ),
    "ids are converted alike in one log": _apart(TOGETHER, _all("cast", "none")),
    "no row needs an id there": _apart(
        TOGETHER, [("broken", "ids"), *_all("scored_twice", "never")]
    ),
    "only a table has a column that dates its rows": _apart(
        _all("dated", "date"), _all("layout", "table")
    ),
    "CSV has no structs": _apart(
        [("key", "field")],
        [("format", "csv"), ("format", "csv.gz"), ("other_format", "csv")],
    ),
    "text has no true and false of its own": _apart(
        [("outcome", "truths")], [*AS_TEXT, ("other_format", "csv")]
    ),
    "such ids cannot be converted so": [
        *_apart([("cast", "integer")], [("key", k) for k in ("text", "uuid", "pair")]),
        *_apart([("cast", "uuid")], [("key", k) for k in ("integer", "text", "pair", "field")]),
    ],
    "a class is a name or a position": _apart(WITH_CLASSES, [("outcome", "boolean"), *CLICKS]),
    "only such a score has a label": _apart(
        _all("score_means", "probability_of_label"), _all("label", "outcome")
    ),
    "only vectors have sums": _apart([("classes", "none")], [("sums", "normalise")]),
    "a table has no header": _apart([("header", "none")], [("format", "delta")]),
    "what is exploded there is the score": _apart(WITH_CLASSES, _all("explode", "none")),
    "only classes have rates": _apart([("classes", "none")], [("rates", "by_class")]),
    "without times nobody is early": _apart(
        [("broken", "early")], [("time", "none"), *_all("timed", "both")]
    ),
    "without times no log has them": _apart([("time", "none")], _all("timed", "both")),
    "corrections need a time to be later": _apart(
        [("observed_twice", "corrected")], [("time", "none"), ("timed", "predictions")]
    ),
    "all clicks of an id are equal": _apart(
        CLICKS, [("observed_twice", "contradicting"), ("observed_twice", "corrected")]
    ),
    "a click is always valid": _apart(CLICKS, [("broken", "outcomes")]),
    "no click has a value of an outcome's row": _apart(CLICKS, [("weight", "outcomes")]),
}


def rules() -> Rules:
    """Give the factors with all pairs that are apart."""
    pairs = [pair for listed in (*REFUSED.values(), *MEANINGLESS.values()) for pair in listed]
    return Rules(FACTORS, pairs)
