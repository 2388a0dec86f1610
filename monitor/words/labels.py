"""What is said of labels that were chosen by their score. Pure."""

from monitor.evaluation.chosen_labels import ChosenLabels, ScoreGroup
from monitor.segment_names import WHOLE, shown
from monitor.words.numbers import percent

PAGE = "docs/chosen-labels.md"


def chosen_sentence(found: ChosenLabels) -> str:
    """Say that labels look chosen by score, what is right all the same, and what is not."""
    where = "" if found.segment == WHOLE else f" in {shown(found.segment)}"
    return (
        f"Labels seem to be chosen by score{where}: on {found.day} {percent(found.most.rate)} of "
        f"the predictions with {_scores(found.most)} have an outcome, and "
        f"{percent(found.least.rate)} of those with {_scores(found.least)}. Verdict and slope are "
        f"right all the same; prevalence, mean score, ECE, TCE, RBS and causes are those of the "
        f"labelled predictions, not of all. If outcomes are only late, raise settled_after. See "
        f"{PAGE}."
    )


def _scores(group: ScoreGroup) -> str:
    return f"scores from {group.low:.2g} to {group.high:.2g}"
