"""Our detector and the usual rules, each run over a stream of days, and their alerts counted alike.

An alert is the first day of trouble after a week without any: a detector's incident that opens
after 7 days without one, or a rule's alarm after 7 days without an alarm.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial

import numpy as np
from scipy.special import expit
from scipy.stats import chi2, kstwobign, norm

from monitor.drift.curve.label_noise import wrong_labels
from monitor.drift.curve.reference import Reference, judged_with
from monitor.drift.evidence.directions import Said, nothing_said, said_of_day
from monitor.drift.evidence.history import variances_before
from monitor.drift.incidents.detecting import advance, limit, new_detector, update_incident
from monitor.drift.incidents.label_change import only_if_told, unless_always_so
from monitor.drift.records.detector import Detector, Incident
from monitor.metrics.binned.binning import paper_sizes, pava_bc, uniform_bins
from monitor.metrics.binned.ece import ece
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.tally import Tally
from monitor.metrics.logistic.conditional import score_directions
from monitor.metrics.logistic.cox import fit_cox
from monitor.metrics.smooth.cumulative import cumulative_differences
from monitor.metrics.test_based.tce import count_rejected

FIRST = date(2026, 1, 1)
SILENCE = 7  # days
FALSE_ALERT_DAYS = 1000
Segments = Mapping[str, Coarse]
Rule = Callable[[Coarse], bool]


@dataclass(frozen=True)
class Opening:
    """An incident: the day it opened, its name then and a week later, its estimated start.

    Days count from the first after the reference; `lasted` is for how many it was open, `gradual`
    whether it was said to have come slowly.
    """

    day: int
    kind: str
    later: str
    started: int
    start_low: int
    start_high: int
    lasted: int = 1
    gradual: bool = False


def follow_detector(
    reference: Reference, days: Iterable[Segments], *, false_alert_days: float = FALSE_ALERT_DAYS
) -> list[Opening]:
    """Run the detector over days and list the incidents that it opens."""
    return openings_of(incidents(reference, days, false_alert_days=false_alert_days))


def openings_of(of_days: Iterable[Incident | None]) -> list[Opening]:
    """List the incidents that open among those that are open on each day."""
    found, quiet_since, before = list[Opening](), -SILENCE, None
    for t, now in enumerate(of_days):
        if now and not before and t - quiet_since >= SILENCE:
            since = (now.started, now.start_low, now.start_high)
            dates = ((day - FIRST).days for day in since)
            found.append(Opening(t, now.kind, now.kind, *dates, gradual=now.gradual))
        elif now and found:
            last = found[-1]
            later = now.kind if t - last.day <= SILENCE else last.later
            found[-1] = replace(last, later=later, lasted=last.lasted + 1)
        if now:
            quiet_since = t + 1
        before = now
    return found


def incidents(
    reference: Reference, days: Iterable[Segments], *, false_alert_days: float = FALSE_ALERT_DAYS
) -> Iterator[Incident | None]:
    """Run the detector over days and yield the incident that is open on each."""
    followed = detectors(reference, days, false_alert_days=false_alert_days)
    return (detector.incident for detector in followed)


def detectors(
    reference: Reference, days: Iterable[Segments], *, false_alert_days: float = FALSE_ALERT_DAYS
) -> Iterator[Detector]:
    """Run the detector over days and yield it after each."""
    detector, threshold, seen = new_detector(), limit(false_alert_days), list[Segments]()
    for t, segments in enumerate(days):
        day = FIRST + timedelta(t)
        detector, evidence = advance(detector, reference, [day], segments)
        seen.append(segments)
        since = partial(_said_since, reference, detector, seen)
        detector = only_if_told(detector, day, evidence, threshold, since)
        detector = unless_always_so(detector, reference, day, evidence, threshold, since)
        alarm = detector.evidence >= threshold
        detector = update_incident(detector, day, evidence, alarm=alarm, said_since=since)
        yield detector


def _said_since(
    reference: Reference, detector: Detector, seen: Sequence[Segments], first: date
) -> Said:
    """Sum up what the days from one on say."""
    wrong = wrong_labels(reference.noise, detector.noise)
    days = seen[(first - FIRST).days :]
    usual = variances_before(judged_with(reference, wrong), detector, first)
    said = [said_of_day(reference, day, usual, wrong) for day in days]
    return Said(*(sum(of) for of in zip(nothing_said(), *said, strict=True)))


def first_alarms(alarms: Sequence[bool]) -> list[int]:
    """List the days of alarm with a week of silence before them."""
    days = np.nonzero(alarms)[0]
    gaps = np.diff(days, prepend=-SILENCE - 1)
    return [int(day) for day in days[gaps > SILENCE]]


def pool(segments: Segments) -> Coarse:
    """Add the segments of a day up, as the usual rules do."""
    counts = np.sum([part.counts for part in segments.values()], axis=0)
    return Coarse(counts, np.sum([part.positives for part in segments.values()], axis=0))


def as_tally(day: Coarse) -> Tally:
    """Give the day as a tally of the cells' middle scores."""
    seen = day.counts > 0
    return Tally(expit(CENTRES[seen]), day.counts[seen], day.positives[seen])


