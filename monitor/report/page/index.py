"""The index of all models, the worst first."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from monitor.config import Config, report_page
from monitor.drift.verdict import Verdict
from monitor.drift.wording import shape_size
from monitor.errors import DataError
from monitor.evaluation.evaluate import Evaluation
from monitor.report.page.content import Row
from monitor.report.page.words import NONE, STATES, evidence, odds, share, signed
from monitor.report.verdicts import newest_verdict
from monitor.segment_names import WHOLE
from monitor.store.store import Store

INDEX_COLUMNS = (
    "model",
    "verdict",
    "what",
    "evidence",
    "slope",
    "prior shift",
    "prevalence",
    "outcomes",
    "day",
    "owner",
)


@dataclass(frozen=True)
class Entry:
    """A model in the index: its cells, the address of its page, and what it is sorted by."""

    cells: Row
    link: str
    order: tuple[int, float, str]


@dataclass(frozen=True)
class Index:
    """All models, the worst first, and how many there are of each verdict."""

    entries: Sequence[Entry]
    counts: Sequence[tuple[str, int]]


def index_of(config: Config) -> Index:
    """Read the newest verdict of every configured model; one that cannot be read says why."""
    store = Store(config.store)
    entries = sorted((_entry_or_fault(config, store, name) for name in config.names), key=_order)
    found = Counter(entry.cells[1] for entry in entries)
    words = [words.word for words in sorted(STATES.values(), key=lambda words: words.rank)]
    return Index(entries, [(word, found[word]) for word in words if found[word]])


def _order(entry: Entry) -> tuple[int, float, str]:
    return entry.order


def _entry_or_fault(config: Config, store: Store, name: str) -> Entry:
    try:
        return _entry(config, store, name)
    except DataError as error:
        state = STATES["unreadable"]
        cells = (name, state.word, f"{error}", *[NONE] * 6, config.shown(name).owner)
        return Entry(cells, "", (state.rank, 0.0, name))


def _entry(config: Config, store: Store, name: str) -> Entry:
    verdict = newest_verdict(store, name, WHOLE)
    owner, invalid = config.shown(name).owner, config.invalid.get(name)
    state = STATES[verdict.state if verdict else ""]
    what = f"invalid configuration: {invalid.message}" if invalid else _what(verdict)
    if verdict is None:
        cells = (name, state.word, what, *[NONE] * 6, owner)
        return Entry(cells, "", (state.rank, 0.0, name))
    alone, incident = _alone(store, verdict), verdict.detector.incident
    strength = incident.evidence if incident else verdict.reached or 0.0
    cells = (
        name,
        state.word,
        what,
        evidence(verdict),
        f"{verdict.slope.value:.2f}" if verdict.slope else NONE,
        signed(verdict.shift.value) if verdict.shift else NONE,
        share(alone.prevalence) if alone else NONE,
        f"{alone.matched:,}" if alone else NONE,
        f"{verdict.day}",
        owner,
    )
    link = "" if invalid else report_page(name)
    return Entry(cells, link, (state.rank, -strength, name))


def _alone(store: Store, verdict: Verdict) -> Evaluation | None:
    """Read the evaluation of the judged day alone; None if its logs failed a check."""
    if verdict.day not in store.days("evaluations", verdict.model):
        return None
    evaluations = store.read_evaluations(verdict.model, verdict.day)[0]
    return next((e for e in evaluations if (e.segment, e.window_days) == (WHOLE, 1)), None)


def _what(verdict: Verdict | None) -> str:
    """Say in a few words what is wrong, and since when."""
    if verdict is None:
        return ""
    incident = verdict.detector.incident
    if verdict.state == "calibration_drift" and incident:
        size = shape_size(incident)
        by = f" by {size:.2f} in log-odds" if size is not None else ""
        found = f"found at {odds(incident.evidence)}"
        return f"{incident.kind.replace('_', ' ')} since {incident.started}{by}, {found}"
    if verdict.state == "data_error":
        return verdict.reasons[0].removeprefix(f"{verdict.model} {verdict.day}: ").split(";")[0]
    return ""
