"""The table of all worlds that the study simulates: size, and what each tests."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from monitor.metrics.core.coarse import Coarse
from studies.drift.parts import Rough, rough_stream
from studies.drift.rough import (
    RECALIBRATED,
    campaigns,
    clustered,
    few_values,
    hidden_groups,
    holiday,
    incident,
    jumping,
    moving_slowly,
    narrow,
    piled,
    recalibrated,
    rounded,
    wandering,
    weekends,
    weekly,
    with_slopes,
)
from studies.drift.scenario import SLOPES, SOUND, YEAR, Draw, Scenario
from studies.drift.shapes import SPREAD
from studies.drift.worlds import DRIFTS, WORLDS, Truth, World, stream

SEGMENTS = (-1.5, -0.75, 0.0, 0.75, 1.5)
STRONG = (*SLOPES, "slope 0.66", "slope 0.5")
FOR_A_WHILE = tuple(name for name in DRIFTS if name.endswith("days"))
ONLY_SMALL = ("slope 0.66", "slope 0.5", "slope 1.3", "slope 1/1.3")
ALL = tuple(name for name in DRIFTS if name not in ONLY_SMALL)


def _plain(truth: Truth = SOUND) -> Draw:
    def draw(world: World, drift: Truth, seed: int, **calendar: int) -> Iterator[dict[str, Coarse]]:
        fields = ("distortion", "centred", "ramp", "lasts", "flipped")
        both = replace(truth, **{name: getattr(drift, name) for name in fields})
        return stream(world, both, seed, **calendar)

    return draw


def _rough(name: str, world: World, rough: Rough, tests: str, **more: Any) -> Scenario:
    return Scenario(name, world, "rough", partial(rough_stream, rough), tests, **more)


def _clean() -> Iterator[Scenario]:
    """List the worlds of which the usual rules are watched too, and their variants."""
    for world in WORLDS:
        drifts = tuple(n for n in ALL if n not in FOR_A_WHILE or world in WORLDS[:4])
        yield Scenario("sound", world, "clean", _plain(), drifts=drifts)
    for world in WORLDS:
        yield Scenario(
            "14 days of reference", world, "short", _plain(), "few days", eras=((14, YEAR),)
        )
    moving = {
        "odds x5 from the first day on": (Truth(odds=5.0), "a prior that leaves for good"),
        "odds x0.2 from the first day on": (Truth(odds=0.2), "a prior that leaves for good"),
        "scores wobble 0.3": (Truth(wobble=0.3), "covariate shift with a memory"),
        "slope varies 3 % by day": (Truth(slope_variation=0.03), "days that differ"),
        "slope varies 5 % by day": (Truth(slope_variation=0.05), "days that differ"),
        "5 segments, summed": (Truth(centres=SEGMENTS), "priors of their own"),
    }
    for name, (truth, tests) in moving.items():
        for world in WORLDS[2:4]:
            yield Scenario(name, world, "moving", _plain(truth), tests)
    for world in WORLDS[2:4]:
        yield Scenario(
            "5 segments, pooled",
            world,
            "moving",
            _plain(Truth(centres=SEGMENTS)),
            "what summing avoids",
            outside=True,
            pooled=True,
        )


def _rougher() -> Iterator[Scenario]:
    """List the worlds in which scores, curves or days are not as simple."""
    usual, k1, k5 = World(0.05, 20_000), World(0.05, 1_000), World(0.05, 5_000)
    huge, half = World(0.05, 5_000_000), World(0.5, 20_000)
    for world in (k5, huge):
        yield _rough("scores piled at two values", world, piled(0.0), "few distinct scores")
        yield _rough("piles that are off, sd 0.3", world, piled(0.3), "misfit of the curve")
    yield _rough("7 distinct scores, off by sd 0.2", usual, few_values(7, 0.2), "misfit")
    yield _rough("7 unequal scores, off by sd 0.2", half, few_values(7, 0.2, 0.45), "misfit")
    yield _rough("tree of 40 leaves, off by sd 0.1", usual, few_values(40, 0.1), "misfit")
    yield _rough("scores rounded to two decimals", usual, rounded(2), "scores of 0")
    for world in (k1, usual):
        yield _rough("scores jump", world, jumping(), "uncertainty of the curve")
    for world in (k1, usual):
        yield _rough("scores jump, wave 0.15", world, jumping(0.15), "extrapolation")
    yield _rough("scores jump, slope 0.6 beyond 98 %", usual, jumping(0.0, 0.6), "extrapolation")
    yield _rough("scores drift slowly", usual, moving_slowly, "covariate shift that grows")
    yield _rough("slope by day of the week", usual, with_slopes(weekly), "a rhythm of days")
    yield _rough("weekend slope 0.9, else 1.03", usual, with_slopes(weekends), "a rhythm of days")
    yield _rough("holiday week in the reference", usual, with_slopes(holiday), "a bad reference")
    yield _rough("incident in the reference", usual, with_slopes(incident), "a bad reference")
    yield _rough("clusters of one day", usual, clustered, "outcomes that hang together")
    yield _rough("campaigns of one day", usual, campaigns(1), "outcomes that hang together")
    yield _rough("hidden groups, mix moves", usual, hidden_groups(0.0, 0.5), "covariate shift")
    yield _rough(
        "two references, model recalibrated",
        usual,
        with_slopes(recalibrated),
        "a reference replaced by a person",
        eras=((28, RECALIBRATED), (28, YEAR - RECALIBRATED)),
    )
    yield _rough(
        "rounded scores, wave, three years",
        huge,
        rounded(3, 0.15),
        "size: every misfit counts",
        eras=((28, 3 * YEAR),),
    )
    beyond = partial(_rough, world=usual, outside=True)
    yield beyond("campaigns of 7 days", rough=campaigns(7), tests="days that remember")
    yield beyond("slope wanders", rough=with_slopes(wandering), tests="days that remember")
    yield beyond("hidden groups, priors apart", rough=hidden_groups(0.2), tests="Simpson's paradox")


def _small() -> Iterator[Scenario]:
    """List the worlds with few outcomes."""
    sizes = ((0.5, 30, 28), (0.2, 30, 56), (0.5, 100, 28), (0.1, 100, 56), (0.05, 200, 56))
    for prevalence, rows, reference in sizes:
        yield Scenario(
            f"{reference} days of reference",
            World(prevalence, rows),
            "small",
            _plain(),
            eras=((reference, YEAR),),
            drifts=STRONG,
            followed=YEAR,
        )
    rare = World(1e-4, 200_000)
    yield Scenario("28 days of reference", rare, "small", _plain(), drifts=STRONG, followed=YEAR)
    yield Scenario(
        "50 segments apart", World(0.05, 1_000), "segments", _plain(), "many tests", apart=50
    )


def _independent() -> Iterator[Scenario]:
    """List references whose days differ by chance alone."""
    segments = {"one segment": (0.0,), "5 segments": SEGMENTS}
    for rows, reference in ((5, 168), (20, 84), (100, 28)):
        for name, centres in segments.items():
            yield Scenario(
                f"{name}, {reference} days",
                World(0.5, rows),
                "independent",
                _plain(Truth(centres=centres)),
                goal=None,
                eras=((reference, 0),),
                drifts=(),
            )


def _long() -> Iterator[Scenario]:
    """List the drifts that stay for years, and a season of games."""
    for rows, reference in ((15, 84), (100, 28), (1_000, 28)):
        yield Scenario(
            "a drift that stays",
            World(0.5, rows),
            "for good",
            _plain(),
            sound=False,
            eras=((reference, YEAR),),
            drifts=("slope 0.66",),
            followed=2 * YEAR,
        )
    for name, spread in (("games of a season", SPREAD), ("games, scores near one half", 0.7)):
        yield Scenario(
            name,
            World(0.5, 8),  # on an ordinary day, 12 on average
            "season",
            partial(rough_stream, narrow(spread)),
            f"logits of sd {spread:g}",
            eras=((1_400, 700),),
            drifts=("slope 1.3", "slope 1/1.3"),
            start=0,
            followed=700,
        )


def _named(scenarios: Iterable[Scenario]) -> dict[str, Scenario]:
    named: dict[str, Scenario] = {}
    for scenario in scenarios:
        if named.setdefault(str(scenario), scenario) is not scenario:
            msg = f"two worlds are named {scenario}."
            raise ValueError(msg)
    return named


SCENARIOS = _named([*_clean(), *_rougher(), *_small(), *_independent(), *_long()])
