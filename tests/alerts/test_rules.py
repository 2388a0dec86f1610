"""Rules, routes and runbook: sound by their own programs, and one in their words."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from typer.core import TyperGroup
from typer.main import get_command

from monitor.cli import app
from monitor.config import CHECKS
from monitor.drift.records.day_evidence import KINDS
from monitor.drift.records.detector import INCIDENT_KINDS, EndReason
from monitor.drift.records.region_state import KIND
from monitor.drift.records.verdict import STATES
from monitor.export.http.probe import NAME as PROBED
from monitor.measures.gauges import CATALOGUE
from monitor.measures.window_scopes import ROW_CHECKS
from monitor.words.verdict import MEANINGS
from tests.support.paths import ROOT
from tests.support.servers import program_path

ALERTS = ROOT / "alerts"
RULES = ALERTS / "calibration.rules.yml"
ROUTES = ALERTS / "alertmanager.yml"
RUNBOOK = ALERTS / "runbook.md"
CASES = sorted((ALERTS / "tests").glob("*.yml"))
DASHBOARDS = sorted((ROOT / "grafana" / "dashboards").glob("*.json"))
SPEAKING = [RULES, RUNBOOK, *CASES, *DASHBOARDS]

RECEIVERS = {"page": "pagerduty", "ticket": "slack-tickets", "info": "slack-digest"}
WATCHDOG = "CalibrationWatchdog"
OF_NO_MODEL = {
    "CalibrationExporterAbsent",
    "CalibrationStoreNotWritable",
    "CalibrationJobFailed",
    WATCHDOG,
}
BOARDS = {  # where its reader looks first, if not at the page of the model
    **dict.fromkeys(OF_NO_MODEL, "calibration-fleet"),
    **dict.fromkeys(
        [
            *("CalibrationOutcomesMissing", "CalibrationEvaluationMissing"),
            *("CalibrationDataRejected", "CalibrationDataError", "CalibrationMixMoved"),
            *("CalibrationConfigInvalid", "CalibrationResultsUnreadable"),
            "CalibrationInsufficientData",
        ],
        "calibration-data",
    ),
    "CalibrationMapHarms": "calibration-errors",
}
GAUGES = {gauge.name: gauge for gauge in CATALOGUE}
CLOSED: dict[str, set[str]] = {
    "state": set(STATES),
    "kind": set(INCIDENT_KINDS),
    "maturity": {"final"},
    "adjusted": {"raw", "prior", "map", "population"},
    "cause": {"prior_shift", "slope", "shape", "rest", "all"},
    "reason": set(ROW_CHECKS),
    "severity": {"page", "ticket", "info"},
    "ending": set(get_args(EndReason)),
    "log": {"predictions", "outcomes", "logs"},
    "check": {*CHECKS, "column", "unreadable", "memory", "other"},
}
OF_PROMETHEUS = {"job", "instance"}  # labels that every scraped series gets


ONE_CORE = {"GOMAXPROCS": "1"}  # these programs of Go have nothing to do beside each other


@cache
def alerts() -> dict[str, dict[str, Any]]:
    """Read the alerting rules by name."""
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    rules = [rule for group in groups for rule in group["rules"] if "alert" in rule]
    assert len({rule["alert"] for rule in rules}) == len(rules)
    return {rule["alert"]: rule for rule in rules}


@cache
def tried() -> list[dict[str, Any]]:
    """Read the unit tests of the rules, of all files."""
    return [test for path in CASES for test in yaml.safe_load(path.read_text("utf-8"))["tests"]]


def told(*call: str | Path) -> str:
    """Run a checking program, and give what it printed; it fails where it finds a fault."""
    name, *arguments = call
    done = subprocess.run(
        [program_path(str(name)), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=ALERTS,
        env=os.environ | ONE_CORE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def names(path: Path) -> set[str]:
    """Find the gauges that a file speaks of; `calibration_drift` is a state, not a gauge."""
    spoken = set(re.findall(r"\bcalibration_[a-z0-9_]+", path.read_text(encoding="utf-8")))
    return spoken - set(STATES)


def selectors(path: Path) -> Iterator[tuple[str, str, str]]:
    """Find gauge, label and value of every matcher in a file; the value of a template is ''."""
    text = path.read_text(encoding="utf-8").replace('\\"', '"')
    for name, inside in re.findall(r"\b(calibration_[a-z0-9_]+)\s*\{([^{}]*)\}", text):
        for label, value in re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*(?:"([^"]*)"|%q)', inside):
            yield name, label, value


def words(text: str) -> str:
    """Take line breaks and indentation out of a text."""
    return " ".join(text.split())


class TestPrograms:
    """What Prometheus's and Alertmanager's own checkers say."""

    def test_promtool_accepts_the_rules(self) -> None:
        """The rules are valid and none stands twice."""
        assert "SUCCESS: 45 rules found" in told("promtool", "check", "rules", RULES)

    @pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
    def test_promtool_sees_what_must_fire_and_what_must_not(self, case: Path) -> None:
        """Every unit test of the rules passes."""
        assert "SUCCESS" in told("promtool", "test", "rules", case)

    def test_amtool_accepts_the_routes(self) -> None:
        """Alertmanager's configuration and its template are valid."""
        assert "1 templates\n  SUCCESS" in told("amtool", "check-config", ROUTES)

    @pytest.mark.parametrize(
        ("alert", "severity"),
        [
            ("CalibrationDrift", "page"),
            ("CalibrationPriorShift", "ticket"),
            ("CalibrationOneDay", "info"),
            (WATCHDOG, "none"),
            ("CalibrationDrift", "odd"),  # what nobody foresaw becomes a ticket
        ],
    )
    def test_every_alert_goes_where_its_severity_says(self, alert: str, severity: str) -> None:
        """A page rings, a ticket and information are two channels of Slack, whatever the alert."""
        labels = (f"alertname={alert}", "model=fraud", f"severity={severity}")
        call = ("amtool", "config", "routes", "test", f"--config.file={ROUTES}", *labels)

        others = {"none": "watchdog", "odd": "slack-tickets"}
        assert told(*call).split() == [(RECEIVERS | others)[severity]]


