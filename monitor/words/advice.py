"""What a person should know or mend before a verdict can say more. Pure."""

from collections.abc import Sequence
from datetime import date
from math import isfinite
from shlex import quote

from monitor.days.arrivals import COMPLETE, ENOUGH, Delay, Late, enough_after
from monitor.drift.records.day_evidence import Family, WrongLabels
from monitor.drift.records.facts import (
    FEW_A_DAY,
    LONG_AHEAD,
    LONGER,
    LONGEST,
    PATIENCE,
    STRONG_CHANGE,
    USUAL_CHANGE,
    Detectable,
    Together,
)
from monitor.drift.records.lack import LEAST_OF_EACH, Lack
from monitor.words.numbers import percent, short_percent

NEVER_CONTRAST = "within each part of its days all scores or all outcomes are equal"
COUNTED_AGAIN = (
    "Neighbouring days of the reference differ far less than chance alone makes them: the same "
    "entities seem to be counted again. The evidence is held down for that, so alerts should be "
    "about as rarely false as promised; set predictions.entity to the columns that name them, so "
    "that nothing has to be guessed."
)
WRONG: dict[Family, str] = {
    "swapped": "of the outcomes seem to be wrong at random",
    "lost": "of the positives seem not to be recorded",
    "added": "of the negatives seem to be recorded as positive",
}
LOOK_ALIKE: dict[Family, str] = {  # rows that bend the curve in the same way
    "lost": "can never become positive and look like all others (bots, test traffic, customers who "
    "left)",
    "added": "are always positive and look like all others (test accounts, automatic orders)",
}
SAME_THRESHOLD = 0.01  # between two thresholds that are as good
WEEK = 7  # days
TOO_LONG = 60  # days until a slope of 0.7 is found


def ended(text: str) -> str:
    """End a sentence with a full stop, if it has none."""
    return text if text.endswith(".") else f"{text}."


def changed_logs(model: str, days: Sequence[date]) -> str:
    """Say which days were read from other files than there are, and what reads them again.

    Examples
    --------
    >>> changed_logs("ads", [date(2026, 2, 12)])[:57]
    'the logs of 2026-02-12 have changed since they were read;'
    """
    more = f" to {days[-1]} ({len(days)} days)" if len(days) > 1 else ""
    return (
        f"the logs of {days[0]}{more} have changed since they were read; calibration-monitor "
        f"backfill --model {quote(model)} --from {days[0]} --to {days[-1]} reads them again."
    )


def late_outcomes(late: Late) -> str:
    """Say how many outcomes the verdicts do not know, and what to do."""
    shares = {"positives": late.positives, "negatives": late.negatives}
    kinds = [
        f"{percent(share, 0)} of the {kind}"
        for kind, share in shares.items()
        if share > 1.0 - ENOUGH
    ]
    return (
        f"On average {' and '.join(kinds)} of a day arrive later than settled_after "
        f"({late.settled_after} days), so the outcomes are incomplete; {waiting_longer(late)}."
    )


def waiting_longer(late: Late) -> str:
    """Say for how long to wait, in the words of a command.

    Examples
    --------
    >>> waiting_longer(Late(6, 0.09, 0.0, 8))
    'set settled_after to 8, by when 95 % have arrived'
    """
    if late.enough_after is None:
        return "raise settled_after; so far the delays are too long to say how far"
    return f"set settled_after to {late.enough_after}, by when {percent(ENOUGH, 0)} have arrived"


def shorter_wait(
    delay: Delay | None, settled_after: int, least: int, *, corrected: bool
) -> str | None:
    """Propose a smaller `settled_after` where days wait for outcomes that have long arrived.

    Parameters
    ----------
    delay : Delay or None
        Of first outcomes; None if it is not known.
    settled_after, least : int
        Days that are waited for, and the fewest that may be.
    corrected : bool
        Whether later outcomes of a prediction count instead of its first.
    """
    if delay is None or len(delay.days) < WEEK:  # some days of the week may wait longer
        return None
    enough = enough_after(delay, COMPLETE)
    if enough is None or corrected:
        return None
    enough = max(enough, least)
    if enough >= settled_after:
        return None
    return (
        f"{percent(COMPLETE, 0)} of the outcomes of each kind arrive within {enough} days, but "
        f"settled_after is {settled_after}; set it to {enough} to have verdicts earlier."
    )


def wrong_labels(wrong: WrongLabels) -> str:
    """Say which outcomes seem to be wrong, what would look the same, and how to tell them apart.

    Examples
    --------
    >>> wrong_labels(WrongLabels("swapped", 0.012))
    'About 1.2 % of the outcomes seem to be wrong at random, which the verdict allows for.'
    """
    said = f"About {short_percent(wrong.share, 2)} {WRONG[wrong.family]}"
    said = f"{said}, which the verdict allows for."
    if wrong.family not in LOOK_ALIKE:
        return said
    return (
        f"{said} Rows that {LOOK_ALIKE[wrong.family]} have the same effect: when they came, the "
        "number of rows grew by about as much; wrong outcomes leave it as it was."
    )


def awaited_reference(lack: Lack) -> str:
    """Say that a new reference is not used yet, and which it is and what it lacks."""
    return (
        f"A new reference is not used yet: {missing(lack)}. Until then the one before it "
        "stays in force."
    )


