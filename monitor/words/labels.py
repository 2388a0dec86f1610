"""What is said of labels that were chosen by their score. Pure."""

from monitor.evaluation.chosen_labels import ChosenLabels, ScoreGroup
from monitor.evaluation.population import Population
from monitor.metrics.core.estimate import Estimate
from monitor.segment_names import WHOLE, shown
from monitor.words.numbers import percent

PAGE = "docs/chosen-labels.md"
LEAST_LEFT_OUT = 0.005  # of the predictions; less is not said


def chosen_sentence(chosen: ChosenLabels) -> str:
    """Say that labels look chosen by score, what is right all the same, and what is not."""
    in_segment = "" if chosen.segment == WHOLE else f" in {shown(chosen.segment)}"
    return (
        f"Labels seem to be chosen by score{in_segment}: on {chosen.day} "
        f"{percent(chosen.most.rate)} of the predictions with {_scores(chosen.most)} have an "
        f"outcome, and {percent(chosen.least.rate)} of those with {_scores(chosen.least)}. Verdict "
        f"and slope are right all the same; prevalence, mean score, ECE, TCE, RBS and causes are "
        f"those of the labelled predictions, not of all: set label_rate to by_score to have those "
        f"of all too. If outcomes are only late, raise settled_after. See {PAGE}."
    )


def population_sentence(population: Population, labelled: float, span: str) -> str:
    """Give the measures of all predictions; `labelled` is the prevalence of those with an outcome.

    Parameters
    ----------
    population : Population
        Of a span of days.
    labelled : float
        A ratio in [0, 1].
    span : str
        Which days.
    """
    rates = (
        f"prevalence {_share(population.prevalence)}, mean score {_share(population.mean_score)}"
    )
    root = population.errors.rbs_interval
    errors = f"ECE {population.errors.ece:.3f}, RBS {root:.3f}" if root else ""
    tce = population.errors.tce
    errors += f", TCE {tce:.3f}" if tce else ""
    left = 1.0 - population.reached
    beyond = (
        f" {percent(left)} of them have scores at which nothing is labelled, and are left out."
        if left >= LEAST_LEFT_OUT
        else ""
    )
    return (
        f"All predictions of the {span}, estimated from the labelled ones: {rates}, "
        f"{errors}. The labelled ones alone have a prevalence of {percent(labelled)}, and all "
        f"other numbers are theirs.{beyond}"
    )


def _share(of: Estimate) -> str:
    return f"{of:.1%}"


def _scores(group: ScoreGroup) -> str:
    return f"scores from {group.low:.2g} to {group.high:.2g}"
