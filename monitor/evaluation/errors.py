"""The calibration measures of one set of scores: what is stored of them, and how it is found. Pure.

Results are read far more often than they are found, and reading them loads no measure.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from monitor.metrics.core.estimate import Estimate

if TYPE_CHECKING:
    from monitor.metrics.core.tally import Tally


@dataclass(frozen=True)
class Errors:
    """The calibration measures of one set of scores.

    Attributes
    ----------
    tce_published : float
        TCE over PAVA-BC bins of the paper's sizes, a ratio in [0, 1].
    ece : float
        ECE over PAVA-BC bins of the monitor's sizes, a ratio in [0, 1].
    rbs : float
        Root Brier score, in [0, 1].
    tce : Estimate or None
        TCE at the model's fixed size N*, a ratio in [0, 1]; comparable across days, volumes and
        models; None with fewer predictions, or before there is a reference, which determines N*.
    ece_interval, rbs_interval : Estimate or None
        Of 95 %. That of ECE is for the error of the scores themselves, which chance only adds
        to, so ECE may lie above it.
    """

    tce_published: float
    ece: float
    rbs: float
    tce: Estimate | None = None
    ece_interval: Estimate | None = None
    rbs_interval: Estimate | None = None


def measure(t: "Tally", tce: Estimate | None, alpha: float) -> Errors:
    """Measure one set of scores, of which TCE at size is known, with tests of level `alpha`."""
    from monitor.metrics.binned.binning import monitor_sizes, paper_sizes, pava_bc
    from monitor.metrics.binned.ece import ece
    from monitor.metrics.intervals.intervals import rbs_interval
    from monitor.metrics.scores.brier import rbs
    from monitor.metrics.test_based.tce import rejected_per_bin

    smallest, largest = paper_sizes(t.total)
    bins = pava_bc(t, min_size=smallest, max_size=largest)
    # The same as `tce` without the accepted intervals, which are not needed here.
    rejected = rejected_per_bin(t.scores, t.counts, bins.starts, bins.counts, bins.positives, alpha)
    smallest, largest = monitor_sizes(t.total)
    seen = pava_bc(t, min_size=smallest, max_size=largest)
    return Errors(
        tce_published=int(rejected.sum()) / t.total,
        ece=ece(seen),
        rbs=rbs(t),
        tce=tce,
        rbs_interval=rbs_interval(t),
    )
