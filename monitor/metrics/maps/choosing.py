"""Choose a map by what it gains on days that it has not seen, or find that none is worth it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from scipy.special import stdtrit

from monitor.metrics.core.estimate import CONFIDENCE, Estimate
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

MOST_BLOCKS = 10
FEWEST_SPANS = 4  # with fewer, nothing can be said about days that were left out
LONGEST_MEMORY = 0.95  # correlation of the gains of consecutive days
# A month is too short to see for how long a prior stays, so that of the level is not less; with
# more days, what they show counts.
LEVEL_MEMORY, MONTH = 0.85, 28
SAME = 1e-12  # nats, of gains that differ by rounding
NO_SPREAD = 1e-24  # of gains that are the same on all days, but for rounding


@dataclass(frozen=True)
class Candidate:
    """A family, its map fitted to all days, and what it gained on days left out.

    Attributes
    ----------
    kind : str
        The family.
    fitted : FittedMap
        The map.
    log_loss, brier : Estimate
        Gain over the scores as they are, for each prediction: nats, and squared probability.
    shape : Estimate
        Of the gain in log loss what no prior can take away: the gain if every day had the
        level that suits it, before and after.
    level : Estimate
        The rest of it: what the level gained, which is gone if the prior moves.
    """

    kind: Kind
    fitted: FittedMap
    log_loss: Estimate
    brier: Estimate
    shape: Estimate
    level: Estimate


@dataclass(frozen=True)
class Choice:
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
        Whether the chosen one gained, and the interval of its shape's gain, or of the gain of
        an intercept, is above 0.
    days : int
        Number of days that it rests on.
    days_to_settle : int or None
        How many days more, like these, would bring the interval of the gain of the best shape
        above 0; 0 if it is, None if it gained nothing.
    """

    candidates: Sequence[Candidate]
    chosen: Candidate
    best: Candidate
    worth_it: bool
    days: int
    days_to_settle: int | None


def choose_map(data: DailyCounts, kind: Kind | None = None) -> Choice:
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
    of the best the simplest is chosen; the error is that of the difference from day to day. A
    shape that no other beats becomes an intercept if that gains, else the identity.

    An interval takes the gains of days as a first-order autoregression with correlation rho, so
    that the mean of T days to come differs from that of T past ones with the variance
    ``2 s**2 f / (T - f)``, ``f = 1 + 2 sum_k (1 - k/T) rho**k``; rho is corrected for its bias by
    Kendall (Biometrika 41, 1954), and at least 0.85 where the level of a month or less enters. The
    quantiles are those of Student's t.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> from monitor.metrics.maps.daily_counts import daily_counts
    >>> day = tally([0.2] * 50 + [0.8] * 50, [0] * 35 + [1] * 15 + [1] * 35 + [0] * 15)
    >>> found = choose_map(daily_counts([day] * 20))
    >>> found.chosen.kind, found.worth_it, round(found.chosen.log_loss.value, 3)
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
    candidates = {each: _candidate(data, each, losses) for each in kinds}
    best = max(list(candidates.values())[1:], key=lambda c: c.shape.value)
    chosen = candidates[kind or _choose(candidates, losses, best.kind)]
    return Choice(
        list(candidates.values()),
        chosen,
        best,
        worth_it=_worth_it(chosen),
        days=data.days,
        days_to_settle=_days_to_settle(best.shape, data.days),
    )


@dataclass(frozen=True)
class _Losses:
    """Losses of spans to which a map was not fitted, summed over predictions, by kind.

    `own` is the log loss if each span has the level that suits it.
    """

    log: dict[Kind, Floats]
    brier: dict[Kind, Floats]
    own: dict[Kind, Floats]
    counts: Floats


def _losses_on_days_left_out(data: DailyCounts, kinds: Sequence[Kind], spans: Ints) -> _Losses:
    together = merge_spans(data, spans)
    blocks = np.arange(together.days) * min(MOST_BLOCKS, together.days) // together.days
    log, brier, own = ({kind: np.zeros(together.days) for kind in kinds} for _ in range(3))
    for block in range(int(blocks[-1]) + 1):
        out = np.flatnonzero(blocks == block)
        rest, left_out = together.take(np.flatnonzero(blocks != block)), together.take(out)
        for kind in kinds:
            # A family that the rest cannot bear loses what the one before it does.
            known = [k for k in kinds[: kinds.index(kind) + 1] if can_fit(rest, k)]
            found = fit_calibration_map(rest, known[-1]).map
            log[kind][out], brier[kind][out] = losses_by_day(left_out, found)
            shape = shape_of(left_out.logits, found)
            own[kind][out] = own_losses(shape, left_out.counts, left_out.positives)
    return _Losses(log, brier, own, together.counts.sum(axis=1))


