from monitor.base.errors import ConfigError, DataError
from monitor.metrics.maps.calibration_map import CalibrationMap
from monitor.metrics.maps.class_map_file import ClassMapFile
from monitor.metrics.maps.map_file import MapFile
from monitor.metrics.maps.vector_map import VectorMap
from monitor.report.notebook.comparing import Comparison, compare
from monitor.report.notebook.display import CalibrationDisplay
from monitor.report.notebook.evaluating import SampleEvaluation, evaluate
from monitor.report.notebook.mapping import apply_map, read_map
from monitor.report.notebook.recalibrator import Recalibrator as Recalibrator
from monitor.report.notebook.stored import ResultStore, open_store

# Recalibrator is public too; it needs scikit-learn, so `from monitor import *` leaves it out.
__all__ = [
    "CalibrationDisplay",
    "CalibrationMap",
    "ClassMapFile",
    "Comparison",
    "ConfigError",
    "DataError",
    "MapFile",
    "ResultStore",
    "SampleEvaluation",
    "VectorMap",
    "apply_map",
    "compare",
    "evaluate",
    "open_store",
    "read_map",
]
