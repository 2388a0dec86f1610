"""Run tests/fuzz again and again, each time with another seed, until the time is up.

`python tools/fuzz.py --seconds 3600 --seed 1`. It stops at the first seed that fails, and prints
how to run it again.
"""

import argparse
import os
import subprocess
import sys
from itertools import count
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Read the arguments, and run one seed after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="when to begin no other seed")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    arguments = parser.parse_args()
    end = monotonic() + arguments.seconds
    for seed in count(arguments.seed):
        code = run(seed)
        if code:
            print(
                f"run it again: CALIBRATION_FUZZ_SEED={seed} {sys.executable} -m pytest tests/fuzz"
            )
            sys.exit(code)
        if monotonic() > end:
            print(f"seeds {arguments.seed} to {seed}: nothing was found")
            return


def run(seed: int) -> int:
    """Run every test of the folder with one seed."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--quiet", "tests/fuzz"],
        cwd=ROOT,
        env={**os.environ, "CALIBRATION_FUZZ_SEED": f"{seed}"},
        check=False,
    ).returncode


if __name__ == "__main__":
    main()
