"""How often the values that are said to explain a drift are those that were planted.

    python -m studies.where.causes [--worlds 30] [--first-seed 0]

Draws worlds of `studies.where.planted` with one cause and with two, and writes the table of
docs/where-study.md between its marks; with other seeds than the fixed ones, which constants were
chosen on, it only prints it.
"""

import argparse
from collections import Counter
from pathlib import Path

from monitor.drift.records.places import Explanation, name_of
from monitor.drift.where.explaining import explain
from studies.where.planted import Planted, planted

PAGE = Path(__file__).parents[2] / "docs" / "where-study.md"
BEGIN = "<!-- `python -m studies.where.causes` writes the table below this line. -->\n"
END = "<!-- The table ends here. -->\n"
COLUMNS = (
    *("all causes", "one of two, the other perhaps", "one of two"),
    *("others among them", "nothing", "other kind"),
)
HEADING = f"| worlds | {' | '.join(COLUMNS)} |"


def outcome(world: Planted, found: Explanation | None) -> str:
    """Compare what was named with what was planted."""
    if found is None:
        return "nothing"
    named = {*found.conditions}
    if named == world.causes:
        return "all causes"
    if not named < world.causes:
        return "others among them"
    perhaps = {name_of(cause) for cause in world.causes - named} <= {*found.beside}
    return "one of two, the other perhaps" if perhaps else "one of two"


def row(causes: int, worlds: int, first: int) -> str:
    """Draw the worlds with so many causes, and count."""
    counts = Counter[str]()
    for seed in range(first, first + worlds):
        world = planted(seed, causes)
        found = explain(world.reference, world.sums)
        counts[outcome(world, found)] += 1
        kind = "too_extreme" if world.slope < 1.0 else "too_timid"
        counts["other kind"] += found is not None and found.kind != kind
    cells = " | ".join(f"{counts[column]}" for column in COLUMNS)
    return f"| {worlds} of {'one cause' if causes == 1 else 'two causes'} | {cells} |"


def main() -> None:
    """Draw the worlds and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=30)
    parser.add_argument("--first-seed", type=int, default=0)
    chosen = parser.parse_args()
    rows = [row(causes, chosen.worlds, chosen.first_seed) for causes in (1, 2)]
    lines = [HEADING, f"|---|{'---:|' * len(COLUMNS)}", *rows]
    if chosen.first_seed:
        print("\n".join(lines))
        return
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n\n{END}{after}")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
