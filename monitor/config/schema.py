"""What the keys of a configuration are, as frozen, strict models."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from itertools import chain, pairwise
from string import Formatter
from typing import Annotated, Any, ClassVar, Literal, Self
from zoneinfo import available_timezones

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    StringConstraints,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from monitor.base.errors import ConfigError
from monitor.base.machine import memory_to_use, threads_to_use
from monitor.base.segment_names import FIELD, OTHER, PAIR, RESERVED, THIRD, WHOLE, is_pair
from monitor.config.apart import (
    APART,
    COLUMN_OF_RATES,
    COUNTED,
    COUNTS,
    MORE_COLUMNS,
    OF_ROWS,
    SEVERAL_MAPS,
    complaints_of,
)
from monitor.config.brief import brief
from monitor.config.calendar import Calendar, Plans, Spans
from monitor.config.checks import Checks
from monitor.config.choices import (
    ONE,
    RATE_COLUMN,
    RATE_FILE,
    RATE_OUTCOMES,
    SEVERAL,
    is_scalar,
    is_whole_scalar,
    one_or_several,
)
from monitor.config.classes import Classes
from monitor.config.columns import MOST_COLUMNS, Watch, check_watched, split_segments
from monitor.config.filters import check_filter
from monitor.config.label_rates import BY_SCORE, RateFile
from monitor.config.layouts import Explode, Names, NullText, Separator, check_layout
from monitor.config.names import Column, Value, expression_of, named
from monitor.config.report_pages import report_page
from monitor.config.schedules import check_schedule
from monitor.config.sections import Date, Listed, Section, as_text
from monitor.config.worth import Budget, DecisionSetting, Price

EARLIEST, LATEST = date(1900, 1, 1), date(2999, 12, 31)  # days that may have logs
LONGEST_WAIT = 400  # days for outcomes
BUDGET_WINDOWS = 1, 7, 28  # days over which a budget is burnt, fast or slowly
TODO = "TODO"  # the value of a key that `init` could not guess
ISO_DAY = "%Y-%m-%d"  # what {day} alone means
# With their least and greatest number of digits; a minus omits leading zeros.
DAY_DIRECTIVES = {
    "%Y": (4, 4),
    "%y": (2, 2),
    "%m": (2, 2),
    "%d": (2, 2),
    "%j": (3, 3),
    "%-m": (1, 2),
    "%-d": (1, 2),
    "%-j": (1, 3),
}
YEAR, DAY_OF_YEAR = ({"%Y"}, {"%y"}), ({"%m", "%d"}, {"%j"})
# Without leading zeros, the name of day 1 would also match that of day 12 if these are beside it.
BESIDE_OPEN_END = re.compile(r"%-\w(?=[%\d*?[])|(?<=[\d*?\]])%-\w|%\w(?=%-)")

Format = Literal["parquet", "csv", "json", "delta", "iceberg", "sql", "counts"]
TABLES = "delta", "iceberg", "sql"  # formats that are a table, not files
FORMAT_BY_NAME = re.compile(r"\.(?:(csv)|json|jsonl|ndjson)(?:\.(?:gz|zst))?$")
TimeUnit = Literal["s", "ms", "us"]


def _is_a_place(path: str) -> str:
    if not path or "\0" in path:
        msg = "must be a path, or a URL such as s3://bucket/prefix"
        raise ValueError(msg)
    return path


def literal(path: str) -> str:
    """Escape a path so that a template matches exactly this path."""
    return re.sub(r"([*?[])", r"[\1]", path).replace("{", "{{").replace("}", "}}")


def _fields(path: str) -> list[tuple[str, str, str | None]]:
    """Return the placeholders of a template: name, form and conversion."""
    try:
        parsed = [parts[1:] for parts in Formatter().parse(path)]
    except ValueError as error:
        msg = f"has an unmatched brace ({error}); write a literal brace twice"
        raise ValueError(msg) from None
    return [(name, spec or ISO_DAY, mark) for name, spec, mark in parsed if name is not None]


def _names_the_day(path: str) -> str:
    """Raise ValueError for a template that would read the same file on different days."""
    named = set()
    for field, spec, conversion in _fields(path):
        directives = set(re.findall("%-?.?", spec))
        if field != "day" or conversion or "{" in spec or not directives <= {*DAY_DIRECTIVES}:
            msg = (
                f"has a placeholder other than {{day}} or one like {{day:%Y/%m/%d}}, "
                f"made of {', '.join(DAY_DIRECTIVES)}"
            )
            raise ValueError(msg)
        named |= {directive.replace("-", "") for directive in directives}
    if not all(any(need <= named for need in needs) for needs in (YEAR, DAY_OF_YEAR)):
        msg = (
            "must name year, month and day, as {day} (2001-02-03) or a form such as "
            "{day:%Y/%m/%d}; or set the key day to the column that dates the rows"
        )
        raise ValueError(msg)
    written = "".join(
        literal + (spec or ISO_DAY if field else "")
        for literal, field, spec, _ in Formatter().parse(path)
    )
    if BESIDE_OPEN_END.search(written):
        open_end = next(part for part in re.findall(r"%-?\w", written) if "-" in part)
        msg = (
            f"has {open_end}, which has no fixed length, beside a digit, a wildcard or another "
            f"part of the date; put a sign such as / or - between them"
        )
        raise ValueError(msg)
    return path


def _names_no_day(path: str) -> str:
    """Raise ValueError for a placeholder in the path of a log with a column that dates its rows."""
    if _fields(path):
        msg = (
            "has a placeholder, but the key day names a column that dates the rows; remove one "
            "of them"
        )
        raise ValueError(msg)
    return path


def _is_a_variable(name: str) -> str:
    """Raise ValueError for a text that may be an address itself, with a password in it."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        msg = (
            "must be the name of an environment variable that holds the address, such as "
            "WAREHOUSE_URL, not the address itself"
        )
        raise ValueError(msg)
    return name


