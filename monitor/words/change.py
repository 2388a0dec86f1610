"""What two samples say of the curve, in words. Pure."""

from math import isfinite

from monitor.drift.verdicts.two_samples import Change
from monitor.words.advice import too_few
from monitor.words.numbers import percent, times
from monitor.words.verdict import MEANINGS, MUCH_UNKNOWN


def sentences(change: Change) -> tuple[str, ...]:
    """Say what changed, how certain that is, which scores it is not about, and what the prior did.

    Examples
    --------
    >>> from monitor.drift.records.lack import Lack
    >>> sentences(Change("insufficient_data", Lack("positive outcomes", 0, 300)))[0][32:]
    'the first sample has 0 of at least 300 positive outcomes.'
    """
    if change.state == "insufficient_data":
        few = (
            f"the first sample has {too_few(change.lack)}"
            if change.lack
            else "the second sample has no group with outcomes of both classes"
        )
        return (f"There is too little to compare: {few}.",)
    return (*_what(change), *_silence(change), _prior(change), *_hanging(change))


def _what(change: Change) -> tuple[str, ...]:
    if change.state == "calibration_drift" and change.kind and change.size:
        slope = change.slope if change.kind in ("too_extreme", "too_timid") else None
        about = f"by about {abs(change.size.value):.2f} in log-odds"
        size = f"slope {slope:.2f plain}" if slope else about
        return (
            f"The curve changed: {MEANINGS[change.kind]} ({size}).",
            (
                f"The evidence is {times(change.evidence)} to 1; the limit is "
                f"{times(change.limit)} to 1."
            ),
        )
    size = (
        f" More than half of such comparisons would find a change of the slope by "
        f"{change.detectable:.2f}."
        if isfinite(change.detectable)
        else " With so few outcomes, no change of the slope would be found."
    )
    level = {
        "lift": "All scores come true more or less often than the prior explains: the curve was "
        "lifted or lowered as a whole.",
        "prior or inputs": "The prevalence moved, and so did the scores: a shift of prior and "
        "inputs together cannot be distinguished from a curve that moved as a whole.",
    }.get(change.moved, "Only the prior moved." if change.state == "prior_shift" else "")
    none = f"No evidence that the shape of the curve changed, whatever the prior.{size}"
    return (none, level) if level else (none,)


def _silence(change: Change) -> tuple[str, ...]:
    if change.unknown_share < MUCH_UNKNOWN:
        return ()
    nothing = (
        f"{percent(change.unknown_share, 0)} of the scores of the second sample lie where the "
        "first has too few outcomes: nothing is said of them."
    )
    return (nothing,)


def _prior(change: Change) -> str:
    before, after = change.prevalences
    prevalence = f"Prevalence {percent(before, 2)} before, {percent(after, 2)} after"
    if not change.shift or not change.level_change:
        return f"{prevalence}."
    return (
        f"{prevalence}; the log-odds of all scores moved by {change.shift:+z.2f error}, of which "
        f"{change.level_change:+z.2f error} did not come with the prevalence."
    )


def _hanging(change: Change) -> tuple[str, ...]:
    if change.independent is None:
        return ()
    about = (
        f"as much of the slope as about {float(f'{change.independent:.2g}'):,.0f} independent rows"
    )
    return (f"Intervals and evidence count entities, not rows: the second sample says {about}.",)
