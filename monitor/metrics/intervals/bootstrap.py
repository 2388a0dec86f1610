"""Intervals by resampling a tally.

Rule 1: an interval is for the *population value* of a measure, what it would be without the
chance of this sample. Resampling the tally as it is serves measures that chance moves up as
often as down. It does not serve calibration errors, which chance only raises: there the
outcomes are drawn again from curves that err by less and by more, and the interval holds those
that could have given the value observed.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import ceil
from typing import Literal

import numpy as np

from monitor.metrics.binned.binning import monitor_sizes, pava_bc
from monitor.metrics.core.dispersion import INDEPENDENT, Hanging
from monitor.metrics.core.estimate import CONFIDENCE, Estimate
from monitor.metrics.core.grid import Floats
from monitor.metrics.core.option_check import check_option
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.resampling import resamples
from monitor.metrics.core.special import ndtri
from monitor.metrics.core.tally import Tally
from monitor.metrics.intervals.inversion import Visit, Visits, both_ends, height, next_amplitude

Measure = Callable[[Tally], float]
Method = Literal["auto", "bias_corrected", "percentile", "inverted", "inverted_mean"]

LARGE = 10**9  # rows that stand for a population; their square still fits an int64
NEGLIGIBLE = 0.02  # share of a calibrated world in the measure of a miscalibrated one
GRADUAL = 0.75  # the same of a half as miscalibrated one: errors give 1/2, squares 1/4
SAME = 1e-9  # relative, between a measure and itself on more copies of the same rows


@takes_rows
def bootstrap_interval(
    t: Tally,
    measure: Measure,
    *,
    level: float = CONFIDENCE,
    replicates: int = 200,
    method: Method = "auto",
    shared: Hanging = INDEPENDENT,
    rng: np.random.Generator,
) -> Estimate:
    """Find an interval for the population value of any scalar measure of a tally.

    Parameters
    ----------
    t : Tally or rows
        m groups of equal score, at least one prediction.
    measure : callable
        From a tally to a float. It must be defined on every resample: an error that it raises
        (because one outcome is missing, say) is not caught: then the tally is too small.
    level : float
        Confidence level in (0, 1).
    replicates : int
        Number of resamples, at least ``1/(1 - level)``; for inversion in each of 3 to 8 worlds.
    method : {"auto", "bias_corrected", "percentile", "inverted", "inverted_mean"}
        ``"bias_corrected"``: for measures with a population value that is not 0 when
        calibrated, such as Brier score, Tjur's R2 and CORP's discrimination; it may leave
        their range. ``"percentile"``: plain quantiles over resamples. ``"inverted"``: for
        calibration errors, which are 0 for a calibrated model. ``"inverted_mean"``: for
        measures without a population value, such as TCE, whose interval is for the mean over
        samples of this size. ``"auto"``: of these what suits the measure, see Notes.
    shared : Hanging
        What rows of one entity share, from `monitor.metrics.core.dispersion.hanging`; by default
        they are drawn independently.
    rng : numpy Generator
        Source of chance; the same seed gives the same result.

    Returns
    -------
    Estimate
        The measure of the tally and its interval, in the units of the measure; no standard error.
        By inversion both ends are values that the measure can have: at least 0 for an error.

    Raises
    ------
    ValueError
        If the tally is empty, the level, the method or the number of replicates is wrong.

    Notes
    -----
    A resample is multinomial over groups, then binomial within each: N rows drawn with
    replacement. Bias-corrected: the measure less its bias over resamples, plus or minus
    normal quantiles times their standard deviation.

    Inversion takes worlds of amplitude c, in which ``P(y=1|s) = s + c g(s)`` clipped to
    [0, 1], g being the gaps ``k_b/n_b - mean score_b`` over PAVA-BC bins of `monitor_sizes`:
    c = 0 is calibrated, c = 1 errs as observed, chance included. A world is in the interval
    unless the observed value lies in the lowest or highest ``(1 - level)/2`` of the world's
    own resamples. No world errs by less than c = 0, so there only the highest ``1 - level`` speak
    against it, and the low end is above the calibrated value when a test of that level would
    say so. A world's population value is the measure of the world at a billion rows (a test
    inversion bootstrap: Carpenter, Journal of the Royal Statistical Society B 61, 1999). Which
    worlds are visited is chosen as in the search for a root (`inversion`).

    ``"auto"`` inverts if the measure grows with the error, that is if its population value at
    c = 0 is less than 2 % and at c = 1/2 less than 75 % of that at c = 1 (TCE jumps to 1 at
    once); takes the mean if more copies of the same rows change the measure; else corrects
    the bias. Where the method is known, name it: to find out takes the measure of a billion rows,
    with TCE some seconds.

    Coverage at 95 % (docs/coverage.md): 90-96 % for each measure over all prevalences and volumes
    together. Single cells fall to 84-90 % where a drifted model has few positives, for the worlds
    err in the *shape* of the sample, which 50 positives hardly show. The interval of a maximum
    over nearly empty bins (MCE over uniform bins) misses, because scores absent from the
    sample are absent from every resample.

    Examples
    --------
    >>> from monitor.metrics.binned.ece import ace
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([0] * 40 + [1] * 60, [0.1] * 50 + [0.9] * 50)
    >>> interval = bootstrap_interval(t, lambda t: ace(t, 2), rng=np.random.default_rng(1))
    >>> 0 < interval.low < 0.1 < interval.high < 0.2
    True
    """
    measures = {"": measure}
    return bootstrap_intervals(
        *(t, measures), level=level, replicates=replicates, method=method, shared=shared, rng=rng
    )[""]


@takes_rows
def bootstrap_intervals(
    t: Tally,
    measures: Mapping[str, Measure],
    *,
    level: float = CONFIDENCE,
    replicates: int = 200,
    method: Method = "auto",
    shared: Hanging = INDEPENDENT,
    rng: np.random.Generator,
) -> dict[str, Estimate]:
    """Find intervals for several measures from the same resamples, which saves most of the time.

    Parameters and errors are those of `bootstrap_interval`, but for a dictionary of measures,
    each with the method that suits it if the method is ``"auto"``.

    Examples
    --------
    >>> from monitor.metrics.scores.brier import brier, rbs
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([0] * 40 + [1] * 60, [0.2] * 50 + [0.9] * 50)
    >>> rng = np.random.default_rng(1)
    >>> both = bootstrap_intervals(t, {"brier": brier, "rbs": rbs}, method="percentile", rng=rng)
    >>> bool(np.isclose(both["rbs"].low ** 2, both["brier"].low, rtol=1e-3))  # interpolated
    True
    """
    _check(t, level, replicates, method)
    chosen = {n: choose_method(t, m) if method == "auto" else method for n, m in measures.items()}
    inverted = {n: m for n, m in measures.items() if chosen[n].startswith("inverted")}
    plain = {n: m for n, m in measures.items() if n not in inverted}
    observed = {name: measure(t) for name, measure in measures.items()}
    ends = _inverted(t, inverted, observed, chosen, level, replicates, shared, rng)
    samples = _values(t, t.positives / t.counts, plain, replicates, shared, rng)
    for name, values in samples.items():
        if chosen[name] == "percentile":
            low, high = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2]).tolist()
        else:
            centre = 2.0 * observed[name] - float(values.mean())
            reach = float(ndtri(0.5 + level / 2)) * float(values.std(ddof=1))
            low, high = centre - reach, centre + reach
        ends[name] = low, high
    return {name: Estimate(observed[name], *ends[name]) for name in measures}


def choose_method(t: Tally, measure: Measure) -> Method:
    """Find the kind of interval that suits a measure; the rule is `bootstrap_interval`'s.

    Examples
    --------
    >>> from monitor.metrics.scores.brier import brier
    >>> from monitor.metrics.binned.ece import ace
    >>> from monitor.metrics.core.tally import tally
    >>> t = tally([0] * 40 + [1] * 60, [0.1] * 50 + [0.9] * 50)
    >>> choose_method(t, brier), choose_method(t, lambda t: ace(t, 2))
    ('bias_corrected', 'inverted')
    """
    gaps = _gaps(t)
    none, half, all_ = (measure(_population(t, t.scores + c * gaps)) for c in (0.0, 0.5, 1.0))
    if abs(none) < NEGLIGIBLE * abs(all_) and abs(half) < GRADUAL * abs(all_):
        return "inverted"
    copies = _copies(t)
    many = measure(replace(_many(t, copies), positives=t.positives * copies))
    return (
        "bias_corrected" if np.isclose(many, measure(t), rtol=SAME, atol=0.0) else "inverted_mean"
    )


def _inverted(
    t: Tally,
    measures: Mapping[str, Measure],
    observed: Mapping[str, float],
    chosen: Mapping[str, Method],
    level: float,
    replicates: int,
    shared: Hanging,
    rng: np.random.Generator,
) -> dict[str, tuple[float, float]]:
    """Visit worlds of one amplitude after the other, with all measures that ask for it."""
    gaps, outside = _gaps(t), 0.5 - level / 2
    visits: dict[str, Visits] = {name: {} for name in measures}
    while wanted := _by_amplitude(visits, outside):
        for amplitude, names in wanted.items():
            rates = np.clip(t.scores + amplitude * gaps, 0.0, 1.0)
            asking = {name: measures[name] for name in names}
            for name, values in _values(t, rates, asking, replicates, shared, rng).items():
                if chosen[name] == "inverted_mean":
                    truth = _mean(values, calibrated=amplitude == 0.0)
                else:  # an error of a calibrated world is 0, exactly
                    truth = measures[name](_population(t, rates)) if amplitude else 0.0
                at_least, at_most = height(values, observed[name]), height(-values, -observed[name])
                if not amplitude:  # of the calibrated world both tails lie on one side
                    at_least += float(ndtri(outside) - ndtri(2.0 * outside))
                visits[name][amplitude] = Visit(truth, at_least, -at_most)
    return {name: both_ends(visited, outside) for name, visited in visits.items()}


def _by_amplitude(visits: Mapping[str, Visits], outside: float) -> dict[float, list[str]]:
    """Group the measures that are not done by the world to be visited next."""
    wanted: dict[float, list[str]] = {}
    for name, visited in visits.items():
        amplitude = next_amplitude(visited, outside)
        if amplitude is not None:
            wanted.setdefault(amplitude, []).append(name)
    return dict(sorted(wanted.items()))


def _mean(values: Floats, *, calibrated: bool) -> float:
    """Take the mean; of a calibrated world one standard deviation less.

    No world has a lower one, so the mean itself, which depends a little on which scores were
    drawn, would miss half of all calibrated models, and 3 of its simulation errors a quarter.
    """
    return float(values.mean()) - (float(values.std()) if calibrated else 0.0)


def _values(
    t: Tally,
    rates: Floats,
    measures: Mapping[str, Measure],
    replicates: int,
    shared: Hanging,
    rng: np.random.Generator,
) -> dict[str, Floats]:
    """Compute every measure on each resample."""
    times = replicates if measures else 0
    values = {name: np.empty(times) for name in measures}
    for i, drawn in enumerate(resamples(t, rates, times, shared=shared, rng=rng)):
        for name, measure in measures.items():
            values[name][i] = measure(drawn)
    return values


def _gaps(t: Tally) -> Floats:
    smallest, largest = monitor_sizes(t.total)
    bins = pava_bc(t, min_size=smallest, max_size=largest)
    return np.repeat(bins.rates - bins.mean_scores, np.diff(bins.starts))


def _population(t: Tally, rates: Floats) -> Tally:
    """Copy the rows until chance is negligible, with positives as they should be in any run."""
    many = _many(t, _copies(t))
    # Cumulative rounding: a bin's positives are off by less than 1, however many its groups.
    expected = np.cumsum(many.counts * np.clip(rates, 0.0, 1.0))
    positives = np.diff(np.floor(expected + 0.5), prepend=0.0).astype(np.int64)
    return replace(many, positives=np.minimum(positives, many.counts))


def _many(t: Tally, copies: int) -> Tally:
    return Tally(t.scores, t.counts * copies, t.positives)


def _copies(t: Tally) -> int:
    return max(1, LARGE // t.total)


def _check(t: Tally, level: float, replicates: int, method: str) -> None:
    if not t.total:
        msg = "an empty tally cannot be resampled: give at least one prediction."
    elif not 0.0 < level < 1.0:
        msg = f"the confidence level must be in (0, 1), got {level}."
    elif replicates < (fewest := ceil(1.0 / (1.0 - level) - SAME)):
        msg = f"an interval of level {level} needs at least {fewest} replicates, got {replicates}."
    else:
        check_option("method", method, Method)
        return
    raise ValueError(msg)
