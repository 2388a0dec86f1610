"""Whether the labels of a stored day look chosen by their score."""

from monitor.evaluation.chosen_labels import ChosenLabels, chosen_labels
from monitor.read.results import Results
from monitor.read.standing import Standing


def chosen_on(results: Results, standing: Standing) -> ChosenLabels | None:
    """Test the labels of the day that a standing of the whole or of a segment shows.

    Raises
    ------
    DataError
        If the summary of the day cannot be read.
    """
    alone = standing.alone
    if not alone or not alone.final or alone.matched == alone.predicted:
        return None  # known without the summary
    stored = alone.day in results.days("summaries", alone.day)
    return chosen_labels(results.summary(alone.day)) if stored else None
