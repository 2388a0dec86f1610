"""The public names of the mathematics."""

from pathlib import Path

from monitor.base.public_names import homes_of
from tests.support.paths import ROOT

HOMES = homes_of("monitor.metrics")  # the module of each


def path_of(module: str) -> Path:
    """Find the file of a module."""
    return ROOT / f"{module.replace('.', '/')}.py"
