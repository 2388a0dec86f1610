"""MCGrad, in an environment of its own: a file of rows in, later scores as it maps them out."""

import sys
import warnings

import numpy as np
import pandas as pd
from mcgrad.methods import MCGrad


def main() -> None:
    """Fit to the rows of a file, and map its later rows."""
    warnings.filterwarnings("ignore")
    path = sys.argv[1]
    with np.load(path) as file:
        fitted, later = (
            pd.DataFrame(
                {"score": file[f"{of}scores"], "segment": file[f"{of}segments"].astype(str)}
            )
            for of in ("", "later_")
        )
        fitted["outcome"] = file["outcomes"]
    names = {"prediction_column_name": "score", "categorical_feature_column_names": ["segment"]}
    model = MCGrad()
    model.fit(fitted, label_column_name="outcome", **names)
    np.save(f"{path}.found.npy", np.asarray(model.predict(later, **names)))


if __name__ == "__main__":
    main()
