"""MCGrad's p-values by segment: ``python -m studies.where.mcgrad_worker IN.npz OUT.json``.

Runs in the environment of studies/peers/environments/mcgrad.txt, and imports nothing of this
project. It is given the same rows and the same columns, and may look at every value alone.
"""

import json
import sys
import time

import numpy as np
import pandas as pd
from mcgrad.metrics import MulticalibrationError

LEAST_ROWS = 20  # of a segment


def main() -> None:
    """Answer with the p-value of each value of each column, and the time that it took."""
    given = np.load(sys.argv[1])
    names = [str(name) for name in given["names"]]
    rows = pd.DataFrame({name: given["values"][:, i].astype(str) for i, name in enumerate(names)})
    rows["score"], rows["outcome"] = given["scores"], given["hits"].astype(int)
    began = time.process_time()
    error = MulticalibrationError(
        *(rows, "outcome", "score"),
        categorical_segment_columns=names,
        max_depth=1,
        max_values_per_segment_feature=len(rows),
        min_samples_per_segment=LEAST_ROWS,
        max_n_segments=None,
    )
    p_values, segments = error.segments_ecce_pvalue, error._segments[1]  # noqa: SLF001
    found = [
        [column, int(value), float(p_values[int(place)])]
        for column, value, place in zip(
            segments["segment_column"], segments["value"], segments["idx_segment"], strict=True
        )
    ]
    answer = {"seconds": time.process_time() - began, "p_values": found}
    with open(sys.argv[2], "w", encoding="utf-8") as out:  # noqa: PTH123 - no other import
        json.dump(answer, out)


if __name__ == "__main__":
    main()
