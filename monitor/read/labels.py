"""Whether the labels of a stored day look chosen by their score, or rows were acted on."""

from dataclasses import dataclass
from typing import Any

from monitor.config import Model
from monitor.evaluation.chosen_labels import ChosenLabels, chosen_labels
from monitor.read.results import Results
from monitor.read.standing import Standing
from monitor.words.labels import acted_sentence, chosen_sentence


@dataclass(frozen=True)
class Labels:
    """What is to be said of the labels of a day.

    Attributes
    ----------
    chosen : ChosenLabels or None
        That they look chosen by score, where no setting says how they are chosen.
    acted : int or None
        Predictions that were acted on, of a model with such a column.
    sentences : tuple of str
        The same for people.
    """

    chosen: ChosenLabels | None = None
    acted: int | None = None
    sentences: tuple[str, ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        """The facts for programs."""
        return {"chosen_labels": self.chosen, "acted": self.acted}


def labels_of(results: Results, model: Model, standing: Standing) -> Labels:
    """Say of the day that a standing shows what is to be known of its labels.

    Raises
    ------
    DataError
        If the summary of the day cannot be read.
    """
    alone = standing.alone
    if not alone or alone.matched == alone.predicted:
        return Labels()  # known without the summary
    explained = model.label_rate is not None or not alone.final
    if model.action is None and explained:
        return Labels()
    if alone.day not in results.days("summaries", alone.day):
        return Labels()
    summary = results.summary(alone.day)
    if model.action is not None:
        predicted = sum(part.predicted for part in summary.segments.values())
        told = summary.acted and acted_sentence(alone.day, summary.acted, predicted)
        return Labels(acted=summary.acted, sentences=(told,) if told else ())
    chosen = chosen_labels(summary)
    return Labels(chosen, sentences=(chosen_sentence(chosen),) if chosen else ())
