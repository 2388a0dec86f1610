"""What miscalibration cost, compared with what it may cost. Pure."""

from math import isnan, sqrt

from monitor.evaluation.evaluation import NAMES, Causes, Lost
from monitor.metrics.core.estimate import Estimate


def burn(causes: Causes | None, lost: Lost | None, *, per_prediction: float) -> Estimate:
    """Compare what miscalibration cost with what it may cost.

    Parameters
    ----------
    causes, lost : Causes or None, Lost or None
        What explains an error, in nats, and what it cost if that has a price: then that counts.
    per_prediction : float
        What may be lost per prediction on average, in nats or in the unit of the price.

    Returns
    -------
    Estimate
        The multiple of what may be lost: at 1 a budget lasts as long as it is for.

    Notes
    -----
    What a shift of the prior cost is no fault of the scores, and has an alert of its own: it does
    not count. The causes that are known add up, and so do their variances: the gains of nested maps
    by maximum likelihood are independent where the larger map is right.

    Examples
    --------
    >>> lost = Lost("EUR", 0.2, *(Estimate.normal(v, 0.25) for v in (3.0, 1.5, 1.0, 0.5)))
    >>> f"{burn(None, lost, per_prediction=0.5):.1f}"  # slope and shape
    '3.0 (95 % 1.6 to 4.4)'
    """
    names = [name for name in NAMES if name != "prior_shift"]
    if lost:
        parts = [part for name in names if (part := getattr(lost, name))]
    elif causes is None:
        parts = []
    else:
        shares, errors = causes.log_loss, causes.log_loss_errors
        named = [Estimate.normal(getattr(shares, n), getattr(errors, n)) for n in names]
        parts = [part for part in named if not isnan(part.value)]
    error = sqrt(sum(part.error**2 for part in parts if not isnan(part.error)))
    value = sum(part.value for part in parts)
    return Estimate.normal(value / per_prediction, error / per_prediction)
