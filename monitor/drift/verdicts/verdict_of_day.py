"""The verdict of a stream on a day: its state, and the facts that are said of it. Pure.

No alert comes from one day: what it says of itself is held to a hundred to one. The day itself says
all the same what it is.
"""

from dataclasses import replace
from datetime import date, timedelta
from math import isfinite, log, nan

import numpy as np

from monitor.base.segment_names import FAMILIES, THIRD, WHOLE
from monitor.days.summary import NO_SAMPLE
from monitor.drift.curve.label_noise import wrong_labels
from monitor.drift.curve.reference import Reference, faults_of, merge_days
from monitor.drift.evidence.directions import day_evidence, day_profiles, rows_of_day
from monitor.drift.evidence.region_evidence import region_evidence
from monitor.drift.fold.inputs import (
    Day,
    coverage_of,
    false_alert_days,
    limit_alone,
    parts_of_stream,
    prevalence_of,
    same_classes,
    weighed_parts,
)
from monitor.drift.fold.region_incident import SIMPLER
from monitor.drift.incidents.detecting import best_profile, gain_of_best
from monitor.drift.incidents.label_change import label_change, lost_like_prior
from monitor.drift.incidents.level_watch import off_today
from monitor.drift.incidents.score_moves import scores_since
from monitor.drift.records.day_evidence import LabelChange
from monitor.drift.records.detector import (
    OF_REGIONS,
    OUTCOMES_MISSING,
    WEIGHTS,
    Detector,
    Incident,
    is_withheld,
)
from monitor.drift.records.facts import (
    LESS_COVERED,
    MAY_BE_LATE,
    NOT_ALIKE,
    NOT_YET_COMPARED,
    ClassFacts,
    Coverage,
    Facts,
    Obstacle,
    OneDay,
    Scores,
    ThirdChoices,
    Unlike,
)
from monitor.drift.records.lack import Lack
from monitor.drift.records.life import life_state
from monitor.drift.records.mix import MovedMix, moved_mix
from monitor.drift.records.region_state import KIND
from monitor.drift.records.verdict import UNCHANGED, State, Verdict
from monitor.drift.verdicts.week import Stream, Week, classes_of, week_of_stream
from monitor.metrics.core.estimate import Estimate

LEAST_REACHED = 0.9  # log10 of the evidence after such a day, however it began
BEYOND = 2.0  # log10: by how much it exceeds the limit of many days


def verdict_of(stream: Stream, segments: int) -> Verdict:
    """Reach the verdict of a stream on its newest day, which has some segments."""
    day, own, week, name = stream.day, stream.own, week_of_stream(stream), stream.name
    folded, awaited, lift = stream.folded, _awaited(stream), week.lift
    limit = folded.limits.get(name, limit_alone(stream.limits, name, segments))
    state, facts = _state_and_facts(stream, week, classes_of(stream), limit)
    facts = replace(facts, awaits=awaited[1] if awaited else None, alone=folded.alone.get(name))
    return Verdict(
        model=stream.model,
        segment=name,
        day=day.day,
        final=day.final,
        known_at=day.known_at,
        state=state,
        reasons=(),
        evidence=folded.weighed.get(name),
        detector=stream.detector,
        limit=limit,
        shift=Estimate.normal(lift.shift, lift.shift_error) if lift else None,
        level_change=week.level_change,
        slope=week.slope,
        reference_prevalence=own.prevalence if own else nan,
        reference_slope=own.own_slope if own else None,
        reference_intercept=own.own_intercept if own else None,
        detectable=stream.detectable,
        reached=folded.reached.get(name, 0.0) if stream.is_compared else None,
        awaited=awaited[0] if awaited else None,
        facts=facts,
    )


def _state_and_facts(
    stream: Stream, week: Week, classes: ClassFacts | None, limit: float
) -> tuple[State, Facts]:
    """Choose the state, and collect what is said of it."""
    day, obstacle, labels = stream.day, obstacle_of(stream), _labels(stream)
    state = _state(stream, week, classes, labels)
    if state == "level_drift" and day.late:  # fewer positives arrived: it looks the same
        obstacle = obstacle or "level may be late outcomes"
    if obstacle:
        state = state_without_verdict(obstacle)
    facts = replace(
        _of_the_day(stream, obstacle),
        moved=week.moved,
        lift=week.lift.lift if week.lift and week.moved == "lift" else None,
        lasting=week.lasting,
        classes=classes and replace(classes, off=week.off.name if week.off else None),
        labels=labels,
        covered=None if obstacle else _covered(stream),
        lost=_lost(stream, week) if state == "prior_shift" else None,
    )
    if stream.own and not obstacle:
        facts = _with_scores(facts, stream, stream.own, limit)
    if facts.changed and state in UNCHANGED:  # a comparison that says little
        state = "reference_changed"
    return state, facts


