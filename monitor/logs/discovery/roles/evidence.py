"""Which score predicts which outcome, measured on rows that have both, and what is unsure. Pure.

A prior that moved, or a model trained with fewer negatives, shifts all scores by a constant in
log-odds, so scores are compared with the best constant first (`shifted`), and as they are only
where that does not separate them. Names break ties.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from monitor.logs.discovery.roles.rules import Candidate
from monitor.words.numbers import percent
from monitor.words.plausibility import Remark, about_outcomes

Floats = npt.NDArray[np.float64]
Fits = Mapping[str, "Fit"]

SURE = 1e-6  # scores are cut here, so that one wrong certainty does not decide
STEPS = 30  # of Newton's method; five are usual
LARGEST_STEP = 3.0  # in log-odds
STANDARD_ERRORS = 2.0  # of a mean difference: within it, two scores are a tie
BINS = 20  # of the scores, by rows
TIE = 0.02  # of the entropy: within it, two outcomes are a tie
FEWEST = 50  # rows: with fewer, nothing is measured
MANY = 300  # rows: with fewer, a score that seems to predict nothing is no news
LABELS = 3  # scores with an outcome each, from which on they may be labels of one model
OTHER_CLASS = {"score_means": "probability_of_0"}
DECISION = "outcomes.outcome"  # of a remark that the outcome was made from the score


@dataclass(frozen=True)
class Fit:
    """How well a score predicts an outcome.

    Attributes
    ----------
    shifted : ndarray of shape (n,)
        Log loss of each row, in nats, with the best constant added to the log-odds.
    loss, entropy : float
        Mean log loss of the scores as they are, and of a constant score, in nats.
    mean_score, prevalence : float
        Ratios in [0, 1].
    flipped : bool
        Whether the score is that of the other class.
    worth : float
        Share of the entropy that the best curve of the scores explains, less twice the share that
        is lost because the scores are not on that curve: a decision that was made from the score
        follows it more closely than the score claims, and loses more than it gains.
    """

    shifted: Floats
    loss: float
    entropy: float
    mean_score: float
    prevalence: float
    flipped: bool
    worth: float

    @property
    def predicts(self) -> bool:
        """Whether the score predicts the outcome better than a constant, beyond chance."""
        return is_better(self.entropy - self.shifted)


@dataclass(frozen=True)
class Choice:
    """Score and outcome, the best first, and what the rows say of them.

    Attributes
    ----------
    scores, outcomes : list of Candidate
        The best first.
    remarks, doubts : sequence
        What looks implausible of them, and what is unsure.
    predicts, refuted : bool
        Whether the score predicts the outcome, as far as was measured, and whether enough rows say
        that no score predicts any outcome.
    unread : Candidate or None
        A column that is no probability, but predicts better than the score.
    """

    scores: list[Candidate]
    outcomes: list[Candidate]
    remarks: Sequence[Remark] = ()
    doubts: tuple[str, ...] = ()
    predicts: bool = False
    refuted: bool = False
    unread: Candidate | None = None


@dataclass(frozen=True)
class Rows:
    """The rows that have scores and outcomes.

    Attributes
    ----------
    scores, outcomes : mapping of str to ndarray of shape (n,)
        Probabilities, and 1.0 or 0.0, by column; nan where there is none.
    points : mapping of str to float
        How well the names of both fit.
    fits : mapping of str to mapping of str to Fit
        By outcome, by score.
    """

    scores: Mapping[str, Floats]
    outcomes: Mapping[str, Floats]
    points: Mapping[str, float]
    fits: Mapping[str, Fits] = field(default_factory=dict)


def fit(scores: Floats, outcomes: Floats) -> Fit | None:
    """Measure a score against an outcome, turned round if it predicts only then.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Probabilities; nan where there is none, which counts as the prevalence.
    outcomes : ndarray of shape (n,)
        1.0, 0.0, or nan where it is not known.

    Returns
    -------
    Fit or None
        None if there are too few rows, or only one class.

    Examples
    --------
    >>> p = np.tile([0.1, 0.9], 500)
    >>> fit(p, np.tile([0.0, 1.0], 500)).predicts
    True
    >>> fit(p, np.tile([0.0, 0.0, 1.0, 1.0], 250)).predicts
    False
    """
    with_outcome = ~np.isnan(outcomes)
    y = outcomes[with_outcome]
    if y.size < FEWEST or y.min() == y.max():
        return None
    p = np.where(np.isnan(scores[with_outcome]), y.mean(), scores[with_outcome])
    p = np.clip(p, SURE, 1 - SURE)
    as_it_is = _fit(p, y, with_outcome, flipped=False)
    turned = as_it_is if as_it_is.predicts else _fit(1 - p, y, with_outcome, flipped=True)
    return turned if turned.predicts else as_it_is


def is_better(gains: Floats) -> bool:
    """Tell whether the mean of some differences is above 0 by more than chance."""
    gains = gains[~np.isnan(gains)]
    if gains.size < FEWEST:
        return False
    return float(gains.mean()) > STANDARD_ERRORS * float(gains.std()) / float(np.sqrt(gains.size))


def measured(scores: Mapping[str, Floats], outcomes: Mapping[str, Floats]) -> dict[str, Fits]:
    """Measure every score against every outcome: by outcome, by score."""
    fits = {of: {n: one for n, p in scores.items() if (one := fit(p, y))}
            for of, y in outcomes.items()}  # fmt: skip
    return {outcome: of for outcome, of in fits.items() if of}


def best_score(fits: Fits, points: Mapping[str, float]) -> str:
    """Choose the score that predicts best; of a tie the calibrated one, then the better name."""
    able = {name: fit for name, fit in fits.items() if fit.predicts} or fits
    first = min(able, key=lambda name: (_mean(able[name]), name))
    tied = [n for n in able if not is_better(able[n].shifted - able[first].shifted)]
    least = min(able[n].loss for n in tied)
    calibrated = [n for n in tied if able[n].loss <= least + TIE * able[n].entropy]
    return min(calibrated, key=lambda n: (able[n].flipped, -points[n], able[n].loss, n))


def best_outcome(fits: Fits, points: Mapping[str, float]) -> str:
    """Choose the outcome that its best score fits best; of a tie the better name."""
    able = {name: fit for name, fit in fits.items() if fit.predicts} or fits
    straight = {name: fit for name, fit in able.items() if not fit.flipped} or able
    most = max(fit.worth for fit in straight.values())
    tied = [name for name, fit in straight.items() if fit.worth >= most - TIE]
    return max(tied, key=lambda name: (points[name], straight[name].worth, name))


def best_reading(readings: Mapping[str, Floats], outcomes: Mapping[str, Floats]) -> str | None:
    """Choose what a score is the probability of: None for as it is, which is the first."""
    first, *others = readings or [""]
    better = dict[str, float]()
    for fits in measured(readings, outcomes).values():
        for name in others:
            own = fits[name]
            gains = fits[first].shifted - own.shifted
            if own.predicts and not own.flipped and is_better(gains):
                better[name] = max(better.get(name, 0.0), float(np.nanmean(gains)))
    return max(better, key=lambda name: better[name], default=None)


def gain(unread: Floats, score: Floats, outcomes: Floats) -> float:
    """Measure how much better the curve of some values predicts than that of a score.

    Returns
    -------
    float
        Nats, the mean over the rows; 0 if it is not above chance.
    """
    with_all = ~(np.isnan(unread) | np.isnan(score) | np.isnan(outcomes))
    y = outcomes[with_all]
    if y.size < FEWEST or y.min() == y.max():
        return 0.0
    own, other = (_losses(_curve(p[with_all], y), y) for p in (score, unread))
    return float((own - other).mean()) if is_better(own - other) else 0.0


def same(a: Floats, b: Floats, most: float = 1e-3) -> bool:
    """Tell whether two columns say the same, where both say something."""
    both = ~(np.isnan(a) | np.isnan(b))
    return bool(both.any()) and float(np.mean(np.abs(a[both] - b[both]))) <= most


def choose(
    scores: Sequence[Candidate],
    outcomes: Sequence[Candidate],
    probabilities: Mapping[str, Floats],
    ones: Mapping[str, Floats],
) -> Choice:
    """Choose score and outcome by the matched rows.

    Parameters
    ----------
    scores, outcomes : sequence of Candidate
        The columns that may be them, the best names first. A score with 0 points or less is taken
        only if no other one predicts an outcome.
    probabilities, ones : mapping of str to ndarray of shape (n,)
        The matched rows by column; nan where there is none.
    """
    points = {c.name: c.points for c in (*scores, *outcomes)}
    rows = Rows(probabilities, ones, points, measured(probabilities, ones))
    named = [c for c in scores if c.points > 0]
    if not rows.fits:
        return Choice(named, [*outcomes])
    best = {name: _best(of, named, points) for name, of in rows.fits.items()}
    decided = {of: _remarks(probabilities[s], ones[of]) for of, s in best.items()}
    usable = [of for of, said in decided.items() if DECISION not in (r.key for r in said)]
    usable = usable or [*best]
    outcome = best_outcome({name: rows.fits[name][best[name]] for name in usable}, points)
    score, fits = best[outcome], rows.fits[outcome]
    ordered = [
        c.because(f"log loss {fits[c.name].loss:.4f}" if c.name in fits else "")
        for c in sorted(scores, key=lambda c: c.name != score)
        if c.points > 0 or c.name == score
    ]
    chosen = sorted(outcomes, key=lambda c: c.name != outcome)
    flipped = fits[score].flipped
    if chosen[0].unknown_words:
        # Which word means 1 is not known, so neither is whether the score is of the other class.
        chosen[0] = _with_likely_word(chosen[0], flipped=flipped)
        own = {**fits, score: replace(fits[score], flipped=False)}
        rows = replace(rows, fits={**rows.fits, outcome: own})
    elif flipped and not ordered[0].settings:
        ordered[0] = ordered[0].because(_reversed(score, outcome), OTHER_CLASS)
    p = probabilities[score]
    doubts = [
        *_about_score(score, outcome, rows),
        *_about_outcome(outcome, usable, rows, best),
        *_about_labels({best[of]: of for of in usable if rows.fits[of][best[of]].predicts}, ones),
    ]
    fit = rows.fits[outcome][score]
    refuted = not fit.predicts and _known(fit) >= MANY
    remarks = _remarks(1 - p if fit.flipped else p, ones[outcome])
    return Choice(ordered, chosen, remarks, tuple(doubts), fit.predicts, refuted)


def with_unread(
    choice: Choice, unread: Sequence[Candidate], orders: Mapping[str, Floats], rows: Rows
) -> Choice:
    """Note a column that is no probability, but predicts better than what was chosen.

    Parameters
    ----------
    choice : Choice
        What was chosen of the probabilities.
    unread : sequence of Candidate
        The columns that are none.
    orders : mapping of str to ndarray of shape (n,)
        Numbers from 0 to 1 in the order of each of them.
    rows : Rows
        The scores and outcomes.
    """
    if not rows.outcomes or not orders:
        return choice
    constant = np.full(next(iter(orders.values())).size, 0.5)
    against = dict.fromkeys(rows.outcomes, constant)
    if choice.predicts:
        against = {choice.outcomes[0].name: rows.scores[choice.scores[0].name]}
    gains = {
        (name, of): gain(values, than, rows.outcomes[of])
        for name, values in orders.items()
        for of, than in against.items()
    }
    name, of = max(gains, key=lambda both: gains[both])
    if not gains[name, of]:
        return choice
    best = next(c for c in unread if c.name == name)
    return replace(
        choice,
        scores=choice.scores or [best],
        outcomes=sorted(choice.outcomes, key=lambda c: c.name != of),
        doubts=choice.doubts if choice.predicts else (),
        refuted=False,
        unread=best,
    )


def _fit(p: Floats, y: Floats, with_outcome: npt.NDArray[np.bool_], *, flipped: bool) -> Fit:
    entropy = _mean_loss(np.full(y.size, y.mean()), y)
    shifted = np.full(with_outcome.size, np.nan)
    shifted[with_outcome] = _losses(_shift(p, y), y)
    loss, curve = _mean_loss(p, y), _mean_loss(_curve(p, y), y)
    worth = ((entropy - curve) - 2 * max(0.0, loss - curve)) / entropy
    return Fit(shifted, loss, entropy, float(p.mean()), float(y.mean()), flipped, worth)


def _mean(fit: Fit) -> float:
    return float(np.nanmean(fit.shifted))


def _known(fit: Fit) -> int:
    return int(np.count_nonzero(~np.isnan(fit.shifted)))


def _losses(p: Floats, y: Floats) -> Floats:
    p = np.clip(p, SURE, 1 - SURE)
    return -np.log(np.where(y == 1.0, p, 1 - p))


def _mean_loss(p: Floats, y: Floats) -> float:
    return float(_losses(p, y).mean())


def _shift(p: Floats, y: Floats) -> Floats:
    """Add the constant to the log-odds with which the mean score is the prevalence."""
    log_odds, constant = np.log(p) - np.log1p(-p), 0.0
    for _ in range(STEPS):
        q = 1 / (1 + np.exp(-(log_odds + constant)))
        step = float((y - q).sum() / max((q * (1 - q)).sum(), SURE))
        constant += float(np.clip(step, -LARGEST_STEP, LARGEST_STEP))
    return 1 / (1 + np.exp(-(log_odds + constant)))


def _curve(p: Floats, y: Floats) -> Floats:
    """Give each row the share of ones of its bin, one success and one failure added."""
    edges = np.unique(np.quantile(p, np.arange(1, BINS) / BINS))
    bins = np.searchsorted(edges, p, side="right")
    rows = np.bincount(bins, minlength=edges.size + 1)
    ones = np.bincount(bins, weights=y, minlength=edges.size + 1)
    share: Floats = (ones + float(y.mean())) / (rows + 1)
    return share[bins]


def _best(of: Fits, named: Sequence[Candidate], points: Mapping[str, float]) -> str:
    """Choose the score of an outcome, of those with a fitting name if one of them predicts it."""
    strong = {c.name: of[c.name] for c in named if c.name in of}
    predicting = any(fit.predicts for fit in strong.values())
    weak = any(fit.predicts for fit in of.values())
    return best_score(strong if predicting or (strong and not weak) else of, points)


def _remarks(p: Floats, y: Floats) -> list[Remark]:
    with_both = ~(np.isnan(p) | np.isnan(y))
    scores, of_score = np.unique(p[with_both], return_inverse=True)
    counts = np.bincount(of_score, minlength=scores.size).astype(np.float64)
    hits = np.bincount(of_score, weights=y[with_both], minlength=scores.size)
    return about_outcomes(scores, counts, hits)


def _with_likely_word(outcome: Candidate, *, flipped: bool) -> Candidate:
    """Take the word of which higher scores have more for the positive one."""
    means = outcome.settings["outcome_means"]
    assert isinstance(means, dict)
    turned = {"positive": means["negative"], "negative": means["positive"]}
    return outcome.because("", {"outcome_means": turned if flipped else means})


def _about_score(score: str, outcome: str, rows: Rows) -> list[str]:
    """Say which other score predicts the outcome too, or that none does."""
    fits, points = rows.fits[outcome], rows.points
    own = fits[score]
    if not own.predicts:
        none = (
            f"no column predicts `{outcome}` better than a constant does; check that `{score}` is "
            f"the score and `{outcome}` its outcome"
        )
        return [none] if _known(own) >= MANY else []
    p = {n: 1 - rows.scores[n] if fit.flipped else rows.scores[n] for n, fit in fits.items()}
    rivals = [
        name
        for name, fit in fits.items()
        if name != score
        and (fit.predicts or points[name] > points[score])
        and not same(p[name], p[score])
        and (points[name] >= points[score] or not is_better(fit.shifted - own.shifted))
    ]
    doubts = [_reversed(score, outcome)] if own.flipped else []
    if rivals:
        rival = min(rivals, key=lambda name: (_mean(fits[name]), name))
        doubts.append(_compared(score, rival, fits))
    return doubts


def _compared(score: str, rival: str, fits: Fits) -> str:
    own, other = fits[score], fits[rival]
    if is_better(own.shifted - other.shifted):
        return (
            f"`{rival}` predicts better than `{score}` (log loss {other.loss:.3f} and "
            f"{own.loss:.3f}), but its name does not say that it is a score"
        )
    better = is_better(other.shifted - own.shifted) or own.loss < other.loss - TIE * own.entropy
    how = "better than" if better else "as well as"
    return f"`{score}` predicts {how} `{rival}` (log loss {own.loss:.3f} and {other.loss:.3f})"


def _reversed(score: str, outcome: str) -> str:
    return (
        f"higher `{score}` has fewer `{outcome}` of 1, so the score is taken for the probability "
        f"of the other class"
    )


def _about_labels(outcomes: Mapping[str, str], ones: Mapping[str, Floats]) -> list[str]:
    """Say that many outcomes have a score each, and several come true at once: they are labels."""
    together = sum((np.nan_to_num(ones[name]) for name in outcomes.values()), np.zeros(1))
    return _labels_said(outcomes) if len(outcomes) >= LABELS and together.max() > 1 else []


def _labels_said(outcomes: Mapping[str, str]) -> list[str]:
    pairs = [f"`{score}` and `{outcome}`" for score, outcome in sorted(outcomes.items())]
    more = f" and {len(pairs) - LABELS} more pairs" if len(pairs) > LABELS else ""
    sentence = (
        f"{', '.join(pairs[:LABELS])}{more} each are a score and its outcome, and several come "
        f"true at once: if they are labels of one model, log a row of score and outcome for each "
        f"label, and name the column of the label in strata; otherwise write a model for each"
    )
    return [sentence]


def _about_outcome(
    outcome: str, usable: Sequence[str], rows: Rows, best: Mapping[str, str]
) -> list[str]:
    """Say which other outcome the scores fit too."""
    fits, points, ones = {of: rows.fits[of][best[of]] for of in usable}, rows.points, rows.outcomes
    own = fits[outcome]
    rivals = [
        name
        for name, fit in fits.items()
        if name != outcome
        and fit.predicts
        and not fit.flipped
        and not same(ones[name], ones[outcome])
        and (points[name] >= points[outcome] or fit.worth >= own.worth - TIE)
    ]
    if not rivals:
        return []
    rival = max(rivals, key=lambda name: (fits[name].worth, name))
    other = fits[rival]
    how = "better than" if own.worth > other.worth + TIE else "as well as"
    also = "" if best[rival] == best[outcome] else f" fits `{best[rival]}`"
    sentence = (
        f"`{outcome}` (1 in {percent(own.prevalence)} of the rows) fits `{best[outcome]}` (mean "
        f"{percent(own.mean_score)}) {how} `{rival}` (1 in {percent(other.prevalence)}){also}"
    )
    return [sentence]
