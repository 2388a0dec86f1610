"""Whether verdicts answer as those that were kept for the number of the rules.

    CALIBRATION_KEEP=answers CALIBRATION_TEST_CASES=all pytest -n 0 -k number_of_their_answers tests

keeps what they answer now.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import asinh, isfinite
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from monitor.base import program
from monitor.drift.records.verdict import Verdict
from monitor.store.fields import plain

Summed = tuple[str, float]
KEPT = Path(__file__).parent.parent / "golden" / "rules.json"
HOW = "with the command at the top of tests/support/rules.py"
OF_INCIDENT = ("opened", "started", "kind", "evidence", "recovery", "size", "size_error", "urgent")
NOT_ANSWERS = ("detector", "evidence", "values", "reasons", "found", "unknown")


def must_answer_as_kept(world: str, days: Iterable[Sequence[Verdict]]) -> None:
    """Compare the verdicts of the days of a world with those that were kept, or keep them."""
    differ = differing(world, {f"{verdicts[0].day}": answer(verdicts) for verdicts in days})
    assert not differ, (
        f"verdicts of {', '.join(differ)} in the world {world!r} are not those of the rules "
        f"{program.RULES}. If that is meant, raise RULES in monitor/base/program.py, so stores "
        f"judge all days again, say under Numbers in CHANGELOG.md what moves, and keep them {HOW}."
    )


def differing(world: str, now: Mapping[str, Summed]) -> list[str]:
    """Name what is not as it was kept, or keep it."""
    kept = json.loads(KEPT.read_text())
    if os.environ.get("CALIBRATION_KEEP") == "answers":
        kept = {"rules": program.RULES, "worlds": {**kept["worlds"], world: now}}
        KEPT.write_text(json.dumps(kept, sort_keys=True).replace("}, ", "},\n") + "\n")
    assert kept["rules"] == program.RULES, f"keep what the new rules answer {HOW}"
    before = {name: tuple(of) for name, of in kept["worlds"][world].items()}
    return [name for name in {**now, **before} if not _same(now.get(name), before.get(name))]


def _same(now: Summed | None, kept: Summed | None) -> bool:
    """Compare texts exactly. Processors round differently; the sum is of some hundred numbers."""
    if now is None or kept is None:
        return False
    return now[0] == kept[0] and now[1] == pytest.approx(kept[1], abs=1e-6)


def answer(verdicts: Sequence[Verdict]) -> Summed:
    """Sum up the verdicts of a day. Words are no answer."""
    return summed(leaf for verdict in verdicts for leaf in _of_verdict(verdict))


def summed(found: Iterable[tuple[str, Any]]) -> Summed:
    """Give a digest of what is no number with a fraction, and a weighted sum of those.

    Every number has a weight of its own, by its name.
    """
    texts, total = hashlib.sha256(), 0.0
    for name, value in found:
        if isinstance(value, float) and isfinite(value):
            total += (0.5 + crc32(name.encode()) / 2**32) * asinh(value)
        elif value is not None:
            texts.update(f"{name}={value};".encode())
    return texts.hexdigest()[:16], round(total, 9)


def _of_verdict(verdict: Verdict) -> Iterator[tuple[str, Any]]:
    said = {name: value for name, value in plain(verdict).items() if name not in NOT_ANSWERS}
    for of in filter(None, (verdict.distortion, verdict.level_incident)):
        yield from ((f"{of.kind} {name}", getattr(of, name)) for name in OF_INCIDENT)
    said["open values"] = plain(verdict.values.incidents) if verdict.values else None
    yield from leaves((f"{verdict.segment} {name}", value) for name, value in said.items())


def leaves(said: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Name every value within documents."""
    to_do = [*said]
    while to_do:
        name, value = to_do.pop()
        if isinstance(value, dict):
            to_do += [(f"{name}.{key}", inner) for key, inner in value.items()]
        elif isinstance(value, (list, tuple)):
            to_do += [(f"{name}.{place}", inner) for place, inner in enumerate(value)]
        else:
            yield name, value
