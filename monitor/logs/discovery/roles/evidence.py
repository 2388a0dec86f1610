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
Fits = Mapping[int, "Fit"]  # by the place of the reading

SURE = 1e-6  # scores are cut here, so that one wrong certainty does not decide
STEPS = 30  # of Newton's method; five are usual
LARGEST_STEP = 3.0  # in log-odds
STANDARD_ERRORS = 2.0  # of a mean difference: within it, two scores are a tie
TIE = 0.02  # of the entropy: within it, two outcomes are a tie
FEWEST = 50  # rows: with fewer, nothing is measured
MANY = 300  # rows: with fewer, a score that seems to predict nothing is no news
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
    """

    shifted: Floats
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
        """Share of the entropy that the scores explain as they are.

        Of several outcomes, a score claims the one that it is calibrated for.
        """
        return (self.entropy - self.loss) / self.entropy


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
    shifted = np.full(known.size, np.nan)
    shifted[known] = _losses(_shift(p, y), y)
    entropy, loss = (float(_losses(q, y).mean()) for q in (np.full(y.size, y.mean()), p))
    return Fit(shifted, loss, entropy, float(p.mean()), float(y.mean()), flipped)


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
        The columns that may be the score with their probabilities, the best names first; a column
        may have several. One with 0 points or less is taken only if no other one predicts an
        outcome.
    outcomes : sequence of Candidate
        The columns that may be the outcome.
    ones : mapping of str to ndarray of shape (n,)
        The outcomes by column; nan where there is none.
    """
    points = [candidate.points for candidate, _ in readings]
    fits = {of: _fits(readings, y) for of, y in ones.items()}
    fits = {of: each for of, each in fits.items() if each}
    plain = {c.name: c for c, _ in reversed(readings) if c.points > 0}
    if not fits:
        return Choice([*reversed(plain.values())], [*outcomes])
    best = {of: _best_score(each, points) for of, each in fits.items()}
    said = {of: _remarks(readings[n][1], ones[of]) for of, n in best.items()}
    usable = [of for of, remarks in said.items() if DECISION not in (r.key for r in remarks)]
    own = {of: fits[of][best[of]] for of in usable or best}
    outcome = _best_outcome(own, {c.name: c.points for c in outcomes})
    score, p = readings[best[outcome]]
    one, chosen = own[outcome], sorted(outcomes, key=lambda c: c.name != outcome)
    measured = [(readings[n][0].name, each.loss) for n, each in fits[outcome].items()]
    losses = dict(sorted(measured, reverse=True)) | {score.name: one.loss}  # of its best reading
    ordered = [
        c.because(f"log loss {losses[c.name]:.4f}" if c.name in losses else "")
        for c in {score.name: score, **dict(reversed(plain.items())), score.name: score}.values()
    ]
    if chosen[0].unknown_words:
        # Which word means 1 is not known, so neither is whether the score is of the other class.
        chosen[0] = _with_likely_word(chosen[0], flipped=one.flipped)
        one = replace(one, flipped=False)
    elif one.flipped and not score.settings:
        ordered[0] = ordered[0].because(_reversed(score.name, outcome), OTHER_CLASS)
    named = {of: readings[n][0].name for of, n in best.items()}
    doubts = (
        *_about_score(readings, best[outcome], outcome, {**fits[outcome], best[outcome]: one}),
        *_about_outcome(chosen, own, ones, named),
    )
    refuted = not one.predicts and int(np.count_nonzero(~np.isnan(one.shifted))) >= MANY
    remarks = _remarks(1 - p if one.flipped else p, ones[outcome])
    return Choice(ordered, chosen, remarks, doubts, one.predicts, refuted)


def _fits(readings: Sequence[tuple[Candidate, Floats]], y: Floats) -> Fits:
    """Measure all readings; a label beside the score says itself of which class it is."""
    fits = {n: one for n, (_, p) in enumerate(readings) if (one := fit(p, y))}
    of_label = {n for n, (c, _) in enumerate(readings) if "predicted_label" in c.settings}
    return {n: one for n, one in fits.items() if not (n in of_label and one.flipped)}


def _best_score(of: Fits, points: Sequence[float]) -> int:
    """Choose the score that predicts best; of a tie the calibrated one, then the better name.

    Of those with a fitting name, if one of them predicts the outcome.
    """
    strong = {n: fit for n, fit in of.items() if points[n] > 0}
    weak = any(fit.predicts for fit in of.values())
    if any(fit.predicts for fit in strong.values()) or (strong and not weak):
        of = strong
    able = {n: fit for n, fit in of.items() if fit.predicts} or of
    first = min(able, key=lambda n: (_mean(able[n]), n))
    tied = [n for n in able if not is_better(able[n].shifted - able[first].shifted)]
    least = min(able[n].loss for n in tied)
    calibrated = [n for n in tied if able[n].loss <= least + TIE * able[n].entropy]
    return min(calibrated, key=lambda n: (able[n].flipped, -points[n], able[n].loss, n))


def _best_outcome(fits: Mapping[str, Fit], points: Mapping[str, float]) -> str:
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
    readings: Sequence[tuple[Candidate, Floats]], chosen: int, outcome: str, fits: Fits
) -> Iterator[str]:
    """Say which other score predicts the outcome too, or that none does."""
    own, (score, _) = fits[chosen], readings[chosen]
    if not own.predicts:
        if np.count_nonzero(~np.isnan(own.shifted)) >= MANY:
            yield say("no prediction", score=score.name, outcome=outcome)
        return
    if own.flipped:
        yield _reversed(score.name, outcome)
    names = [candidate.name for candidate, _ in readings]
    points = [candidate.points for candidate, _ in readings]
    p = {n: 1 - readings[n][1] if each.flipped else readings[n][1] for n, each in fits.items()}
    rivals = [
        n
        for n, each in fits.items()
        if names[n] != score.name and not _same(p[n], p[chosen])
        if each.predicts or points[n] > points[chosen]
        if points[n] >= points[chosen] or not is_better(each.shifted - own.shifted)
    ]
    if rivals:
        rival = min(rivals, key=lambda n: (_mean(fits[n]), names[n]))
        first, second = chosen, rival
        if is_better(own.shifted - fits[rival].shifted):
            first, second = rival, chosen
        a, b = fits[first], fits[second]
        better = is_better(b.shifted - a.shifted) or a.loss < b.loss - TIE * own.entropy
        how, losses = "better than" if better else "as well as", {"own": a.loss, "other": b.loss}
        yield say("rival", how=how, score=names[first], rival=names[second], **losses)


def _about_outcome(
    chosen: Sequence[Candidate],
    fits: Mapping[str, Fit],
    ones: Mapping[str, Floats],
    best: Mapping[str, str],
) -> Iterator[str]:
    """Say which other outcome the scores fit too."""
    outcome, *others = [c for c in chosen if c.name in fits]
    own = fits[outcome.name]
    rivals = [
        (fits[c.name].worth, c.name)
        for c in others
        if fits[c.name].predicts and not fits[c.name].flipped
        if not _same(ones[c.name], ones[outcome.name])
        if c.points >= outcome.points or fits[c.name].worth >= own.worth - TIE
    ]
    if rivals:
        worth, rival = max(rivals)
        yield say(
            "other outcome",
            outcome=outcome.name,
            share=percent(own.prevalence),
            score=best[outcome.name],
            mean=percent(own.mean_score),
            how="better than" if own.worth > worth + TIE else "as well as",
            rival=rival,
            other=percent(fits[rival].prevalence),
            also="" if best[rival] == best[outcome.name] else f" fits `{best[rival]}`",
        )
