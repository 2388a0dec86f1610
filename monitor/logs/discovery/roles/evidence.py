"""Which score predicts which outcome, by log loss on the rows that have both, and what is unsure.

A prior that moved, or a model trained with fewer negatives, shifts all scores by a constant in
log-odds, so scores are compared with the best constant first (`shifted`), and as they are only
where that does not separate them. Names break ties. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from monitor.logs.discovery.roles.rules import Candidate
from monitor.logs.discovery.samples.profile import Column
from monitor.words.guesses import say
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
    curved : ndarray of shape (n,)
        Log loss of each row, in nats, of the best curve of the scores.
    loss, entropy : float
        Mean log loss of the scores as they are, and of a constant score, in nats.
    mean_score, prevalence : float
        Ratios in [0, 1].
    flipped : bool
        Whether the score is that of the other class.
    """

    shifted: Floats
    curved: Floats
    loss: float
    entropy: float
    mean_score: float
    prevalence: float
    flipped: bool

    @property
    def predicts(self) -> bool:
        """Whether the score predicts the outcome better than a constant, beyond chance."""
        return is_better(self.entropy - self.shifted)

    @property
    def worth(self) -> float:
        """Share of the entropy that the curve explains, less twice what is lost beside the curve.

        A decision that was made from the score follows it more closely than the score claims, and
        loses more than it gains.
        """
        curve = float(np.nanmean(self.curved))
        return ((self.entropy - curve) - 2 * max(0.0, self.loss - curve)) / self.entropy


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
    unread : Column or None
        A column that is no probability, but may be what was meant in place of the score.
    """

    scores: list[Candidate]
    outcomes: list[Candidate]
    remarks: Sequence[Remark] = ()
    doubts: tuple[str, ...] = ()
    predicts: bool = False
    refuted: bool = False
    unread: Column | None = None


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
    known = ~np.isnan(outcomes)
    y = outcomes[known]
    if y.size < FEWEST or y.min() == y.max():
        return None
    p = np.where(np.isnan(scores[known]), y.mean(), scores[known])
    p = np.clip(p, SURE, 1 - SURE)
    as_it_is = _fit(p, y, known, flipped=False)
    turned = as_it_is if as_it_is.predicts else _fit(1 - p, y, known, flipped=True)
    return turned if turned.predicts else as_it_is


def _fit(p: Floats, y: Floats, known: npt.NDArray[np.bool_], *, flipped: bool) -> Fit:
    shifted, curved = np.full((2, known.size), np.nan)
    shifted[known], curved[known] = _losses(_shift(p, y), y), _losses(_curve(p, y), y)
    entropy, loss = (float(_losses(q, y).mean()) for q in (np.full(y.size, y.mean()), p))
    return Fit(shifted, curved, loss, entropy, float(p.mean()), float(y.mean()), flipped)


def is_better(gains: Floats) -> bool:
    """Tell whether the mean of some differences is above 0 by more than chance."""
    gains = gains[~np.isnan(gains)]
    if gains.size < FEWEST:
        return False
    return float(gains.mean()) > STANDARD_ERRORS * float(gains.std()) / float(np.sqrt(gains.size))


def choose(
    readings: Sequence[tuple[Candidate, Floats]],
    outcomes: Sequence[Candidate],
    ones: Mapping[str, Floats],
) -> Choice:
    """Choose score and outcome by the matched rows.

    Parameters
    ----------
    readings : sequence of (Candidate, ndarray of shape (n,))
        The columns that may be the score with their probabilities, the best names first; those of
        which a column has several are beside one another. One with 0 points or less is taken only
        if no other one predicts an outcome.
    outcomes : sequence of Candidate
        The columns that may be the outcome.
    ones : mapping of str to ndarray of shape (n,)
        The outcomes by column; nan where there is none.
    """
    best = dict[str, tuple[Candidate, Floats]]()
    for candidate, p in readings:
        known = best.get(candidate.name)
        if known is None or any(_reads_better(p, known[1], y) for y in ones.values()):
            best[candidate.name] = candidate, p
    scores = [candidate for candidate, _ in best.values()]
    probabilities = {name: p for name, (_, p) in best.items()}
    return _choose(scores, outcomes, probabilities, ones)


def _reads_better(p: Floats, other: Floats, y: Floats) -> bool:
    own, than = fit(p, y), fit(other, y)
    return bool(
        own and than and own.predicts and not own.flipped and is_better(than.shifted - own.shifted)
    )


def _choose(
    scores: Sequence[Candidate],
    outcomes: Sequence[Candidate],
    probabilities: Mapping[str, Floats],
    ones: Mapping[str, Floats],
) -> Choice:
    points = {c.name: c.points for c in (*scores, *outcomes)}
    named = [c for c in scores if c.points > 0]
    fits = {of: {n: one for n, p in probabilities.items() if (one := fit(p, y))}
            for of, y in ones.items()}  # fmt: skip
    fits = {of: each for of, each in fits.items() if each}
    if not fits:
        return Choice(named, [*outcomes])
    best = {of: _best_score(each, named, points) for of, each in fits.items()}
    remarks = {of: _remarks(probabilities[name], ones[of]) for of, name in best.items()}
    usable = [of for of, said in remarks.items() if DECISION not in (r.key for r in said)]
    own = {of: fits[of][best[of]] for of in usable or best}
    outcome = _best_outcome(own, points)
    score, one = best[outcome], own[outcome]
    ordered = [
        c.because(f"log loss {fits[outcome][c.name].loss:.4f}" if c.name in fits[outcome] else "")
        for c in sorted(scores, key=lambda c: c.name != score)
        if c.points > 0 or c.name == score
    ]
    chosen = sorted(outcomes, key=lambda c: c.name != outcome)
    if chosen[0].unknown_words:
        # Which word means 1 is not known, so neither is whether the score is of the other class.
        chosen[0] = _with_likely_word(chosen[0], flipped=one.flipped)
        fits[outcome] = {**fits[outcome], score: replace(one, flipped=False)}
    elif one.flipped and not ordered[0].settings:
        ordered[0] = ordered[0].because(_reversed(score, outcome), OTHER_CLASS)
    doubts = (
        *_about_score(score, outcome, fits[outcome], probabilities, points),
        *_about_outcome(outcome, own, ones, best, points),
        *_about_labels({best[of]: of for of, each in own.items() if each.predicts}, ones),
    )
    refuted = not one.predicts and int(np.count_nonzero(~np.isnan(one.shifted))) >= MANY
    p = probabilities[score]
    said = _remarks(1 - p if fits[outcome][score].flipped else p, ones[outcome])
    return Choice(ordered, chosen, said, doubts, one.predicts, refuted)


def _best_score(of: Fits, named: Sequence[Candidate], points: Mapping[str, float]) -> str:
    """Choose the score that predicts best; of a tie the calibrated one, then the better name.

    Of those with a fitting name, if one of them predicts the outcome.
    """
    strong = {c.name: of[c.name] for c in named if c.name in of}
    weak = any(fit.predicts for fit in of.values())
    if any(fit.predicts for fit in strong.values()) or (strong and not weak):
        of = strong
    able = {name: fit for name, fit in of.items() if fit.predicts} or of
    first = min(able, key=lambda name: (_mean(able[name]), name))
    tied = [n for n in able if not is_better(able[n].shifted - able[first].shifted)]
    least = min(able[n].loss for n in tied)
    calibrated = [n for n in tied if able[n].loss <= least + TIE * able[n].entropy]
    return min(calibrated, key=lambda n: (able[n].flipped, -points[n], able[n].loss, n))


def _best_outcome(fits: Fits, points: Mapping[str, float]) -> str:
    """Choose the outcome that its best score fits best; of a tie the better name."""
    able = {name: fit for name, fit in fits.items() if fit.predicts} or fits
    straight = {name: fit for name, fit in able.items() if not fit.flipped} or able
    most = max(fit.worth for fit in straight.values())
    tied = [name for name, fit in straight.items() if fit.worth >= most - TIE]
    return max(tied, key=lambda name: (points[name], straight[name].worth, name))


def _mean(fit: Fit) -> float:
    return float(np.nanmean(fit.shifted))


def _losses(p: Floats, y: Floats) -> Floats:
    p = np.clip(p, SURE, 1 - SURE)
    return -np.log(np.where(y == 1.0, p, 1 - p))


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


def _same(a: Floats, b: Floats, most: float = 1e-3) -> bool:
    """Tell whether two columns say the same, where both say something."""
    both = ~(np.isnan(a) | np.isnan(b))
    return bool(both.any()) and float(np.mean(np.abs(a[both] - b[both]))) <= most


def _reversed(score: str, outcome: str) -> str:
    return say("reversed", score=score, outcome=outcome)


def _about_score(
    score: str, outcome: str, fits: Fits, rows: Mapping[str, Floats], points: Mapping[str, float]
) -> Iterator[str]:
    """Say which other score predicts the outcome too, or that none does."""
    own = fits[score]
    if not own.predicts:
        if np.count_nonzero(~np.isnan(own.shifted)) >= MANY:
            yield say("no prediction", score=score, outcome=outcome)
        return
    if own.flipped:
        yield _reversed(score, outcome)
    p = {n: 1 - rows[n] if each.flipped else rows[n] for n, each in fits.items()}
    rivals = [
        name
        for name, each in fits.items()
        if name != score
        and (each.predicts or points[name] > points[score])
        and not _same(p[name], p[score])
        and (points[name] >= points[score] or not is_better(each.shifted - own.shifted))
    ]
    if not rivals:
        return
    rival = min(rivals, key=lambda name: (_mean(fits[name]), name))
    other = fits[rival]
    facts = {"score": score, "rival": rival, "own": own.loss, "other": other.loss}
    if is_better(own.shifted - other.shifted):
        yield say("rival without a name", **facts)
        return
    better = is_better(other.shifted - own.shifted) or own.loss < other.loss - TIE * own.entropy
    yield say("rival", how="better than" if better else "as well as", **facts)


def _about_outcome(
    outcome: str,
    fits: Fits,
    ones: Mapping[str, Floats],
    best: Mapping[str, str],
    points: Mapping[str, float],
) -> Iterator[str]:
    """Say which other outcome the scores fit too."""
    own = fits[outcome]
    rivals = [
        name
        for name, each in fits.items()
        if name != outcome
        and each.predicts
        and not each.flipped
        and not _same(ones[name], ones[outcome])
        and (points[name] >= points[outcome] or each.worth >= own.worth - TIE)
    ]
    if rivals:
        rival = max(rivals, key=lambda name: (fits[name].worth, name))
        yield say(
            "other outcome",
            outcome=outcome,
            share=percent(own.prevalence),
            score=best[outcome],
            mean=percent(own.mean_score),
            how="better than" if own.worth > fits[rival].worth + TIE else "as well as",
            rival=rival,
            other=percent(fits[rival].prevalence),
            also="" if best[rival] == best[outcome] else f" fits `{best[rival]}`",
        )


def _about_labels(outcomes: Mapping[str, str], ones: Mapping[str, Floats]) -> Iterator[str]:
    """Say that many outcomes have a score each, and several come true at once: they are labels."""
    together = sum((np.nan_to_num(ones[name]) for name in outcomes.values()), np.zeros(1))
    if len(outcomes) >= LABELS and together.max() > 1:
        pairs = [f"`{score}` and `{outcome}`" for score, outcome in sorted(outcomes.items())]
        more = f" and {len(pairs) - LABELS} more pairs" if len(pairs) > LABELS else ""
        yield say("labels", pairs=", ".join(pairs[:LABELS]) + more)
