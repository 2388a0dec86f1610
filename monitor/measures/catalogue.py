"""All measures, in the order of the exposition."""

from typing import Any

from monitor.measures.classes import OF_CLASSES
from monitor.measures.left_out import LEFT_OUT
from monitor.measures.measure import Measure
from monitor.measures.runs import OF_RUNS
from monitor.measures.verdicts import OF_VERDICTS
from monitor.measures.windows import (
    COUNTS,
    NOT_EXPORTED,
    OF_EXPECTATIONS,
    OF_POPULATION,
    OF_WINDOWS,
    OF_WORTH,
)

MEASURES: tuple[Measure[Any], ...] = (
    *OF_WINDOWS,
    *OF_CLASSES,
    *COUNTS,
    *OF_POPULATION,
    *OF_WORTH,
    *NOT_EXPORTED,
    *OF_VERDICTS,
    *OF_EXPECTATIONS,
    *OF_RUNS,
    LEFT_OUT,
)
