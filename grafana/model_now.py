"""The large numbers of a model's dashboard: what holds now."""

from grafana_foundation_sdk.builders import stat
from grafana_foundation_sdk.models import common
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue as Property
from panels import GREY, KINDS, MOMENT, in_words, number, said, thresholds, verdict_words
from queries import (
    JUDGED,
    MODEL,
    WHOLE,
    evidence_share,
    milliseconds,
    newest,
    or_words,
    recent,
    verdict,
    while_open,
)

WIDTH = 3  # of 24: eight panels in the row
STARTED = newest("drift_started_timestamp_seconds", JUDGED)


def strip() -> list[stat.Panel]:
    """Give the panels from left to right."""
    return [said_now(), kind(), since(), found(), false_alerts(), evidence(), judged(), success()]


def said_now() -> stat.Panel:
    """Show the verdict."""
    panel = number({"verdict": verdict(JUDGED)}, unit="short").mappings(verdict_words())
    panel.thresholds(thresholds(GREY, {}))
    return said(
        panel.color_mode(common.BigValueColorMode.BACKGROUND),
        "Verdict",
        "What is said of the newest judged day. Red: the curve is bent, whatever the base rate "
        "does, until the outcomes say 100 to 1 that it is back. Yellow: the level is off. Blue: "
        "only the base rate moved. Orange: a drift is acknowledged in the configuration. Grey: not "
        "enough outcomes. Purple: the logs break a rule.",
        none="no reference yet",
        width=WIDTH,
    )


def kind() -> stat.Panel:
    """Name the open incident."""
    kinds = f"{newest('drift_kind', JUDGED, 'kind')} == 1"
    targets = {"{{kind}}": or_words(kinds, "kind", "no incident")}
    panel = number(targets, unit="none", named=True)
    for name in KINDS:
        panel.override_by_name(name, [in_words(name)])
    return said(
        panel,
        "Kind of drift",
        "How the curve is bent while an incident is open: the distortion that fits the outcomes "
        "best since the estimated start. It may be renamed as outcomes come in.",
        none="no incident",
        width=WIDTH,
    )


def since() -> stat.Panel:
    """Show since when the incident lasts."""
    return said(
        number({"since": milliseconds(while_open(STARTED, JUDGED))}, unit=MOMENT),
        "Drifting since",
        "When the drift of the open incident began, as estimated from the outcomes: look at what "
        "was released then. It is found some days after it began.",
        none="no incident",
        width=WIDTH,
    )


def found() -> stat.Panel:
    """Show how sure the incident is."""
    strength = while_open(newest("drift_evidence_log10", JUDGED), JUDGED)
    return said(
        number({"evidence": strength}, unit="prefix:10^").decimals(1),
        "Found with evidence",
        "How many times better a drift explains the outcomes than the reference curve, within its "
        "tolerance, on the day on which the incident opened: 10^4.3 is 20,000 times. It stays so "
        "while the incident lasts, also if it is renamed.",
        none="no incident",
        width=WIDTH,
    )


def evidence() -> stat.Panel:
    """Show how near the next incident is."""
    panel = number({"evidence": evidence_share(JUDGED)}, unit="percentunit").decimals(0)
    return said(
        panel.thresholds(thresholds("text", {"green": 0, "yellow": 0.5, "orange": 0.8})),
        "Evidence / limit",
        "The strongest evidence of a bent curve, as a share of what opens an incident. It starts "
        "again from 0 when one opens: a low share does not mean that the incident is over.",
        none="no reference yet",
        width=WIDTH,
    )


def false_alerts() -> stat.Panel:
    """Show how far a page can be trusted."""
    intervals = {
        "all": newest("false_alert_interval_seconds", MODEL),
        "segments": newest("segment_false_alert_interval_seconds", MODEL),
    }
    return said(
        number(intervals, unit="s").decimals(1).text_mode(common.BigValueTextMode.VALUE_AND_NAME),
        "One false page in",
        "If the curve never bends, incidents of the whole model are at least this far apart on "
        "average, and so are those of all its segments together.",
        none="no limit yet",
        width=WIDTH,
    )


def judged() -> stat.Panel:
    """Show which day the verdict speaks of."""
    ends = milliseconds(newest("verdict_timestamp_seconds", JUDGED))
    return said(
        number({"judged": ends}, unit="dateTimeFromNow"),
        "Last day judged",
        "When the day ended that the verdict speaks of. It is some days back, because outcomes "
        "need their time to arrive.",
        none="no reference yet",
        width=WIDTH,
    )


def success() -> stat.Panel:
    """Show how old the last good run is."""
    age = f"(time() - {newest('last_success_timestamp_seconds', MODEL)})"
    share = f"{age} / {newest('run_overdue_limit_seconds', MODEL)}"
    panel = number({"ago": age, "of the limit": share}, unit="percentunit").decimals(0)
    plain = Property(id_val="thresholds", value=thresholds("text", {}).build())
    units = [Property(id_val="unit", value="s"), Property(id_val="decimals", value=1), plain]
    panel.override_by_name("ago", units).text_mode(common.BigValueTextMode.VALUE_AND_NAME)
    return said(
        panel.thresholds(thresholds("green", {"red": 1})),
        "Last success",
        "How long ago the last run without a failed day finished, and how much that is of what "
        "the model's configuration allows. Red: a run is overdue.",
        none="none within 26 hours",
        width=WIDTH,
    )


def segments() -> stat.Panel:
    """Name the segments with an open incident."""
    opened = newest("drift_kind", f'{MODEL}, segment!="{WHOLE}"', "segment")
    names = or_words(f"{opened} == 1", "segment", "none")
    return said(
        number({"{{segment}}": names}, unit="none", named=True),
        "Segments drifting",
        "The segments with an open incident, whichever segment is chosen above. Choose one of "
        "them there to see it.",
        none="none",
        width=WIDTH,
    )


def owner() -> stat.Panel:
    """Show who answers for the model."""
    by = f"max by (owner, severity) ({recent('model_info', MODEL)})"
    return said(
        number({"{{owner}} ({{severity}})": by}, unit="none", named=True),
        "Owner",
        "Who answers for the model, and how urgent its alerts are, as configured.",
        none="unknown model",
        width=WIDTH,
    )
