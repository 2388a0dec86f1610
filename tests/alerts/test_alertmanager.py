"""From a verdict to a message: exporter, Prometheus, Alertmanager, and what reaches people.

All programs are real and all rules and routes are those of `alerts`; only waiting is shortened,
by replacing the words of `alerting.SOONER`, and messages go to a server of the test.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from monitor.drift.inputs import Day, Limits, evidence_by_stream, fit_model_reference
from monitor.drift.verdict import Verdict, judge
from monitor.metrics.core.coarse import CENTRES, Coarse
from monitor.metrics.core.estimate import Estimate
from monitor.store.store import FailedDay, Store
from tests.support.alerting import BOARD, BOOK, alertmanager, await_posts, event, message, sooner
from tests.support.receivers import Posts, at, receiving
from tests.support.servers import Program, listening, started, wait_for

DRIFT = "fraud: the probabilities no longer mean what they meant"
LEVEL = "ctr: all probabilities are off in one direction, and not by the prior"
BROKEN = (
    "A day of logs breaks a rule, and was left out: what is said of the model is that of the days "
    "before. The log of the run says which file, which value and what to do. Other alerts of this "
    "model are held back meanwhile."
)

# How each model's outcomes come after its reference: the slope of their curve, the shift of the
# prior, with which the mix of the scores moves, and the shift of the level, with which it does not.
SOUND = (1.0, 0.0, 0.0)
ILL = {
    "fraud": (0.8, 0.3, 0.0),
    "flights": (1.0, 1.6, 0.0),
    "ctr": (1.0, 0.0, -0.4),
    "torn": (0.8, 0.0, 0.0),
}
SEVERITY = {"fraud": "page", "flights": "page", "ctr": "ticket", "torn": "page"}
VERDICTS = {
    "fraud": "calibration_drift",
    "flights": "prior_shift",
    "ctr": "level_drift",
    "torn": "calibration_drift",
}
FIRST = date(2026, 2, 1)
REFERENCE_DAYS, ILL_DAYS, SOUND_DAYS = 28, 10, 14
STARTED = FIRST + timedelta(days=REFERENCE_DAYS)


@dataclass(frozen=True)
class Exporter:
    """What Prometheus scrapes, what its models were last said to be, and how they recover."""

    where: str
    verdicts: Mapping[str, Verdict]
    recover: Callable[[], None]


def outcomes(slope: float, prior: float, level: float) -> Coarse:
    """Make the outcomes of a day, without chance: evenly spread logits of the scores."""
    usual = np.where(abs(CENTRES) < 3, 50, 0)
    tilt = 1 + expit(slope * CENTRES) * (np.exp(prior) - 1)
    counts = np.rint(usual * tilt).astype(np.int64)
    shares = expit(slope * CENTRES + prior + level)
    return Coarse(counts, np.rint(counts * shares).astype(np.int64))


def judged(model: str) -> list[list[Verdict]]:
    """Judge a model's reference, its ill days and its sound days after them."""
    spans = [SOUND] * REFERENCE_DAYS + [ILL[model]] * ILL_DAYS + [SOUND] * SOUND_DAYS
    days = [
        Day(
            day=FIRST + timedelta(days=i),
            final=True,
            known_at=datetime(2026, 4, 1, tzinfo=UTC),
            coverage=1.0,
            parts={("all", "all"): outcomes(*span)},
        )
        for i, span in enumerate(spans)
    ]
    limits = Limits()
    periods = [fit_model_reference(days[:REFERENCE_DAYS], limits)]
    with_evidence = [(day, evidence_by_stream(day, periods)) for day in days]
    return list(judge(model, with_evidence, periods=periods, lack="", limits=limits))


@pytest.fixture(scope="module")
def exporter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exporter]:
    """Serve a store with a drift, a prior shift, a level drift, and a drift with broken logs."""
    folder = tmp_path_factory.mktemp("store")
    logs = {"predictions": {"path": "p/{day}"}, "outcomes": {"path": "o/{day}"}}
    models = {name: {**logs, "owner": "risk", "severity": SEVERITY[name]} for name in ILL}
    (folder / "monitor.yaml").write_text(json.dumps({"store": "store", "models": models}))
    store, now = Store(str(folder / "store")), datetime.now(UTC)
    days = {name: judged(name) for name in ILL}

    def write(name: str, days: list[list[Verdict]]) -> None:
        # The newest first, so that no scrape sees a day on the way to it.
        for verdicts in reversed(days):
            store.write_verdicts(name, verdicts[0].day, verdicts, basis="")
        store.write_run(
            name, started=now, finished=now, failed=FailedDay(STARTED) if name == "torn" else None
        )

    def recover() -> None:
        for name in ("fraud", "flights", "ctr"):
            write(name, days[name][REFERENCE_DAYS + ILL_DAYS :])

    for name in ILL:
        write(name, days[name][: REFERENCE_DAYS + ILL_DAYS])
    command = Path(sys.executable).with_name("calibration-monitor")
    call = (command, "serve", "--config", folder / "monitor.yaml", "--port", "0")
    with started(folder, *call) as program:
        url = r"http://(127\.0\.0\.1:\d+)/metrics\b"
        where = wait_for(program, lambda: re.search(url, program.printed.read_text()))
        newest = {name: days[name][REFERENCE_DAYS + ILL_DAYS - 1][0] for name in ILL}
        yield Exporter(where[1], newest, recover)


