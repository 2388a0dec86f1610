"""Whether verdicts answer as those that were kept for the number of the rules.

    CALIBRATION_KEEP=answers CALIBRATION_TEST_CASES=all pytest -n 0 -k number_of_their_answers tests

keeps what they answer now.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from math import asinh, isfinite
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from monitor.base import program
from monitor.drift.records.verdict import Verdict
from monitor.store.fields import plain

KEPT = Path(__file__).parent.parent / "golden" / "rules.json"
HOW = "with the command at the top of tests/support/rules.py"
OF_INCIDENT = ("opened", "started", "kind", "evidence", "recovery", "size", "size_error", "urgent")
NOT_ANSWERS = ("detector", "evidence", "values", "reasons", "found", "unknown")


def must_answer_as_kept(world: str, days: Iterable[Sequence[Verdict]]) -> None:
    """Compare the verdicts of the days of a world with those that were kept, or keep them."""
    now = {f"{verdicts[0].day}": answer(verdicts) for verdicts in days}
    kept = json.loads(KEPT.read_text())
    if os.environ.get("CALIBRATION_KEEP") == "answers":
        kept = {"rules": program.RULES, "worlds": {**kept["worlds"], world: now}}
        KEPT.write_text(json.dumps(kept, sort_keys=True).replace("}, ", "},\n") + "\n")
    assert kept["rules"] == program.RULES, f"keep what the new rules answer {HOW}"
    before = {day: tuple(of_day) for day, of_day in kept["worlds"][world].items()}
    differ = [day for day in {**now, **before} if not _same(now.get(day), before.get(day))]
    assert not differ, (
        f"verdicts of {', '.join(differ)} in the world {world!r} are not those of the rules "
        f"{program.RULES}. If that is meant, raise RULES in monitor/base/program.py, so stores "
        f"judge all days again, say under Numbers in CHANGELOG.md what moves, and keep them {HOW}."
    )


def _same(now: tuple[str, float] | None, kept: tuple[str, float] | None) -> bool:
    """Compare texts exactly. Processors round differently; the sum is of some hundred numbers."""
    if now is None or kept is None:
        return False
    return now[0] == kept[0] and now[1] == pytest.approx(kept[1], abs=1e-6)


def answer(verdicts: Sequence[Verdict]) -> tuple[str, float]:
    """Sum up the verdicts of a day: a digest of what is no number, and a weighted sum of numbers.

    Every number has a weight of its own, by its name. Words are no answer.
    """
    texts, total = hashlib.sha256(), 0.0
    for verdict in verdicts:
        for name, value in _leaves(verdict):
            if isinstance(value, float) and isfinite(value):
                total += (0.5 + crc32(name.encode()) / 2**32) * asinh(value)
            elif value is not None:
                texts.update(f"{name}={value};".encode())
    return texts.hexdigest()[:16], round(total, 9)


def _leaves(verdict: Verdict) -> Iterator[tuple[str, Any]]:
    said = {name: value for name, value in plain(verdict).items() if name not in NOT_ANSWERS}
    for of in filter(None, (verdict.distortion, verdict.level_incident)):
        yield from ((f"{of.kind} {name}", getattr(of, name)) for name in OF_INCIDENT)
    said["open values"] = plain(verdict.values.incidents) if verdict.values else None
    to_do = [(f"{verdict.segment} {name}", value) for name, value in said.items()]
    while to_do:
        name, value = to_do.pop()
        if isinstance(value, dict):
            to_do += [(f"{name}.{key}", inner) for key, inner in value.items()]
        elif isinstance(value, (list, tuple)):
            to_do += [(f"{name}.{place}", inner) for place, inner in enumerate(value)]
        else:
            yield name, value