class TestAlerts:
    """What every alert must have."""

    def test_are_those_of_the_runbook(self) -> None:
        """Each alert has a heading in the runbook, and each such heading an alert."""
        headings = re.findall(r"(?m)^## (Calibration\w+)$", RUNBOOK.read_text(encoding="utf-8"))

        assert headings == list(alerts())

    def test_says_what_and_where_to_read_on(self) -> None:
        """An alert has a summary, a description, and links to its dashboard and its heading."""
        for alert in alerts():
            notes = alerts()[alert]["annotations"]
            board = BOARDS.get(alert, "calibration-model")
            needed = {"summary", "description", "dashboard_url", "runbook_url"}
            needed |= set() if alert in OF_NO_MODEL else {"report_url"}

            assert set(notes) - {"ending"} == needed
            assert notes["summary"]
            assert notes["description"]
            assert f"https://grafana.example.org/d/{board}" in notes["dashboard_url"]
            assert (
                notes["runbook_url"] == f"https://runbooks.example.org/runbook.md#{alert.lower()}"
            )

    def test_a_ticket_of_a_model_is_information_where_the_model_is(self) -> None:
        """Cases of promtool try it for some of these; the others have the same words."""
        lowered = '{{ if eq $labels.severity "info" }}info{{ else }}ticket{{ end }}'
        data = "OutcomesMissing EvaluationMissing DataRejected DataError ReferenceChanged MixMoved"
        others = "ConfigInvalid ResultsUnreadable NotComparable MapHarms BudgetBurnSlow"

        assert {a for a, rule in alerts().items() if rule["labels"]["severity"] == lowered} == {
            f"Calibration{name}" for name in f"{data} {others}".split()
        }

    def test_every_alert_is_tried_without_an_exporter(self) -> None:
        """There is a case in which the exporter is away, and all but its own alert go on."""
        name = "every alert but that of the exporter"
        (case,) = (test for test in tried() if test["name"].startswith(name))
        told = [
            {re.findall('alertname="(\\w+)"', sample["labels"])[0] for sample in at["exp_samples"]}
            for at in case["promql_expr_test"]
        ]

        assert len(told) == 5
        assert all(names == set(alerts()) - OF_NO_MODEL for names in told)

    def test_drift_speaks_the_words_of_the_verdict(self) -> None:
        """The page names a distortion in the words of `show` and of the report."""
        description = words(alerts()["CalibrationDrift"]["annotations"]["description"])
        chosen = re.findall(r'if eq \$kind "(\w+)" }} ([^{]+?)\. {{', description)

        of_curve = {kind: said for kind, said in chosen if kind in (*KINDS, KIND)}
        assert of_curve == MEANINGS
        assert [kind for kind, _ in chosen] == [*INCIDENT_KINDS]

    def test_limits_come_from_gauges(self) -> None:
        """Rules hold no number but 0, 1 and the 2 of half an interval, no span but the calendar."""
        groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
        plain = re.sub(
            '"[^"]*"', "", " ".join(r["expr"] for group in groups for r in group["rules"])
        )

        found = sorted({*re.findall(r"(?<![\w.])[\d.]+\w*", plain)})
        assert " ".join(found) == "0 1 15m 1w 2 20m 26h 2m"

    def test_is_tested_both_ways(self) -> None:
        """There is a case in which an alert fires, and one in which it stays silent."""
        for alert in [alert for alert in alerts() if alert != WATCHDOG]:
            cases = [
                case
                for test in tried()
                for case in test.get("alert_rule_test", [])
                if case["alertname"] == alert
            ]

            assert {bool(case.get("exp_alerts")) for case in cases} == {True, False}

    def test_links_become_ones_own(self) -> None:
        """The command at the head of the rules puts other hosts into every link."""
        (script,) = re.findall("sed -i '(.+?)'", RULES.read_text("utf-8"))
        script = script.replace("https://...", "https://g.test", 1)
        script = script.replace("https://...", "https://r.test", 1)
        links = re.findall(r"_url: (?:>-\s+)?(https://[^/]+)/", told("sed", script, RULES))

        assert links == len(alerts()) * ["https://g.test", "https://r.test"]

    def test_keeps_no_secret(self) -> None:
        """Addresses and keys that must not be known come from files."""
        text = ROUTES.read_text(encoding="utf-8")

        assert len(re.findall(r"\b(?:api_url|routing_key)_file: /etc/alertmanager/", text)) == 3
        assert not re.search(r"\b(?:api_url|routing_key|service_key|slack_api_url)\s*:", text)


