"""What a verdict says of classes: which became more frequent, and which pair is worst. Pure."""

from collections.abc import Sequence

from monitor.drift.records.facts import ClassFacts, ClassShift, Others, WorstPair
from monitor.metrics.core.estimate import Estimate
from monitor.words.numbers import percent

NAMED = 3  # classes that a sentence names
ENOUGH = 0.99  # of the outcomes: a verdict on more of them does not say on how many


def frequencies(facts: ClassFacts) -> str:
    """Say which classes became more or less frequent, and how often the first choice was right."""
    more = [shift for shift in facts.shifts if shift.now > shift.before]
    less = [shift for shift in facts.shifts if shift.now < shift.before]
    moved = [
        f"{word} frequent than in the reference: {_listed(shifts)}."
        for word, shifts in (("More", more), ("Less", less))
        if shifts
    ]
    right = (
        f"The first choice was right in {percent(facts.right)} of the week, "
        f"{percent(facts.right_before)} of the reference."
    )
    return " ".join([*moved, right])


def moved(facts: ClassFacts, change: Estimate | None) -> str:
    """Say which class came true more or less often than frequencies explain."""
    if facts.off is None or change is None:
        return ""
    size = f"{abs(change.value):.2f} in logit ({change:.2f only error})"
    if facts.off:
        often, low = ("more", "low") if change.value > 0.0 else ("less", "high")
        return (
            f"{facts.off} comes true {often} often than its scores and the frequencies of the "
            f"classes explain: as if its scores were too {low} by {size}. A shift of priors and "
            "inputs together would have to fit this class alone."
        )
    return (
        f"Pairs of classes moved otherwise than the frequencies of the classes, by up to {size}: "
        "scores and outcomes alone do not separate a shift of priors and inputs together from "
        "several classes that are off."
    )


def _listed(shifts: Sequence[ClassShift]) -> str:
    named = [f"{s.name} ({percent(s.now)}, was {percent(s.before)})" for s in shifts[:NAMED]]
    left_out = len(shifts) - len(named)
    return ", ".join(named) + (f" and {left_out} more" if left_out else "")


def rests_on(facts: ClassFacts) -> str:
    """Say on which share of the outcomes the verdict rests, and what the scores promise of them.

    Empty if it rests on nearly all of them, as promised.
    """
    few = (
        f"The verdict rests on {percent(facts.judged, 0)} of the week's outcomes: those that are "
        "one of the two classes with the highest scores."
    )
    if facts.among is None or facts.promised is None:
        return few if facts.judged < ENOUGH else ""
    beside = (
        f"One of these two came true in {percent(facts.among)} of the rows; their scores promise "
        f"{percent(facts.promised)}."
    )
    as_promised = abs(facts.among - facts.promised) < 1.0 - ENOUGH
    return "" if facts.judged >= ENOUGH and as_promised else f"{few} {beside}"


def worst_pairs(facts: ClassFacts) -> str:
    """Name the worst pair and count the pairs without a verdict; empty without a drift."""
    worst = _worst(facts.worst) if facts.worst else ""
    others = _others(facts.others) if facts.others and facts.others.count else ""
    return " ".join(filter(None, [worst, others]))


def worst_of_class(facts: ClassFacts) -> str:
    """Name the worst pair of a class that is off; empty if none stands out."""
    worst = facts.others
    if not (worst and worst.worst):
        return ""
    slope = f": slope {worst.slope:.2f}" if worst.slope else ""
    return f"Of its {worst.count:,} pairs {worst.worst} is worst this week{slope}."


def _worst(worst: WorstPair) -> str:
    size = f", slope {worst.slope:.2f}" if worst.slope else ""
    same = "as before, " if worst.rest_as_before else ""
    rest = f"; the others are {same}at slope {worst.rest:.2f}" if worst.rest else ""
    return f"The worst pair is {worst.name}: {worst.kind.replace('_', ' ')}{size}{rest}."


def _others(others: Others) -> str:
    slope = f": slope {others.slope:.2f}" if others.slope else ""
    if others.count == 1:
        stands_out = f"stands out, {others.worst}{slope}" if others.worst else "does not stand out"
        return f"The one pair without a verdict of its own {stands_out} this week."
    worst = f"the worst is {others.worst}{slope}" if others.worst else "none stands out"
    return f"Of {others.count:,} pairs without a verdict of their own {worst} this week."