def losses_by_day(data: DailyCounts, found: CalibrationMap) -> tuple[Floats, Floats]:
    """Give the log loss and the Brier loss of each day, summed over its predictions.

    Parameters
    ----------
    data : DailyCounts
        Days.
    found : CalibrationMap
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
    p = apply_calibration_map(1.0 / (1.0 + np.exp(-data.logits)), found)
    hits, misses = data.positives, data.counts - data.positives
    log_loss = -(hits * np.log(p) + misses * np.log1p(-p)).sum(axis=1)
    return log_loss, (hits * (1.0 - p) ** 2 + misses * p**2).sum(axis=1)


def _candidate(data: DailyCounts, kind: Kind, losses: _Losses) -> Candidate:
    total = losses.log["identity"] - losses.log[kind]
    shape = losses.own["identity"] - losses.own[kind]
    return Candidate(
        kind,
        fit_calibration_map(data, kind),
        log_loss=mean_gain(total, losses.counts, least_memory=LEVEL_MEMORY),
        brier=mean_gain(
            losses.brier["identity"] - losses.brier[kind],
            losses.counts,
            least_memory=LEVEL_MEMORY,
        ),
        shape=mean_gain(shape, losses.counts),
        level=mean_gain(total - shape, losses.counts, least_memory=LEVEL_MEMORY),
    )


def mean_gain(
    gains: Floats, counts: Floats, *, least_memory: float = 0.0, to_come: bool = True
) -> Estimate:
    """Give the mean gain of a prediction, and its interval on as many days to come.

    Parameters
    ----------
    gains, counts : ndarray of shape (days,)
        Sum of the gains, and number of predictions, of each day.
    least_memory : float
        The least correlation of consecutive days, in [0, 0.95], up to 28 days; less with more.
    to_come : bool
        Whether the interval is for as many days to come, or for the mean behind the past ones.

    Returns
    -------
    Estimate
        In the units of the gains, with 95 %; see `choose_map`. The standard error is that of the
        past days alone.

    Examples
    --------
    >>> found = mean_gain(np.array([1.0, 3.0, 2.0, 2.0]), np.full(4, 10.0))
    >>> round(found.value, 3), found.low < 0.15 < found.high
    (0.2, True)
    """
    mean, days = float(gains.sum() / counts.sum()), gains.size
    rest = (gains - mean * counts) * days / counts.sum()
    square = float((rest**2).sum())
    if square <= NO_SPREAD * float(((gains / counts.mean()) ** 2).sum()):
        return Estimate(mean, mean, mean, 0.0)
    lag = float((rest[1:] * rest[:-1]).sum()) / square
    memory = (lag + 1.0 / days) / (1.0 - 3.0 / days)
    memory = min(LONGEST_MEMORY, max(least_memory * min(1.0, MONTH / days), memory))
    steps = np.arange(1, days)
    longer = 1.0 + 2.0 * float(((1.0 - steps / days) * memory**steps).sum())
    error = sqrt(square / days * longer / (days - longer))
    reach = float(stdtrit(days - 1, 0.5 + CONFIDENCE / 2)) * error * (sqrt(2.0) if to_come else 1.0)
    return Estimate(mean, mean - reach, mean + reach, error)


def _choose(candidates: dict[Kind, Candidate], losses: _Losses, best: Kind) -> Kind:
    """Find the simplest shape within a standard error of the best."""
    for kind in list(candidates)[1:]:
        behind = mean_gain(losses.own[kind] - losses.own[best], losses.counts)
        if kind == best or behind.value <= behind.standard_error + SAME:
            break
    if kind == "intercept" and not candidates[kind].log_loss.low > 0.0:
        return "identity"
    return kind


def _worth_it(chosen: Candidate) -> bool:
    """Whether a map gained, and surely."""
    sure = chosen.log_loss if chosen.kind == "intercept" else chosen.shape
    return chosen.log_loss.value > 0.0 and sure.low > 0.0


def _days_to_settle(gain: Estimate, days: int) -> int | None:
    """Give the days that bring the low end of an interval to 0: its width falls as their root."""
    if gain.low > 0.0:
        return 0
    if gain.value <= 0.0:
        return None
    return ceil(days * (((gain.value - gain.low) / gain.value) ** 2 - 1.0))
