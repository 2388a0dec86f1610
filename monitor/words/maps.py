"""What a calibration map is worth, and what it does. Pure."""

from math import inf
from typing import Any

from monitor.base.segment_names import printable, shown
from monitor.drift.records.facts import LastingShift
from monitor.metrics.core.estimate import Estimate
from monitor.metrics.maps.calibration_map import MOST_SLOPE, CalibrationMap
from monitor.metrics.maps.choosing import CLEAR, CLEAR_INTERCEPT, Candidate, Choice
from monitor.metrics.maps.class_map_file import ClassMapFile
from monitor.metrics.maps.map_file import Gains, MapFile
from monitor.metrics.maps.vector_map import VectorMap
from monitor.words.numbers import percent

FAMILIES = {
    "identity": "the scores as they are",
    "intercept": "an intercept",
    "platt": "an intercept and a slope (platt)",
    "beta": "a beta calibration",
    "spline": "a monotone spline",
    "isotonic": "a centred isotonic regression",
    "temperature": "a temperature",
    "order_preserving": "one increasing curve for all classes (order_preserving)",
    "vector": "a slope and an intercept for each class (vector)",
    "dirichlet": "a matrix and an intercept for each class (dirichlet)",
}
SLOPED = ("platt", "beta", "spline")  # families with slopes
LEAST_SHOWN = 0.00005  # nats: what four digits show as something
FOLLOW = " A map that follows the prior may be worth it (--follow-prior)."
CLASSES_SHOWN = 3
LONG = 365  # days: more than anybody waits for


def map_sentences(
    choice: Choice[Any],
    content: MapFile,
    *,
    worth_it: bool,
    asked: bool,
    extrapolated: float,
    harmed: bool = False,
) -> tuple[str, ...]:
    """Say which map is worth it, what it gains and from what, and what it cannot do.

    Parameters
    ----------
    choice, content : Choice, MapFile
        What was fitted, and the map that was chosen.
    worth_it, asked : bool
        Whether the map is worth it, and whether its kind was asked for.
    extrapolated : float
        Share of the predictions beyond the scores that the map was fitted to, in [0, 1].
    harmed : bool
        Whether it is a map for all that would be worth it, but for the parts that it harms.
    """
    if harmed and not asked:
        return ("No map for all is worth it.",)
    if not worth_it and not asked:
        return (_nothing(choice), *_settling(choice), *_intercept(choice))
    if choice.chosen.kind == "identity":
        return ("The identity leaves the scores as they are.",)
    return (
        _gain(choice, worth_it=worth_it),
        _parts(choice.chosen, follows=content.gains is None),
        *_alternative(choice, asked=asked),
        *(() if worth_it else _settling(choice)),
        formula(content.map),
        _level(content),
        _extrapolation(content.map, extrapolated),
    )


def lasting_sentence(lasting: LastingShift) -> str:
    """Say why a map follows the prior by itself."""
    return (
        f"The log-odds of all scores moved by {lasting.shift:+z.2f} and have stayed "
        f"there since {lasting.since}, so the map has the newest level; --no-follow-prior leaves "
        "it out."
    )


def class_map_sentences(
    choice: Choice[VectorMap], content: ClassMapFile, *, worth_it: bool, asked: bool
) -> tuple[str, ...]:
    """Say which map of class vectors is worth it, what it gains and from what, and what it does.

    Parameters
    ----------
    choice, content, worth_it, asked
        As for `map_sentences`.
    """
    if not worth_it and not asked:
        return (_nothing(choice, follow=""), *_settling(choice), *_intercept(choice))
    if choice.chosen.kind == "identity":
        return ("The identity leaves the scores as they are.",)
    return (
        _gain(choice, worth_it=worth_it),
        _parts_of_classes(choice.chosen),
        *_alternative(choice, asked=asked),
        *(() if worth_it else _settling(choice)),
        formula_of_classes(content.map),
        "It keeps the classes of every row in their order, so the first choice stays."
        if content.map.keeps_order
        else "It moves classes against each other, so the first choice of a row may change.",
    )


def file_sentences(content: MapFile | ClassMapFile) -> tuple[str, ...]:
    """Say what a map file holds: the map, what it was fitted to, and what it gained.

    Parameters
    ----------
    content : MapFile or ClassMapFile
        The file.
    """
    training = content.training
    of = rows_of(content) if isinstance(content, MapFile) else "classes"
    fitted = (
        f"{content.model}, {of}: {FAMILIES[content.map.kind]}, fitted to {training.outcomes:,} "
        f"outcomes of {training.days} days from {training.first} to {training.last}."
    )
    replaces = content.replaces
    return (
        fitted,
        *_of_file(content),
        *(_gained(content.gains) if content.gains else ()),
        *(
            [f"Once it is deployed, the reference of {replaces.first} to {replaces.last} is over."]
            if replaces
            else []
        ),
        f"Written by calibration-monitor {content.version}.",
    )


def rows_of(content: MapFile) -> str:
    """Name the rows that a map is for."""
    part = content.part
    return printable(part.name) if part else f"segment {shown(content.segment)}"