def _is_a_query(sql: str) -> str:
    """Raise ValueError for an empty query; leave out the sign that ends it."""
    query = sql.strip().removesuffix(";").rstrip()
    if not query or "\0" in query:
        msg = "must be a query, such as SELECT id, score, scored_at FROM predictions"
        raise ValueError(msg)
    return query


def _is_a_web_address(address: str) -> str:
    if not re.fullmatch(r"(https?://\S+)?", address):
        msg = "must be a web address, such as https://reports.example.org/fraud"
        raise ValueError(msg)
    return address


_time_zones = cache(available_timezones)  # which looks for them in hundreds of files


def _is_time_zone(name: str) -> str:
    if name not in _time_zones():
        msg = "must be a name from the time zone database, such as UTC or America/New_York"
        raise ValueError(msg)
    return name


def _rises_from_one(windows: tuple[int, ...]) -> tuple[int, ...]:
    if not windows or windows[0] != 1 or list(windows) != sorted(set(windows)):
        msg = "must increase and start with 1, such as [1, 7, 28]"
        raise ValueError(msg)
    return windows


def _read_renamed(value: object) -> object:
    """Read {old: new} as pairs."""
    pairs = tuple(value.items()) if isinstance(value, dict) else value
    names = [*chain.from_iterable(pairs)] if isinstance(pairs, tuple) else []
    if not names or not all(isinstance(name, str) and name for name in names):
        msg = "must map names of columns in older files to those of today, such as {prob: score}"
        raise ValueError(msg)
    if len(set(names)) < len(names):
        msg = "must name no column twice"
        raise ValueError(msg)
    return pairs


Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")]
Key = Annotated[
    Annotated[Value, Tag(ONE)] | Annotated[Listed[Value], Field(min_length=1), Tag(SEVERAL)],
    Discriminator(one_or_several),
]
Renamed = Annotated[tuple[tuple[str, str], ...], BeforeValidator(_read_renamed)]
Filter = Annotated[str, AfterValidator(check_filter)]
Given = Annotated[
    Listed[Annotated[str | bool | int | float, BeforeValidator(is_scalar)]],
    Field(min_length=1, max_length=100),
]
Place = Annotated[str, AfterValidator(_is_a_place)]
Query = Annotated[str, AfterValidator(_is_a_query)]
WebAddress = Annotated[str, AfterValidator(_is_a_web_address)]
Schedule = Annotated[str, AfterValidator(check_schedule)]
TimeZone = Annotated[str, AfterValidator(_is_time_zone)]
Windows = Annotated[Listed[Annotated[int, Field(ge=1, le=366)]], AfterValidator(_rises_from_one)]


def _has_no_null(text: str) -> str:
    if "\0" in text:
        msg = "must not contain the null character"
        raise ValueError(msg)
    return text


SegmentValue = Annotated[
    str,
    BeforeValidator(as_text),
    StringConstraints(min_length=1, max_length=200),
    AfterValidator(_has_no_null),
]
MOST_PARTS = 5_000  # segments times strata
SegmentValues = Annotated[Listed[SegmentValue], Field(min_length=1, max_length=500)]


def _count_days_until_negative(value: object) -> object:
    """Read "negative after 7d" as 7; anything else is left to the check of whole numbers."""
    match = re.fullmatch(r"negative after (\d+)d", value) if isinstance(value, str) else None
    if value is not None and not match:
        msg = "must be written like 'negative after 7d'"
        raise ValueError(msg)
    return int(match[1]) if match else value


DaysUntilNegative = Annotated[
    int, BeforeValidator(_count_days_until_negative), Field(ge=0, le=LONGEST_WAIT)
]


class OutcomeMeans(Section):
    """Which values of the outcome column are positive and negative; all others are invalid."""

    positive: Given
    negative: Given

    @model_validator(mode="after")
    def _has_no_value_twice(self) -> Self:
        both = {str(value) for value in self.positive} & {str(value) for value in self.negative}
        if both:
            msg = f"positive and negative must not share a value, but both list {brief(min(both))}"
            raise ValueError(msg)
        return self


class Ids(Section):
    """What the ids of both logs are converted to before they are compared."""

    cast: Literal["integer", "uuid", "text"]


