"""docs/speed.md: its sentences are those that bench/metrics_table.py writes today."""

import re

from bench.metrics_table import MARK, START_LIMITS, TCE_JOBS, Found, page
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "speed.md"
SIZE, ONLY_TCE = 1_000_000, 10_000_000
STORED = ("ECE", "all together", "null replicate", "TCE@N*, 20 subsamples")
FOUND = Found(
    rows={
        SIZE: {key: [1.0] for key in (*TCE_JOBS, "ECE|rows", "ECE|tally", "ECE|netcal")},
        ONLY_TCE: {key: [1.0] for key in TCE_JOBS},
    },
    facts={key: {"whole": "True", "tested": "400", "netcal": "1.4.0"} for key in (SIZE, ONLY_TCE)},
    stored={SIZE: {key: [0.0001] for key in STORED}},
    started={key: [(1.0, 1.0)] for key in START_LIMITS},
    controls=[0.05, 0.06],
    rounds=2,
    long=3.0,
    load=1.0,
)


def sentences(text: str) -> set[str]:
    """Return the lines outside of tables, without numbers, packages and the processor."""
    others = ("|", "Compared with", "Measured on")
    lines = [line for line in text.splitlines() if line and not line.startswith(others)]
    return {re.sub(r"\d[\d,.]*", "#", line) for line in lines}


def test_the_page_says_what_its_program_writes() -> None:
    """A page of any measurement has the sentences of the page that is committed."""
    written = sentences("\n".join(page(FOUND)))

    assert len(written) >= 20
    assert written == sentences(PAGE.read_text().partition(MARK)[2])