def _of_file(content: MapFile | ClassMapFile) -> tuple[str, ...]:
    if isinstance(content, ClassMapFile):
        return (formula_of_classes(content.map),)
    earlier = ", then ".join(
        FAMILIES[step.kind] + (f" where {printable(step.part.name)}" if step.part else "")
        for step in content.before
    )
    return (
        *([f"A score goes first through {earlier}."] if earlier else []),
        formula(content.map),
        _level(content),
    )


def _gained(gains: Gains) -> tuple[str, ...]:
    log_loss, shape = gains.log_loss.estimate, gains.shape_log_loss.estimate
    gained = (
        f"On days left out it gained {log_loss:z.4f value} nats of log loss for each prediction "
        f"({log_loss:z.4f interval}), {shape:z.4f value} of it by its shape "
        f"({shape:z.4f range})."
    )
    return (gained,)


def _parts_of_classes(c: Candidate[VectorMap]) -> str:
    shape = f"{c.shape:z.4f}"
    if c.kind == "intercept":
        return "All of it is the level of the classes, which a move of the class priors takes away."
    if not c.fitted.level:
        return f"Whatever the class priors do, its shape gains {shape}; it has no level."
    return (
        f"Of that, {shape} comes from the shape, which stays whatever the class priors do, and "
        f"{c.level:z.4f value} from the level ({c.level:z.4f interval}), which a move of them "
        "takes away."
    )


def formula_of_classes(vector_map: VectorMap) -> str:
    """Say what a map does to the logarithms of class probabilities.

    Examples
    --------
    >>> formula_of_classes(VectorMap("temperature", ("a", "b"), parameters=(0.8,)))
    'It multiplies all logits by 0.800, which is a temperature of 1.250.'
    """
    if vector_map.kind == "temperature":
        (factor,) = vector_map.parameters
        return (
            f"It multiplies all logits by {factor:.3f}, which is a temperature of "
            f"{1.0 / factor:.3f}."
        )
    if vector_map.kind == "order_preserving":
        return f"It bends the logits of all classes alike, at {len(vector_map.knots)} knots."
    if vector_map.kind == "dirichlet":
        return "It mixes the logits of the classes with a matrix, and adds an intercept to each."
    largest = sorted(
        zip(vector_map.classes, vector_map.parameters or vector_map.level, strict=True),
        key=lambda by_class: -abs(by_class[1] - (1.0 if vector_map.parameters else 0.0)),
    )[:CLASSES_SHOWN]
    of = ", ".join(
        f"{printable(name)} {value:{'.3f' if vector_map.parameters else '+.3f'}}"
        for name, value in largest
    )
    if vector_map.parameters:
        return f"It multiplies the logit of each class (farthest from 1: {of}), and adds to it."
    return f"It adds to the logit of each class (the largest: {of})."


def _nothing(choice: Choice[Any], follow: str = FOLLOW) -> str:
    best = choice.best
    if best.shape.value <= 0.0:
        return (
            f"No map is worth it: on days left out, no shape gained anything over the scores as "
            f"they are, and an intercept {_between(choice.candidates[1].log_loss)}."
        )
    if choice.chosen.shape_gains:
        return (
            f"No map is worth it: the shape of {FAMILIES[choice.chosen.kind]} gained "
            f"{choice.chosen.shape:z.4f value} nats of log loss for each prediction on days left "
            f"out ({choice.chosen.shape:z.4f interval}), but with the level of the other days it "
            f"lost {-choice.chosen.log_loss.value:z.4f}, because the prior moves.{follow}"
        )
    return (
        f"No map is worth it: the best shape, {FAMILIES[best.kind]}, gained "
        f"{best.shape:z.4f value} nats of log loss for each prediction on days left out, which "
        f"may be chance ({best.shape:z.4f only error})."
    )


def _intercept(choice: Choice[Any]) -> tuple[str, ...]:
    level = choice.candidates[1].log_loss
    if choice.best.shape.value <= 0.0 or level.value <= 0.0 or choice.chosen.shape_gains:
        return ()
    return (f"An intercept alone {_between(level)}: the prior may move back.",)


def _gain(choice: Choice[Any], *, worth_it: bool) -> str:
    c = choice.chosen
    begin = (
        f"The map that you asked for, {FAMILIES[c.kind]}, is not worth it"
        if not worth_it
        else f"Worth it: {FAMILIES[c.kind]}"
    )
    gained = "gained" if c.log_loss.value > 0.0 else "lost"
    return (
        f"{begin}. On days left out it {gained} {abs(c.log_loss.value):z.4f} nats of log loss for "
        f"each prediction ({c.log_loss:z.4f interval} on as many days to come) and "
        f"{c.brier:z.4f value} of the Brier score ({c.brier:z.4f interval})."
        f"{_why_all_the_same(c) if worth_it and c.log_loss.low < 0.0 else ''}"
    )


