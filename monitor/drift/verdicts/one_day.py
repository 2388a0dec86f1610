"""Whether a single day contradicts the reference, before anything may be reported of it. Pure.

No alert comes from one day: what it says of itself is held to a hundred to one. The day itself says
all the same what it is.
"""

from collections.abc import Mapping
from math import log
from typing import Any

import numpy as np

from monitor.drift.curve.label_noise import wrong_labels
from monitor.drift.curve.reference import Reference
from monitor.drift.evidence.directions import day_evidence, day_profiles
from monitor.drift.evidence.region_evidence import region_evidence
from monitor.drift.fold.region_incident import SIMPLER
from monitor.drift.incidents.detecting import best_profile, gain_of_best
from monitor.drift.records.detector import OF_REGIONS, WEIGHTS, Detector
from monitor.drift.records.facts import OneDay
from monitor.drift.records.region_state import KIND
from monitor.metrics.core.coarse import Coarse

LEAST_REACHED = 0.9  # log10 of the evidence after such a day, however it began
BEYOND = 2.0  # log10: by how much it exceeds the limit of many days


def contradicts(
    detector: Detector, reference: Reference, parts: Mapping[Any, Coarse], enough: float
) -> OneDay | None:
    """Say whether a day would be reported twice over, were it not a single one.

    Parameters
    ----------
    detector : Detector
        After the day, its evidence held down where rows hang together.
    reference : Reference
        Of the stream.
    parts : mapping to Coarse
        The day's outcomes.
    enough : float
        The evidence that opens an incident, log10.

    Returns
    -------
    OneDay or None
        None unless the odds are a hundred times those of the limit: then at most one sound day in
        ``100 A`` is called so. None while an incident is open.
    """
    if detector.incident or detector.evidence < LEAST_REACHED:
        return None
    wrong, hanging = wrong_labels(reference.noise, detector.noise), float(reference.hanging.max())
    said = day_evidence(
        *(reference, parts, detector.jitters), detector.cross, wrong=wrong, hedged=False
    )
    ratios = said.ratios / hanging
    along = float((ratios + np.log10(WEIGHTS)).max() + np.log10(1.0 - OF_REGIONS))
    profiles = day_profiles(reference, parts, detector.jitters, wrong=wrong)
    fits, _ = best_profile(profiles)
    simpler = gain_of_best(profiles) / (hanging * log(10.0))
    found = OneDay(along, fits)
    if watch := reference.regions and detector.regions:
        at = region_evidence(
            *(reference.regions, parts, watch.day_variances), wrong=wrong, hanging=hanging
        )
        places = at.gains / log(10.0) + np.log10(watch.weights)
        of_place = float(places.max() + np.log10(OF_REGIONS))
        is_place = of_place > simpler + SIMPLER / log(10.0)
        found = OneDay(max(along, of_place), KIND if is_place else fits)
    return found if found.evidence >= enough + BEYOND else None