class _Log(Section):
    """Where a log is and how to read it.

    Attributes
    ----------
    format : str
        By default as the file name says: CSV, JSON lines, or else Parquet. With `counts` the rows
        were counted already: those of files of any of these, of a folder of Delta Lake or
        Iceberg, whose path ends with /, of an Iceberg table of a `connection`, or of the query
        `sql`.
    connection : str or None
        Who knows the table: the catalog of PyIceberg's configuration, whose name of the table the
        path is; or the environment variable that holds the address of the database, which is then
        the path too.
    sql : str or None
        The query that gives the rows, if a database has them.
    changed : str or None
        The column that says when a row of a database was last changed.
    renamed : tuple of (str, str) or None
        Columns of files that lack the second name: what these files call them, and that name.
    day : str or None
        The column that dates the rows, or an expression, if the path does not name the day.
    time_unit : str or None
        Unit of times that are numbers, which count from 1970.
    columns : tuple of str
        Names for the columns of CSV files without a header.
    separator, null_text : str or None
        What is between two values of CSV, and what stands in the place of a value that is not
        there, besides nothing.
    explode : Explode or None
        The list in each record whose elements are a row each.
    """

    format: Format = "parquet"
    connection: Column | None = None
    sql: Query | None = None
    changed: Column | None = None
    renamed: Renamed | None = None
    day: Value | None = None
    time_unit: TimeUnit | None = None
    columns: Names = ()
    separator: Separator | None = None
    null_text: NullText | None = None
    explode: Explode | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_format_from_name(cls, content: object) -> object:
        if isinstance(content, dict) and "format" not in content:
            match = FORMAT_BY_NAME.search(str(content.get("path")))
            if match:
                return {**content, "format": "csv" if match[1] else "json"}
        return content

    @model_validator(mode="before")
    @classmethod
    def _is_at_its_connection(cls, content: object) -> object:
        if not isinstance(content, dict) or "path" in content:
            return content
        counted = content.get("format") == "counts" and "sql" in content
        if content.get("format") == "sql" or counted:
            return {**content, "path": content.get("connection") or ""}
        return content

    @model_validator(mode="after")
    def _is_a_query_or_not(self) -> Self:
        of_query = {"sql": self.sql, "connection": self.connection, "day": self.day}
        if self.stored_as == "sql":
            if missing := [name for name, value in of_query.items() if value is None]:
                what = "sql" if self.format == "counts" else "format: sql"
                msg = f"{what} needs {', '.join(missing)} too"
                raise ValueError(msg)
            dated = [column for column in (self.day, self.changed) if column]
            if any(FIELD in column or expression_of(column) for column in dated):
                msg = "day and changed must be columns of the query; give others a name in sql"
                raise ValueError(msg)
        if self.format == "counts" and isinstance(self, OutcomeLog):
            msg = (
                "format: counts is for predictions, whose counts hold the outcomes too; write "
                "outcomes: {in_predictions: true}"
            )
            raise ValueError(msg)
        if self.renamed and self.stored_as in TABLES:
            msg = "renamed is for files; write {sql: 'coalesce(new, old)'} in the place of the name"
            raise ValueError(msg)
        if self.stored_as == "sql":
            return self
        if given := [k for k in ("sql", "changed") if getattr(self, k) is not None]:
            msg = f"{', '.join(given)} needs format: sql; set it, or remove {', '.join(given)}"
            raise ValueError(msg)
        if self.connection and self.stored_as != "iceberg":
            msg = "connection needs format: sql or format: iceberg; set it, or remove connection"
            raise ValueError(msg)
        return self

    @property
    def stored_as(self) -> Format:
        """How its rows are stored; those of counts, as the other keys say."""
        if self.format != "counts":
            return self.format
        if self.sql or self.connection:
            return "sql" if self.sql else "iceberg"
        path = getattr(self, "path", "")
        if path.endswith("/"):
            return "delta"
        match = FORMAT_BY_NAME.search(path)
        return ("csv" if match[1] else "json") if match else "parquet"

    @property
    def catalog(self) -> str | None:
        """The catalog of PyIceberg's configuration that has the table."""
        return self.connection if self.stored_as == "iceberg" else None

    @field_validator("connection")
    @classmethod
    def _names_a_variable(cls, connection: str | None, info: ValidationInfo) -> str | None:
        is_address = connection is not None and info.data.get("format") in ("sql", "counts")
        return _is_a_variable(connection or "") if is_address else connection

    @model_validator(mode="after")
    def _has_the_layout_of_its_format(self) -> Self:
        check_layout(self.format, self.columns, self.separator, self.null_text)
        return self

    @field_validator("path", check_fields=False)
    @classmethod
    def _dates_its_rows(cls, path: str, info: ValidationInfo) -> str:
        if info.data.get("in_predictions") or not {"format", "day"} <= info.data.keys():
            return path  # there is none, or these are wrong themselves
        counted = info.data["format"] == "counts"
        if info.data["format"] == "sql" or (counted and info.data.get("sql")):
            if path != (info.data.get("connection", path) or ""):
                msg = "is for files; remove it, because the rows are those of sql"
                raise ValueError(msg)
            return path
        if not path or "\0" in path:
            msg = "must be a path, or a URL such as s3://bucket/prefix"
            if cls is OutcomeLog:
                msg += "; or set in_predictions: true if predictions have a column of outcomes"
            raise ValueError(msg)
        if info.data["day"] is not None:
            return _names_no_day(path)
        is_table = counted and (info.data.get("connection") or path[-1] == "/")
        if is_table or info.data["format"] in TABLES:
            msg = "is a table; set the key day to the column that dates its rows"
            raise ValueError(msg)
        return _names_the_day(path)