@contextmanager
def prometheus(folder: Path, exporter: Exporter, alertmanager: str) -> Iterator[Program]:
    """Start Prometheus with our rules, which scrapes and evaluates every second."""
    (folder / "calibration.rules.yml").write_text(sooner("calibration.rules.yml"))
    (folder / "prometheus.yml").write_text(
        json.dumps(
            {
                "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                "rule_files": ["calibration.rules.yml"],
                "scrape_configs": [
                    {
                        "job_name": "calibration-monitor",
                        "static_configs": [{"targets": [exporter.where]}],
                    }
                ],
                "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
            }
        )
    )
    with listening(
        folder,
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'prometheus'}",
        "--web.external-url=http://prometheus.example.org",
    ) as (program, _):
        yield program


@dataclass(frozen=True)
class Told:
    """What was received while the models were ill, after a restart, and after they recovered."""

    ill: Posts
    restarted: Posts
    well: Posts


@pytest.fixture(scope="module")
def told(exporter: Exporter, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Let the models be ill until a ticket was repeated, restart Prometheus, let them recover."""
    folder = tmp_path_factory.mktemp("told")
    with ExitStack() as stack:
        received = stack.enter_context(receiving())
        posts, tickets = received.posts, "/slack-tickets-url"
        where = stack.enter_context(alertmanager(folder, received))
        with prometheus(folder, exporter, where):
            await_posts(
                posts,
                lambda: bool(
                    at("/enqueue", posts)
                    and at("/slack-digest-url", posts)
                    and len(at(tickets, posts)) >= 4  # two models, told twice
                ),
            )
        ill = list(posts)
        with prometheus(folder, exporter, where):
            await_posts(posts, lambda: len(at(tickets, posts)) >= 8)
            restarted = posts[len(ill) :]
            exporter.recover()
            await_posts(
                posts,
                lambda: bool(
                    len(at("/enqueue", posts)) > 1
                    and any("Over" in str(post) for post in at(tickets, posts))
                ),
            )
        return Told(ill, restarted, posts[len(ill) + len(restarted) :])


def told_of(model: str, summary: str, story: str, alert: str) -> str:
    """Write the text of one alert in Slack."""
    links = f"<{BOARD}{model}|Dashboard> · <{BOOK}{alert}|Runbook> · risk"
    return f"*{summary}*\n{story}\n{links}"


def interval(figure: Estimate | None, form: str, unit: str = "") -> str:
    """Write a number with its interval as the messages do."""
    assert figure is not None
    return f"{figure.value:{form}}{unit} ({figure.low:{form}} to {figure.high:{form}})"


def story_of_drift(verdict: Verdict) -> str:
    """Tell what the page must say."""
    incident = verdict.detector.incident
    assert incident is not None
    return (
        f"Since {incident.started.day} {incident.started:%B %Y} 00:00 UTC, whatever the "
        "prevalence, scores are too extreme: high ones come true less often than before, low ones "
        f"more often. The evidence for it reached 10^{incident.evidence:.1f}; 10^3.9 is enough. "
        "The slope of the outcomes on the reference curve is "
        f"{interval(verdict.slope, '.2f')}, without drift 1. Meanwhile the prior moved by "
        f"{interval(verdict.shift, '+.2f', ' in log-odds')}, which is no part of this. While "
        "nothing drifts, such an alert comes at most once in 1000 days on average."
    )


def story_of_shift(verdict: Verdict) -> str:
    """Tell what the digest must say."""
    return (
        "More or fewer cases are positive than in the reference, and the scores follow them as "
        "they should, up to one constant. The prior moved by "
        f"{interval(verdict.shift, '+.2f', ' in log-odds')}; this added to the log-odds of every "
        "score puts them right. In the reference "
        f"{100 * verdict.reference_prevalence:.4g}% were positive."
    )


def story_of_level(verdict: Verdict) -> str:
    """Tell what the ticket must say."""
    assert verdict.shift is not None
    return (
        "The level of the outcomes left that of the scores, and the mix of the scores does not "
        f"explain it. In log-odds it is off by {interval(verdict.level_change, '+.2f')} beyond a "
        f"shift of the prior. An intercept of {verdict.shift.value:+.2f} would put the scores "
        "right on average. The order and the spread of the scores are as in the reference."
    )


class TestVerdicts:
    """What the messages are about."""

    def test_are_as_planned(self, exporter: Exporter) -> None:
        """Of the models one drifts, one has another prior, one another level, from the same day."""
        incident = exporter.verdicts["fraud"].detector.incident

        assert {name: v.state for name, v in exporter.verdicts.items()} == VERDICTS
        assert incident is not None
        assert (incident.kind, incident.started) == ("too_extreme", STARTED)


class TestPage:
    """What reaches the pager."""

    def test_tells_the_whole_story_of_a_drift(self, told: Told, exporter: Exporter) -> None:
        """PagerDuty gets one event, with what, since when, how sure, and links, word for word."""
        (page,) = at("/enqueue", told.ill)
        story = story_of_drift(exporter.verdicts["fraud"])

        assert page == event(page["dedup_key"], firing=[f"{DRIFT}.\n{story}"], resolved=[])

    def test_rings_once(self, told: Told) -> None:
        """A restart of Prometheus neither resolves nor triggers again."""
        assert at("/enqueue", told.restarted) == []

    def test_is_resolved_when_the_drift_is_over(self, told: Told) -> None:
        """The same incident is resolved, word for word, once the verdict has been sound a while."""
        (first,) = at("/enqueue", told.ill)
        (last,) = at("/enqueue", told.well)

        assert last == event(first["dedup_key"], firing=[], resolved=[DRIFT])

    def test_nobody_is_woken_by_a_prior(self, told: Told) -> None:
        """A model whose prior has shifted is in no event, though its severity is page."""
        events = at("/enqueue", told.ill + told.restarted + told.well)

        assert events
        assert "flights" not in str(events)

    def test_nobody_is_woken_while_the_logs_are_broken(self, told: Told) -> None:
        """The drift of a model with a data error is held back; the error is a ticket."""
        assert "torn" not in str(at("/enqueue", told.ill + told.restarted + told.well))
        assert "torn: the logs are broken" in str(at("/slack-tickets-url", told.ill))


class TestTicket:
    """What reaches the channel for tickets."""

    @pytest.mark.parametrize(
        ("model", "summary", "alert"),
        [
            ("ctr", LEVEL, "calibrationleveldrift"),
            ("torn", "torn: the logs are broken", "calibrationdataerror"),
        ],
    )
    def test_tells_the_story(
        self, told: Told, exporter: Exporter, model: str, summary: str, alert: str
    ) -> None:
        """Slack gets the summary, the story, and links, word for word."""
        tickets = [t for t in at("/slack-tickets-url", told.ill) if model in str(t)]
        story = BROKEN if model == "torn" else story_of_level(exporter.verdicts[model])
        text = told_of(model, summary, story, alert)

        assert tickets[0] == message(summary, f"{BOARD}{model}", text, summary, "warning")

    def test_is_repeated_unchanged(self, told: Told) -> None:
        """While nothing changes, a ticket comes again after its interval in the same words."""
        tickets = at("/slack-tickets-url", told.ill + told.restarted)
        different = {json.dumps(ticket, sort_keys=True) for ticket in tickets}

        assert len(different) == 2  # of ctr and of torn
        assert len(tickets) >= 8

    def test_says_when_it_is_over(self, told: Told) -> None:
        """A ticket that is resolved says so in green."""
        over = f"Over: {LEVEL}"
        ended = [t for t in at("/slack-tickets-url", told.well) if "Over" in str(t)]

        assert ended == [message(over, f"{BOARD}ctr", over, over, "good")]


class TestDigest:
    """What reaches the channel for information."""

    def test_tells_of_the_prior(self, told: Told, exporter: Exporter) -> None:
        """The digest tells the shift and its remedy, word for word."""
        summary = "flights: the prior has shifted; the model is as good as before"
        story = story_of_shift(exporter.verdicts["flights"])
        text = told_of("flights", summary, story, "calibrationpriorshift")
        head = "Calibration: for your information"
        short = "Calibration: 1 for your information"

        assert at("/slack-digest-url", told.ill)[0] == message(head, "", text, short, "#439FE0")

    def test_says_nothing_of_ends(self, told: Told) -> None:
        """The digest tells what is, not what was."""
        assert at("/slack-digest-url", told.restarted + told.well) == []
