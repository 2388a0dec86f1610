"""The index of all models, the worst first."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from monitor.base.segment_names import WHOLE
from monitor.config import Config, report_page
from monitor.read.results import results_of
from monitor.read.standing import nearest_to_week, standing
from monitor.report.columns import Styles, verdict_cells, window_cells
from monitor.report.page.content import Row
from monitor.report.page.words import NONE, STATES, STYLES, evidence, share_of
from monitor.words.verdict import in_short

WINDOW_STYLES: Styles = {"prevalence": share_of, "outcomes": ","}
INDEX_COLUMNS = (
    "model",
    "verdict",
    "what",
    "evidence",
    *STYLES,
    *WINDOW_STYLES,
    "day",
    "owner",
)


@dataclass(frozen=True)
class Entry:
    """A model in the index: its cells, the address of its page, and what it is sorted by."""

    cells: Row
    link: str
    order: tuple[int, float, str]
    state: str


@dataclass(frozen=True)
class Index:
    """All models, the worst first, and how many there are of each verdict."""

    entries: Sequence[Entry]
    counts: Sequence[tuple[str, int]]


def index_of(config: Config) -> Index:
    """Read what stands of every configured model; one that cannot be read says why."""
    entries = sorted((_entry(config, name) for name in config.names), key=lambda entry: entry.order)
    count_of = Counter(entry.cells[1] for entry in entries)
    words = [words.word for words in sorted(STATES.values(), key=lambda words: words.rank)]
    return Index(entries, [(word, count_of[word]) for word in words if count_of[word]])


def _entry(config: Config, name: str) -> Entry:
    model, invalid = config.shown(name), config.invalid.get(name)
    stands = standing(results_of(config, name), WHOLE, nearest_to_week(model.windows))
    verdict, alone, incident = stands.verdict, stands.alone, stands.incident
    state = STATES[stands.state]
    what = in_short(verdict) if verdict else f"{stands.damage or ''}"
    if invalid and not stands.damage:
        what = f"invalid configuration: {invalid.message}"
    if verdict is None:
        cells = (name, state.word, what, *[NONE] * 6, model.owner)
        return Entry(cells, "", (state.rank, 0.0, name), stands.state)
    strength = incident.evidence if incident else verdict.reached or 0.0
    cells = (
        name,
        state.word,
        what,
        evidence(verdict),
        *verdict_cells(verdict, STYLES, NONE),
        *window_cells(alone, WINDOW_STYLES, NONE),
        f"{verdict.day}",
        model.owner,
    )
    link = "" if invalid else report_page(name)
    return Entry(cells, link, (state.rank, -strength, name), stands.state)