class PredictionLog(_Log):
    """Where the predictions are, the names of their columns, and what the rows mean.

    Attributes
    ----------
    predicted_label : str or None
        If the score is the probability of a label, the column of that label.
    label_means : OutcomeMeans or None
        Which labels stand for the outcomes 1 and 0; by default as `outcomes.outcome_means`.
    entity : str, tuple of str or None
        The columns that say whom or what a row is about, such as a customer, whose rows hang
        together.
    """

    path: str
    id: Key = "prediction_id"
    score: Value = "score"
    time: Value | None = None
    score_means: Literal[
        "probability", "percent", "logit", "probability_of_0", "probability_of_label"
    ] = "probability"
    predicted_label: Value | None = None
    label_means: OutcomeMeans | None = None
    duplicates: Literal["check", "keep_identical"] = "check"
    where: Filter | None = None
    weight: Value | None = None
    classes: Classes | None = None
    entity: Key | None = None

    @model_validator(mode="after")
    def _has_the_label_of_its_score(self) -> Self:
        of_label = self.score_means == "probability_of_label"
        if of_label and self.predicted_label is None:
            msg = (
                "score_means: probability_of_label needs predicted_label, the column of the label "
                "that the score is the probability of"
            )
            raise ValueError(msg)
        given = {"predicted_label": self.predicted_label, "label_means": self.label_means}
        if not of_label and (named := _named({k: v is not None for k, v in given.items()})):
            names, them = named
            msg = f"{names} needs score_means: probability_of_label; set it, or remove {them}"
            raise ValueError(msg)
        return self


class OutcomeLog(_Log):
    """Where the outcomes are, the names of their columns, and what the rows mean.

    Attributes
    ----------
    in_predictions : bool
        Whether the outcome is a column of the predictions, null until it is known. Then there is
        no path, and no id is needed.
    calendar : Calendar or None
        The days that have outcomes, if they do not come every day.
    outcome : str or None
        The column of the outcome; None if the log has only positives, such as clicks.
    absent_means : int or None
        The number of days after which a prediction without an outcome is a negative.
    owner : str
        Who hears that labels changed; empty for the owner of the model.
    """

    in_predictions: bool = False
    path: Annotated[str, Field(validate_default=True)] = ""
    id: Key = "prediction_id"
    outcome: Value | None = "outcome"
    time: Value | None = None
    calendar: Calendar | None = None
    outcome_means: OutcomeMeans | None = None
    absent_means: DaysUntilNegative | None = None
    duplicates: Literal["keep_identical", "latest"] = "keep_identical"
    where: Filter | None = None
    weight: Value | None = None
    owner: str = ""

    @model_validator(mode="after")
    def _can_tell_the_latest(self) -> Self:
        if self.duplicates == "latest" and self.time is None:
            msg = "duplicates: latest needs time, the column that says when an outcome was observed"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _says_what_happened(self) -> Self:
        clicks = self.absent_means is not None and self.outcome_means is None
        if self.outcome is None and (not clicks or self.in_predictions):
            msg = (
                "outcome: null says that every row of the outcomes is a 1, so absent_means must "
                "say when the others are 0, without outcome_means and in_predictions"
            )
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _lies_in_one_place(self) -> Self:
        idle = {
            "path",
            "id",
            "format",
            "sql",
            "connection",
            "changed",
            "renamed",
            "columns",
            "separator",
            "null_text",
            "explode",
            "calendar",
            "day",
            "where",
            "duplicates",
        } & self.model_fields_set
        if self.in_predictions and idle:
            msg = f"with in_predictions the outcomes have no {', '.join(sorted(idle))}; remove it"
            raise ValueError(msg)
        return self


def id_columns(log: PredictionLog | OutcomeLog) -> tuple[str, ...]:
    """List the columns that together identify a row."""
    return (log.id,) if isinstance(log.id, str) else log.id


def _named(given: Mapping[str, bool]) -> tuple[str, str] | None:
    """Name the settings that are given, and the pronoun for them; None if none is."""
    names = [name for name, is_given in given.items() if is_given]
    return (", ".join(names), "it" if len(names) == 1 else "them") if names else None


class Segments(Section):
    """A column of the predictions with a few listed values; all others count as `other`."""

    column: Value
    values: SegmentValues

    @model_validator(mode="after")
    def _has_no_reserved_name(self) -> Self:
        if RESERVED.intersection(self.values) or len(set(self.values)) < len(self.values):
            msg = f"values must differ and must not be {WHOLE}, {OTHER} or {THIRD}"
            raise ValueError(msg)
        return self

    @property
    def name(self) -> str:
        """What people call the column, and by what its values are counted."""
        return named(self.column)


def _count_days(value: object) -> object:
    """Read "7d" as 7; anything else is left to the check of whole numbers."""
    match = re.fullmatch(r"(\d+)d", value) if isinstance(value, str) else None
    return int(match[1]) if match else value


