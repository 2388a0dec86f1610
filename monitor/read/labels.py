"""Whether labels look chosen by their score or by a new rule, or rows were acted on."""

from dataclasses import dataclass
from typing import Any

from monitor.config import Model
from monitor.days.summary import Summary
from monitor.evaluation.chosen_labels import ChosenLabels, RuleChange, chosen_labels, rule_change
from monitor.read.results import Results
from monitor.read.standing import Standing
from monitor.words.labels import acted_sentence, chosen_sentence, rule_sentence

LOOKED_BACK = 90  # stored days among which a change of the rule is sought
NEARLY_ALL = 0.99  # of the predictions have an outcome: then no rule chooses


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
    rule : RuleChange or None
        Since when another rule chooses them, where that was asked.
    """

    chosen: ChosenLabels | None = None
    acted: int | None = None
    sentences: tuple[str, ...] = ()
    rule: RuleChange | None = None

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
        return Labels(acted=summary.acted, sentences=_about_actions(summary))
    chosen = chosen_labels(summary)
    return Labels(chosen, sentences=(chosen_sentence(chosen),) if chosen else ())


def labels_in_logs(results: Results, model: Model, day: Summary) -> Labels:
    """Say what is to be known of the labels of a day that was read from the logs.

    Raises
    ------
    DataError
        If a stored summary cannot be read.
    """
    chosen = None if model.action else chosen_labels(day)
    rule = _new_rule(results, day)
    by_score = [chosen_sentence(chosen)] if chosen and not model.label_rate else []
    by_another = [rule_sentence(rule)] if rule else []
    return Labels(chosen, day.acted, (*by_score, *by_another, *_about_actions(day)), rule)


def _about_actions(day: Summary) -> tuple[str, ...]:
    predicted = sum(part.predicted for part in day.segments.values())
    return (acted_sentence(day.days[-1], day.acted, predicted),) if day.acted else ()


def _new_rule(results: Results, day: Summary) -> RuleChange | None:
    """Find the stored day up to this one since which another rule chooses what gets an outcome."""
    parts = day.segments.values()
    if sum(p.tally.total for p in parts) >= NEARLY_ALL * sum(p.predicted for p in parts):
        return None
    stored = results.days("summaries", day.days[-1])[-LOOKED_BACK:]
    return rule_change([results.summary(each) for each in stored])
