"""A break at one place of the scores, in words. Pure."""

from math import exp, isnan

from monitor.drift.records.detector import Incident
from monitor.drift.records.region_state import Break
from monitor.words.numbers import percent, short_percent

SMALL, LARGE = 0.01, 0.99  # scores between them have two digits
HALF, TWICE = (0.45, 0.55), (1.85, 2.15)  # odds ratios that have a word
WHOLE_PERCENT = 0.01
STEP = (
    "Find what gives these rows their score: a default, a rule, a limit in the serving code or "
    "test traffic. No map can tell them from other rows."
)


def map_at(place: Break, *, bends: bool) -> str:
    """Say what a map can do for a break; `bends` says whether a worthwhile one bends anywhere."""
    where = where_it_is(place)
    if place.family != "region":
        return (
            f"In the open drift {rows_there(place)}: no map can separate these rows from others "
            "with that score. Find what gives it to them; a map only hides it until then."
        )
    if bends:
        return f"The open drift is at {where}, and this map bends there."
    return f"The open drift is at {where}: only a spline or isotonic map bends at one place."


def what_broke(incident: Incident, place: Break) -> str:
    """Say at which scores it broke, how many rows these are, and how often they come true.

    Follows the words "since" and a date.
    """
    true = f"{share(place.rate)} of them come true"
    if not isnan(place.rate_before):
        true += f" ({share(place.rate_before)} in the reference)"
    if place.family == "region":
        return (
            f"at {where_it_is(place)} odds are {ratio(incident.size)} what they were, elsewhere as "
            f"before: {share(place.share)} of the rows are there, and {true}"
        )
    usual = share(place.share_before) if place.share_before else "none"
    return f"{rows_there(place)} ({usual} in the reference); {true}"


def broken_in_short(incident: Incident, place: Break) -> str:
    """Say it in a few words."""
    if place.family == "region":
        return f"odds {ratio(incident.size)} what they were at {where_it_is(place)}"
    return rows_there(place)


def rows_there(place: Break) -> str:
    """Say how many rows have these scores."""
    return f"{share(place.share)} of the rows have {where_it_is(place)}"


def where_it_is(place: Break) -> str:
    """Name the scores of a break.

    Examples
    --------
    >>> import numpy as np
    >>> at = dict(first_cell=0, end_cell=1, share_before=0.0, rate_before=0.0)
    >>> at |= dict(rows=5, hits=1, total=100, profile=np.zeros(16), information=1.0)
    >>> where_it_is(Break("value", first_score=0.0, last_score=0.0, **at))
    'the score 0'
    >>> where_it_is(Break("region", first_score=0.5, last_score=0.8241, **at))
    'scores from 0.50 to 0.82'
    >>> where_it_is(Break("beyond", first_score=0.0, last_score=0.0153, **at))
    'scores below 0.02'
    """
    what = "the score" if place.family == "value" else "scores"
    return f"{what} {which_scores(place)}"


def which_scores(place: Break) -> str:
    """Say which scores a place has; follows "the score", "scores" or "is"."""
    if place.family == "value":
        return score(place.first_score)
    unlogged = "not among the highest that were logged"
    if place.family == "unlogged" and place.end_cell == 1:
        return unlogged
    if place.family == "unlogged":
        return f"below {score(place.last_score)}, or {unlogged}"
    if place.first_score <= 0.0:
        return f"below {score(place.last_score)}"
    if place.last_score >= 1.0:
        return f"above {score(place.first_score)}"
    return f"from {score(place.first_score)} to {score(place.last_score)}"


def score(value: float) -> str:
    """Write a score with two digits, or as many as it takes near 0 and 1.

    Examples
    --------
    >>> score(0.0), score(0.8999), score(0.00321), score(0.9975), score(1.0)
    ('0', '0.90', '0.0032', '0.9975', '1')
    """
    if SMALL <= value <= LARGE:
        return f"{value:.2f}"
    return f"{value:.2g}" if value < SMALL else f"{value:.4g}"


def ratio(size: float) -> str:
    """Write a tilt in logit as a ratio of odds.

    Examples
    --------
    >>> ratio(-0.69), ratio(0.7), ratio(-1.6), ratio(1.5)
    ('half of', 'twice', '0.20 times', '4.5 times')
    """
    times = exp(size)
    if HALF[0] <= times <= HALF[1]:
        return "half of"
    if TWICE[0] <= times <= TWICE[1]:
        return "twice"
    return f"{times:.2f} times" if times < 1.0 else f"{times:.1f} times"


def share(value: float) -> str:
    """Write a share without a fraction, or with two digits if it is small.

    Examples
    --------
    >>> share(0.0512), share(0.0031), share(0.0)
    ('5 %', '0.31 %', '0 %')
    """
    return short_percent(value, 2) if 0.0 < value < WHOLE_PERCENT else percent(value, 0)