def missing(lack: Lack) -> str:
    """Say what days lack to be a reference and, where a person named them, what to do."""
    few = too_few(lack)
    if not lack.span:
        return few
    first, last = lack.span[0], lack.span[-1]
    if len(lack.span) == 1:
        return f"the one from {first} on has {few}; wait for them"
    if lack.map_file:
        return (
            f"the map of {lack.map_file} was fitted to the days from {first} to {last}, which have "
            f"{few}: too few for a reference; name later days in verdicts.references"
        )
    return (
        f"the one from {first} to {last} has {few}; wait for them, or name more days in "
        "verdicts.references"
    )


def too_few(lack: Lack) -> str:
    """Say how many there are, and how many it takes."""
    if lack.of == "first reference":
        return f"it takes {lack.least} final days, and {LEAST_OF_EACH} outcomes of each kind"
    few = f"{lack.there} of at least {lack.least} {lack.of}"
    if not lack.uncounted:
        return few
    return (
        f"{few} with third choices, which earlier versions did not count; `backfill` reads these "
        "days again"
    )


def better_threshold(threshold: float, best: float) -> str | None:
    """Say which threshold suits a benefit and a cost, if it is clearly another."""
    if abs(threshold - best) < SAME_THRESHOLD:
        return None
    return (
        f"decision.threshold is {threshold:g}, but calibrated scores make the most of "
        f"{best:.3g}, which is cost / (benefit + cost): repairing the scores may make decisions at "
        f"{threshold:g} worse. Set the one or the others to what is decided."
    )


def long_acknowledgement(last: date, today: date) -> str | None:
    """Say that drifts are acknowledged for long; None if they are not.

    Examples
    --------
    >>> long_acknowledgement(date(2026, 12, 31), date(2026, 12, 1))
    """
    if (days := (last - today).days) <= LONG_AHEAD:
        return None
    return (
        f"known_drifts acknowledges every drift until {last}, for {days:,} more days: until then "
        f"none raises an alert. Name a day within {LONG_AHEAD} days, and move it if needed."
    )


def what_can_be_found(detectable: Detectable, begin: str = "With this reference") -> str:
    """Say which changes the detector finds, and how long a slope of 0.8 takes."""
    if not detectable.found:  # the information is 0
        return f"{begin} no change of the slope can be found, because {NEVER_CONTRAST}."
    slope = 1.0 - USUAL_CHANGE
    takes = (
        f"would take about {detectable.days:,.0f} days"
        if isfinite(detectable.days)
        else f"would take more than {LONGEST} days"
    )
    first = (
        f"{begin}, changes of the slope below {detectable.tolerated:.2f} are tolerated and "
        f"changes above {detectable.found:.2f} are found; a slope of {slope:.1f} {takes}."
    )
    if detectable.together:
        return f"{first} {hanging_together(detectable.together, detectable.days)}"
    if detectable.rarer >= FEW_A_DAY or detectable.within_patience is None:
        return first
    never = (
        f"changes smaller than {detectable.within_patience:.2f} are not"
        if isfinite(detectable.within_patience)
        else "no change of the slope is"
    )
    few = f"With {detectable.rarer:.3g} of the rarer outcome a day, {never}"
    return f"{first} {few} found within {PATIENCE} days."


def hanging_together(together: Together, days: float) -> str:
    """Say what a reference is worth whose rows hang together, and what a longer one would find.

    `days` are those that a slope of 0.8 takes with this one.
    """
    by_chance = (
        f"slopes nearer to 1 than {1.0 - together.least:.2f} could be chance"
        if isfinite(together.least)
        else "every slope could be chance"
    )
    worth = (
        f"Outcomes of these days hang together: {together.days} days count as about "
        f"{together.independent:.1f}. Within {PATIENCE} days {by_chance}"
    )
    if together.longer is None or together.longer >= days:
        return f"{worth}."
    slope = 1.0 - USUAL_CHANGE
    return (
        f"{worth}; with a reference of {LONGER} days a slope of {slope:.1f} would take about "
        f"{together.longer:,.0f} days."
    )


def what_would_help(detectable: Detectable) -> str | None:
    """Say what to change where even a slope of 0.7 takes too long; None if it does not."""
    if not detectable.found:
        return "Fewer segments or strata, or days judged together (verdicts.judge_every), may help."
    if detectable.days_strong <= TOO_LONG:
        return None
    takes = (
        f"take about {detectable.days_strong:,.0f} days to be found"
        if isfinite(detectable.days_strong)
        else f"take more than {LONGEST} days to be found"
    )
    return (
        f"A slope of {1.0 - STRONG_CHANGE:.1f} would {takes}. A longer reference "
        "(verdicts.references), coarser segments, or days that are judged together "
        "(verdicts.judge_every) would help."
    )


def days_like_this(days: int) -> str:
    """Begin a sentence on a reference that is not there yet."""
    return f"With {days} days like this one as the reference"


def too_few_like_this(days: int, lack: Lack) -> str:
    """Say that days like this one will not make a reference."""
    return f"{days_like_this(days)} there would be {too_few(lack)}: too few to find a drift."


def sensitivity(detectable: Detectable, begin: str = "With this reference") -> str:
    """Say what can be found, and what would help."""
    return " ".join(
        filter(None, [what_can_be_found(detectable, begin), what_would_help(detectable)])
    )