def usual_rules(reference: Reference, days: Sequence[Coarse]) -> dict[str, Rule]:
    """Make each rule from the days of the reference."""
    errors = [raw_ece(day) for day in days]
    most = float(np.mean(errors) + 3.0 * np.std(errors, ddof=1))
    return {
        "raw ECE > mean + 3 sd": lambda day: raw_ece(day) > most,
        "raw TCE > 30 %": lambda day: _raw_tce(day) > 0.3,
        "PSI of scores > 0.2": lambda day: _psi(day.counts, reference.counts.counts) > 0.2,
        "KS of scores, p < .01": lambda day: _ks_p(day.counts, reference.counts.counts) < 0.01,
        "raw calibration KS, p < .01": lambda day: _calibration_p(day) < 0.01,
        "raw Cox test, p < .01": lambda day: _cox_p(day) < 0.01,
        "adjusted slope test, p < 1/365": lambda day: _slope_p(reference, day) < 1 / 365,
    }


def follow_rules(rules: Mapping[str, Rule], days: Iterable[Coarse]) -> dict[str, list[bool]]:
    """Ask every rule on every day."""
    alarms: dict[str, list[bool]] = {name: [] for name in rules}
    for day in days:
        for name, rule in rules.items():
            alarms[name].append(bool(rule(day)))
    return alarms


def _one_class(day: Coarse) -> bool:
    return day.positives.sum() in {0, day.counts.sum()}


def raw_ece(day: Coarse) -> float:
    """Give the expected calibration error of a day, with 15 bins."""
    return ece(uniform_bins(as_tally(day), 15))


def _raw_tce(day: Coarse) -> float:
    t = as_tally(day)
    smallest, largest = paper_sizes(t.total)
    starts = pava_bc(t, min_size=smallest, max_size=largest).starts
    return float(count_rejected(t.scores, t.counts, t.positives, starts, 0.05).sum() / t.total)


def _psi(now: np.ndarray, before: np.ndarray) -> float:
    """Compare shares in ten bins of the reference's scores; half a row where a bin is empty."""
    edges = np.searchsorted(np.cumsum(before), before.sum() * np.arange(1, 10) / 10) + 1
    shares = []
    for counts in (now, before):
        held = np.maximum(np.add.reduceat(counts, [0, *edges]), 0.5)
        shares.append(held / held.sum())
    return float(((shares[0] - shares[1]) * np.log(shares[0] / shares[1])).sum())


def _ks_p(now: np.ndarray, before: np.ndarray) -> float:
    """Test whether today's scores are distributed as the reference's: two samples, asymptotic."""
    widest = np.abs(np.cumsum(now) / now.sum() - np.cumsum(before) / before.sum()).max()
    size = now.sum() * before.sum() / (now.sum() + before.sum())
    return float(kstwobign.sf(widest * np.sqrt(size)))


def _calibration_p(day: Coarse) -> float:
    return float(10.0 ** cumulative_differences(as_tally(day)).ks_log10_p)


def _cox_p(day: Coarse) -> float:
    """Test intercept 0 and slope 1 at once, by Wald's quadratic form."""
    if _one_class(day):
        return 1.0
    try:
        line = fit_cox(as_tally(day))
    except ValueError:  # separated
        return 1.0
    a, b = line.intercept, line.slope - 1.0
    va, vb, c = (
        line.intercept_standard_error**2,
        line.slope_standard_error**2,
        line.covariance,
    )
    return float(chi2.sf((vb * a**2 - 2 * c * a * b + va * b**2) / (va * vb - c**2), 2))


def _slope_p(reference: Reference, day: Coarse) -> float:
    """Test the slope on the reference curve, whatever the day's intercept."""
    if _one_class(day):
        return 1.0
    seen = np.nonzero(day.counts)[0]
    scores, informations = score_directions(
        reference.curve[seen], day.counts[seen], day.positives[seen], reference.directions[:, seen]
    )
    return float(2.0 * norm.sf(abs(scores[0]) / np.sqrt(informations[0])))
