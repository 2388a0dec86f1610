"""What is said of labels that were chosen by their score. Pure."""

from datetime import date
from math import isinf
from typing import TYPE_CHECKING

from monitor.base.segment_names import WHOLE, shown
from monitor.evaluation.chosen_labels import ChosenLabels, RuleChange, ScoreGroup
from monitor.evaluation.evaluation import Population
from monitor.metrics.core.estimate import Estimate
from monitor.words.numbers import percent

if TYPE_CHECKING:  # a plan is made by commands other than those that say something of labels
    from monitor.drift.incidents.label_plan import LabelPlan

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


def fitted_sentence() -> str:
    """Say of which predictions the gains of a fitted map are, where labels are chosen."""
    return (
        f"All gains are those of the labelled predictions; compared in the shadow (map), a map has "
        f"those of all. See {PAGE}#the-numbers-of-all-predictions."
    )


def rule_sentence(change: RuleChange) -> str:
    """Say since when another rule chooses which predictions get an outcome, and what follows."""
    if change.alike:
        how = "Fewer" if change.after.rate < change.before.rate else "More"
        return (
            f"{how} predictions get an outcome since {change.day}, alike at all scores: "
            f"{percent(change.after.rate)} since then, {percent(change.before.rate)} before. If "
            f"outcomes are only late, raise settled_after."
        )
    return (
        f"Other predictions get an outcome since {change.day}: of those with "
        f"{_scores(change.after)} {percent(change.after.rate)} have one since then, "
        f"{percent(change.before.rate)} before. If the new rule looks at more than the score, a "
        f"drift or a change of level that begins on that day may come from it, not from the "
        f"model. See {PAGE}#when-the-rule-changes."
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
        f"{errors}. The labelled ones alone have a prevalence of {percent(labelled)}, and "
        f"numbers that are not said to be of all are theirs.{beyond}"
    )


def acted_sentence(day: date, acted: int, predicted: int) -> str:
    """Say how many predictions of a day cannot be judged, because they were acted on."""
    share = percent(acted / predicted)
    return (
        f"On {day} {acted:,} of {predicted:,} predictions ({share}) were acted on: nobody knows "
        f"what their outcome would have been, so the verdict judges the others. It takes them for "
        f"a sample of all predictions with the same score; a few per cent of random no-action "
        f"test that. See {PAGE}#when-the-score-is-acted-on."
    )


def plan_sentence(
    kind: str,
    slope: float | None,
    plan: "LabelPlan",
    *,
    uniform: float,
    days: float | None,
    days_uniform: float | None,
) -> str:
    """Say what labels at planned rates are worth, and how soon they find what they are for.

    Parameters
    ----------
    kind : str
        The distortion.
    slope : float or None
        Its size, if it is one of the slope.
    plan : LabelPlan
        The rates.
    uniform : float
        Share of the labels that is drawn from all scores alike.
    days, days_uniform : float or None
        Until a slope is found, with the plan and with as many labels drawn uniformly.
    """
    sought = kind if slope is None else f"a slope of {slope:g}"
    if plan.labels >= plan.predictions:
        return (
            f"label all {plan.predictions:,.0f} predictions of a day; there is nothing to choose."
        )
    told = (
        f"{plan.labels:,.0f} labels a day, of {plan.predictions:,.0f} predictions, say as much of "
        f"{sought} as {plan.worth:,.0f} that are drawn uniformly; {percent(uniform, 0)} of them "
        f"are drawn from all scores alike."
    )
    if slope is None:
        return told
    wait = f"{_days(days)} with these, {_days(days_uniform)} with as many drawn uniformly"
    return f"{told} It is found after {wait}, once days labelled so are the reference."


def _days(days: float | None) -> str:
    if days is None:
        return "no number of days (280 are too few for a reference)"
    if isinf(days):
        return "more than 400 days"
    return f"{days:.0f} days" if days > 1.0 else "1 day"


def _share(of: Estimate) -> str:
    return f"{of:.1%}"


def _scores(group: ScoreGroup) -> str:
    return f"scores from {group.low:.2g} to {group.high:.2g}"
