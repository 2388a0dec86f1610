"""What is stored of a window: its measures, and what explains them. Pure data.

Whoever reads results needs these classes and none of what computes them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime

from monitor.base.short_text import shown_shortly
from monitor.evaluation.errors import Errors
from monitor.metrics.core.estimate import Estimate

RECENT_DAYS = 28
# Of the rarer outcome, for a null reference of TCE: five in the smallest of the paper's bins,
# N/20, the usual rule. With fewer, bins reject almost nothing, whatever the scores.
LEAST_RARER = 100
NAMES = ("prior_shift", "slope", "shape", "rest")


@dataclass(frozen=True)
class MapGain:
    """By how much the losses of a prediction fell through the map; positive is better.

    The 95 % intervals take days for independent, and the outcomes of one day for dependent.

    Attributes
    ----------
    days : int
        Number of days with outcomes on which the map was compared.
    log_loss, brier : Estimate
        Over these days: nats, and squared probability.
    recent : Estimate
        Of the log loss, over the last 28 of these days.
    """

    days: int
    log_loss: Estimate
    brier: Estimate
    recent: Estimate

    @property
    def harms(self) -> bool:
        """Whether the map makes scores worse lately: even the upper end is a loss."""
        return self.recent.high < 0.0


@dataclass(frozen=True)
class TceNull:
    """TCE of a calibrated model with the same predictions: mean and quantiles, ratios."""

    mean: float
    q05: float
    q50: float
    q95: float
    q99: float


@dataclass(frozen=True)
class Shares:
    """Calibration error by cause, per prediction: in nats, or in squared probability.

    Each is signed: a cause that is absent scatters around 0, on both sides. A cause whose map
    could not be fitted explains 0 with error 0.

    Attributes
    ----------
    prior_shift, slope, shape : float
        What correcting the intercept, then the slope, then two curved terms removes.
    rest : float
        The error that bins of predictions still show; nan with too few outcomes for bins.
    """

    prior_shift: float
    slope: float
    shape: float
    rest: float


@shown_shortly
@dataclass(frozen=True)
class Causes:
    """What explains the calibration error of raw scores.

    Attributes
    ----------
    log_loss : Shares
        In nats: negative only by chance, so shares of the whole can be drawn.
    squared_error : Shares
        In squared probability. A single cause can be truly negative, because the maps are
        fitted by likelihood.
    log_loss_errors, squared_error_errors : Shares
        Their standard errors.
    """

    log_loss: Shares
    log_loss_errors: Shares
    squared_error: Shares
    squared_error_errors: Shares


@dataclass(frozen=True)
class InterceptCorrection:
    """The intercept that corrects a prior shift, and the error that it would remove.

    Attributes
    ----------
    delta : Estimate
        To be added to the logit of every score.
    log_loss : Estimate
        Removed per prediction, in nats.
    squared_error : Estimate
        Removed per prediction, in squared probability.
    log_loss_before : float
        Mean log loss of the scores as they are, in nats.
    """

    delta: Estimate
    log_loss: Estimate
    squared_error: Estimate
    log_loss_before: float


@dataclass(frozen=True)
class Lost:
    """What was lost per prediction because of miscalibration, in all and by cause.

    Attributes
    ----------
    currency : str
        The unit of the amounts.
    threshold : float or None
        That of the decisions which lost it; None if the log loss is what has a price.
    all : Estimate
        In all.
    prior_shift, slope, shape : Estimate
        What correcting the intercept, then the slope, then two curved terms would have saved; 0
        for a map that could not be fitted.
    rest : Estimate or None
        What no map would; None of decisions, and with too few outcomes for bins.
    """

    currency: str
    threshold: float | None
    all: Estimate
    prior_shift: Estimate
    slope: Estimate
    shape: Estimate
    rest: Estimate | None = None


AMOUNTS = tuple(field.name for field in fields(Lost) if field.name not in ("currency", "threshold"))


@dataclass(frozen=True)
class Expectation:
    """The prevalence that a day's scores suggest, ratios in [0, 1].

    Attributes
    ----------
    prevalence : float
        Under a prior shift. 0 or 1 where even that is not extreme enough; nan where the scores of
        the reference do not separate its outcomes.
    low, high : float
        Its 95 % interval, which includes the uncertainty of the reference; wide where scores hardly
        separate the classes. nan where the prevalence is.
    fit_log10_p : float
        Logarithm to base 10 of the probability of scores this unlike a mixture of the reference's
        two classes, in (-inf, 0]. Ignore the expectation if it is far below -3. nan with fewer
        than three bins.
    unshifted : float
        Under a covariate shift: mean of the scores, calibrated by the reference.
    unshifted_error : float
        Its standard error.
    """

    prevalence: float
    low: float
    high: float
    fit_log10_p: float
    unshifted: float
    unshifted_error: float

    @property
    def estimate(self) -> Estimate:
        """The prevalence under a prior shift, with its interval."""
        return Estimate(self.prevalence, self.low, self.high)


@dataclass(frozen=True)
class Population:
    """The measures of all predictions of a segment and window, with 95 % intervals.

    Attributes
    ----------
    prevalence, mean_score : Estimate
        Ratios in [0, 1].
    errors : Errors
        Of the raw scores; ECE without an interval. TCE at size needs so many outcomes after those
        of low weight are thinned out.
    reached : float
        Share of the predictions at whose scores there are outcomes, a ratio in [0, 1]: all others
        are left out.
    causes, correction : Causes or None, InterceptCorrection or None
        What explains the error of all predictions, and what one intercept would remove of it; None
        with fewer than ten labelled outcomes of the rarer class.
    """

    prevalence: Estimate
    mean_score: Estimate
    errors: Errors
    reached: float
    causes: Causes | None = None
    correction: InterceptCorrection | None = None


@dataclass(frozen=True)
class VectorErrors:
    """The scores of whole vectors, over all classes.

    Attributes
    ----------
    rbs : Estimate
        Root Brier score: the square root of the mean of ``sum_k (p_k - y_k)**2``, in [0, sqrt 2].
        With two classes it is the square root of 2 times that of one column.
    log_score : Estimate
        Mean of ``-log p_y``, in nats.
    """

    rbs: Estimate
    log_score: Estimate


@dataclass(frozen=True)
class ClassErrors:
    """One class against the rest; `raw` and `prior` are None without an outcome of any class.

    Attributes
    ----------
    name : str
        The class.
    outcomes : int
        How often it came true.
    prevalence, mean_score : float
        Its share of the outcomes, and its mean score as logged.
    raw, prior : Errors or None
        Of its scores as logged, and adjusted by class weights.
    """

    name: str
    outcomes: int
    prevalence: float
    mean_score: float
    raw: Errors | None
    prior: Errors | None


@dataclass(frozen=True)
class ClassMeasures:
    """The measures of vectors.

    Attributes
    ----------
    count : int
        Number of classes.
    judged : float
        Share of the outcomes that are one of the two classes with the highest scores, and of a
        pair that is counted: the verdict rests on these.
    raw, prior : VectorErrors or None
        Of the scores as logged, and adjusted by the class weights of each day; None as far as the
        log has the highest scores only.
    by_class : tuple of ClassErrors
        The classes that are watched: of those that are tallied on every day of the window.
    pairs : int
        Pairs of classes that are counted; 0 in files of before they were.
    """

    count: int
    judged: float
    raw: VectorErrors | None
    prior: VectorErrors | None
    by_class: tuple[ClassErrors, ...]
    pairs: int = 0


@shown_shortly
@dataclass(frozen=True)
class Evaluation:
    """The measures of one segment over one window.

    `rejected` counts the rows left out, by check; only the whole has them, because rejected rows
    have no segment. `raw` is None without a prediction with an outcome. `shift` is the intercept,
    in logit, that makes the scores right on average; it and `prior` are None while all outcomes
    are equal, because then the intercept is not finite. `null` is None with fewer than
    `LEAST_RARER` of the rarer outcome. `slope` is that of the outcomes on the scores' log-odds,
    with a separate intercept for each day and segment. `causes` divides the error of raw scores;
    `correction` is the part of it that one intercept for the whole window would remove. `map` and
    `map_slope` are `raw` and `slope` as the scores of a calibration map in the shadow would have
    been, in windows that lie behind its first day; `map_gain` is in windows of a day only.

    Of a model with `entity` intervals and `null` are those of rows that hang together, but for the
    interval of `expected`, which counts rows; `design_effect` is by how much that makes the
    variance of the number of positives larger.

    Of a model whose labels are chosen (`label_rate`) all numbers but `map_gain` are those of the
    labelled predictions, and `population` holds those of all. `lost` is what `causes` cost, where
    that has a price. `acted` counts the predictions that were acted on, so that their outcomes do
    not count, where the log says so on every day.

    Of a model with classes, a positive outcome is a first choice that was right; `prior` is
    adjusted by class weights; `slope` is that of the pairs; `classes` are the measures of vectors;
    and `shift`, `causes` and `correction`, which speak of one intercept, are None.
    """

    model: str
    segment: str
    day: date
    window_days: int
    days_present: int
    final: bool
    known_at: datetime
    predicted: int
    matched: int
    positives: int
    rejected: Mapping[str, int]
    coverage: float
    prevalence: float
    mean_score: float
    shift: Estimate | None
    raw: Errors | None
    prior: Errors | None
    null: TceNull | None
    slope: Estimate | None = None
    causes: Causes | None = None
    expected: Expectation | None = None
    correction: InterceptCorrection | None = None
    classes: ClassMeasures | None = None
    map: Errors | None = None
    map_slope: Estimate | None = None
    map_gain: MapGain | None = None
    design_effect: float | None = None
    population: Population | None = None
    lost: Lost | None = None
    acted: int | None = None

    @property
    def told_causes(self) -> Causes | None:
        """What explains the error of all predictions, where labels are chosen and that is known."""
        of_all = self.population and self.population.causes
        return of_all or self.causes

    @property
    def told_correction(self) -> InterceptCorrection | None:
        """What an intercept removes of the error of all predictions, as for `told_causes`."""
        of_all = self.population and self.population.correction
        return of_all or self.correction
