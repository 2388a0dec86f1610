"""Terminal, page, index, notebook, gauges and past show the same of every drawn morning."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from monitor import open_store
from monitor.days.decisions import Plan
from monitor.drift.records.verdict import Verdict
from monitor.evaluation.evaluation import MapGain
from monitor.export.openmetrics import openmetrics, past
from monitor.export.snapshot_reader import Reader
from monitor.measures.gauges import CATALOGUE
from monitor.read.plans import plans_of, with_plans
from monitor.report.page.assemble import model_page
from monitor.report.page.html import model_html
from monitor.report.page.index import INDEX_COLUMNS, index_of
from monitor.report.page.words import NONE, STATES, evidence, signed
from monitor.store.store import Store
from monitor.words.windows import map_sentence
from tests.conftest import run_command
from tests.support.opened_once import opened_once
from tests.support.page_data import data_of
from tests.support.rules import must_answer_as_kept
from tests.support.standings import Morning, World, day_at, morning

WORLDS = {
    "segments and a map": (1, 52, True, True, True, False),
    "late outcomes": (2, 52, False, False, True, True),
    "no reference": (3, 12, True, False, False, False),
}
HELD = {
    1: {"alarm", "open", "segment alone", "recovered", "acknowledged", "on record", "data_error"},
    2: {"alarm", "open", "withheld", "recovered", "acknowledged", "on record", "data_error"},
    3: {"insufficient_data", "data_error"},
}
Shown = dict[str, Any]
Shows = Callable[[str], Shown]  # what is shown of a segment
NUMBERS = {"slope", "shift", "limit"}
SHOWN = {
    "terminal": {
        *("state", "day", "evidence", "withheld", "incidents", "kinds", "waiting"),
        *("slope", "shift", "gain"),
    },
    "page": {
        *("state", "day", "drawn", "words", "incidents", "described", "waiting"),
        *("numbers drawn", "numbers written", "gain in words"),
    },
    "index": {"state", "day", "words", "numbers written"},
    "notebook": {
        *("state", "day", "evidence", "since", "incidents", "kinds", "waiting", "gain"),
        *NUMBERS,
    },
    "gauges": {"state", "day", "evidence", "since", "gain", *NUMBERS},
    "past": {"state", "day", "evidence", "since", *NUMBERS},
}
OF_SEGMENTS = {"words", "shift", "numbers written"}  # a world without segments lacks some of them


def kinds_of(stored: dict[str, Verdict], plans: Sequence[Plan]) -> Iterator[str]:
    """Name what is special about a day."""
    verdicts = {v.segment: v for v in with_plans([*stored.values()], plans)}
    for v in verdicts.values():
        detector = v.detector
        yield f"{v.state}"
        if detector.incident:
            yield "alarm" if detector.incident.opened == v.day else "open"
            if not verdicts["all"].detector.incident:
                yield "segment alone"
        if v.withheld:
            yield "withheld"
        if detector.ended:
            yield f"{detector.ended.reason}"
        if detector.ended and detector.ended.reason == "acknowledged":
            yield "on record"


@pytest.fixture(scope="module", autouse=True)
def tables() -> Iterator[None]:
    """Open each table once for all renderers."""
    with opened_once():
        yield


@pytest.fixture(scope="module", params=WORLDS)
def mornings(request: pytest.FixtureRequest, tmp_path_factory: Any) -> list[Morning]:
    """Draw a world, and mornings of it: as few as have each kind of day."""
    folder: Path = tmp_path_factory.mktemp("renderers")
    world = World(*WORLDS[request.param], folder=folder / "all")
    plans = plans_of(world.configure(folder / "plans").model("ctr"))
    kinds = [
        {*kinds_of({v.segment: v for v in world.verdicts[day_at(place)]}, plans)}
        for place in range(world.days - 3)
    ]
    left, chosen = set[str]().union(*kinds), set[int]()
    while left:
        most = max(len(of_day & left) for of_day in kinds)
        fitting = [place for place, of_day in enumerate(kinds) if len(of_day & left) == most]
        chosen.add(int(world.chance.choice(fitting)))
        left = left.difference(*(kinds[place] for place in chosen))
    return [
        morning(world, folder / f"{place}", place + 1, number % 4)
        for number, place in enumerate(sorted(chosen), 1)
    ]


def expected(m: Morning, segment: str, plans: Sequence[Plan]) -> Shown:
    """Read off the verdicts, in the plainest way, what everybody has to show."""
    days = sorted(m.verdicts)
    stored, newest = m.newest[segment], m.verdicts[days[-1]][segment]
    (v,) = with_plans([stored], plans)
    of_days = {
        day: m.verdicts[day][segment].detector.incident
        for day in days
        if segment in m.verdicts[day]
    }
    opened = {one.opened: of_days[one.opened] or one for one in of_days.values() if one}
    now = newest.detector.incident
    first = [
        m.verdicts[day][segment].headline(one).kind
        if m.verdicts[day][segment].incident
        else one.kind
        for day, one in sorted(opened.items())
    ]
    last = [
        stored.headline(stored.incident).kind
        if now and stored.incident and day == now.opened == stored.incident.opened
        else None
        for day in sorted(opened)
    ]
    slope, shift = (of and of.value for of in (v.headline_slope, v.shift))
    gain = gain_of(m, segment)
    return {
        "slope": slope,
        "shift": shift,
        "limit": v.limit,
        "gain": gain and gain.log_loss.value,
        "gain in words": [map_sentence(gain)] if gain else [],
        "numbers drawn": [
            in_six_digits(x) for x in (slope, shift, v.limit if v.compared else None)
        ],
        "numbers written": (
            NONE if slope is None else f"{slope:.2f}",
            NONE if shift is None else signed(shift),
        ),
        "kinds": [*zip(first, last, strict=True)],
        "described": [
            (f"{b}, at first {a}" if b and b != a else a).replace("_", " ")
            for a, b in zip(first, last, strict=True)
        ],
        "state": v.state,
        "day": v.day,
        "evidence": v.reached,
        "withheld": v.withheld,
        "words": evidence(v),
        "drawn": in_six_digits(v.reached),
        "since": v.detector.incident.started if v.detector.incident else None,
        "incidents": [
            (day, one.started, now is not None and now.opened == day and not v.plan)
            for day, one in sorted(opened.items())
        ],
        "waiting": m.waiting,
        "last waiting": m.waiting[-1] if m.waiting else None,
    }


def in_six_digits(number: float | None) -> float | None:
    """Round a number as the page draws it."""
    return None if number is None else float(f"{number:.6g}")


def gain_of(m: Morning, segment: str) -> MapGain | None:
    """Read what the map gained up to the newest day that has all outcomes."""
    store = Store(m.config.store)
    day = max({*store.days("evaluations", "ctr")} - {*m.waiting})
    evaluations = store.read_evaluations("ctr", day)[0]
    gains = [e.map_gain for e in evaluations if (e.segment, e.window_days) == (segment, 1)]
    return gains[0] if gains else None


def call(m: Morning, segment: str) -> tuple[str, ...]:
    """Give the words that show a segment."""
    config = Path(m.config.store).with_name("monitor.yaml")
    return ("show", "--config", f"{config}", "--model", "ctr", "--segment", segment)


def in_terminal(m: Morning, segment: str) -> Shown:
    """Run `show` three times: as text, as JSON, and for the incidents."""
    words = call(m, segment)
    text, told = run_command(*words).out, json.loads(run_command(*words, "--json").out)
    listed = json.loads(run_command(*words, "--incidents", "--json").out)["incidents"]
    head = re.search(r"segment \w+, (\S+)(?: \(.*\))?: (\w+)", text)
    assert head, text
    assert told["verdict"]["day"] == head[1]
    gain = told["map_gain"]
    shifts = {e["segment"]: e["shift"] and e["shift"]["value"] for e in told["segments"]}
    return ({"shift": shifts[segment]} if segment in shifts else {}) | {
        "slope": told["recent"][-1]["slope"],
        "gain": gain and gain["log_loss"]["value"],
        "state": head[2],
        "day": date.fromisoformat(head[1]),
        "evidence": told["recent"][-1]["evidence"],
        "withheld": told["recent"][-1]["withheld"],
        "incidents": [
            (
                date.fromisoformat(e["opened"]),
                date.fromisoformat(e["started"]),
                not e["ended"] and not e["closed"],
            )
            for e in listed
        ],
        "kinds": [(e["kind"], e["kind_now"]) for e in listed],
        "waiting": [date.fromisoformat(e["day"]) for e in told["expected"]],
    }


def on_page(m: Morning) -> Shows:
    """Assemble the page."""
    page = model_page(m.config, "ctr", m.world.references.fitted)
    data = data_of(model_html(page))

    def shows(segment: str) -> Shown:
        found: Shown = {
            "day": page.day.day,
            "incidents": [
                (date.fromisoformat(row[1]), date.fromisoformat(row[2]), row[6] == "still open")
                for row in reversed(page.incidents.rows)
                if row[0] == segment
            ],
            "described": [row[4] for row in reversed(page.incidents.rows) if row[0] == segment],
        }
        if segment == "all":
            drawn = data["days"][data["chosen"]]
            slope, shift = (ends and ends[0] for ends in (drawn["slope"], drawn["shift"]))
            found |= {
                "state": drawn["state"],
                "drawn": drawn["evidence"],
                "numbers drawn": [slope, shift, drawn["limit"]],
                "gain in words": [said for said in page.day.reasons if "calibration map" in said],
            }
            return found | {"waiting": [date.fromisoformat(row[0]) for row in page.waiting.rows]}
        row = next(row for row in page.day.segments if row[0] == segment)
        told = {"state": state_of(row[1]), "words": row[2], "numbers written": row[3:5]}
        return found | told

    return shows


def state_of(word: str) -> str:
    """Find the state that a page shows by a word."""
    return next(state for state, words in STATES.items() if words.word == word)


def in_index(m: Morning) -> Shows:
    """Read the cells of the model, and since when it drifts; segments are not in the index."""
    (entry,) = index_of(m.config).entries
    cells = dict(zip(INDEX_COLUMNS, entry.cells, strict=True))
    since = re.search(r"since (\S+)", cells["what"])
    found: Shown = {
        "state": state_of(cells["verdict"]),
        "day": date.fromisoformat(cells["day"]),
        "words": cells["evidence"],
        "numbers written": (cells["slope"], cells["prior shift"]),
    }
    found |= {"since": date.fromisoformat(since[1].rstrip(","))} if since else {}
    return lambda segment: found if segment == "all" else {}


def in_notebook(m: Morning) -> Shows:
    """Take the newest row that is shown, and all incidents of the segment."""
    store = open_store(m.config.store)
    verdicts, windows, drifts = store.verdicts(), store.evaluations(), store.incidents()

    def shows(segment: str) -> Shown:
        row = verdicts[verdicts.shown & (verdicts.segment == segment)].iloc[-1]
        single = windows[(windows.segment == segment) & (windows.window_days == 1)]
        days, settled = single[~single.final], single[single.final]
        gain = settled[
            (settled.day == settled.day.max()) & (settled.measure == "map_log_loss_gain")
        ]
        return {
            **{name: None if pd.isna(row[name]) else row[name] for name in NUMBERS},
            "gain": None if gain.empty else gain.value.item(),
            "state": row.state,
            "day": row.day.date(),
            "evidence": None if pd.isna(row.evidence) else row.evidence,
            "since": None if pd.isna(row.since) else row.since.date(),
            "incidents": [
                (e.opened.date(), e.started.date(), pd.isna(e.closed) and pd.isna(e.ended))
                for e in drifts[drifts.segment == segment].itertuples()
            ],
            "kinds": [
                (e.kind, None if pd.isna(e.kind_now) else e.kind_now)
                for e in drifts[drifts.segment == segment].itertuples()
            ],
            "waiting": [day.date() for day in days.day.drop_duplicates()],
        }

    return shows


def in_gauges(m: Morning) -> Shows:
    """Take the samples of a scrape."""
    snapshot = Reader(m.config).snapshot("ctr")
    samples = {
        (gauge.name, *labels): value
        for gauge in CATALOGUE
        for labels, value in gauge.samples(snapshot)
    }

    def shows(segment: str) -> Shown:
        gain = samples.get(("calibration_map_log_loss_removed", "ctr", segment))
        return told_by(samples, segment) | {"gain": gain}

    return shows


def in_past(m: Morning) -> Shows:
    """Take the samples of the moment from which on the newest verdict was known."""
    days, known_at = sorted(m.verdicts), m.newest["all"].known_at
    until = datetime(2027, 1, 1, tzinfo=UTC)
    known = past(Reader(m.config), "ctr", days[max(0, len(days) - 8)], days[-1], until=until)
    samples = {}
    for line in openmetrics([known], repeat=86_400):
        if line.endswith(f" {known_at.timestamp():.0f}\n"):
            name, labels, value = re.split(r"[{}]", line)
            named = dict(re.findall(r'(\w+)="([^"]*)"', labels))
            samples[name, *(named[label] for label in labels_of(name))] = float(value.split()[0])
    return partial(told_by, samples)


def labels_of(name: str) -> tuple[str, ...]:
    """Give the labels of a gauge in their order."""
    return next(gauge.labels for gauge in CATALOGUE if gauge.name == name)


def told_by(samples: dict[Any, float], segment: str) -> Shown:
    """Read what samples tell of the verdict."""
    of = ("ctr", segment)
    started = samples.get(("calibration_drift_started_date_seconds", *of))
    return {
        "state": next(
            state for state in STATES if samples.get(("calibration_verdict", *of, state)) == 1.0
        ),
        "day": datetime.fromtimestamp(samples["calibration_verdict_date_seconds", *of], UTC).date(),
        "evidence": samples.get(("calibration_evidence_log10", *of)),
        "slope": samples.get(("calibration_drift_slope", *of)),
        "shift": samples.get(("calibration_prior_shift_logit", *of)),
        "limit": samples.get(("calibration_evidence_limit_log10", *of)),
        "since": datetime.fromtimestamp(started, UTC).date() if started else None,
    }


RENDERERS: dict[str, Callable[[Morning], Shows]] = {
    "terminal": lambda m: partial(in_terminal, m),
    "page": on_page,
    "index": in_index,
    "notebook": in_notebook,
    "gauges": in_gauges,
    "past": in_past,
}


def test_all_show_the_same(mornings: list[Morning]) -> None:
    """State, day, numbers, since when, incidents, waiting days and what a map gains, by segment."""
    seen = {name: set[str]() for name in RENDERERS}
    for m in mornings:
        for name, renderer in RENDERERS.items():
            shows = renderer(m)
            for segment in m.newest.keys() & {"all", "FR"}:
                # A notebook opens a store without its configuration, so it knows of no plan.
                plans = () if name == "notebook" else plans_of(m.config.model("ctr"))
                shown, right = shows(segment), expected(m, segment, plans)
                assert shown == {key: right[key] for key in shown}, (name, segment, m.newest)
                seen[name] |= shown.keys()

    assert all(SHOWN[name] <= seen[name] | OF_SEGMENTS for name in RENDERERS)


def test_the_rules_have_the_number_of_their_answers(mornings: list[Morning]) -> None:
    """Also those of a drift that recovers, and of one that late outcomes could explain."""
    world = mornings[0].world
    name = next(name for name, (seed, *_) in WORLDS.items() if seed == world.seed)
    must_answer_as_kept(name, world.verdicts.values())


def test_a_segment_without_a_verdict_has_none_anywhere(mornings: list[Morning]) -> None:
    """On a day with failed logs and no reference only the whole is judged."""
    silent = 0
    for m in mornings:
        for segment in m.verdicts[min(m.verdicts)].keys() - m.newest.keys():
            told = json.loads(run_command(*call(m, segment), "--json").out)
            page = model_page(m.config, "ctr", m.world.references.fitted)
            snapshot = Reader(m.config).snapshot("ctr")

            silent += 1
            assert told["verdict"] is None
            assert segment not in [row[0] for row in page.day.segments]
            assert segment not in [v.segment for v in snapshot.verdicts]
    assert bool(silent) != mornings[0].world.referenced


def test_the_mornings_hold_what_is_claimed(mornings: list[Morning]) -> None:
    """Each kind of day is the newest on some morning, and some mornings have waiting days."""
    plans = plans_of(mornings[0].config.model("ctr"))
    kinds = {kind for m in mornings for kind in kinds_of(m.newest, plans)}

    assert kinds >= HELD[mornings[0].world.seed]
    assert any(m.waiting for m in mornings)
    assert any(gain_of(m, "all") for m in mornings) == mornings[0].world.mapped