Doubts = Annotated[
    Listed[Annotated[str, StringConstraints(min_length=1, max_length=1000)]], Field(max_length=50)
]
Columns = Annotated[Listed[Watch], Field(max_length=MOST_COLUMNS)]
Days = Annotated[int, BeforeValidator(_count_days), Field(ge=1, le=31)]
Wait = Annotated[int, BeforeValidator(_count_days), Field(ge=0, le=LONGEST_WAIT)]


LEAST_DAYS = 30  # between false alerts


class Verdicts(Section):
    """What days are compared with, and how large a change must be to be reported."""

    references: Spans = ()
    known_drifts: Plans = ()
    judge_every: Days = 1
    false_alert_days: Annotated[int, Field(ge=LEAST_DAYS, le=1_000_000)] = 1000
    limit: Literal["guaranteed", "calibrated"] = "guaranteed"
    value_severity: Literal["page", "ticket", "info", "none"] = "ticket"
    slope_tolerance: Annotated[float, Field(gt=0, lt=1)] = 0.03
    level_odds: Annotated[float, Field(gt=1, le=100)] = 1.25
    level_page_odds: Annotated[float, Field(gt=1, le=100)] = 2.0
    run_overdue_hours: Annotated[float, Field(ge=1, le=10_000)] = 30
    blind: Literal["page", "ticket"] = "ticket"
    data_error_hours: Annotated[float, Field(ge=0, le=10_000)] = 6

    @property
    def shape_tolerance(self) -> float:
        """What is tolerated of other distortions, in logit: 0.05 for 0.03 of the slope.

        Both are what a sound model moves by within a year, which one number says of a model.
        """
        return self.slope_tolerance * (0.05 / 0.03)

    @property
    def segment_false_alert_days(self) -> int:
        """The days between false alerts of all segments together: 365 for 1,000 of the model.

        Segments may alert somewhat sooner than the whole, because each has fewer rows.
        """
        return max(LEAST_DAYS, round(0.365 * self.false_alert_days))

    # The changes to find. Evidence is priced at these sizes and finds larger ones sooner; where a
    # tolerance or the error of the reference is wider, the verdict raises them by itself.
    slope_effect: ClassVar[float] = 0.10
    shape_effect: ClassVar[float] = 0.20
    # A run a week ago that was up to so much later does not count as one that never came: a
    # weekend is known after its first week, and a run may start some hours later than usual.
    run_late_hours: ClassVar[float] = 6
    # Multiples of what is usual of the same model, so no model needs numbers of its own: half of
    # the usual coverage, and twice the usual share of rows left out.
    outcome_coverage_limit: ClassVar[float] = 0.5
    rejected_rows_limit: ClassVar[float] = 2.0


class RateColumn(Section):
    """A column of the outcomes with the probability with which their prediction was chosen."""

    outcomes: Value


def _way_of_rates(value: object) -> str:
    """Say by what is written which of the ways it is to be, so that one of them complains."""
    if isinstance(value, RateFile) or (isinstance(value, dict) and "file" in value):
        return RATE_FILE
    outcomes = isinstance(value, RateColumn) or (isinstance(value, dict) and "outcomes" in value)
    return RATE_OUTCOMES if outcomes else RATE_COLUMN


LabelRate = Annotated[
    Annotated[Value, Tag(RATE_COLUMN)]
    | Annotated[RateColumn, Tag(RATE_OUTCOMES)]
    | Annotated[RateFile, Tag(RATE_FILE)],
    Discriminator(_way_of_rates),
]


class MapSetting(Section):
    """A calibration map that is compared with the scores from a day on, and perhaps deployed.

    Attributes
    ----------
    since, deploy, retire : date or None
        The first day on which it is compared, on which the log holds mapped scores, and on which
        it holds them no more.
    """

    file: Place
    since: Date
    deploy: Date | None = None
    retire: Date | None = None

    @model_validator(mode="after")
    def _is_compared_before_it_is_deployed(self) -> Self:
        if self.deploy and self.deploy < self.since:
            msg = "deploy must not be before since"
            raise ValueError(msg)
        if self.retire and not (self.deploy and self.deploy < self.retire):
            msg = "retire must be after deploy: a map ends that was deployed"
            raise ValueError(msg)
        return self


Maps = Annotated[
    Listed[MapSetting],
    BeforeValidator(lambda given: [given] if isinstance(given, dict) else given or ()),
]