PARTS = (
    "What it means.",
    "How sure it is.",
    "What to look at.",
    "What to do.",
    "When to silence.",
)


class TestRunbook:
    """What every section of the runbook must have."""

    def test_has_five_parts_and_a_command(self) -> None:
        """A section says what, how sure, where to look, what to do, when not, and what to type."""
        for alert in alerts():
            text = RUNBOOK.read_text(encoding="utf-8")
            section = text.partition(f"## {alert}\n")[2].partition("\n## ")[0]
            parts = re.split(r"(?m)^\*\*([^*]+)\*\*", section)
            told = dict(zip(parts[1::2], parts[2::2], strict=True))

            assert tuple(told) == PARTS
            assert all(len(said.split()) > 2 for said in told.values())
            assert re.search(r"(?m)^ {4,}(calibration-monitor|curl) ", told["What to look at."])


# What the runbook tells to type, in blocks or in the text, without the comments behind it.
CALLS = sorted(
    {
        call.strip()
        for call in re.findall(
            r"(?m)(?:^ {4,}|`)((?:calibration-monitor|amtool) [^`#|\n]+)",
            RUNBOOK.read_text(encoding="utf-8"),
        )
    }
)


def parse(words: list[str]) -> None:
    """Take a call apart as the program would, values included, and run nothing."""
    command = get_command(app)
    while isinstance(command, TyperGroup):
        assert words[0] in command.commands
        command, words = command.commands[words[0]], words[1:]
    command.make_context(command.name, words).close()


class TestCommands:
    """What the runbook tells to type."""

    @pytest.mark.parametrize("call", CALLS)
    def test_exist_with_their_options(self, call: str) -> None:
        """Each command is known by its program, and so is each option and value behind it."""
        program, *words = shlex.split(call)
        if program == "amtool":
            options = re.compile("--[a-z-]+")
            described = told("amtool", *words[:2], "--help")
            assert set(options.findall(call)) <= set(options.findall(described))
        else:
            parse(words)


class TestWords:
    """Rules, their tests, runbook and dashboards speak of gauges that exist, with their labels."""

    @pytest.mark.parametrize("path", SPEAKING, ids=lambda path: path.name)
    def test_gauges_exist(self, path: Path) -> None:
        """A file speaks of gauges of the catalogue only."""
        spoken = names(path)

        assert spoken
        assert spoken - set(GAUGES) - {PROBED} == set()

    @pytest.mark.parametrize("path", SPEAKING, ids=lambda path: path.name)
    def test_labels_exist(self, path: Path) -> None:
        """Each matcher names a label of its gauge, and a value that this label can have."""
        strange = {
            (name, label, value)
            for name, label, value in selectors(path)
            if name in GAUGES
            and (
                label not in {*GAUGES[name].labels, *OF_PROMETHEUS}
                or (label in CLOSED and value and not set(value.split("|")) <= CLOSED[label])
            )
        }

        assert strange == set()

    def test_every_gauge_is_used(self) -> None:
        """A gauge that no rule, no panel and no page of the runbook asks for serves nobody."""
        assert DASHBOARDS
        used = set().union(*map(names, [RULES, RUNBOOK, *DASHBOARDS]))

        assert set(GAUGES) - used == set()

    def test_kinds_of_the_runbook_are_all(self) -> None:
        """The table of distortions has a row for each, in the order of the verdict."""
        rows = re.findall(r"(?m)^\| `(\w+)` \| ", RUNBOOK.read_text(encoding="utf-8"))

        assert tuple(rows) == INCIDENT_KINDS

    def test_links_lead_to_dashboards(self) -> None:
        """Messages link to the dashboards of the repository, and choose what those let choose."""
        assert DASHBOARDS
        boards = [json.loads(path.read_text("utf-8")) for path in DASHBOARDS]
        chosen = {b["uid"]: {v["name"] for v in b["templating"]["list"]} for b in boards}
        linked = re.findall(r"grafana\.example\.org/d/([\w-]+)(\?\S+)?", RULES.read_text("utf-8"))

        assert {uid for uid, _ in linked} == set(chosen)
        for uid, handed in linked:
            assert set(re.findall(r"var-(\w+)=", handed)) <= chosen[uid]
