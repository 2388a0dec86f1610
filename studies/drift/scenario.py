"""What a world of the study is made of, and the goals of the study."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from monitor.metrics.core.coarse import Coarse
from studies.drift.worlds import DRIFTS, Truth, World

SOUND = Truth()
YEAR, START, FOLLOWED = 365, 150, 120  # a drift begins on day START and is followed that long
PROMISE, SHOWN = 0.365, 0.5  # openings a stream-year at A = 1000, and their upper limit
DELAYS = {  # days, median at most, by drift and world
    ("slope 0.8", World(0.05, 20_000)): 2,
    ("slope 0.8", World(0.5, 2_000)): 3,
    ("slope 0.8", World(0.05, 1_000)): 11,
    ("slope 0.8", World(1e-4, 200_000)): 12,
    ("slope 0.9", World(0.05, 20_000)): 4,
}
SLOPES = ("slope 0.8", "slope 0.9")


class Draw(Protocol):
    """Draws the days of a stream; see `studies.drift.worlds.stream`."""

    def __call__(
        self, world: World, truth: Truth, seed: int, *, reference: int, days: int, start: int
    ) -> Iterator[dict[str, Coarse]]:
        """Draw the segments of each day."""


@dataclass(frozen=True)
class Scenario:
    """A world that the study simulates.

    Attributes
    ----------
    name : str
        As in the tables and on the command line.
    world : World
        Share of positive outcomes and size.
    group : str
        The table that it belongs to.
    draw : Draw
        Draws its days.
    tests : str
        What it tests.
    sound : bool
        Whether streams without a drift are watched.
    goal : float or None
        Openings a stream-year that are at most wanted.
    outside : bool
        Whether it is outside the null: days depend on each other, or priors hide in one stream.
    eras : tuple of (int, int)
        Days of a reference and days judged against it, one pair after the other.
    drifts : tuple of str
        Those of `studies.drift.worlds.DRIFTS` that it is watched with.
    start, followed : int
        Days of the last era before a drift begins, and for how many it is followed; one that
        ends is followed for as many afterwards.
    apart : int
        Number of segments, each judged alone; 0 for one stream.
    pooled : bool
        Whether the segments are added up before they are judged.
    """

    name: str
    world: World
    group: str
    draw: Draw
    tests: str = ""
    sound: bool = True
    goal: float | None = PROMISE
    outside: bool = False
    eras: tuple[tuple[int, int], ...] = ((28, YEAR),)
    drifts: tuple[str, ...] = SLOPES
    start: int = START
    followed: int = FOLLOWED
    apart: int = 0
    pooled: bool = False

    def __str__(self) -> str:
        return f"{self.name} ({self.world})"

    @property
    def years(self) -> float:
        """How long a sound stream is judged."""
        return sum(judged for _, judged in self.eras) / YEAR

    def calendar(self, drift: str) -> tuple[tuple[int, int], ...]:
        """Give the eras of a stream; the last one is as long as its drift is followed."""
        if drift == "sound":
            return self.eras
        followed = self.followed + (DRIFTS[drift].lasts or 0)
        return (*self.eras[:-1], (self.eras[-1][0], self.start + followed))
