"""Skill against climatology: what scores add to predicting the same rate every time."""

from math import sqrt

from monitor.metrics.core.estimate import Estimate
from monitor.metrics.core.reading import takes_rows
from monitor.metrics.core.tally import Tally
from monitor.metrics.scores.brier import mean_loss


@takes_rows
def brier_skill(t: Tally, *, climatology: float | None = None) -> Estimate:
    """Say which share of the Brier score of a constant forecast the scores save.

    Parameters
    ----------
    t : Tally or rows
        At least two predictions.
    climatology : float, optional
        The rate that is forecast every time, in [0, 1], such as that of past years; by default
        the prevalence of these predictions, which favours the constant forecast.

    Returns
    -------
    Estimate
        At most 1, every outcome predicted with certainty; 0 is as good as climatology, below 0 is
        worse. With its normal 95 % interval.

    Raises
    ------
    ValueError
        If there are fewer than two predictions, `climatology` is out of its range, or the constant
        forecast is never wrong.

    Notes
    -----
    ``1 - B / B_c``, with B the Brier score of the scores and ``B_c = mean (c - y)**2`` (Wilks,
    Statistical Methods in the Atmospheric Sciences, 2011, section 8.4.2). The interval is that of
    a ratio of two means of the same rows, by the delta method. Measured at 95 %: 92-96 % with 50 to
    5,000 expected positives, 89 % with 5.

    Examples
    --------
    >>> from monitor.metrics.core.tally import tally
    >>> print(f"{brier_skill(tally([0] * 78 + [1] * 22, [0.1] * 60 + [0.4] * 40)):.2f}")
    0.34 (95 % 0.27 to 0.41)
    """
    if t.total < 2:  # noqa: PLR2004 - a variance needs two
        msg = f"skill needs at least two predictions, got {t.total}."
        raise ValueError(msg)
    constant = t.prevalence if climatology is None else climatology
    if not 0.0 <= constant <= 1.0:
        msg = f"climatology must lie in [0, 1], got {climatology}."
        raise ValueError(msg)
    lost_by_it = (1.0 - constant) ** 2, constant**2
    loss = mean_loss(t, (1.0 - t.scores) ** 2, t.scores**2)
    reference = mean_loss(t, *(0.0 * t.scores + lost for lost in lost_by_it))
    if not reference:
        msg = f"the constant forecast {constant:g} is never wrong: give rows with both outcomes."
        raise ValueError(msg)
    ratio = loss / reference
    square = mean_loss(
        t,
        ((1.0 - t.scores) ** 2 - ratio * lost_by_it[0]) ** 2,
        (t.scores**2 - ratio * lost_by_it[1]) ** 2,
    )
    return Estimate.normal(1.0 - ratio, sqrt(square / (t.total - 1)) / reference)
