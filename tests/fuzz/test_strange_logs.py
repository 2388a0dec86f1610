"""What `init` chooses in silence is true, whatever the names, types and shapes of the logs.

`python -m tests.support.first_hour --draws 300` tries more draws, with verdicts, and counts them.
"""

import pytest

from tests.support.first_hour import ASKED, REFUSED, RIGHT, SAID, WRONG_SAID, try_out
from tests.support.fuzzing import SEED

FEW = 10 if SEED else 16  # draws
FIRST = 1000 * int(SEED or 0)
DAYS = 44 if SEED else 12


@pytest.mark.parametrize("number", range(FIRST, FIRST + FEW))
def test_nothing_is_chosen_wrongly_in_silence(number: int) -> None:
    """The counts of a day are true, or a doubt, a key to decide or a message says what is open."""
    result = try_out(number, with_verdict=bool(SEED), days=DAYS)

    assert result.kind in (RIGHT, SAID, ASKED, REFUSED, WRONG_SAID), result
