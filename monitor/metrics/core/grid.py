"""The fixed fine grid of scores: cells of equal width in logit, the same for every model, for ever.

A cell is a slice of the score axis 1/512 wide in logit; there are 2**14 of them between
-16 and +16. Uniform in *logit*, not in probability, because rare events need relative
resolution. Inside its cell a score is remembered to one part in 2**20 as an integer offset,
so sums of scores are sums of integers: exact, additive, and the same in any order and
on any number of threads. A score beyond the ends (0 and 1 included) counts as the end.
"""

import numpy as np
import numpy.typing as npt

from monitor.metrics.core.special import expit, logit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]

CELL_COUNT = 2**14
LOGIT_LIMIT = 16.0
CELLS_PER_LOGIT = CELL_COUNT / (2 * LOGIT_LIMIT)  # 512: a power of two, so scaling is exact
OFFSETS_PER_CELL = 2**20

POSITIONS_PER_LOGIT = CELLS_PER_LOGIT * OFFSETS_PER_CELL
LAST_POSITION = CELL_COUNT * OFFSETS_PER_CELL - 1
# A score that lies so little beyond 0 or 1 is that end: averages of float32 probabilities give
# 1.0000001, and fastText 1.00001.
END_TOLERANCE = 2e-5
LOWEST_SCORE = 1.12535162055095e-07  # expit(-16), and expit(16): written out, to import less
HIGHEST_SCORE = 0.9999998874648379


def locate(scores: Floats) -> tuple[Ints, Ints]:
    """Find the cell of each score and its offset inside that cell.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Probabilities in [0, 1].

    Returns
    -------
    cells : ndarray of shape (n,)
        Integers in [0, 2**14).
    offsets : ndarray of shape (n,)
        Integers in [0, 2**20), the place inside the cell.

    Notes
    -----
    ``position = floor((logit s + 16) * 512 * 2**20)``, then cell and offset are its
    quotient and remainder by 2**20.

    Examples
    --------
    >>> locate(np.array([0.0, 0.5, 1.0]))
    (array([    0,  8192, 16383]), array([      0,       0, 1048575]))
    """
    logits = logit(np.clip(scores, LOWEST_SCORE, HIGHEST_SCORE))
    positions = np.floor((logits + LOGIT_LIMIT) * POSITIONS_PER_LOGIT).astype(np.int64)
    return np.divmod(np.clip(positions, 0, LAST_POSITION), OFFSETS_PER_CELL)


def representative_scores(cells: Ints, offset_sums: Ints, counts: Ints) -> Floats:
    """Give the score that stands for each cell: the mean of its members, taken in logit.

    Parameters
    ----------
    cells, offset_sums, counts : ndarray of shape (m,)
        Cell numbers in [0, 2**14), sums of the members' offsets, numbers of members (>= 1).

    Returns
    -------
    ndarray of shape (m,)
        Scores in (0, 1), strictly increasing when the cells are.

    Notes
    -----
    ``logit s = (c + sum(offsets) / (n * 2**20)) / 512 - 16``. The mean in logit and the
    mean in probability differ by less than 2e-7 relative inside one cell, and the former
    is certain to lie in its own cell, so neighbouring cells never tie.

    Examples
    --------
    >>> representative_scores(np.array([8192]), np.array([0]), np.array([3]))
    array([0.5])
    """
    positions = cells + offset_sums / (counts * float(OFFSETS_PER_CELL))
    return np.asarray(expit(positions / CELLS_PER_LOGIT - LOGIT_LIMIT))
