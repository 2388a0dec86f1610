"""Calibration measures of a tally: the public face of the mathematics.

Every public measure, its interval and the types that they give are imported from here:

>>> from monitor.metrics import ece, tally, uniform_bins
>>> ece(uniform_bins(tally([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75]), 2))
0.25

Each is loaded when it is first used, so importing this package loads neither numpy, SciPy nor
numba. docs/metrics.md says which measure to use when.
"""

from monitor.base.public_names import attach

__getattr__, __dir__ = attach(__name__)
