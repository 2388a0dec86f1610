"""A file of another layout has another number, so a program of before refuses it."""

import json
from pathlib import Path

from monitor.store.sealing import FORMAT
from tests.support.store_layouts import LAYOUTS, layouts


def test_a_layout_that_changes_has_another_number(tmp_path: Path) -> None:
    """All layouts are those that were kept for this number."""
    now, kept = layouts(tmp_path), LAYOUTS.read_text()
    known = json.loads(kept)
    changed = sorted(
        name
        for name, layout in json.loads(now).items()
        if name != "format" and known.get(name) != layout
    )
    if changed:
        assert known["format"] < FORMAT, (
            f"the layout of {', '.join(changed)} has changed, so programs of before would fail or "
            f"misread it: raise FORMAT in monitor/store/sealing.py, then run make pages"
        )
    assert now == kept, "make pages keeps the layouts of the new number"
