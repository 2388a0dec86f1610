"""What moved with the intercept: the prior, the inputs or the level; and for how long. Pure."""

from datetime import date
from math import isfinite, sqrt

import numpy as np

from monitor.drift.curve.reference import Reference
from monitor.drift.curve.variance import between_week_variance, sums_of_weeks
from monitor.drift.evidence.history import weeks_of
from monitor.drift.records.detector import History
from monitor.drift.records.facts import LastingShift, Level
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.logistic.level import Lift

CERTAIN = 3.29  # standard errors: one in a thousand by chance
CERTAIN_LASTING = 3.0  # standard errors: of the clearest of all starts within a year
LEAST_LASTING = 27  # days before the last one: shorter shifts are the week's matter
UNUSUAL = 2.0  # times as far as the inputs moved by themselves on the reference's days


def what_moved(reference: Reference, history: History, lift: Lift | None, least: float) -> Level:
    """Say what the intercept of a week moved with.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    history : History
        Of the days before, from which comes how much weeks differ by themselves.
    lift : Lift or None
        Of the week.
    least : float
        The least lift worth saying, in logit.

    Returns
    -------
    str
        "lift" if a lifted curve is the only explanation; "prior or inputs" if prior and inputs
        may have moved at once, which nothing separates from a lift.

    Notes
    -----
    Under a prior shift alone the level change kappa is 0, and the scores move by
    ``R2 shift`` in logit; under a lift alone the scores stay. So ``R2 shift - kappa`` is how far
    the scores moved by themselves: where that is more than on most days of the reference, and
    more than half of kappa, a lift is not the only explanation.
    """
    if not lift or not isfinite(lift.kappa) or abs(lift.shift) <= CERTAIN * lift.shift_error:
        return "as before"
    variance = reference.level_dispersion * lift.kappa_error**2
    # How much weeks differ takes long to find, and only adds to the error.
    if abs(lift.kappa) <= CERTAIN * sqrt(variance) or not abs(lift.lift) > least:
        return "prior"
    weeks, sums = sums_of_weeks(weeks_of(history.firsts), history.levels.astype(np.float64))
    variance += float(between_week_variance(weeks, sums[:, 2:3], sums[:, 3:], np.zeros(1))[0])
    if abs(lift.kappa) <= CERTAIN * sqrt(variance):
        return "prior"
    moved = abs(lift.separation * lift.shift - lift.kappa)
    if moved > max(UNUSUAL * reference.usual_input_move, 0.5 * abs(lift.kappa)):
        return "prior or inputs"
    return "lift"


def lasting_shift(reference: Reference, history: History, least: float) -> LastingShift | None:
    """Find a shift of the prior that stays, over as many days as it takes to be certain of it.

    Parameters
    ----------
    reference : Reference
        Of the stream.
    history : History
        Of the days up to today.
    least : float
        The least shift worth saying, in logit.

    Returns
    -------
    LastingShift or None
        Over the days up to today that show it most clearly; None if none do with certainty.

    Notes
    -----
    The shift over the days since s is one Newton step, ``sum U / sum I`` at the reference's own
    intercepts; its standard error holds that of the reference.
    """
    if not history.firsts.size:
        return None
    scores, information = (
        np.cumsum(history.levels[::-1, i].astype(np.float64))[::-1] for i in (0, 1)
    )
    own = [level.delta_variance for level in reference.levels.values() if isfinite(level.delta)]
    if not own or not information[0] > 0.0:
        return None
    before = 1.0 / sum(1.0 / variance for variance in own)
    last = int(history.firsts[-1])
    seen = (information > 0.0) & (history.firsts <= last - LEAST_LASTING)
    if not seen.any():
        return None
    shifts, errors = scores[seen] / information[seen], np.sqrt(1.0 / information[seen] + before)
    clearest = int(np.abs(shifts / errors).argmax())
    shift = Estimate.normal(float(shifts[clearest]), float(errors[clearest]))
    if abs(shift.value) <= max(least, CERTAIN_LASTING * shift.standard_error):
        return None
    return LastingShift(shift, date.fromordinal(int(history.firsts[seen][clearest])))
