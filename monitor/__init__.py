"""Calibration of models in production, and in a notebook.

>>> import monitor
>>> monitor.evaluate([0, 1, 1, 0] * 50, [0.2, 0.8, 0.6, 0.4] * 50).whole.prevalence
0.5

The names of `__all__` are stable: they change only with a new major version. `monitor.metrics`
has every measure by itself, also stable. Everything else is private and may change at any time.
Each name is loaded when it is first used, so `import monitor` loads no other package.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from monitor.errors import ConfigError, DataError
    from monitor.metrics.maps.calibration_map import CalibrationMap
    from monitor.metrics.maps.map_file import MapFile
    from monitor.report.notebook.comparing import Comparison, compare
    from monitor.report.notebook.evaluating import SampleEvaluation, evaluate
    from monitor.report.notebook.mapping import apply_map, read_map
    from monitor.report.notebook.recalibrator import Recalibrator  # noqa: F401 - see __all__
    from monitor.report.notebook.stored import ResultStore, open_store

# The public names by the module that defines them, below this package.
NAMES = {
    "errors": "ConfigError DataError",
    "metrics.maps.calibration_map": "CalibrationMap",
    "metrics.maps.map_file": "MapFile",
    "report.notebook.comparing": "Comparison compare",
    "report.notebook.evaluating": "SampleEvaluation evaluate",
    "report.notebook.mapping": "apply_map read_map",
    "report.notebook.recalibrator": "Recalibrator",
    "report.notebook.stored": "ResultStore open_store",
}
HOMES = {name: module for module, names in NAMES.items() for name in names.split()}

# Recalibrator is public too; it needs scikit-learn, so `from monitor import *` leaves it out.
__all__ = [
    "CalibrationMap",
    "Comparison",
    "ConfigError",
    "DataError",
    "MapFile",
    "ResultStore",
    "SampleEvaluation",
    "apply_map",
    "compare",
    "evaluate",
    "open_store",
    "read_map",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first used."""
    if name not in HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    found: object = getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
    globals()[name] = found  # the next use finds it without this function
    return found


def __dir__() -> list[str]:
    """List the public names too, loaded or not."""
    return sorted({*globals(), *HOMES})
