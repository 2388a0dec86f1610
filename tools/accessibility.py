"""Runs axe on every page of a folder, in light and dark colours, and prints what it finds.

    python -m tools.accessibility site

`make docs` writes such a folder. The whole site takes some minutes.
"""

import argparse
import sys
from pathlib import Path

from tests.support.browser import accessibility_faults, chromium, opened, served


def main() -> int:
    """Visit all pages, and return whether any has a fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="such as site, which `make docs` writes")
    folder = parser.parse_args().folder
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.html"))
    faults = []
    with chromium() as browser, served(folder) as address:
        for name in names:
            for colours in ("light", "dark"):
                with opened(browser, f"{address}{name}", colours=colours) as shown:
                    faults += [f"{name}, {colours}: {f}" for f in accessibility_faults(shown.page)]
    print("\n".join([*faults, f"{len(names)} pages in two colours, {len(faults)} faults"]))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
