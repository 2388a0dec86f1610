"""What a report page holds, as plain data that the templates print.

Rule: a number that people read is worded here or in `words`, once. The script of the page only
places these texts, and draws the numbers beside them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from monitor.read.standing import Standing
from monitor.words.next_steps import NextStep

Row = tuple[str, ...]


@dataclass(frozen=True)
class Figure:
    """One key figure: what it is, its value, and what to compare it with."""

    label: str
    value: str
    note: str


@dataclass(frozen=True)
class Bin:
    """Neighbouring scores of a window, taken together.

    Attributes
    ----------
    low, high, mean : float
        Least, largest and mean score.
    adjusted_low, adjusted_high, adjusted_mean : float
        The same without the prior shift.
    count, positives : int
        Predictions with an outcome, and how many came true.
    accepted : tuple of float
        Ends of the probabilities that the exact test accepts for these outcomes.
    rejected, adjusted_rejected : int
        Predictions whose score lies outside, as logged and without the prior shift.
    """

    low: float
    high: float
    mean: float
    adjusted_low: float
    adjusted_high: float
    adjusted_mean: float
    count: int
    positives: int
    accepted: tuple[float, float]
    rejected: int
    adjusted_rejected: int


@dataclass(frozen=True)
class Reliability:
    """Scores and outcomes of the days up to one day.

    Attributes
    ----------
    first, last : date
        The days.
    total : int
        Predictions with an outcome.
    delta : float or None
        The intercept without the prior shift, in logit; None while all outcomes are equal.
    level : float or None
        The intercept of these outcomes on the reference curve, in logit.
    reference : int or None
        Number of the curve in `Page.curves`.
    bins : sequence of Bin
        Rising.
    """

    first: date
    last: date
    total: int
    delta: float | None
    level: float | None
    reference: int | None
    bins: Sequence[Bin]


@dataclass(frozen=True)
class Curve:
    """A reference: its days, and the log-odds of a positive outcome by log-odds of the score."""

    first: date
    last: date
    scores: Sequence[float]
    outcomes: Sequence[float]


@dataclass(frozen=True)
class DayOnPage:
    """One day of the page.

    Attributes
    ----------
    day : date
        The day.
    whole : Standing
        What is known of all segments together by the day itself.
    reasons : sequence of str
        The sentences of the verdict, then those on the error of the week.
    figures : sequence of Figure
        Key figures.
    reliability : Reliability or None
        Of the week.
    segments : sequence of Row
        One for each segment, in the columns of `SEGMENT_COLUMNS`.
    """

    day: date
    whole: Standing = field(default_factory=Standing)
    reasons: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    reliability: Reliability | None = None
    segments: Sequence[Row] = ()

    @property
    def state(self) -> str:
        """Of its verdict; empty if there is none."""
        return self.whole.state


@dataclass(frozen=True)
class Table:
    """A table of texts with its headings, what they mean, and sentences below it."""

    columns: Row
    rows: Sequence[Row]
    notes: Sequence[str] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Mapped:
    """A tenth of the rows: its mean score as logged and mapped, and the share that came true."""

    score: float
    mapped: float
    share: float


@dataclass(frozen=True)
class Repair:
    """What a calibration map would repair of an open drift.

    Attributes
    ----------
    sentences : sequence of str
        What the map is worth, or why there is none.
    command : str
        What writes it; empty if no map can be fitted.
    span : sequence of date
        The days that are drawn.
    tenths : sequence of Mapped
        Their rows by score; empty if no map is worth it.
    """

    sentences: Sequence[str]
    command: str = ""
    span: Sequence[date] = ()
    tenths: Sequence[Mapped] = ()


@dataclass(frozen=True)
class Page:
    """All that the page of one model shows.

    Attributes
    ----------
    model, owner, severity : str
        From the configuration.
    days : sequence of DayOnPage
        Every calendar day of the span that is shown.
    chosen : int
        Which of them the page opens with.
    detailed : date
        First day with bins and all segments; days before it are there to show when a drift began,
        with the segments that drift.
    window_days : int
        Length of the window behind the diagram, the causes and the segments.
    curves : sequence of Curve
        The references.
    incidents, rejected, waiting, sensitivity : Table
        Past incidents; rows left out by check; days whose outcomes are still arriving; what can
        be found at this volume.
    facts : sequence of (str, str)
        How the page was computed.
    parts : str
        What the table of parts lists: segments, pairs of classes, or both.
    classes : Table
        The classes on the day that the page opens with; no rows if the model has two.
    places : Table
        The values of columns where the drift sits that is open on that day; no rows without one.
    values : Table
        The values of columns that drift by themselves on that day.
    taken : str or None
        Who has taken the drift of that day; None if nobody has.
    next_steps : sequence of NextStep
        The commands that help with it; empty without a drift.
    repair : Repair or None
        What a map would repair of the drift of that day; None without one.
    professions : mapping of str to Table
        What a profession asks for of the window of the day that the page opens with, by caption;
        empty if the model has classes.
    """

    model: str
    owner: str
    severity: str
    days: Sequence[DayOnPage]
    chosen: int
    detailed: date
    window_days: int
    curves: Sequence[Curve]
    incidents: Table
    rejected: Table
    waiting: Table
    sensitivity: Table
    facts: Sequence[tuple[str, str]]
    parts: str
    classes: Table
    places: Table
    values: Table
    taken: str | None = None
    next_steps: Sequence[NextStep] = ()
    repair: Repair | None = None
    professions: Mapping[str, Table] = field(default_factory=dict)

    @property
    def day(self) -> DayOnPage:
        """The day that the page opens with."""
        return self.days[self.chosen]