def _of_the_day(stream: Stream, obstacle: Obstacle | None) -> Facts:
    """Collect what is said of a day whatever its state is."""
    day, own, compared = stream.day, stream.own, stream.own_reference
    early = obstacle in NOT_YET_COMPARED
    return Facts(
        obstacle=obstacle,
        complaint=day.complaint or "",
        lack=compared if isinstance(compared, Lack) else None,
        coverage=day.coverage if obstacle == "outcomes awaited" else None,
        reference=stream.compared_with if obstacle == "part of the reference" else (),
        false_alert_days=false_alert_days(stream.limits, stream.name),
        on_average=stream.limits.calibrated and stream.name in FAMILIES,
        faults=faults_of(own, stream.limits.prior_shift) if own else (),
        prevalence=stream.prevalence if isfinite(stream.prevalence) else None,
        late=day.late if obstacle is None or obstacle in MAY_BE_LATE else None,
        wrong=wrong_labels(own.noise, stream.detector.noise) if own else None,
        third=next(filter(None, map(_third, stream.third)), None),
        strata=stream.strata,
        unlike=() if early else _unlike(stream),
        mix=None if early else _mix(stream),
        changed=stream.reference.changed if stream.reference and stream.name == WHOLE else None,
    )


def _with_scores(facts: Facts, stream: Stream, own: Reference, limit: float) -> Facts:
    """Compare the scores of the week, and what this day alone says, with the reference."""
    day, today = stream.day, None
    if own.levels:  # a whole with classes watches theirs
        today = off_today(stream.detector.level, own, day.day, stream.limits.level_page)
    begun = stream.level.started if stream.level else date.min
    return replace(
        facts,
        today=today,
        one_day=_one_day(stream, own, limit),
        scores=_scores(stream, own, begun if today is None else day.day) if own.levels else None,
    )


def _one_day(stream: Stream, own: Reference, limit: float) -> OneDay | None:
    """Say whether a day would be reported twice over, were it not a single one.

    None unless the odds are a hundred times those of the limit: then at most one sound day in
    ``100 A`` is called so. None while a drift is open, and of late outcomes, which may look so.
    """
    detector, day, compared = stream.detector, stream.day, stream.reference
    known = stream.incident or detector.incident or day.late or detector.last != day.day
    silent = known or stream.name == THIRD or detector.evidence < LEAST_REACHED
    if compared is None or silent:
        return None
    parts, hanging = weighed_parts(day, stream.name, compared), float(own.hanging.max())
    wrong = wrong_labels(own.noise, detector.noise)
    rows, of = rows_of_day(own, parts, wrong), (own, parts, detector.jitters, detector.cross)
    ratios = day_evidence(*of, rows=rows, hedged=False).ratios / hanging
    along = float((ratios + np.log10(WEIGHTS)).max() + np.log10(1.0 - OF_REGIONS))
    profiles = day_profiles(rows, detector.jitters)
    found = OneDay(along, best_profile(profiles)[0])
    if watch := own.regions and detector.regions:
        usual = own.regions, parts, watch.day_variances
        at = region_evidence(*usual, wrong=wrong, hanging=hanging)
        places = at.gains / log(10.0) + np.log10(watch.weights)
        of_place = float(places.max() + np.log10(OF_REGIONS))
        simpler = (gain_of_best(profiles) / hanging + SIMPLER) / log(10.0)
        found = OneDay(max(along, of_place), KIND if of_place > simpler else found.kind)
    return found if found.evidence >= limit + BEYOND else None


def _covered(stream: Stream) -> Coverage | None:
    """Compare how many predictions of the week have an outcome with the reference, if they differ.

    Outcomes that went missing of one kind look like a shift of the prior; while they may be what
    the verdict is about, it always says so.
    """
    before = stream.reference.coverage if stream.reference else None
    missing = stream.level if stream.level and stream.level.kind == OUTCOMES_MISSING else None
    now = coverage_of([day for day in stream.week if not missing or day.day >= missing.started])
    if stream.name != WHOLE or before is None or now is None:
        return None
    return Coverage(before, now) if missing or abs(now - before) > LESS_COVERED else None


def _labels(stream: Stream) -> LabelChange | None:
    """Say how labels changed since a drift began; of pairs of classes no label has a side.

    Labels that change leave the scores as they are: where these spread otherwise than in the
    reference, it is another model, and where their spread is not known it may be one.
    """
    own = stream.labelled
    if own is None:
        return None
    found, begun = label_change(stream.incident), stream.level.started if stream.level else date.min
    scores = _scores(stream, own, begun) if found and own.levels else None
    return found if scores and scores.spreads_alike else None


def _lost(stream: Stream, week: Week) -> float | None:
    """Say how many positives may as well have got lost, where the prior fell; none of classes."""
    own = stream.labelled
    if not (own and own.levels and week.lift and week.lift.shift < 0.0):
        return None
    return lost_like_prior(own, [parts_of_stream(day, stream.name) for day in stream.week])


