"""Every rule on real outcomes: the flights of the demo, compared with the true drift.

    python -m studies.flights.run [--into FOLDER] [--write]

Writes the demo's logs into the folder (a temporary one by default), fits the truth of each month
(`studies/flights/truth.py`), and runs our detector and the usual rules (`studies/drift/rules.py`)
over the days. With --write the tables go into docs/drift-simulations.md and the picture into docs.
"""

import argparse
import tempfile
from pathlib import Path

from monitor.drift.curve.reference import fit_reference
from studies.flights.page import draw, markdown
from studies.flights.truth import by_day, truth, write_and_read
from studies.flights.watch import USUAL, watch

ROOT = Path(__file__).parents[2]
PAGE, PICTURE = ROOT / "docs/drift-simulations.md", ROOT / "docs/drift-flights.svg"
BEGIN, END = "<!-- flights -->", "<!-- end of flights -->"


def main() -> None:
    """Compute and print the tables, and write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, help="folder of the logs; a temporary one by default")
    parser.add_argument("--write", action="store_true", help="write the page and its picture")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        flights = write_and_read(chosen.into or Path(folder))
    plain = flights["flights"]
    origins = by_day(plain, plain.origin)
    reference = fit_reference([origins[day] for day in sorted(origins)[:USUAL]])
    months = truth(flights, reference)
    watched = {model: watch(found) for model, found in flights.items()}
    text = markdown(months, watched)
    print(text)
    if chosen.write:
        before, begun, rest = PAGE.read_text().partition(BEGIN)
        _, ended, after = rest.partition(END)
        if not begun or not ended:
            msg = f"{PAGE} lacks the markers {BEGIN} and {END}: put them where the tables belong."
            raise SystemExit(msg)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")
        draw(months, watched, PICTURE)


if __name__ == "__main__":
    main()
