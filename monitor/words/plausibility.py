"""What looks wrong in logs whose rows are all valid: each finding names the likely setting. Pure.

`init` sets what these functions suggest; `check` says it. They work on a few numbers or on small
arrays, so a sample of the rows is enough.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

import numpy as np

from monitor.base.segment_names import printable
from monitor.drift.records.facts import Scores
from monitor.metrics.core.grid import Floats, Ints
from monitor.words.level import mapped_since_reference
from monitor.words.numbers import percent

FEW_ROWS = 100  # with fewer, perfect separation or a reversed order may well be chance
TIMES_TOO_HIGH = 10.0
HIGHEST_PERCENT = 100.0
PERCENT = 50.0, 200.0  # a mean score so many times the prevalence suggests percent
LARGEST_LOGIT = 60.0  # beyond it a number is hardly a logit
CLEAR_SHARE = 0.1  # of the scores outside [0, 1]: fewer are errors of single rows
STANDARD_ERRORS = 5.0
CERTAIN, MOSTLY = 1.0 - 1e-6, 0.99  # a score that is a decision, and the share that makes a log one
MOST_ROUNDED = 1.1  # sum of the probabilities of classes: rounding does not lead beyond
LABELS = (
    "if several classes may come true at once, log a row of score and outcome for each class, name "
    "its column in strata, and leave predictions.classes out"
)
NEARLY_A_DAY = timedelta(hours=16)  # more than the zones differ
ORPHANS = "the check outcome_orphan"
# Settings that a remark on scores far from their outcomes names.
OF_SCALE = frozenset(
    ["predictions.score", "predictions.score_means", "predictions.weight", "settled_after"]
)
ENOUGH_POSITIVES = 20.0  # expected or observed: with fewer, a ratio of ten may be chance
MOST_LEFT_OUT = 0.5  # of the rows


@dataclass(frozen=True)
class Remark:
    """What looks wrong, and the setting that would put it right.

    Attributes
    ----------
    sentence : str
        What was found and what to do, for people.
    key : str
        The setting below the model, such as `predictions.score_means`.
    value : str or None
        What to set it to; None if only a person can know.
    """

    sentence: str
    key: str
    value: str | None = None


@dataclass(frozen=True)
class ScoreRange:
    """Where the scores of a log lie: the lowest, the highest, and shares of all, ratios."""

    lowest: float
    highest: float
    negative: float
    above_one: float


def about_scores(scores: ScoreRange) -> list[Remark]:
    """Say which scale scores outside [0, 1] have.

    Examples
    --------
    >>> about_scores(ScoreRange(0.5, 99.0, 0.0, 0.75))[0].value
    'percent'
    >>> about_scores(ScoreRange(-7.5, 3.0, 0.9, 0.05))[0].value
    'logit'
    >>> about_scores(ScoreRange(0.0, 1.7, 0.0, 1e-4))
    []
    """
    span = f"the scores lie between {scores.lowest:.4g} and {scores.highest:.4g}"
    key = "predictions.score_means"
    if scores.negative + scores.above_one < CLEAR_SHARE:
        return []
    if scores.negative == 0.0 and scores.highest <= HIGHEST_PERCENT:
        sentence = f"{span}, like percent; if they are, set {key} to percent."
        return [Remark(sentence, key, "percent")]
    if scores.negative > 0.0 and max(-scores.lowest, scores.highest) <= LARGEST_LOGIT:
        sentence = f"{span}, like logits; if they are, set {key} to logit."
        return [Remark(sentence, key, "logit")]
    sentence = (
        f"{span}, so they are not probabilities; set predictions.score to the column with the "
        f"predicted probability."
    )
    return [Remark(sentence, "predictions.score")]


def about_outcomes(scores: Floats, counts: Floats | Ints, positives: Floats | Ints) -> list[Remark]:
    """Say what is implausible about outcomes, given the scores.

    Parameters
    ----------
    scores, counts, positives : ndarray of shape (m,)
        Increasing scores in [0, 1], the number of predictions with each, and how many of their
        outcomes are 1.

    Examples
    --------
    >>> s, ones = np.linspace(0.01, 0.99, 200), np.ones(200)
    >>> about_outcomes(s, ones, (s > 0.5) * 1.0)[0].key
    'outcomes.outcome'
    """
    total, hits = float(counts.sum()), float(positives.sum())
    if total < FEW_ROWS or hits in (0.0, total):
        return []
    return (
        _own_threshold(scores, counts, positives)
        or _other_class(counts, positives)
        or _far_off(float(scores @ counts) / total, hits / total, total)
    )


def unless_mapped(remarks: Sequence[Remark], scores: Scores | None) -> list[Remark]:
    """Name the map that was applied to every score since the reference, instead of its effects.

    Parameters
    ----------
    remarks : sequence of Remark
        What `about_outcomes` says of a day, among others.
    scores : Scores or None
        The scores of the day beside those of its reference; None if there is none.

    Examples
    --------
    >>> a_hundredth = Scores(0.2, 0.002, 0.2, 0.2, like="percent", by=0.01)
    >>> [about.key for about in unless_mapped([Remark("", "predictions.weight")], a_hundredth)]
    ['predictions.score']
    """
    said = mapped_since_reference(scores) if scores else ""
    if not said:
        return [*remarks]
    return [
        Remark(said, "predictions.score"),
        *(remark for remark in remarks if remark.key not in OF_SCALE),
    ]


def about_first_choices(names: Sequence[str], outcomes: Ints, right: int) -> list[Remark]:
    """Say whether the highest scores are right less often than a constant choice would be.

    Parameters
    ----------
    names : sequence of str
        The classes.
    outcomes : ndarray of shape (c,)
        Rows by the class that came true.
    right : int
        Rows whose highest score was that of the class that came true.

    Examples
    --------
    >>> about_first_choices(["cat", "dog"], np.array([500, 500]), 80)[0].key
    'predictions.classes.names'
    """
    total, most = int(outcomes.sum()), int(outcomes.max(initial=0))
    if total < FEW_ROWS or right + STANDARD_ERRORS * float(np.sqrt(total)) / 2 >= most:
        return []
    sentence = (
        f"the class with the highest score came true for {percent(right / total, 0)} of the "
        f"outcomes, but {printable(names[int(outcomes.argmax())])} alone is "
        f"{percent(most / total, 0)} of them; check that predictions.classes.names has the order "
        f"of the probabilities, and that outcomes that are numbers count from 0."
    )
    return [Remark(sentence, "predictions.classes.names")]


def about_certain_choices(scores: Floats, counts: Floats | Ints, right: int) -> list[Remark]:
    """Say whether vectors are decisions, with 1 for a class and 0 for all others.

    Parameters
    ----------
    scores, counts : ndarray of shape (m,)
        The highest scores in [0, 1], and the number of rows with each.
    right : int
        Rows whose highest score was that of the class that came true.

    Examples
    --------
    >>> about_certain_choices(np.array([1.0]), np.array([500]), 340)[0].key
    'predictions.classes'
    """
    total = int(counts.sum())
    certain = int(counts[scores > CERTAIN].sum())
    if total < FEW_ROWS or certain < MOSTLY * total or right == total:
        return []
    sentence = (
        f"{percent(certain / total, 0)} of the vectors have 1 for a class and 0 for all others, "
        f"and that class came true for {percent(right / total, 0)} of the outcomes, so they seem "
        f"to be decisions; set predictions.classes to the columns with the predicted probabilities."
    )
    return [Remark(sentence, "predictions.classes")]


def about_sums(share: float, middle: float) -> list[Remark]:
    """Say whether vectors that are divided by their sum may be those of independent labels.

    Parameters
    ----------
    share : float
        Of the vectors, those whose numbers are probabilities but add up to more than 1.1; a ratio
        in [0, 1].
    middle : float
        Median of the sums of those.

    Examples
    --------
    >>> about_sums(0.8, 1.6)[0].key
    'predictions.classes.sums'
    >>> about_sums(0.01, 1.2)
    []
    """
    if share < CLEAR_SHARE:
        return []
    sentence = (
        f"{percent(share, 0)} of the vectors hold probabilities that add up to more than "
        f"{MOST_ROUNDED} (median {middle:.3g}), which predictions.classes.sums: normalise divides "
        f"by their sum; {LABELS}."
    )
    return [Remark(sentence, "predictions.classes.sums")]


def about_orphans(rows: int, of: int) -> list[Remark]:
    """Say whether many outcomes have no prediction in the log.

    Parameters
    ----------
    rows, of : int
        Outcomes without a prediction, and all of a day.

    Examples
    --------
    >>> about_orphans(400, 800)[0].key
    'the check outcome_orphan'
    >>> about_orphans(20, 800)
    []
    """
    if of < FEW_ROWS or rows < CLEAR_SHARE * of:
        return []
    sentence = (
        f"{rows:,} of {of:,} outcomes ({percent(rows / of, 0)}) have no prediction in the log; if "
        f"they are not those of other models, predictions.path may name only a part of its files, "
        f"or predictions.where leave out too many rows."
    )
    return [Remark(sentence, ORPHANS)]


def about_times(setting: str, day: date, times: Sequence[datetime]) -> list[Remark]:
    """Say whether times are far from the day of their partition.

    Parameters
    ----------
    setting : str
        `predictions.time` or `outcomes.time`.
    day : date
        The day of the partition.
    times : sequence of datetime
        Sorted, such as quantiles; with or without zone. A day more or less is left to the zone.

    Examples
    --------
    >>> about_times("predictions.time", date(2026, 3, 2), [datetime(1970, 1, 21)])[0].key
    'predictions.time'
    >>> of_yesterday = [datetime(2026, 3, 1, hour) for hour in (1, 12, 23)]
    >>> about_times("predictions.time", date(2026, 3, 2), of_yesterday)[0].key
    'predictions.day'
    """
    if not times:
        return []
    middle = times[len(times) // 2]
    midnight = datetime.combine(day, time(), middle.tzinfo)
    begin, end = midnight - timedelta(days=1), midnight + timedelta(days=2)
    # No zone moves all of a day onto another one.
    is_whole_day = begin <= times[0] and times[-1] - times[0] >= NEARLY_A_DAY
    if setting == "predictions.time" and is_whole_day and times[-1] < midnight:
        sentence = (
            f"the times of predictions.time in the partition {day} are those of {begin:%Y-%m-%d}: "
            f"the path seems to have the date of the run, so days are one off; write * in place of "
            f"{{day}} in predictions.path, and set predictions.day to the column of that time."
        )
        return [Remark(sentence, "predictions.day")]
    if begin <= middle < end:
        return []
    sentence = (
        f"half of the times of {setting} are {'before' if middle < begin else 'after'} "
        f"{middle:%Y-%m-%d %H:%M}, far from their partition {day}; check {setting}, its unit, and "
        f"the date in the path."
    )
    return [Remark(sentence, setting)]


@dataclass(frozen=True)
class LeftOut:
    """A setting that leaves out more than half of the rows of a log on some days.

    Attributes
    ----------
    setting : str
        Its key in the configuration, below the model.
    days : tuple of date
        In their order.
    rows, of : int
        The rows left out on these days, and all of them.
    """

    setting: str
    days: tuple[date, ...]
    rows: int
    of: int

    def __str__(self) -> str:
        first, more = self.days[0], len(self.days) - 1
        when = f"on {first}" if not more else f"on {len(self.days)} days, first {first}"
        share = f"{self.rows:,} of {self.of:,} rows ({percent(self.rows / self.of, 0)})"
        remedy = "if it should not, correct the setting or the log."
        return f"{self.setting} leaves out {share} {when}; {remedy}"


def mostly_left_out(
    left_out: Mapping[date, Mapping[str, tuple[int, int]]],
) -> tuple[LeftOut, ...]:
    """Find the settings that leave out more than half of the rows of a day.

    Parameters
    ----------
    left_out : mapping
        From day to setting to the rows that it leaves out, and all rows; of `Summary.left_out`.

    Examples
    --------
    >>> days = {date(2026, 3, i): {"predictions.where": (9, 10)} for i in (1, 2)}
    >>> str(mostly_left_out(days)[0]).partition(";")[0]
    'predictions.where leaves out 18 of 20 rows (90 %) on 2 days, first 2026-03-01'
    """
    most: dict[str, list[tuple[date, int, int]]] = {}
    for day in sorted(left_out):
        for setting, (rows, of) in left_out[day].items():
            if rows > MOST_LEFT_OUT * of:
                most.setdefault(setting, []).append((day, rows, of))
    return tuple(
        LeftOut(setting, tuple(days), sum(rows), sum(of))
        for setting, lost in most.items()
        for days, rows, of in [zip(*lost, strict=True)]
    )


def _own_threshold(scores: Floats, counts: Floats | Ints, positives: Floats | Ints) -> list[Remark]:
    """Notice outcomes that are 1 exactly from some score on: a decision, not an observation."""
    with_hits, with_misses = positives > 0, positives < counts
    lowest_hit, highest_miss = scores[with_hits].min(), scores[with_misses].max()
    if lowest_hit <= highest_miss or min(positives.sum(), (counts - positives).sum()) < 10:  # noqa: PLR2004 - as few may separate by chance
        return []
    sentence = (
        f"every outcome is 1 from a score of {lowest_hit:.4g} on and 0 below, so the outcome seems "
        f"to be the decision made from the score; set outcomes.outcome to the column with what "
        f"happened later."
    )
    return [Remark(sentence, "outcomes.outcome")]


def _other_class(counts: Floats | Ints, positives: Floats | Ints) -> list[Remark]:
    """Notice scores that fall as outcomes rise, by more than chance explains."""
    misses = counts - positives
    below = np.cumsum(misses) - misses
    hits, rest = positives.sum(), misses.sum()
    auc = float((positives * (below + misses / 2)).sum() / (hits * rest))
    # The standard error of the rank-sum statistic if scores and outcomes are independent.
    error = float(np.sqrt((hits + rest + 1) / (12 * hits * rest)))
    if auc > 0.5 - STANDARD_ERRORS * error or auc > 0.4:  # noqa: PLR2004 - a useless model may be a little worse than chance
        return []
    key = "predictions.score_means"
    sentence = (
        f"higher scores have fewer outcomes of 1 (AUC {auc:.2f}), so the scores may be the "
        f"probability of the other class; if they are, set {key} to probability_of_0."
    )
    return [Remark(sentence, key, "probability_of_0")]


def _far_off(mean_score: float, prevalence: float, total: float) -> list[Remark]:
    ratio = mean_score / prevalence
    if max(mean_score, prevalence) * total < ENOUGH_POSITIVES:
        return []
    about = f"the mean score is {_ratio(mean_score)} and the prevalence {_ratio(prevalence)}"
    if PERCENT[0] <= ratio <= PERCENT[1]:
        key = "predictions.score_means"
        sentence = f"{about}, a factor of about 100; if scores are percent, set {key} to percent."
        return [Remark(sentence, key, "percent")]
    if 1.0 / PERCENT[1] <= ratio <= 1.0 / PERCENT[0]:
        sentence = (
            f"{about}, a factor of about 1/100, as if probabilities were read as percent; if they "
            f"were divided by 100 on their way, log them as they are."
        )
        return [Remark(sentence, "predictions.score")]
    if ratio >= TIMES_TOO_HIGH:
        sentence = (
            f"{about}, {ratio:.0f} times lower; if positives arrive later, raise settled_after; if "
            f"the model was trained with fewer negatives, recalibrate it first."
        )
        return [Remark(sentence, "settled_after")]
    if ratio <= 1 / TIMES_TOO_HIGH:
        sentence = (
            f"{about}, {1 / ratio:.0f} times higher; if the log holds only some of the negatives, "
            f"set predictions.weight to the column with the weights of the rows."
        )
        return [Remark(sentence, "predictions.weight")]
    return []


def _ratio(share: float) -> str:
    return f"{share:.3g}" if share < 0.001 else percent(share, 2)  # noqa: PLR2004 - 0.00 % says nothing
