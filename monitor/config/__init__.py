"""The configuration: what to read, how to judge it, where to store it.

Rule 1: a model either loads completely or is invalid, with a message of file, key, value, rule and
remedy. Nothing is guessed and no unknown key is skipped. An error in one model does not affect the
others; an error in the keys that all models share raises ConfigError.
Rule 2: this room knows values, not their meaning; formulas are in `monitor.metrics`.
"""

from monitor.base.segment_names import FIELD
from monitor.config.calendar import WEEKDAYS, Calendar, Span
from monitor.config.checks import CHECKS, UNDATED, Checks
from monitor.config.classes import Classes, Highest
from monitor.config.columns import Crossing, Watched, WatchedColumn
from monitor.config.label_rates import BY_SCORE, LEAST_RATE, RateFile, ScoreRate, check_rates
from monitor.config.layouts import ELEMENT, POSITION, Exploded
from monitor.config.loading import config_files, load_config
from monitor.config.names import EXPRESSION, expression_of, named
from monitor.config.report_pages import REPORT_INDEX, report_page
from monitor.config.schema import (
    DAY_DIRECTIVES,
    EARLIEST,
    ISO_DAY,
    LATEST,
    LONGEST_WAIT,
    TABLES,
    TODO,
    Common,
    Config,
    Engine,
    Format,
    Ids,
    InvalidModel,
    MapSetting,
    Model,
    OutcomeLog,
    OutcomeMeans,
    PredictionLog,
    RateColumn,
    Report,
    Segments,
    TimeUnit,
    Verdicts,
    id_columns,
    literal,
    reasons_against_counts,
)
from monitor.config.worth import Budget
from monitor.config.yaml_files import read_yaml

__all__ = [
    "BY_SCORE",
    "CHECKS",
    "DAY_DIRECTIVES",
    "EARLIEST",
    "ELEMENT",
    "EXPRESSION",
    "FIELD",
    "ISO_DAY",
    "LATEST",
    "LEAST_RATE",
    "LONGEST_WAIT",
    "POSITION",
    "REPORT_INDEX",
    "TABLES",
    "TODO",
    "UNDATED",
    "WEEKDAYS",
    "Budget",
    "Calendar",
    "Checks",
    "Classes",
    "Common",
    "Config",
    "Crossing",
    "Engine",
    "Exploded",
    "Format",
    "Highest",
    "Ids",
    "InvalidModel",
    "MapSetting",
    "Model",
    "OutcomeLog",
    "OutcomeMeans",
    "PredictionLog",
    "RateColumn",
    "RateFile",
    "Report",
    "ScoreRate",
    "Segments",
    "Span",
    "TimeUnit",
    "Verdicts",
    "Watched",
    "WatchedColumn",
    "check_rates",
    "config_files",
    "expression_of",
    "id_columns",
    "literal",
    "load_config",
    "named",
    "read_yaml",
    "reasons_against_counts",
    "report_page",
]