def _scores(stream: Stream, own: Reference, begun: date) -> Scores | None:
    """Compare the scores of the week, from a day on, with those of the reference."""
    days = [day for day in stream.week if day.day >= begun]
    parts = merge_days([parts_of_stream(day, stream.name) for day in days])
    sampled = any(day.class_weights != NO_SAMPLE for day in days)
    if stream.name == THIRD or sampled or not any(part.counts.any() for part in parts.values()):
        return None
    return scores_since(own, parts, prevalence_of(days, stream.name))


def _third(detector: Detector) -> ThirdChoices | None:
    """Give what third choices bring to the verdict of the whole; None if they are calm."""
    drift, doubtful = detector.incident, is_withheld(detector)
    if not (drift or detector.ended or doubtful):
        return None
    return ThirdChoices(drift and replace(drift, profiles=None), detector.ended, doubtful)


def _awaited(stream: Stream) -> tuple[date, Lack] | None:
    """Find the reference that a day would be compared with if it had enough days or outcomes."""
    awaited = stream.reference.awaited if stream.reference else None
    return awaited if awaited and stream.day.day >= awaited[0] else None


def _state(
    stream: Stream, week: Week, classes: ClassFacts | None, labels: LabelChange | None
) -> State:
    """Choose the most severe state that holds."""
    if stream.incident or stream.level:
        return _state_of_incident(stream.incident, stream.level, labels)
    if week.off and week.off.name:
        return "level_drift"
    shift = week.lift.shift if week.lift and week.moved in ("prior", "lift") else 0.0
    shifted = week.moved == "prior or inputs" or abs(shift) > stream.limits.prior_shift
    return "prior_shift" if shifted or (classes and classes.shifts) else "ok"


def _state_of_incident(
    bent: Incident | None, level: Incident | None, labels: LabelChange | None
) -> State:
    """Choose the state while a distortion or an error of the level is open."""
    incidents = [incident for incident in (bent, level) if incident]
    if all(incident.improved for incident in incidents):
        return "improved"
    incident = next(incident for incident in incidents if not incident.improved)
    life = life_state(incident)
    if life == "undecided" or (life == "unclear" and not incident.urgent):
        return "undecided"
    if incident is bent:
        return labels.kind if labels and labels.told else "calibration_drift"
    return "level_drift"


def _unlike(stream: Stream) -> tuple[Unlike, ...]:
    """Say how a stream was read otherwise than its reference; of the whole also its segments."""
    if stream.name == WHOLE:
        return tuple(dict.fromkeys(stream.day.unlike.values()))
    unlike = stream.day.unlike_of(stream.name)
    return (unlike,) if unlike else ()


def _mix(stream: Stream) -> MovedMix | None:
    """Compare the shares of the segments of a day with those of the reference; of the whole."""
    mix = stream.reference.mix if stream.reference and stream.name == WHOLE else None
    day = stream.day
    if mix is None or not day.predicted or WHOLE in day.unlike:
        return None
    return moved_mix(day.predicted, day.unlisted, mix, but=day.unlike)


def obstacle_of(stream: Stream) -> Obstacle | None:
    """Find what keeps the day of a stream from being judged; an open drift outlasts a gap."""
    day, reference = stream.day, stream.reference
    if not day.final:
        return "logs failed" if day.complaint else "outcomes awaited"
    if reference and day.day <= reference.last:
        return "part of the reference"
    if not (reference and stream.own):
        return "no reference"
    if (unlike := day.unlike_of(stream.name)) or not same_classes(day, reference):
        return "read otherwise" if unlike else "other classes"
    if stream.incident or stream.level:
        return None
    return "drift may be late outcomes" if day.late and stream.withheld else _silent(stream)


def _silent(stream: Stream) -> Obstacle | None:
    """Say why nothing that is known by this day is evidence."""
    detector, day, judge_every = stream.detector, stream.day, stream.limits.judge_every
    if detector.history.firsts.size:
        age = day.day - detector.last
        if age < timedelta(days=judge_every):
            return None
        if judge_every > 1:
            return None if age < timedelta(days=2 * judge_every) else "span without contrast"
    elif judge_every > 1:
        return "first span not over"
    if day.predicted.get(stream.name) == 0:
        return "no predictions"
    return _no_contrast(day, stream.name) if isfinite(stream.prevalence) else "no outcomes"


def _no_contrast(day: Day, name: str) -> Obstacle:
    """Say what is equal on a day that tells high scores from low ones nowhere."""
    parts = parts_of_stream(day, name).values()
    counts = np.sum([part.counts for part in parts], axis=0)
    positives = np.sum([part.positives for part in parts], axis=0)
    if day.classes and (classes := day.classes.of(name)):
        equal = np.count_nonzero(classes.outcomes) == 1
    else:
        equal = positives.sum() in (0, counts.sum())
    if equal:
        return "equal outcomes"
    return "equal scores" if np.count_nonzero(counts) == 1 else "no contrast within parts"


def state_without_verdict(obstacle: Obstacle) -> State:
    """Choose the state of a day that is not judged."""
    if obstacle == "logs failed":
        return "data_error"
    return "not_comparable" if obstacle in NOT_ALIKE else "insufficient_data"
