"""What a column may be: one table of rules by type, content and name, each with its reason.

The first rule of a role that fits a column makes it a candidate: with the points of the rule, those
of the words of its name, and the reason. Content decides what is possible, names decide between
what is possible, and the joined rows decide between what names leave open.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from monitor.base.segment_names import RESERVED
from monitor.base.sql_text import text_in_sql
from monitor.config import LATEST
from monitor.logs.discovery.samples.profile import Column, number_in
from monitor.logs.discovery.samples.reading import PARTITION
from monitor.logs.engines.conversions import quoted
from monitor.words.plausibility import HIGHEST_PERCENT, LARGEST_LOGIT

SCORE, OUTCOME, TIME, WEIGHT, ID, ENTITY, SEGMENT = (
    *("score", "outcome", "time", "weight", "id", "entity", "segment"),
)


def several(text: str) -> set[str]:
    """Give the words of a text."""
    return {*text.split()}


def _points(*groups: tuple[str, float]) -> dict[str, float]:
    return {word: points for words_, points in groups for word in words_.split()}


# Points of the words of a name: the best of the good ones count, and all of the bad ones.
NAMES: dict[str, dict[str, float]] = {
    SCORE: _points(
        ("score scores probability probabilities prob proba propensity p pctr pcvr pd phat", 3),
        ("likelihood risk yhat probs", 3),
        ("prediction predicted pred confidence hat calibrated", 2),
        ("margin logit logits output model", 1),
        ("raw uncalibrated", -1),
        ("old previous baseline shadow challenger candidate", -2),
        ("threshold cutoff limit weight rate price amount bid rank discount share ratio", -4),
        ("feature sampling", -4),
    ),
    OUTCOME: _points(
        ("outcome label target y actual truth true result click clicked clicks converted", 3),
        ("conversion purchased fraud fraudulent chargeback default defaulted churn churned", 3),
        ("won readmitted died success late paid", 3),
        ("class event response status state happened bad", 2),
        ("is has was", 1),
        ("test treatment holdout weekend new mobile", -3),
        ("pred predicted prediction decision action blocked", -4),
        ("censored censor censoring truncated", -4),
    ),
    TIME: _points(
        ("time timestamp ts at date datetime day when ms epoch", 2),
        ("ingested inserted loaded updated processed birth etl", -3),
    ),
    WEIGHT: _points(("weight weights ipw sampling", 1)),
    ID: _points(("id ids uuid guid key hash no number nr", 1)),
    ENTITY: _points(
        ("id ids uuid guid key hash no number nr customer user client account member patient", 1),
        ("device merchant campaign card household subscriber advertiser", 1),
    ),
}
# Which rows of a log count, and the names of columns of two values that say it.
LIVE = several("prod production live online serving champion active primary")
TESTED = several("test testing holdout oot")
OTHERS = several(
    "train training valid validation val dev development staging stage qa uat sandbox "
    "offline backtest canary challenger candidate shadow baseline previous inactive "
    "retired secondary"
)
FLAGS = several("champion live prod production active")
LABELS = several("label class predicted prediction pred decision argmax")
CENSORED = several("censored censor censoring truncated")
DURATION = several("duration tenure survival tte lifetime")
POSITIVE_WORDS = several(
    "1 1.0 yes true t y positive pos fraud fraudulent chargeback click clicked converted "
    "default defaulted churn churned success won bad event purchased late readmitted died "
    "buy bought ja oui si sí sim tak sì"
)
NEGATIVE_WORDS = several(
    "0 0.0 -1 -1.0 no false f n negative neg legit genuine ok none no_click not_converted "
    "paid retained failure lost good no_event on_time survived no_fraud not_fraud view "
    "impression stayed nein nee nej non não nao nie"
)
ZERO_ONE, SIGNS = ({"0", "1"}, {"0.0", "1.0"}), ({"-1", "1"}, {"-1.0", "1.0"})
EPOCHS = {"s": 1e9, "ms": 1e12, "us": 1e15}  # the years 2001 to 2033 are 1 to 2 of them
CREDIT = 250.0, 1000.0  # where the points of credit scores lie
MOST_WORDS = 6  # values of an outcome; more are categories
FEWEST_ENTITIES = 50  # fewer are categories
LEAST_SHARE, MOST_SHARE = 0.02, 0.98  # of the predictions that a segment has
MOST_SEGMENTS = 12  # values that are listed
CLEAR = 4.0  # points of a candidate whose content fits
HORIZON = re.compile(r"(?<![A-Za-z0-9])(\d{1,3})_?(d|days?|w|weeks?|m|mo|months?)(?![A-Za-z0-9])")
DAYS = {"d": 1, "w": 7, "m": 30}
ROUNDED = 1e-3  # how far the sum of mean probabilities may be from 1
LEAST_CONFIDENCE = 0.5 - 1e-6  # of the likelier of two labels


@dataclass(frozen=True)
class Candidate:
    """A column that may have a role.

    Attributes
    ----------
    column : Column
        What is known of it.
    points : float
        How well name, type and content fit.
    reason : str
        Why, for people.
    settings : mapping of str to object
        Further keys that the role then needs, such as `outcome_means`.
    unknown_words : bool
        Whether nobody knows which of its two words means 1: `outcome_means` is a try.
    """

    column: Column
    points: float
    reason: str
    settings: Mapping[str, object] = field(default_factory=dict)
    unknown_words: bool = False

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name

    def because(self, reason: str, settings: Mapping[str, object] | None = None) -> "Candidate":
        """Add a reason and settings."""
        said = f"{self.reason}; {reason}" if reason else self.reason
        return replace(self, reason=said, settings={**self.settings, **(settings or {})})


@dataclass(frozen=True)
class Rule:
    """What makes a column a candidate of a role.

    Attributes
    ----------
    role : str
        Such as `score`.
    fits : callable
        Says whether it may be, given the column and the points of its name.
    points : float
        Of the content.
    reason : str
        A template with the fields of the column.
    settings : callable, optional
        The further settings that it needs.
    least : float
        The points of its name; with fewer the candidate is weak, so that rows must speak for it.
    """

    role: str
    fits: Callable[[Column, float], bool]
    points: float
    reason: str
    settings: Callable[[Column], Mapping[str, object]] = lambda _: {}
    least: float = -99.0


SPAN = "numbers from {c.least:.4g} to {c.greatest:.4g}"
SHARES = "of the rows: {shares}"
FROM_TO = "{c.type} from {c.first:%Y-%m-%d %H:%M} to {c.last:%Y-%m-%d %H:%M}"


def _may_be_score(column: Column, named: float) -> bool:
    number = column.kind == "real" or bool(column.mark) or (column.kind == "integer" and named > 2)  # noqa: PLR2004 - clearly a score by name
    graded = column.has_grades and column.greatest > 1
    return number and column.distinct > 2 and not graded and column.least == column.least  # noqa: PLR2004 - an outcome has two values; nan


def _is_percent(column: Column, named: float) -> bool:
    fits = column.least >= 0 and column.greatest <= HIGHEST_PERCENT
    return _may_be_score(column, named) and fits


def _is_logit(column: Column, named: float) -> bool:
    fits = column.least < 0 and max(-column.least, column.greatest) <= LARGEST_LOGIT
    return _may_be_score(column, named) and fits


def _is_words(column: Column, named: float) -> bool:
    return column.kind == "text" and 1 <= len(column.values) <= MOST_WORDS and named >= 0


def means(column: Column) -> dict[str, list[str]] | None:
    """Read outcomes such as yes and no; of two, one that is known says what the other is."""
    spoken = {value: value.strip().lower().replace(" ", "_") for value in column.values}
    positive = sorted(v for v, word in spoken.items() if word in POSITIVE_WORDS)
    negative = sorted(v for v, word in spoken.items() if word in NEGATIVE_WORDS - POSITIVE_WORDS)
    if positive and len(spoken) == 2 and points(OUTCOME, column) > 0:  # noqa: PLR2004
        negative = sorted({*spoken} - {*positive})
    if not positive or (not negative and len(spoken) > 1):
        return None
    return {"positive": positive, "negative": negative}


def _two_words(column: Column) -> dict[str, object]:
    first, second = sorted(column.values)
    return {"outcome_means": {"positive": [second], "negative": [first]}}


def _are_unknown(column: Column) -> bool:
    spoken = {value.strip().lower().replace(" ", "_") for value in column.values}
    return len(column.values) == 2 and not spoken & (POSITIVE_WORDS | NEGATIVE_WORDS)  # noqa: PLR2004


def _counts(unit: str) -> Callable[[Column, float], bool]:
    scale = EPOCHS[unit]
    return lambda c, named: (
        c.is_number and named > 0 and scale <= c.least and c.greatest < 2 * scale
    )


def _unit(unit: str) -> Callable[[Column], Mapping[str, object]]:
    return lambda _: {"time_unit": unit}


def _is_segment(column: Column, _: float) -> bool:
    listed = shares_of(column)
    kinds = ("text", "boolean", "integer", "uuid")
    fits = len(column.values) > 1 and column.kind in kinds and column.first is None
    return fits and bool(listed) and max(listed.values()) <= MOST_SHARE


RULES = (
    Rule(SCORE, lambda c, n: c.mark == "%" and _may_be_score(c, n), 3,
         SPAN + ", mean {c.mean:.4g} with percent signs", lambda _: {"score_means": "percent"}),
    Rule(SCORE, lambda c, n: _may_be_score(c, n) and c.within > 0.95 and c.kind != "integer", 4,  # noqa: PLR2004 - a few may be errors
         SPAN + ", mean {c.mean:.4g}"),
    Rule(SCORE, lambda c, n: _is_percent(c, n) and c.within <= 0.95, 2,  # noqa: PLR2004
         SPAN + ", mean {c.mean:.4g}: percent, by the looks of it",
         lambda _: {"score_means": "percent"}, least=2),
    Rule(SCORE, lambda c, n: _is_logit(c, n) and c.within <= 0.95, 1,  # noqa: PLR2004
         SPAN + ", mean {c.mean:.4g}: logits, by the looks of it",
         lambda _: {"score_means": "logit"}, least=1),
    Rule(OUTCOME, lambda c, _: c.kind == "boolean", 4, "{c.type}, " + SHARES),
    Rule(OUTCOME, lambda c, _: c.is_number and any(
        {*c.values} and {*c.values} <= two for two in ZERO_ONE), 4, "{c.type}, " + SHARES),
    Rule(OUTCOME, lambda c, _: c.is_number and {*c.values} in SIGNS, 3, "{c.type}, " + SHARES,
         lambda _: {"outcome_means": {"positive": [1], "negative": [-1]}}),
    Rule(OUTCOME, lambda c, n: _is_words(c, n) and bool(means(c)), 2, "text, " + SHARES + "{rest}",
         lambda c: {"outcome_means": means(c)}),
    Rule(OUTCOME, lambda c, n: _is_words(c, n) and n > 0 and _are_unknown(c), 0, "text, " + SHARES,
         _two_words),
    Rule(TIME, lambda c, _: c.first is not None and c.kind == "time", 3, FROM_TO),
    Rule(TIME, lambda c, _: c.first is not None and c.kind == "date", 1, FROM_TO),
    Rule(TIME, lambda c, _: c.first is not None and bool(c.form), 2,
         FROM_TO + ", written as {c.form}"),
    Rule(TIME, lambda c, _: c.first is not None, 2, FROM_TO),
    *(Rule(TIME, _counts(unit), 2, f"{{c.type}} that counts {unit} since 1970", _unit(unit))
      for unit in EPOCHS),
    Rule(WEIGHT, lambda c, n: n > 0 and c.is_number and c.distinct > 1 and c.least > 0, 0, ""),
    Rule(ENTITY, lambda c, n: n > 0 and c.kind in ("integer", "text", "uuid")
         and c.first is None and c.distinct >= FEWEST_ENTITIES, 0, ""),
    Rule(SEGMENT, _is_segment, 0, ""),
)  # fmt: skip


def words(name: str) -> list[str]:
    """Split a name into lower-case words.

    Examples
    --------
    >>> words("fraudScore_v2")
    ['fraud', 'score', 'v', '2']
    """
    return [w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)]


def points(role: str, column: Column) -> float:
    """Return the points of a name: the best of its good words and all of its bad ones."""
    known = NAMES.get(role, {})
    of = [known[word] for word in words(column.name) if word in known]
    return max([0.0, *(p for p in of if p > 0)]) + sum(p for p in of if p < 0)


def candidates(role: str, columns: Sequence[Column], *, weak: bool = False) -> list[Candidate]:
    """List the columns that may have a role, the best first.

    With `weak`, also those of which only the content fits, with 0 points or less: they need rows
    with outcomes that speak for them.
    """
    found = [one for column in columns if (one := _candidate(role, column))]
    kept = (one for one in found if weak or role != SCORE or one.points > 0)
    return sorted(kept, key=lambda one: -one.points)


def _candidate(role: str, column: Column) -> Candidate | None:
    named = points(role, column)
    rule = next((r for r in RULES if r.role == role and r.fits(column, named)), None)
    if rule is None:
        return None
    total = rule.points + named
    if role == SCORE:
        total = total if named >= rule.least else min(0.0, total)
        total += min(1.0, column.distinct / 100) if total > 0 else 0.0
    said, settings = rule.reason.format(c=column, **_said(column)), rule.settings(column)
    return Candidate(column, total, said, settings, rule.settings is _two_words)


def _said(column: Column) -> dict[str, str]:
    known = max(1, column.rows - column.nulls)
    shares = [f"{value} in {rows / known:.3g}" for value, rows in [*column.values.items()][:4]]
    given = [v for vs in (means(column) or {}).values() for v in vs] if shares else []
    rest = [value for value in column.values if value not in given]
    other = f"; {', '.join(rest)} count as not yet known or invalid" if rest else ""
    return {"shares": ", ".join(shares), "rest": other}


def scores(columns: Sequence[Column]) -> list[Candidate]:
    """List the columns that may be the score by name and content, the best first."""
    return candidates(SCORE, columns)


def outcomes(columns: Sequence[Column]) -> list[Candidate]:
    """List the columns that may be the outcome, the best first.

    What is named like a score is a decision that was made by it, if there is another one.
    """
    ranked = candidates(OUTCOME, columns)
    others = [c for c in ranked if not is_named_score(c.column) or points(OUTCOME, c.column) > 0]
    return others or ranked


def outcomes_beside(columns: Sequence[Column]) -> list[Candidate]:
    """List the columns of a log with scores that may be the outcome, the best first.

    A value that every row has is none; where some rows have none, it may be a click.
    """
    return outcomes([c for c in columns if c.distinct > 1 or c.nulls])


def times(columns: Sequence[Column]) -> list[Candidate]:
    """List the columns that may be the time of the row, the best first."""
    return candidates(TIME, columns)


def is_named_score(column: Column) -> bool:
    """Tell whether a column is named like a score, whatever it contains."""
    return points(SCORE, column) >= 2  # noqa: PLR2004 - the points of clear words


def could_be_score(column: Column) -> bool:
    """Tell whether a column is named like a score, or has the text of numbers with a fraction."""
    return is_named_score(column) or bool(column.mark)


def shares_of(column: Column) -> dict[str, float]:
    """Return the values of a column that may be segments, with their shares of the rows."""
    shares = {v: rows / column.rows for v, rows in column.values.items() if v not in RESERVED}
    return dict([(v, share) for v, share in shares.items() if share >= LEAST_SHARE][:MOST_SEGMENTS])


def are_points(column: Column) -> bool:
    """Tell whether numbers lie where the points of credit scores do."""
    return CREDIT[0] <= column.least and column.greatest <= CREDIT[1]


def unread_score(columns: Sequence[Column], score: Column, *, refuted: bool) -> Column | None:
    """Find a column that is no probability, but may be what was meant in place of a score.

    It is named like the score, more than the score is; of a score that predicts nothing any points
    or grades are doubted.
    """
    none = [c for c in columns if not _candidate(SCORE, c) and c.distinct > 1 and not c.first]
    labels = labels_beside(score, none)
    rivals = [c for c in none if is_named_score(c) and points(SCORE, c) > points(SCORE, score)]
    rivals = [c for c in rivals if c not in labels]
    graded = [c for c in none if c.is_number and (are_points(c) or c.has_grades)] * refuted
    return max((*rivals, *graded), key=lambda c: points(SCORE, c), default=None)


def labels_beside(score: Column, beside: Sequence[Column]) -> list[Column]:
    """List the columns that may be the label that a score is the probability of."""
    two = [c for c in beside if len(c.values) == 2]  # noqa: PLR2004 - a label and another
    return [c for c in two if LABELS & {*words(c.name)}] if score.within == 1 else []


def parts_of_one(columns: Sequence[Column]) -> list[str]:
    """List columns that could be the probabilities of classes; none if they are not."""
    parts = [c for c in columns if c.kind == "real" and c.within == 1]
    several = len(parts) > 2 and abs(sum(c.mean for c in parts) - 1) < ROUNDED  # noqa: PLR2004 - two are one score
    return [c.name for c in parts] if several else []


def horizon(name: str) -> int | None:
    """Read the days that a name says.

    Examples
    --------
    >>> horizon("y_30d"), horizon("default_12_months"), horizon("score_v2")
    (30, 360, None)
    """
    match = HORIZON.search(name.lower())
    return int(match[1]) * DAYS[match[2][0]] if match else None


def twins_of_two(columns: Sequence[Column]) -> tuple[str, str] | None:
    """Find two columns with the same two values: one may be a label, the other what came true."""
    two = [c for c in columns if len(c.values) == 2]  # noqa: PLR2004
    pairs = ((a.name, b.name) for a, b in combinations(two, 2) if {*a.values} == {*b.values})
    return next(pairs, None)


def probability(score: Candidate) -> str:
    """Write the probability that a score column of the sample means in SQL."""
    number = f"try_{number_in(quoted(score.name), score.column.mark)}"
    if label := score.settings.get("predicted_label"):
        hit = one_in(f"{label}", score.settings.get("label_means"))
        return f"CASE {hit} WHEN true THEN {number} WHEN false THEN 1 - {number} END"
    return {
        "percent": f"({number} / 100)",
        "logit": f"(1 / (1 + exp(-{number})))",
        "probability_of_0": f"(1 - {number})",
    }.get(f"{score.settings.get('score_means')}", number)


def is_one(outcome: Candidate) -> str:
    """Write in SQL whether the outcome of a row is 1; null if it is neither 1 nor 0."""
    return one_in(outcome.name, outcome.settings.get("outcome_means"))


def one_in(name: str, said: object) -> str:
    """Write in SQL whether a value means 1, given what the values mean."""
    text = f"lower({quoted(name)}::VARCHAR)"
    given = said if isinstance(said, dict) else {}
    ones, zeros = (
        ", ".join(text_in_sql(f"{v}".lower()) for v in given.get(key, plain))
        for key, plain in (("positive", ("1", "1.0", "true")), ("negative", ("0", "0.0", "false")))
    )
    zero = f"WHEN {text} IN ({zeros}) THEN false " if zeros else ""
    return f"CASE WHEN {text} IN ({ones}) THEN true {zero}END"


def moment(time: Candidate) -> str:
    """Write the time of a row of the sample in SQL."""
    column = quoted(time.name)
    per_second = {"s": 1, "ms": 1e3, "us": 1e6}.get(f"{time.settings.get('time_unit')}")
    if time.column.form:
        return f"try_strptime({column}::VARCHAR, {text_in_sql(time.column.form)})"
    if per_second:
        return f"to_timestamp(try_cast({column} AS DOUBLE) / {per_second:.0f})"
    return f"try_cast({column}::VARCHAR AS TIMESTAMPTZ)"


def day_of(time: Candidate | None) -> str:
    """Write the day of a row of the sample in SQL: that of its partition, or of a time."""
    return f"coalesce({quoted(PARTITION)}, ({moment(time) if time else 'NULL'})::DATE)"


def is_impossible(time: Candidate) -> str:
    """Write in SQL whether a time means that there is none yet."""
    at = f"({moment(time)})::TIMESTAMP"
    return f"coalesce({at} < '1970-01-02' OR {at} > '{LATEST}', false)"


def has_zone(time: Candidate) -> bool:
    """Return whether a column tells moments: with a zone, or as numbers since 1970."""
    return "TIME ZONE" in time.column.type or "time_unit" in time.settings


def comparable(a: Candidate, b: Candidate) -> bool:
    """Tell whether the times of two logs can be compared, whatever their precision and unit."""
    kinds = a.column.kind, b.column.kind
    if "date" in kinds:
        return False
    if "text" in kinds:
        return all(has_zone(t) for t, kind in zip((a, b), kinds, strict=True) if kind != "text")
    return has_zone(a) == has_zone(b)
