"""Choose a map by what it gains on days that it has not seen, or find that none is worth it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Generic, TypeVar

import numpy as np

from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.grid import Floats, Ints
from monitor.metrics.maps.calibration_map import (
    KINDS,
    CalibrationMap,
    Kind,
    apply_calibration_map,
    shape_of,
)
from monitor.metrics.maps.daily_counts import DailyCounts, merge_spans, spans_of
from monitor.metrics.maps.fitting import FittedMap, can_fit, fit_calibration_map
from monitor.metrics.maps.likelihood import own_losses
from monitor.metrics.maps.map_file import Gain, Gains
from monitor.metrics.maps.mean_over_days import LEVEL_MEMORY, mean_over_days

MOST_BLOCKS = 10
FEWEST_SPANS = 4  # with fewer, nothing can be said about days that were left out
# Standard errors of a clear gain. Of a shape: 90 %, one-sided, by Student's t with eight days, and
# more with more. Of an intercept more, because the standard error of a wandering prior is a guess.
CLEAR, CLEAR_INTERCEPT = 1.4, 2.0
SAME = 1e-12  # nats, of gains that differ by rounding
Map = TypeVar("Map")  # of scores, or of vectors


@dataclass(frozen=True)
class Candidate(Generic[Map]):
    """A family, its map fitted to all days, and what it gained on days left out.

    Attributes
    ----------
    kind : str
        The family.
    fitted : FittedMap or VectorMap
        The map.
    log_loss, brier : Estimate
        Gain over the scores as they are, for each prediction: nats, and squared probability.
    shape : Estimate
        Of the gain in log loss what no prior can take away: the gain if every day had the
        level that suits it, before and after.
    level : Estimate
        The rest of it: what the level gained, which is gone if the prior moves.
    """

    kind: str
    fitted: Map
    log_loss: Estimate
    brier: Estimate
    shape: Estimate
    level: Estimate

    @property
    def shape_gains(self) -> bool:
        """Whether the shape gained clearly, by more than 1.4 standard errors."""
        return self.shape.value > CLEAR * self.shape.standard_error + SAME

    @property
    def is_worth_it(self) -> bool:
        """Whether the whole map gained, and clearly: its shape, or an intercept."""
        if self.kind == "intercept":
            return self.log_loss.value > CLEAR_INTERCEPT * self.log_loss.standard_error + SAME
        return self.log_loss.value > 0.0 and self.shape_gains


@dataclass(frozen=True)
class Choice(Generic[Map]):
    """The candidates, and which of them is worth it.

    Attributes
    ----------
    candidates : sequence of Candidate
        By their freedom, the identity first; families with too few outcomes are missing.
    chosen : Candidate
        The simplest shape within a standard error of the best, or the kind that was asked for.
    best : Candidate
        The one whose shape gained most.
    worth_it : bool
        Whether the chosen one gained, its shape by more than 1.4 standard errors; an intercept
        by more than 2.
    days : int
        Number of days that it rests on.
    days_to_settle : int or None
        How many days more, like these, would make the gain of the best shape clear; 0 if it is,
        None if it gained nothing.
    """

    candidates: Sequence[Candidate[Map]]
    chosen: Candidate[Map]
    best: Candidate[Map]
    worth_it: bool
    days: int
    days_to_settle: int | None


def gains_of(candidate: Candidate[Any]) -> Gains:
    """Write what a candidate gained on days left out as a map file has it.

    Parameters
    ----------
    candidate : Candidate
        The chosen one.

    Examples
    --------
    >>> some = Estimate.normal(0.5, 0.1)
    >>> round(gains_of(Candidate("platt", None, some, some, some, some)).brier.low, 3)
    0.304
    """

    def gain(of: Estimate) -> Gain:
        return Gain(of.value, of.low, of.high)

    return Gains(
        *map(gain, (candidate.log_loss, candidate.brier, candidate.level, candidate.shape))
    )


def choose_map(data: DailyCounts, kind: Kind | None = None) -> Choice[FittedMap]:
    """Fit all families, and choose one by log score over blocks of days left out.

    Parameters
    ----------
    data : DailyCounts
        Consecutive days in their order, with at least ten outcomes of each kind.
    kind : str, optional
        Take this family, whatever it gains.

    Returns
    -------
    Choice
        With intervals of 95 % for the mean gain on as many days to come.

    Raises
    ------
    ValueError
        If there are too few outcomes or days for any map, or for the kind that was asked for.

    Notes
    -----
    Days are left out in up to ten blocks of consecutive days, because outcomes of a day and of
    its neighbours hang together. Shapes are compared by the log score of the days left out, each
    with the level that suits it, so that no prior enters. Of the shapes within one standard error
    of the best the simplest is chosen; the error is that of the difference from day to day. If its
    gain is not clear, an intercept is chosen if that gained clearly. Levels are shrunk
    (`fit_calibration_map`), and intervals are those of `mean_over_days`.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> from monitor.metrics.maps.daily_counts import daily_counts
    >>> day = tally([0] * 35 + [1] * 15 + [1] * 35 + [0] * 15, [0.2] * 50 + [0.8] * 50)
    >>> choice = choose_map(daily_counts([day] * 20))
    >>> choice.chosen.kind, choice.worth_it, round(choice.chosen.log_loss.value, 3)
    ('platt', True, 0.028)
    """
    spans = spans_of(data)
    kinds = [each for each in KINDS if can_fit(data, each)]
    if len(kinds) == 1 or spans[-1] + 1 < FEWEST_SPANS:
        msg = (
            f"there are {data.rarer:,.0f} outcomes of the rarer kind on {data.days} days, too few "
            f"for a map that holds on other days; take more days."
        )
        raise ValueError(msg)
    if kind and kind not in kinds:
        msg = (
            f"there are {data.rarer:,.0f} outcomes of the rarer kind, too few for a map of the "
            f"kind {kind}; take more days or one of {', '.join(kinds)}."
        )
        raise ValueError(msg)
    losses = _losses_on_days_left_out(data, kinds, spans)
    fitted: dict[str, FittedMap] = {
        each: fit_calibration_map(data, each, shrink_level=True) for each in kinds
    }
    return choose_among(fitted, losses, kind, days=data.days)


@dataclass(frozen=True)
class Losses:
    """Losses of spans of days to which a map was not fitted, summed over predictions, by kind.

    `own` is the log loss if each span has the level that suits it.
    """

    log: Mapping[str, Floats]
    brier: Mapping[str, Floats]
    own: Mapping[str, Floats]
    counts: Floats


def choose_among(
    fitted: Mapping[str, Map], losses: Losses, kind: str | None, *, days: int
) -> Choice[Map]:
    """Choose one of several maps by what each lost on days left out.

    Parameters
    ----------
    fitted : mapping of str to FittedMap or VectorMap
        The map of each family by its kind, the identity and an intercept first.
    losses : Losses
        Of each kind, on days that its map was not fitted to.
    kind : str or None
        Take this family, whatever it gains.
    days : int
        Number of days.

    Returns
    -------
    Choice
        By the rule of `choose_map`.

    Examples
    --------
    >>> same, less = np.full(8, 2.0), np.full(8, 1.0)
    >>> of_kinds = {"identity": same, "intercept": same, "temperature": less}
    >>> losses = Losses(of_kinds, of_kinds, of_kinds, np.full(8, 10.0))
    >>> choice = choose_among(dict.fromkeys(of_kinds, None), losses, None, days=8)
    >>> choice.chosen.kind, choice.worth_it, choice.chosen.log_loss.value
    ('temperature', True, 0.1)
    """
    candidates = {each: _candidate(each, fit, losses) for each, fit in fitted.items()}
    best = max(list(candidates.values())[1:], key=lambda c: c.shape.value)
    chosen = candidates[kind or _choose(candidates, losses, best.kind)]
    return Choice(
        list(candidates.values()),
        chosen,
        best,
        worth_it=chosen.is_worth_it,
        days=days,
        days_to_settle=_days_to_settle(best, days),
    )


def blocks_of_days(days: int) -> list[Ints]:
    """List the days of each block that is left out: up to ten of consecutive days.

    Examples
    --------
    >>> blocks_of_days(11)[:2]
    [array([0, 1]), array([2])]
    """
    blocks = np.arange(days) * min(MOST_BLOCKS, days) // days
    return [np.flatnonzero(blocks == block) for block in range(int(blocks[-1]) + 1)]


def _losses_on_days_left_out(data: DailyCounts, kinds: Sequence[Kind], spans: Ints) -> Losses:
    together = merge_spans(data, spans)
    log, brier, own = (dict[str, Floats]() for _ in range(3))
    for of in (log, brier, own):
        of.update({kind: np.zeros(together.days) for kind in kinds})
    for out in blocks_of_days(together.days):
        rest = together.take(np.setdiff1d(np.arange(together.days), out))
        left_out = together.take(out)
        for kind in kinds:
            # A family that the rest cannot bear loses what the one before it does.
            able = [k for k in kinds[: kinds.index(kind) + 1] if can_fit(rest, k)]
            fitted = fit_calibration_map(rest, able[-1], shrink_level=True).map
            log[kind][out], brier[kind][out] = losses_by_day(left_out, fitted)
            shape = shape_of(left_out.logits, fitted)
            own[kind][out] = own_losses(shape, left_out.counts, left_out.positives)
    return Losses(log, brier, own, together.counts.sum(axis=1))


def losses_by_day(data: DailyCounts, calibration_map: CalibrationMap) -> tuple[Floats, Floats]:
    """Give the log loss and the Brier loss of each day, summed over its predictions.

    Parameters
    ----------
    data : DailyCounts
        Days.
    calibration_map : CalibrationMap
        A map.

    Returns
    -------
    log_loss, brier : ndarray of shape (days,)
        In nats and in squared probability.

    Examples
    --------
    >>> data = DailyCounts(np.zeros(1), np.array([[4.0]]), np.array([[2.0]]))
    >>> losses_by_day(data, CalibrationMap("identity"))
    (array([2.77258872]), array([1.]))
    """
    p = apply_calibration_map(1.0 / (1.0 + np.exp(-data.logits)), calibration_map)
    hits, misses = data.positives, data.counts - data.positives
    log_loss = -(hits * np.log(p) + misses * np.log1p(-p)).sum(axis=1)
    return log_loss, (hits * (1.0 - p) ** 2 + misses * p**2).sum(axis=1)


def _candidate(kind: str, fitted: Map, losses: Losses) -> Candidate[Map]:
    total = losses.log["identity"] - losses.log[kind]
    shape = losses.own["identity"] - losses.own[kind]
    return Candidate(
        kind,
        fitted,
        log_loss=mean_over_days(total, losses.counts, least_memory=LEVEL_MEMORY),
        brier=mean_over_days(
            losses.brier["identity"] - losses.brier[kind],
            losses.counts,
            least_memory=LEVEL_MEMORY,
        ),
        shape=mean_over_days(shape, losses.counts),
        level=mean_over_days(total - shape, losses.counts, least_memory=LEVEL_MEMORY),
    )


def _choose(candidates: Mapping[str, Candidate[Map]], losses: Losses, best: str) -> str:
    """Find the simplest shape within a standard error of the best."""
    for kind in list(candidates)[1:]:
        behind = mean_over_days(losses.own[kind] - losses.own[best], losses.counts)
        if kind == best or behind.value <= behind.standard_error + SAME:
            break
    if kind != "intercept" and candidates[kind].shape_gains:
        return kind
    if candidates["intercept"].is_worth_it:
        return "intercept"
    return "identity" if kind == "intercept" else kind


def _days_to_settle(best: Candidate[Map], days: int) -> int | None:
    """Give the days that make a gain clear: its standard error falls as their root."""
    if best.shape_gains:
        return 0
    if best.shape.value <= 0.0:
        return None
    return max(1, ceil(days * ((CLEAR * best.shape.standard_error / best.shape.value) ** 2 - 1.0)))
