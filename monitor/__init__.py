"""Calibration of models in production, and in a notebook.

>>> import monitor
>>> monitor.evaluate([0, 1, 1, 0] * 50, [0.2, 0.8, 0.6, 0.4] * 50).whole.prevalence
0.5

The names of `__all__` are stable: one that changes works for two minor versions more.
`monitor.metrics` has every measure by itself and `monitor.report.diagrams` every diagram, also
stable.
Everything else is private and may change at any time.
Each name is loaded when it is first used, so `import monitor` loads no other package.
"""

from monitor.base.public_names import attach

__getattr__, __dir__ = attach(__name__)
