"""Which columns are score and outcome, by the rows that have both, and what is unsure. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from monitor.logs.discovery.roles.candidates import Candidate, with_reason
from monitor.logs.discovery.roles.ranking import (
    Fit,
    Floats,
    best_outcome,
    best_score,
    gain,
    is_better,
    measured,
    same,
)
from monitor.words.numbers import percent
from monitor.words.plausibility import Remark, about_outcomes

MANY = 300  # rows: with fewer, a score that seems to predict nothing is no news
LABELS = 3  # scores with an outcome each, from which on they may be labels of one model
TIE = 0.02  # of the entropy
OTHER_CLASS = {"score_means": "probability_of_0"}


@dataclass(frozen=True)
class Choice:
    """Score and outcome, the best first, what looks implausible of them, and what is unsure."""

    scores: list[Candidate]
    outcomes: list[Candidate]
    remarks: list[Remark] = field(default_factory=list)
    doubts: tuple[str, ...] = ()
    predicts: bool = False  # whether the score predicts the outcome, as far as was measured
    refuted: bool = False  # whether enough rows say that no score predicts any outcome
    unread: str | None = None  # a column that is no probability, but predicts better than the score


def choose(
    scores: Sequence[Candidate],
    outcomes: Sequence[Candidate],
    probabilities: Mapping[str, Floats],
    ones: Mapping[str, Floats],
) -> Choice:
    """Choose score and outcome.

    Parameters
    ----------
    scores, outcomes : sequence of Candidate
        The columns that may be them, the best names first. A score with 0 points or less is taken
        only if no other one predicts an outcome.
    probabilities, ones : mapping of str to ndarray of shape (n,)
        The matched rows by column; nan where there is none.
    """
    named = [c for c in scores if c.points > 0]
    fits = measured(probabilities, ones)
    if not fits:
        return Choice(named, [*outcomes])
    points = {c.column: c.points for c in (*scores, *outcomes)}
    best = {name: _best(of, named, points) for name, of in fits.items()}
    usable = _without_decisions(best, probabilities, ones) or [*best]
    outcome = best_outcome({name: fits[name][best[name]] for name in usable}, points)
    score, against = best[outcome], fits[outcome]
    ordered = [
        with_reason(c, f"log loss {against[c.column].loss:.4f}" if c.column in against else "")
        for c in scores
        if c.points > 0 or c.column == score
    ]
    first = next(c for c in ordered if c.column == score)
    chosen = sorted(outcomes, key=lambda c: c.column != outcome)
    if chosen[0].unknown_words:
        # Which word means 1 is not known, so neither is whether the score is of the other class.
        own = replace(against[score], flipped=False)
        against = {**against, score: own}
        chosen[0] = _with_likely_word(chosen[0], flipped=fits[outcome][score].flipped)
    elif against[score].flipped and not first.settings:
        turned = with_reason(first, _reversed(score, outcome), OTHER_CLASS)
        ordered[ordered.index(first)] = turned
    ordered.sort(key=lambda c: c.column != score)
    p = 1 - probabilities[score] if against[score].flipped else probabilities[score]
    remarks = _remarks(p, ones[outcome])
    doubts = [
        *_about_score(score, outcome, against, probabilities, points),
        *_about_outcome(outcome, usable, fits, best, ones, points),
        *_about_labels(
            {best[name]: name for name in usable if fits[name][best[name]].predicts}, ones
        ),
    ]
    own = fits[outcome][score]
    refuted = not own.predicts and int(np.count_nonzero(~np.isnan(own.shifted))) >= MANY
    return Choice(ordered, chosen, remarks, tuple(doubts), own.predicts, refuted)


def with_unread(
    choice: Choice,
    probabilities: Mapping[str, Floats],
    ones: Mapping[str, Floats],
    unread: Mapping[str, Floats],
) -> Choice:
    """Note a column that is no probability, but predicts better than what was chosen.

    Parameters
    ----------
    choice : Choice
        What was chosen of the probabilities.
    probabilities, ones : mapping of str to ndarray of shape (n,)
        As for `choose`.
    unread : mapping of str to ndarray of shape (n,)
        Numbers from 0 to 1 in the order of each such column.
    """
    if not ones or not unread:
        return choice
    constant = np.full(next(iter(unread.values())).size, 0.5)
    against = dict.fromkeys(ones, constant)
    if choice.predicts:
        against = {choice.outcomes[0].column: probabilities[choice.scores[0].column]}
    gains = {
        (name, of): gain(unread[name], than, ones[of])
        for name in unread
        for of, than in against.items()
    }
    name, of = max(gains, key=lambda both: gains[both])
    if not gains[name, of]:
        return choice
    outcomes = sorted(choice.outcomes, key=lambda c: c.column != of)
    doubts = choice.doubts if choice.predicts else ()
    scores = choice.scores or [Candidate(name, 0.0, "")]
    return Choice(scores, outcomes, choice.remarks, doubts, choice.predicts, unread=name)


def _with_likely_word(outcome: Candidate, *, flipped: bool) -> Candidate:
    """Take the word of which higher scores have more for the positive one."""
    means = outcome.settings["outcome_means"]
    assert isinstance(means, dict)
    if flipped:
        means = {"positive": means["negative"], "negative": means["positive"]}
    return with_reason(outcome, "", {"outcome_means": means})


def _best(of: Mapping[str, Fit], named: Sequence[Candidate], points: Mapping[str, float]) -> str:
    """Choose the score of an outcome, of those with a fitting name if one of them predicts it."""
    strong = {c.column: of[c.column] for c in named if c.column in of}
    predicting = any(fit.predicts for fit in strong.values())
    weak = any(fit.predicts for fit in of.values())
    return best_score(strong if predicting or (strong and not weak) else of, points)


def _without_decisions(
    best: Mapping[str, str], probabilities: Mapping[str, Floats], ones: Mapping[str, Floats]
) -> list[str]:
    """Leave out the outcomes that a threshold of their score makes."""
    return [
        outcome
        for outcome, score in best.items()
        if not any(
            remark.key == "outcomes.outcome"
            for remark in _remarks(probabilities[score], ones[outcome])
        )
    ]


def _remarks(p: Floats, y: Floats) -> list[Remark]:
    with_both = ~(np.isnan(p) | np.isnan(y))
    scores, of_score = np.unique(p[with_both], return_inverse=True)
    counts = np.bincount(of_score, minlength=scores.size).astype(np.float64)
    hits = np.bincount(of_score, weights=y[with_both], minlength=scores.size)
    return about_outcomes(scores, counts, hits)


def _about_score(
    score: str,
    outcome: str,
    fits: Mapping[str, Fit],
    probabilities: Mapping[str, Floats],
    points: Mapping[str, float],
) -> list[str]:
    """Say which other score predicts the outcome too, or that none does."""
    own = fits[score]
    if not own.predicts:
        few = np.count_nonzero(~np.isnan(own.shifted)) < MANY
        none = (
            f"no column predicts `{outcome}` better than a constant does; check that `{score}` is "
            f"the score and `{outcome}` its outcome"
        )
        return [] if few else [none]
    doubts = [_reversed(score, outcome)] if own.flipped else []
    rivals = [
        name
        for name, fit in fits.items()
        if name != score
        and (fit.predicts or points[name] > points[score])
        and not same(
            1 - probabilities[name] if fit.flipped else probabilities[name],
            1 - probabilities[score] if own.flipped else probabilities[score],
        )
        and (points[name] >= points[score] or not is_better(fit.shifted - own.shifted))
    ]
    if rivals:
        rival = min(rivals, key=lambda name: (float(np.nanmean(fits[name].shifted)), name))
        doubts.append(_compared(score, rival, fits))
    return doubts


def _compared(score: str, rival: str, fits: Mapping[str, Fit]) -> str:
    own, other = fits[score], fits[rival]
    numbers = f"log loss {own.loss:.3f} and {other.loss:.3f}"
    if is_better(own.shifted - other.shifted):
        return (
            f"`{rival}` predicts better than `{score}` (log loss {other.loss:.3f} and "
            f"{own.loss:.3f}), but its name does not say that it is a score"
        )
    better = is_better(other.shifted - own.shifted) or own.loss < other.loss - TIE * own.entropy
    return f"`{score}` predicts {'better than' if better else 'as well as'} `{rival}` ({numbers})"


def _reversed(score: str, outcome: str) -> str:
    return (
        f"higher `{score}` has fewer `{outcome}` of 1, so the score is taken for the probability "
        f"of the other class"
    )


def _about_labels(outcomes: Mapping[str, str], ones: Mapping[str, Floats]) -> list[str]:
    """Say that many outcomes have a score each, and several come true at once: they are labels."""
    together = sum((np.nan_to_num(ones[name]) for name in outcomes.values()), np.zeros(1))
    if len(outcomes) < LABELS or together.max() <= 1:
        return []
    pairs = [f"`{score}` and `{outcome}`" for score, outcome in sorted(outcomes.items())]
    more = f" and {len(pairs) - LABELS} more pairs" if len(pairs) > LABELS else ""
    sentence = (
        f"{', '.join(pairs[:LABELS])}{more} each are a score and its outcome, and several come "
        f"true at once: if they are labels of one model, log a row of score and outcome for each "
        f"label, and name the column of the label in strata; otherwise write a model for each"
    )
    return [sentence]


def _about_outcome(
    outcome: str,
    usable: Sequence[str],
    fits: Mapping[str, Mapping[str, Fit]],
    best: Mapping[str, str],
    ones: Mapping[str, Floats],
    points: Mapping[str, float],
) -> list[str]:
    """Say which other outcome the scores fit too."""
    own = fits[outcome][best[outcome]]
    rivals = [
        name
        for name in usable
        if name != outcome
        and (fit := fits[name][best[name]]).predicts
        and not fit.flipped
        and not same(ones[name], ones[outcome])
        and (points[name] >= points[outcome] or fit.worth >= own.worth - TIE)
    ]
    if not rivals:
        return []
    rival = max(rivals, key=lambda name: (fits[name][best[name]].worth, name))
    other = fits[rival][best[rival]]
    how = "better than" if own.worth > other.worth + TIE else "as well as"
    also = "" if best[rival] == best[outcome] else f" fits `{best[rival]}`"
    sentence = (
        f"`{outcome}` (1 in {percent(own.prevalence)} of the rows) fits `{best[outcome]}` (mean "
        f"{percent(own.mean_score)}) {how} `{rival}` (1 in {percent(other.prevalence)}){also}"
    )
    return [sentence]