def _why_all_the_same(c: Candidate[Any]) -> str:
    """Say why a map is worth it although its interval reaches below 0."""
    if c.kind == "intercept":
        error = c.log_loss.value / c.log_loss.standard_error
        return (
            f" It is worth it although that interval reaches below 0, because it gained "
            f"{error:.1f} standard errors, more than the {CLEAR_INTERCEPT:g} that it takes."
        )
    error = c.shape.value / c.shape.standard_error if c.shape.standard_error else inf
    return (
        f" It is worth it although that interval reaches below 0, because only the prior of days "
        f"to come makes it so wide: the shape gained {error:.1f} standard errors, more than the "
        f"{CLEAR:g} that it takes."
    )


def _parts(c: Candidate[Any], *, follows: bool) -> str:
    level = (
        f"{c.level:z.4f value} from the level ({c.level:z.4f interval}), which a move of the prior "
        "takes away"
    )
    if c.kind == "intercept":
        return f"All of it is the level: {level}."
    follow = (
        "" if follows or c.log_loss.low > 0.0 else "; --follow-prior gives the map the newest level"
    )
    return (
        f"Of that, {c.shape:z.4f value} comes from the shape ({c.shape:z.4f interval}), which "
        f"stays whatever the prior does, and {level}{follow}."
    )


def _alternative(choice: Choice[Any], *, asked: bool) -> tuple[str, ...]:
    chosen, best = choice.chosen, choice.best
    ahead = best.shape.value - chosen.shape.value
    if asked or chosen is best or not ahead > LEAST_SHOWN:
        return ()
    more = (
        f"The shape of {best.kind} gained {ahead:z.4f} more, less than its standard error, so the "
        "simpler map is taken."
    )
    return (more,)


def _settling(choice: Choice[Any]) -> tuple[str, ...]:
    days = choice.days_to_settle
    if days == 0:
        return ()
    if days is None:
        return ("More days like these would not change that.",)
    if days > LONG:
        return ("Even a year more of such days would not settle it.",)
    return (f"About {days} more days like these would settle it.",)


def formula(calibration_map: CalibrationMap) -> str:
    """Say what a map does to the log-odds of a score.

    Examples
    --------
    >>> formula(CalibrationMap("platt", 0.25, (0.6,)))
    'It multiplies the log-odds of a score by 0.600 and adds +0.250.'
    """
    at_bound = "".join(f" {sentence}" for sentence in about_bound(calibration_map))
    if calibration_map.kind == "platt":
        return (
            f"It multiplies the log-odds of a score by {calibration_map.parameters[0]:.3f} and "
            f"adds {calibration_map.level:+z.3f}.{at_bound}"
        )
    if calibration_map.kind == "beta":
        a, b = calibration_map.parameters
        return (
            f"Its log-odds are {a:.3f} ln(s) - {b:.3f} ln(1 - s) {calibration_map.level:+z.3f}, s "
            f"the score.{at_bound}"
        )
    if calibration_map.kind == "spline":
        knots = len(calibration_map.knots)
        return f"It bends the log-odds of a score at {knots} knots.{at_bound}"
    if calibration_map.knots:
        return f"It bends the log-odds of a score at {len(calibration_map.knots)} knots."
    return f"It adds {calibration_map.level:+z.3f} to the log-odds of a score."


def about_bound(calibration_map: CalibrationMap) -> tuple[str, ...]:
    """Say that a slope of a map is the largest that is tried, so that a larger one may be better.

    Examples
    --------
    >>> about_bound(CalibrationMap("platt", 0.25, (0.6,)))
    ()
    >>> print(*about_bound(CalibrationMap("platt", 0.25, (10.0,))))  # doctest: +ELLIPSIS
    Its slope is 10, the most that is tried: the scores lie much closer together than ...
    """
    slopes = calibration_map.parameters if calibration_map.kind in SLOPED else ()
    if not slopes or max(slopes) < MOST_SLOPE:
        return ()
    sentence = (
        f"Its slope is {MOST_SLOPE:.0f}, the most that is tried: the scores lie much closer "
        f"together than the outcomes ask for, or separate them, so the map may be too flat; spread "
        f"the scores first (are they probabilities?), or take kind isotonic, which has no bound."
    )
    return (sentence,)


def _level(content: MapFile) -> str:
    level = content.level
    days = f"{level.first}" if level.first == level.last else f"{level.first} to {level.last}"
    source = (
        f"fitted to the outcomes of {days}"
        if level.source == "outcomes"
        else f"the one that the scores of {days} suggest if only the prior moved"
    )
    return f"Its level is {source} (standard error {level.standard_error:.3f})."


def _extrapolation(calibration_map: CalibrationMap, share: float) -> str:
    low, high = calibration_map.known
    return (
        f"It keeps the order of all scores. Below {low:.4g} and above {high:.4g}, where "
        f"{percent(share)} of the scores lie, it extrapolates."
    )


def _between(gain: Estimate) -> str:
    word = "gained" if gain.value > 0.0 else "lost"
    return f"{word} {abs(gain.value):z.4f} ({gain:z.4f interval})"
