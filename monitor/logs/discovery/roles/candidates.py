"""Which column is the score, the outcome, the time: by name, type and content, with the reason.

A guess is a candidate with points. Content decides what is possible, names decide between what is
possible, and the joined rows (`matching`) decide between what names leave open.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from monitor.logs.discovery.samples.columns import Column
from monitor.words.plausibility import HIGHEST_PERCENT, LARGEST_LOGIT

SCORE_WORDS = {
    **dict.fromkeys(
        ("score", "scores", "probability", "probabilities", "prob", "proba", "propensity", "p"), 3
    ),
    **dict.fromkeys(("pctr", "pcvr", "pd", "phat", "likelihood", "risk", "yhat", "probs"), 3),
    **dict.fromkeys(("prediction", "predicted", "pred", "confidence", "hat", "calibrated"), 2),
    **dict.fromkeys(("margin", "logit", "logits", "output", "model"), 1),
    **dict.fromkeys(("raw", "uncalibrated"), -1),
    **dict.fromkeys(("old", "previous", "baseline", "shadow", "challenger", "candidate"), -2),
    **dict.fromkeys(("threshold", "cutoff", "limit", "weight", "rate", "price", "amount"), -4),
    **dict.fromkeys(("bid", "rank", "discount", "share", "ratio", "feature", "sampling"), -4),
}
OUTCOME_WORDS = {
    **dict.fromkeys(("outcome", "label", "target", "y", "actual", "truth", "true", "result"), 3),
    **dict.fromkeys(("click", "clicked", "clicks", "converted", "conversion", "purchased"), 3),
    **dict.fromkeys(("fraud", "fraudulent", "chargeback", "default", "defaulted", "churn"), 3),
    **dict.fromkeys(("churned", "won", "readmitted", "died", "success", "late", "paid"), 3),
    **dict.fromkeys(("class", "event", "response", "status", "state", "happened", "bad"), 2),
    **dict.fromkeys(("is", "has", "was"), 1),
    **dict.fromkeys(("test", "treatment", "holdout", "weekend", "new", "mobile"), -3),
    **dict.fromkeys(("pred", "predicted", "prediction", "decision", "action", "blocked"), -4),
    **dict.fromkeys(("censored", "censor", "censoring", "truncated"), -4),
}
WEIGHT_WORDS = ("weight", "weights", "ipw", "sampling")
TIME_WORDS = ("time", "timestamp", "ts", "at", "date", "datetime", "day", "when", "ms", "epoch")
WRITER_WORDS = ("ingested", "inserted", "loaded", "updated", "processed", "birth", "etl")
POSITIVE_WORDS = {
    *("1", "1.0", "yes", "true", "t", "y", "positive", "pos", "fraud", "fraudulent", "chargeback"),
    *("click", "clicked", "converted", "default", "defaulted", "churn", "churned", "success"),
    *("won", "bad", "event", "purchased", "late", "readmitted", "died", "buy", "bought"),
    *("ja", "oui", "si", "sí", "sim", "tak", "sì"),
}
NEGATIVE_WORDS = {
    *("0", "0.0", "-1", "-1.0", "no", "false", "f", "n", "negative", "neg", "legit", "genuine"),
    *("ok", "none", "no_click", "not_converted", "paid", "retained", "failure", "lost", "good"),
    *("no_event", "on_time", "survived", "no_fraud", "not_fraud", "view", "impression", "stayed"),
    *("nein", "nee", "nej", "non", "não", "nao", "nie"),
}
EPOCHS = {"s": 1e9, "ms": 1e12, "us": 1e15}  # the years 2001 to 2033 are 1 to 2 of them


@dataclass(frozen=True)
class Candidate:
    """A column that may have a role.

    Attributes
    ----------
    column : str
        Its name.
    points : float
        How well name, type and content fit.
    reason : str
        Why, for people.
    settings : mapping of str to object
        Further keys that the role then needs, such as `outcome_means`.
    unknown_words : bool
        Whether nobody knows which of its two words means 1: `outcome_means` is a try.
    mark : str
        The decimal mark of a number that is written as a text.
    form : str
        How a time is written in a text that is not ISO.
    """

    column: str
    points: float
    reason: str
    settings: Mapping[str, object] = field(default_factory=dict)
    unknown_words: bool = False
    mark: str = ""
    form: str = ""


def words(name: str) -> list[str]:
    """Split a name into lower-case words.

    Examples
    --------
    >>> words("fraudScore_v2")
    ['fraud', 'score', 'v', '2']
    """
    return [w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)]


def scores(columns: Sequence[Column], *, weak: bool = False) -> list[Candidate]:
    """List the columns that may be the score, the best first.

    With `weak`, also those of which only the content fits, with 0 points or less: they need rows
    with outcomes that speak for them.
    """
    return [c for c in _ranked(map(_score, columns)) if weak or c.points > 0]


def outcomes(columns: Sequence[Column]) -> list[Candidate]:
    """List the columns that may be the outcome, the best first.

    What is named like a score is a decision that was made by it, if there is another one.
    """
    ranked = _ranked(map(_outcome, columns))
    decisions = {c.name for c in columns if is_named_score(c) and _named(c, OUTCOME_WORDS) <= 0}
    return [c for c in ranked if c.column not in decisions] or ranked


def outcomes_beside(columns: Sequence[Column]) -> list[Candidate]:
    """List the columns of a log with scores that may be the outcome, the best first.

    A value that every row has is none; where some rows have none, it may be a click.
    """
    return outcomes([c for c in columns if c.distinct > 1 or c.nulls])


def _ranked(candidates: Iterable[Candidate | None]) -> list[Candidate]:
    return sorted(filter(None, candidates), key=lambda c: -c.points)


def is_named_score(column: Column) -> bool:
    """Tell whether a column is named like a score, whatever it contains."""
    return _named(column, SCORE_WORDS) >= 2  # noqa: PLR2004 - the points of clear words


def times(columns: Sequence[Column]) -> list[Candidate]:
    """List the columns that may be the time of the row, the best first."""
    return _ranked(map(_time, columns))


def weights(columns: Sequence[Column]) -> list[Column]:
    """List the columns that are named like weights of rows and differ between them."""
    return [
        column
        for column in columns
        if column.kind in ("integer", "real")
        and any(word in WEIGHT_WORDS for word in words(column.name))
        and column.distinct > 1
        and column.least > 0
    ]


def _score(column: Column) -> Candidate | None:
    is_number = column.kind == "real" or column.mark
    if not is_number and not (column.kind == "integer" and _named(column, SCORE_WORDS) > 2):  # noqa: PLR2004 - clearly a score by name
        return None
    if column.distinct <= 2 or column.rows == column.nulls:  # noqa: PLR2004 - an outcome, not a score
        return None
    if column.has_grades and column.greatest > 1:
        return None
    named = _named(column, SCORE_WORDS)
    span = f"{column.least:.4g} to {column.greatest:.4g}, mean {column.mean:.4g}"
    settings: dict[str, object] = {}
    if column.mark == "%":
        points, reason = 3 + named, f"numbers from {span} with percent signs"
        settings = {"score_means": "percent"}
    elif column.within > 0.95:  # noqa: PLR2004 - a few may be errors
        points, reason = 4 + named, f"numbers from {span}"
    elif column.least >= 0 and column.greatest <= HIGHEST_PERCENT:
        points, reason = 2 + named, f"numbers from {span}: percent, by the looks of it"
        points = points if named > 1 else min(0.0, points)
        settings = {"score_means": "percent"}
    elif max(-column.least, column.greatest) <= LARGEST_LOGIT and column.least < 0:
        points, reason = 1 + named, f"numbers from {span}: logits, by the looks of it"
        points = points if named > 0 else min(0.0, points)
        settings = {"score_means": "logit"}
    else:
        return None
    if column.kind == "integer" and not settings:
        return None
    points += min(1.0, column.distinct / 100) if points > 0 else 0.0
    return Candidate(column.name, points, reason, settings, mark=column.mark)


def _outcome(column: Column) -> Candidate | None:
    values = set(column.values)
    named = _named(column, OUTCOME_WORDS)
    shown = ", ".join(
        f"{value} in {rows / max(1, column.rows - column.nulls):.3g}"
        for value, rows in list(column.values.items())[:4]
    )
    if column.kind == "boolean" or (
        column.kind in ("integer", "real") and values and values <= {"0", "1", "0.0", "1.0"}
    ):
        return Candidate(column.name, 4 + named, f"{column.type}, of the rows: {shown}")
    if column.kind in ("integer", "real") and values in ({"-1", "1"}, {"-1.0", "1.0"}):
        means = {"positive": [1], "negative": [-1]}
        reason = f"{column.type}, of the rows: {shown}"
        return Candidate(column.name, 3 + named, reason, {"outcome_means": means})
    if column.kind != "text" or not 1 <= len(values) <= 6 or named < 0:  # noqa: PLR2004 - more are categories
        return None
    return _outcome_in_words(column, named, f"text, of the rows: {shown}")


def _outcome_in_words(column: Column, named: float, reason: str) -> Candidate | None:
    """Read outcomes such as yes and no."""
    spoken = {value: value.strip().lower().replace(" ", "_") for value in column.values}
    meaning = {
        value: word in POSITIVE_WORDS
        for value, word in spoken.items()
        if word in POSITIVE_WORDS | NEGATIVE_WORDS
    }
    positive = [value for value, is_positive in meaning.items() if is_positive]
    negative = [value for value, is_positive in meaning.items() if not is_positive]
    if not meaning and len(column.values) == 2 and named > 0:  # noqa: PLR2004 - an outcome by name
        first, second = sorted(column.values)
        means = {"positive": [second], "negative": [first]}
        return Candidate(column.name, named, reason, {"outcome_means": means}, unknown_words=True)
    if positive and len(column.values) == 2 and named > 0:  # noqa: PLR2004 - the other is not it
        negative = [value for value in column.values if value not in positive]
    if not positive or (not negative and len(column.values) > 1):
        return None
    unknown = [value for value in column.values if value not in (*positive, *negative)]
    if unknown:
        reason += f"; {', '.join(unknown)} count as not yet known or invalid"
    means = {"positive": sorted(positive), "negative": sorted(negative)}
    return Candidate(column.name, 2 + named, reason, {"outcome_means": means})


def _time(column: Column) -> Candidate | None:
    spoken = words(column.name)
    named = 2.0 * any(w in TIME_WORDS for w in spoken) - 3.0 * any(
        w in WRITER_WORDS for w in spoken
    )
    if column.first is not None and column.last is not None:
        reason = f"{column.type} from {column.first:%Y-%m-%d %H:%M} to {column.last:%Y-%m-%d %H:%M}"
        points = {"time": 3.0, "date": 1.0}.get(column.kind, 2.0)
        reason += f", written as {column.form}" if column.form else ""
        return Candidate(column.name, points + named, reason, form=column.form)
    if column.kind in ("integer", "real") and named > 0:
        for unit, scale in EPOCHS.items():
            if scale <= column.least and column.greatest < 2 * scale:
                reason = f"{column.type} that counts {unit} since 1970"
                return Candidate(column.name, 2 + named, reason, {"time_unit": unit})
    return None


def _named(column: Column, meaning: Mapping[str, int]) -> float:
    """Return the points of a name: the best of its good words and all of its bad ones."""
    points = [meaning[word] for word in words(column.name) if word in meaning]
    return max([0, *(p for p in points if p > 0)]) + sum(p for p in points if p < 0)


def with_reason(
    candidate: Candidate, reason: str, settings: Mapping[str, object] | None = None
) -> Candidate:
    """Return a candidate with a further reason, and further settings."""
    said = f"{candidate.reason}; {reason}" if reason else candidate.reason
    return replace(candidate, reason=said, settings={**candidate.settings, **(settings or {})})
