"""The row of a model's dashboard about several classes; models with two have no such gauges."""

from grafana_foundation_sdk.builders import stat, timeseries
from model_errors import TWICE, twice
from panels import TEAL, colored, lines, marked, number, said
from queries import MODEL, WINDOW, newest

from monitor.measures.windows import CALIBRATED_TCE

NO_CLASSES = "no final window of a model with classes"
SHOWN = 10  # classes in a panel: those with the largest values
CALIBRATED = f" About {100 * CALIBRATED_TCE:.0f} % (dashed) is what calibrated scores show."
PRIOR = f'{WINDOW}, adjusted="prior"'


def classes() -> list[timeseries.Panel | stat.Panel]:
    """Draw the scores of vectors, and where among the classes they are off."""
    return [
        vector("vector_rbs", "Root Brier score of vectors", "the squared gaps of all classes"),
        vector("vector_log_loss_nats", "Log loss of vectors", "minus the log of the true class"),
        over_classes("classwise_tce_ratio", "TCE over classes", "percentunit"),
        over_classes("classwise_ece_ratio", "ECE over classes", "percentunit"),
        over_classes("classwise_rbs", "Root Brier score over classes", "short"),
        frequencies(),
        one_by_one("class_tce_ratio", "TCE by class", "percentunit"),
        one_by_one("class_ece_ratio", "ECE by class", "percentunit"),
        one_by_one("class_rbs", "Root Brier score by class", "short"),
        judged(),
        left_out(),
    ]


def vector(gauge: str, title: str, what: str) -> timeseries.Panel:
    """Draw a score of whole vectors, as logged and adjusted."""
    return said(
        twice(gauge, "short").decimals(3),
        title,
        f"The mean over rows of {what}, over all classes. "
        + TWICE
        + " The bands are 95 % intervals.",
        none=NO_CLASSES,
        width=6,
    )


def over_classes(gauge: str, title: str, unit: str) -> timeseries.Panel:
    """Draw the mean and the largest value over the watched classes."""
    asked = {
        f"{adjusted} {over}": newest(gauge, f'{WINDOW}, adjusted="{adjusted}", over="{over}"')
        for adjusted in ("raw", "prior")
        for over in ("mean", "worst")
    }
    return said(
        lines(asked, unit=unit).min(0).decimals(3),
        title,
        "Each watched class against the rest: the mean, and the worst class. A worst line far "
        "above the mean says that one class is off. " + TWICE,
        none=NO_CLASSES,
        width=6,
    )


def one_by_one(gauge: str, title: str, unit: str) -> timeseries.Panel:
    """Draw the classes with the largest errors."""
    largest = f"topk({SHOWN}, {newest(gauge, PRIOR, 'class')})"
    panel = lines({"{{class}}": largest}, unit=unit).min(0).decimals(3)
    return said(
        marked(panel, CALIBRATED_TCE) if gauge == "class_tce_ratio" else panel,
        title,
        f"The {SHOWN} watched classes with the largest error against the rest, with the class "
        "priors adjusted. Classes that became more frequent are not off for that reason."
        + (CALIBRATED if gauge == "class_tce_ratio" else ""),
        none=NO_CLASSES,
        width=6,
    )


def frequencies() -> timeseries.Panel:
    """Draw how often classes come true, and how often the scores say so."""
    seen, expected = "class_prevalence_ratio", "class_mean_score_ratio"
    return said(
        lines(
            {
                "{{class}}": f"topk({SHOWN}, {newest(seen, WINDOW, 'class')})",
                "{{class}}, mean score": f"topk({SHOWN}, {newest(expected, WINDOW, 'class')})",
            },
            unit="percentunit",
        ).min(0),
        "Classes",
        f"The share of the outcomes of the {SHOWN} most frequent classes, and the mean score of "
        "each. If they part, the priors moved or the class is miscalibrated; the verdict says "
        "which.",
        none=NO_CLASSES,
        width=6,
    )


def judged() -> timeseries.Panel:
    """Draw the share of the outcomes that the verdict rests on."""
    panel = lines({"judged": newest("judged_outcomes_ratio", WINDOW)}, unit="percentunit")
    return said(
        colored(panel.min(0).max(1), {"judged": TEAL}),
        "Outcomes judged",
        "The verdict rests on rows whose outcome is one of the two classes with the highest "
        "scores. The rest says nothing about a drift that no class prior explains.",
        none=NO_CLASSES,
        width=4,
    )


def left_out() -> stat.Panel:
    """Count the classes and the pairs without gauges of their own."""
    both = {"classes": "classes_left_out", "pairs": "pairs_left_out"}
    return said(
        number({name: newest(gauge, MODEL) for name, gauge in both.items()}, unit="short"),
        "Left out",
        "Classes and pairs of classes without gauges of their own. The scores of vectors include "
        "these classes, and the verdict of segment all these pairs. Set "
        "`predictions.classes.watch` to choose which classes have some.",
        none="none",
        width=2,
    )
