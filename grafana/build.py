"""Write the dashboards: ``python grafana/build.py [FOLDER]``."""

import json
import sys
from pathlib import Path

from fleet import fleet
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from model import model
from model_data import data
from model_errors import errors

COMMITTED = Path(__file__).with_name("dashboards")
DASHBOARDS = {"fleet": fleet, "model": model, "errors": errors, "data": data}


def main(folder: Path) -> None:
    """Write a JSON file for each dashboard into the folder."""
    for name, build in DASHBOARDS.items():
        text = json.dumps(build(), cls=JSONEncoder, sort_keys=True, indent=2)
        (folder / f"{name}.json").write_text(f"{text}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else COMMITTED)
