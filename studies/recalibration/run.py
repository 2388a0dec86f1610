"""Estimators of the calibration error before and after recalibration, as in the RBS paper.

    python -m studies.recalibration.run [--again]

estimates on simulated models whose truth is known and on models trained on the data sets of
scikit-learn, in some minutes (`pip install '.[report]' scikit-learn`), keeps the means in
studies/recalibration/run.json, and writes the tables of docs/gain-estimators.md below its mark and
docs/recalibration.svg. Settings that are in run.json are not estimated again, unless asked for.
Seeds are fixed.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from studies.recalibration.page import MARK, tables
from studies.recalibration.picture import draw
from studies.recalibration.samples import estimate
from studies.recalibration.settings import simulated_settings, trained_settings

DOCS = Path(__file__).parents[2] / "docs"
KEPT = Path(__file__).with_name("run.json")


def estimate_all(kept: dict[str, Any]) -> dict[str, Any]:
    """Estimate the settings that are missing, and keep each at once."""
    for seed, setting in enumerate([*simulated_settings(), *trained_settings()]):
        if setting.name not in kept:
            kept[setting.name] = estimate(setting, seed)
            KEPT.write_text(json.dumps(kept, indent=1) + "\n")
            print(f"{setting.name}: done", flush=True)
    return kept


def main() -> None:
    """Estimate, write the tables and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--again", action="store_true", help="forget studies/.../run.json")
    again = parser.parse_args().again
    found = estimate_all({} if again or not KEPT.exists() else json.loads(KEPT.read_text()))
    page = DOCS / "gain-estimators.md"
    text, _, _ = page.read_text().partition(MARK)
    page.write_text(text + MARK + "\n" + tables(found))
    draw(found, DOCS)


if __name__ == "__main__":
    main()