class Model(Section):
    """One monitored model.

    Attributes
    ----------
    segments : Segments or None
        The column whose segments have priors of their own in the evidence of the whole.
    columns : tuple of WatchedColumn or Crossing
        The other entries of a list of `segments`, whose values are counted beside it.
    settled_after : int
        The days until the outcomes of a day are known: of an outcome "within 30 days", 30.
    map : tuple of MapSetting
        The calibration maps in the order of their days; the last is the one that is compared.
    label_rate : str, RateColumn, RateFile or None
        How predictions were chosen that get an outcome: `by_score`; the column with the probability
        of being chosen, of the predictions or of the outcomes; or a file with rates by score. Then
        the measures of all predictions are estimated too.
    value, decision : Price, DecisionSetting or None
        What an error is worth; one of the two.
    budget : Budget or None
        What miscalibration may cost.
    action : str or None
        The column of the predictions that says of a row that it was acted on, so that its outcome
        is not the one that was predicted.
    doubts : tuple of str
        What nobody has looked at yet since `init` guessed it; a person deletes them.
    """

    doubts: Doubts = ()
    predictions: PredictionLog
    outcomes: OutcomeLog
    ids: Ids | None = None
    segments: Segments | None = None
    columns: Columns = ()
    strata: Segments | None = None
    map: Maps = ()
    owner: str = ""
    severity: Literal["page", "ticket", "info"] = "ticket"
    time_zone: TimeZone = "UTC"
    label_rate: LabelRate | None = None
    value: Price | None = None
    decision: DecisionSetting | None = None
    budget: Budget | None = None
    action: Value | None = None
    settled_after: Wait = 1
    windows: Windows = (1, 7, 28)
    schedule: Schedule = "0 6 * * *"
    log_deadline_hours: Annotated[float, Field(ge=0, le=168)] = 6
    catch_up_days: Annotated[int, Field(ge=0, le=366)] = 7
    calendar: Calendar | None = None
    checks: Checks = Checks()
    verdicts: Verdicts = Verdicts()

    # The level of the tests in TCE that its paper uses, so that numbers can be compared, and the
    # simulations behind the range of TCE by chance, whose ends 100 place well enough for a panel.
    alpha: ClassVar[float] = 0.05
    null_replicates: ClassVar[int] = 100

    @model_validator(mode="before")
    @classmethod
    def _reads_a_list_of_segments(cls, content: Any) -> Any:
        listed = isinstance(content, dict) and isinstance(content.get("segments"), list)
        return split_segments(content) if listed else content

    @model_validator(mode="before")
    @classmethod
    def _names_a_file_of_rates(cls, content: Any) -> Any:
        if isinstance(content, dict) and isinstance(content.get("label_rate"), list | tuple):
            msg = (
                "label_rate must not be a list any more; write its rows into a CSV file with the "
                "columns low, high and rate, and label_rate: {file: rates.csv}"
            )
            raise ValueError(msg)  # noqa: TRY004 - which the validator turns into a message
        return content

    @model_validator(mode="after")
    def _maps_follow_each_other(self) -> Self:
        for earlier, later in pairwise(self.map):
            # What a later map was fitted to are the scores that the earlier one makes.
            end = earlier.retire or earlier.deploy
            if end is None or end > later.since:
                msg = (
                    f"map: each but the last needs deploy, and it or retire must not be after "
                    f"since of the next; the map of {earlier.since} has {end or 'neither'}"
                )
                raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _names_columns_once(self) -> Self:
        check_watched(self.columns)
        return self

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        parts = len(self.segment_names) * len(self.stratum_names)
        if parts > MOST_PARTS:
            msg = (
                f"segments and strata make {parts:,} parts of a day, more than {MOST_PARTS:,}; "
                f"list fewer values of one of them"
            )
            raise ValueError(msg)
        of_predictions, of_outcomes = id_columns(self.predictions), id_columns(self.outcomes)
        if len(of_predictions) != len(of_outcomes) and not self.outcomes.in_predictions:
            msg = (
                f"predictions.id has {len(of_predictions)} columns and outcomes.id "
                f"{len(of_outcomes)}; name the same number, in the same order"
            )
            raise ValueError(msg)
        absent = self.outcomes.absent_means
        if absent is not None and absent > self.settled_after:
            msg = (
                f"outcomes.absent_means is 'negative after {absent}d', but settled_after is "
                f"{self.settled_after}; set settled_after to at least {absent}, because a day "
                f"cannot be final before its negatives are known"
            )
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _has_no_settings_apart(self) -> Self:
        self._complain_of_settings_apart()
        return self

    def _complain_of_settings_apart(self) -> None:
        if complaints := complaints_of(_given(self)):
            raise ValueError("; ".join(complaints))

    def _can_find_strata(self) -> None:
        self._complain_of_settings_apart()
        if not self.columns:
            msg = (
                "strata: auto looks for a column among those under segments, and there "
                "are none; list columns there, or leave it out"
            )
            raise ValueError(msg)

    @model_validator(mode="after")
    def _plans_for_its_segments(self) -> Self:
        classes = self.predictions.classes
        for plan in self.verdicts.known_drifts:
            known = plan.segment in self.every_segment
            if classes:
                known |= plan.segment == THIRD or is_pair(plan.segment, {*classes.names})
            if not known:
                there = ", ".join(self.every_segment)
                msg = (
                    f"verdicts.known_drifts plans for the segment {brief(plan.segment)}, which the "
                    f"model does not have; name one of {there}"
                )
                raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _names_no_pairs_of_classes(self) -> Self:
        if self.predictions.classes is None:
            return self
        if PAIR in (
            (self.segments and self.segments.name),
            *(name for watched in self.columns for name in watched.columns),
        ):
            msg = (
                f"segments must not name a column {brief(PAIR)}, as pairs of classes are called; "
                f"log it under another name"
            )
            raise ValueError(msg)
        classes = {*self.predictions.classes.names}
        for value in self.segments.values if self.segments else ():
            if is_pair(value, classes):
                msg = (
                    f"segments.values must not list {brief(value)}, because it is the name of a "
                    f"pair of predictions.classes.names; log another value"
                )
                raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _can_have_a_budget(self) -> Self:
        if self.budget is None:
            return self
        if lacking := [f"{days}" for days in BUDGET_WINDOWS if days not in self.windows]:
            msg = (
                f"budget compares windows of 1, 7 and 28 days, but windows lacks "
                f"{', '.join(lacking)}; add it, or remove budget"
            )
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _names_its_rate(self) -> Self:
        if isinstance(self.label_rate, RateColumn) and self.outcomes.in_predictions:
            msg = (
                "label_rate: the outcomes are columns of the predictions (in_predictions); write "
                "the name of the column alone"
            )
            raise ValueError(msg)
        return self

    def weight_column(self, kind: Literal["predictions", "outcomes"]) -> tuple[str, str] | None:
        """Give the column of a log that says what its rows stand for, and its setting."""
        if weight := (self.predictions if kind == "predictions" else self.outcomes).weight:
            return weight, f"{kind}.weight"
        rate = self.label_rate
        if kind == "outcomes" and isinstance(rate, RateColumn):
            return rate.outcomes, "label_rate"
        named = kind == "predictions" and isinstance(rate, str) and rate != BY_SCORE
        return (str(rate), "label_rate") if named else None

    @property
    def rates_in_log(self) -> bool:
        """Whether a log says with which probability each of its rows was chosen."""
        named = isinstance(self.label_rate, str) and self.label_rate != BY_SCORE
        return named or isinstance(self.label_rate, RateColumn)

    def may_lack(self, day: date) -> bool:
        """Return whether a day without predictions is no error."""
        outside = self.calendar is not None and not self.calendar.has(day)
        return outside or self.checks.of("missing_day") == "accept"

    def may_lack_outcomes(self, day: date) -> bool:
        """Return whether a day without a partition of outcomes is no error."""
        return self.outcomes.calendar is not None and not self.outcomes.calendar.has(day)

    _page: str = PrivateAttr(default="")

    @property
    def report_url(self) -> str:
        """The address of the report page; empty if nothing says where it is."""
        return self._page

    def linked_to(self, address: str) -> Self:
        """Copy the model with the address of its report page."""
        model = self.model_copy()
        model._page = address  # noqa: SLF001 - of a copy
        return model

    _finds_strata: bool = PrivateAttr(default=False)

    @property
    def finds_strata(self) -> bool:
        """Whether a column whose values get priors of their own is looked for."""
        return self._finds_strata

    @model_validator(mode="wrap")
    @classmethod
    def _may_find_strata(cls, content: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Read `strata: auto`, without a column until a reference shows one."""
        if not isinstance(content, dict) or content.get("strata") != "auto":
            return handler(content)
        model = handler({**content, "strata": None})
        model._finds_strata = True  # noqa: SLF001 - its own
        model._can_find_strata()  # noqa: SLF001 - its own
        return model

    @property
    def maps(self) -> Literal["parts", "all rows", "none"]:
        """What `recalibrate` can fit a map of: parts of the rows too, all of them only, or none."""
        classes = self.predictions.classes
        if classes is None:
            return "parts"
        return "none" if classes.top or classes.weights else "all rows"

    @property
    def judged_columns(self) -> tuple[str, ...]:
        """The columns whose values get a verdict of their own; pairs of classes are such values."""
        primary = (self.segments.name,) if self.segments else ()
        return (*primary, PAIR) if self.predictions.classes else primary

    @property
    def has_places(self) -> bool:
        """Whether a drift can sit somewhere that is counted every day: in a value of a column."""
        return bool(self.columns or self.judged_columns)

    @property
    def segment_names(self) -> tuple[str, ...]:
        """The segments that are tallied separately, in stored order; one if none are configured."""
        return (*self.segments.values, OTHER) if self.segments else (WHOLE,)

    @property
    def every_segment(self) -> tuple[str, ...]:
        """What people can name as a segment: all of them together, then each."""
        return tuple(dict.fromkeys((WHOLE, *self.segment_names)))

    @property
    def stratum_names(self) -> tuple[str, ...]:
        """The parts of a segment with their own priors; one if none are configured."""
        return (*self.strata.values, OTHER) if self.strata else (WHOLE,)


def _given(model: Model) -> dict[str, bool]:
    """Say which of the settings that exclude others a model has."""
    predictions, outcomes = model.predictions, model.outcomes
    classes = predictions.classes
    set_ = {
        "predictions.classes": classes,
        "predictions.weight": predictions.weight,
        "predictions.entity": predictions.entity,
        "outcomes.weight": outcomes.weight,
        "outcomes.outcome_means": outcomes.outcome_means,
        "outcomes.absent_means": outcomes.absent_means,
        "a primary column of segments": model.segments,
        **{name: getattr(model, name) for name in ("action", "budget", "label_rate")},
        **{name: getattr(model, name) for name in ("value", "decision", "calendar")},
    }
    return {
        **{name: value is not None for name, value in set_.items()},
        "predictions.score": "score" in predictions.model_fields_set,
        "predictions.score_means": predictions.score_means != "probability",
        "predictions.classes.top": classes is not None and classes.top is not None,
        "map": bool(model.map),
        SEVERAL_MAPS: len(model.map) > 1,
        **_given_of_rows(model),
        "strata: auto": model.finds_strata,
        "checks.accept: missing_day": model.checks.of("missing_day") == "accept",
    }


def _given_of_rows(model: Model) -> dict[str, bool]:
    """Say which settings of single rows a model has, which counts exclude."""
    predictions, outcomes = model.predictions, model.outcomes
    given = predictions.model_fields_set
    return {
        COUNTS: predictions.format == "counts",
        **{f"predictions.{key}": key in given for key in OF_ROWS},
        "outcomes.path": not outcomes.in_predictions,
        "outcomes.outcome": "outcome" in outcomes.model_fields_set,
        "outcomes.time": outcomes.time is not None,
        "ids": model.ids is not None,
        COLUMN_OF_RATES: model.rates_in_log,
        MORE_COLUMNS: bool(model.columns),
    }


def reasons_against_counts(model: Model) -> list[tuple[str, str]]:
    """List the settings of a model that counts of its rows cannot have, each with the reason."""
    given = _given(model)
    return [
        (pair.other, pair.why)
        for pair in APART
        if pair.one == COUNTS and pair.why != COUNTED and given[pair.other]
        if pair.other != "outcomes.path"
    ]


MASTER, REMOTE = "spark.master", "spark.remote"


class Engine(Section):
    """What reads the logs, and how much of this machine it may use.

    Attributes
    ----------
    kind : str
        DuckDB reads on this machine, Spark where it runs. With `warehouse` the rows of a log of
        `format: sql` are counted where they lie; others are read as with DuckDB.
    threads, memory_mb : int
        What DuckDB may use, with what it does not count itself; by default what this process may
        use, at most four threads and 1,500 MB.
    conf : mapping
        Settings of a new Spark session: `spark.master` is the cluster, `spark.remote` the Spark
        Connect server; by default the session of this process, or else what `spark-submit` or the
        environment says.
    """

    kind: Literal["duckdb", "spark", "warehouse"] = "duckdb"
    threads: Annotated[
        int,
        Field(ge=1, le=1024),
        BeforeValidator(lambda given: threads_to_use() if given is None else given),
    ] = Field(default_factory=threads_to_use)
    memory_mb: Annotated[
        int,
        Field(ge=100, le=100_000_000),
        BeforeValidator(lambda given: memory_to_use() if given is None else given),
    ] = Field(default_factory=memory_to_use)
    conf: Mapping[str, Annotated[str | bool | int, BeforeValidator(is_whole_scalar)]] = {}

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> Self:
        if self.kind != "spark" and self.conf:
            msg = "conf is for Spark; set kind: spark, or remove it"
            raise ValueError(msg)
        if self.master and self.remote:
            msg = "spark.master and spark.remote exclude each other; remove one of them from conf"
            raise ValueError(msg)
        return self

    @property
    def master(self) -> str | None:
        """The Spark cluster, if the settings of the session name one."""
        return self._named(MASTER)

    @property
    def remote(self) -> str | None:
        """The Spark Connect server, if the settings of the session name one."""
        return self._named(REMOTE)

    def _named(self, key: str) -> str | None:
        return str(self.conf[key]) if self.conf.get(key) else None


class Report(Section):
    """Where the report pages are kept, the address of that folder, and that of the runbook."""

    path: Place
    url: WebAddress = ""
    runbook: WebAddress = ""


class Common(Section):
    """The keys that all models share. Relative paths are relative to the file's folder."""

    store: Place
    engine: Engine = Engine()
    report: Report | None = None


@dataclass(frozen=True)
class InvalidModel:
    """A model whose configuration breaks a rule.

    Attributes
    ----------
    message : str
        What is wrong, one line for each broken rule.
    shown_as : Model
        Its valid keys, and defaults for the others: enough to export the results that the store
        has of it, but not to read logs.
    """

    message: str
    shown_as: Model


class Config(Common):
    """The whole configuration: the common keys, the valid models, and the invalid ones."""

    models: Mapping[Name, Model]
    invalid: Annotated[Mapping[str, InvalidModel], Field(exclude=True)] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all configured models."""
        return (*self.models, *self.invalid)

    def model(self, name: str) -> Model:
        """Find a model by name.

        Raises
        ------
        ConfigError
            If the configuration of the model is invalid, or there is no such model.
        """
        if name in self.invalid:
            raise ConfigError(self.invalid[name].message)
        if name not in self.models:
            msg = f"there is no model '{name}'; choose one of: {', '.join(self.names)}."
            raise ConfigError(msg)
        return self.models[name]

    def linked_to(self, url: str) -> "Config":
        """Give every model the address of its page below a URL."""

        def linked(name: str, model: Model) -> Model:
            return model.linked_to(f"{url.rstrip('/')}/{report_page(name)}")

        return self.model_copy(
            update={
                "models": {name: linked(name, model) for name, model in self.models.items()},
                "invalid": {
                    name: replace(invalid, shown_as=linked(name, invalid.shown_as))
                    for name, invalid in self.invalid.items()
                },
            }
        )

    def shown(self, name: str) -> Model:
        """Find a model by name as its results are exported, whether it is valid or not."""
        return self.invalid[name].shown_as if name in self.invalid else self.models[name]
