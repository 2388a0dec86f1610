"""docs/speed.md: its sentences are those that bench/metrics_table.py writes today."""

import re

from bench.metrics_table import MONITOR, START_LIMITS, WHOLE, Found, page
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "speed.md"
SIZE = 1_000_000
SORTS = ("np.sort", "argsort", "tally", "loop", MONITOR, WHOLE)
STORED = ("ECE", "all together", "null replicate", "TCE@N*, 20 subsamples")
FOUND = Found(
    rows={SIZE: {key: [1.0] for key in (*SORTS, "ECE|rows", "ECE|tally", "ECE|netcal")}},
    facts={SIZE: {"whole": "True", "tested": "400", "netcal": "1.4.0"}},
    stored={SIZE: {key: [0.0001] for key in STORED}},
    started={key: [(1.0, 1.0)] for key in START_LIMITS},
    controls=[0.05, 0.06],
    rounds=2,
    long=3.0,
    load=1.0,
)


def sentences(text: str) -> set[str]:
    """Return the lines outside of tables, without numbers; versions of packages differ."""
    lines = [line for line in text.splitlines() if line and not line.startswith(("|", "Compared"))]
    return {re.sub(r"\d[\d,.]*", "#", line) for line in lines}


def test_the_page_says_what_its_program_writes() -> None:
    """A page of any measurement has the sentences of the page that is committed."""
    written = sentences("\n".join(page(FOUND)))

    assert len(written) >= 20
    assert written == sentences(PAGE.read_text())
