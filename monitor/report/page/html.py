"""Pages as HTML: one file each, with its style, script and data inside, and no outside request.

Rule 1: templates escape every text, and the data cannot end the script tag that holds them.
Neither holds a character that controls how text is shown.
Rule 2: a page allows only the style and the script that it was made with, by their digests.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from math import isfinite
from typing import TYPE_CHECKING, Any

from monitor.base.errors import needing
from monitor.base.segment_names import printable_lines
from monitor.drift.records.detector import Incident
from monitor.drift.records.region_state import Break
from monitor.drift.records.verdict import Verdict
from monitor.evaluation.evaluation import LEAST_RARER, NAMES
from monitor.metrics.core.estimate import Estimate
from monitor.report.columns import STREAMS, meanings
from monitor.report.page.content import DayOnPage, Page, Reliability, Table
from monitor.report.page.dates import whole_dates
from monitor.report.page.day import SEGMENT_COLUMNS
from monitor.report.page.index import INDEX_COLUMNS, Index
from monitor.report.page.restarts import restarts
from monitor.report.page.still import bins_svg, evidence_svg, repair_svg
from monitor.report.page.widths import LONGEST, room
from monitor.report.page.words import STATES
from monitor.report.too_few import LEAST_FOR_ECE
from monitor.words.broken import what_broke
from monitor.words.windows import cause_name

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MODEL_SCRIPTS = "svg.js", "timeline.js", "reliability.js", "tables.js", "page.js"
INDEX_SCRIPTS = "tables.js", "index.js"
TEXTS = frozenset({"verdict", "scores", "because", "what", "owner"})  # columns of words
BINS = (
    *("scores from", "to", "mean", "predictions", "came true", "share"),
    *("accepted from", "to", "rejected"),
)
WIDEST_BIN = (*["100.0 %"] * 3, *["1,000,000"] * 2, *["100.0 %"] * 3, "1,000,000")
DIGITS = 6  # of a number that is drawn
# What would end a script tag, begin a comment in it, or be a line end to some parsers.
UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def model_html(page: Page, *, home: str = "") -> str:
    """Write the page of a model.

    Parameters
    ----------
    page : Page
        What it shows.
    home : str, optional
        Address of the index of all models, for a link to it.

    Returns
    -------
    str
        HTML; the same for the same page.

    Raises
    ------
    ConfigError
        If Jinja is not installed.
    """
    _, markup = _jinja()
    words = {
        state: {"word": w.word, "title": w.title, "sign": w.sign} for state, w in STATES.items()
    }
    data = {
        "days": [
            _day(day) | {"again": why}
            for day, why in zip(page.days, restarts(page.days), strict=True)
        ],
        "chosen": page.chosen,
        "model": page.model,
        "detailed": f"{page.detailed}",
        "curves": [
            {"scores": _round(c.scores), "outcomes": _round(c.outcomes)} for c in page.curves
        ],
        "words": words,
        "longest": LONGEST,
    }
    told = meanings(SEGMENT_COLUMNS, STREAMS)
    of_all_days = Table(SEGMENT_COLUMNS, [row for day in page.days for row in day.segments])
    bins = Table(BINS, [WIDEST_BIN])
    verdicts = [day.whole.verdict for day in page.days]
    compared = any(verdict and verdict.compared for verdict in verdicts)
    return _render(
        "model.html",
        MODEL_SCRIPTS,
        data,
        (
            *(page.waiting, page.classes, page.places, page.values, page.incidents, page.rejected),
            *(page.sensitivity, *page.professions.values(), of_all_days, bins),
        ),
        page=page,
        words=STATES[page.day.state],
        home=home,
        still_evidence=markup(evidence_svg(page.days)) if compared else "",
        still_bins=markup(_still_bins(page.day)),
        place=_place_of(page.day),
        still_repair=markup(repair_svg(page.repair.tenths))
        if page.repair and page.repair.tenths
        else "",
        segments=Table(SEGMENT_COLUMNS, page.day.segments, meanings=told),
        segments_room=room(of_all_days),
        bins=bins,
        least_for_ece=LEAST_FOR_ECE,
        least_for_tce=LEAST_RARER,
    )


def index_html(index: Index) -> str:
    """Write the index of all models, the worst first; raises as `model_html` does."""
    cells = [entry.cells for entry in index.entries]
    listed = Table(INDEX_COLUMNS, cells, meanings=meanings(INDEX_COLUMNS, STREAMS))
    return _render(
        "index.html",
        INDEX_SCRIPTS,
        {},
        [listed],
        index=index,
        table_=listed,
        links={entry.cells[0]: entry.link for entry in index.entries if entry.link},
    )


def _render(
    template: str,
    scripts: Sequence[str],
    data: Mapping[str, Any],
    tables: Iterable[Table],
    **content: object,
) -> str:
    environment, markup = _jinja()
    style = f"\n{_source('style.css')}{_stacking(tables)}"
    script = "\n" + "".join(map(_source, ("data.js", *scripts)))
    ranks = {w.word: w.rank for w in STATES.values()}
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    rendered = environment.get_template(template).render(
        policy=policy,
        # They are ours, and an escaped style or script would not be one.
        style=markup(style),
        script=markup(script),
        data=markup(_json({**data, "ranks": ranks})),  # see `_json`
        badges={w.word: (state, w.sign) for state, w in STATES.items()},
        texts=TEXTS,
        room=room,
        longest=LONGEST,
        **content,
    )
    return whole_dates(rendered)


def _stacking(tables: Iterable[Table]) -> str:
    """Write the style that stacks the cells of each table where its lines would be cut."""
    rules = _source("stacked.css")
    widths = sorted({room(table) for table in tables})
    return "".join(
        f"@container (max-width: {width - 0.01:.2f}ch) {{\n"
        f"{rules.replace('.stacked', f'.below-{width}')}}}\n"
        for width in widths
    )


def require_jinja() -> None:
    """Fail before anything is read for a page that cannot be written.

    Raises
    ------
    ConfigError
        If Jinja is not installed.
    """
    _jinja()


def _jinja() -> "tuple[Environment, type[Markup]]":
    """Load Jinja, and the class of text that it does not escape."""
    with needing("report pages", "jinja2", "report"):
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - an extra
        from markupsafe import Markup  # noqa: PLC0415 - comes with Jinja
    environment = Environment(
        loader=PackageLoader("monitor.report.page"),
        autoescape=True,
        finalize=_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment, Markup


def _source(name: str) -> str:
    return files("monitor.report.page").joinpath("templates", name).read_text("utf-8")


def _digest(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _json(data: Mapping[str, Any]) -> str:
    """Write data so that no text in it can end the script tag."""
    plain = _printable(data)
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(UNSAFE)


def _printable(content: Any) -> Any:
    """Escape control characters of every text; what is HTML already is ours."""
    if isinstance(content, dict):
        return {key: _printable(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_printable(value) for value in content]
    is_text = isinstance(content, str) and not hasattr(content, "__html__")
    return printable_lines(content) if is_text else content


def _still_bins(day: DayOnPage) -> str:
    """Draw the bins of a day, and the place that an open drift is at."""
    drawn = day.reliability
    if not drawn:
        return ""
    return bins_svg(drawn.bins, _place_of(day), drawn.delta or 0.0)


def _place_of(day: DayOnPage) -> Break | None:
    incident = day.whole.verdict.incident if day.whole.verdict else None
    return incident.place if incident else None


def _day(day: DayOnPage) -> dict[str, Any]:
    """Give what the script draws and places of a day."""
    v, alone, week = day.whole.verdict, day.whole.alone, day.whole.week
    final = alone if alone and alone.final else None
    expected = alone.expected if alone and not alone.final else None
    return {
        "day": f"{day.day}",
        "state": day.state,
        "reasons": list(day.reasons),
        "figures": [[f.label, f.value, f.note] for f in day.figures],
        "evidence": _number(v.reached if v else None),
        "limit": _number(v.limit if v and v.compared else None),
        "slope": _interval(v.headline_slope if v else None),
        "shift": _interval(v.shift if v else None),
        "prevalence": _number(final.prevalence if final else None),
        "mean": _number(final.mean_score if final else None),
        "reference": _number(v.reference_prevalence if v else None),
        "expected": _round((expected.prevalence, expected.low, expected.high))
        if expected and isfinite(expected.prevalence)
        else None,
        "predicted": alone and alone.predicted,
        "matched": alone and alone.matched,
        "causes": _round([*vars(week.told_causes.log_loss).values()])
        if week and week.told_causes
        else None,
        "names": _names(v),
        "bins": _bins(day.reliability),
        "place": _place(v.incident) if v and v.incident else None,
        "segments": [list(row) for row in day.segments],
    }


def _names(v: Verdict | None) -> list[str] | None:
    """Name the causes of the error as the verdict does; None where that is as on other days."""
    return [cause_name(n, level=True) for n in NAMES] if v and v.level_incident else None


def _place(incident: Incident) -> list[float | str | None] | None:
    """Give from which score to which a drift sits at one place, and what is said of it."""
    place = incident.place
    if place is None:
        return None
    ends = _round((place.first_score, place.last_score))
    return [*ends, f"Since {incident.started} {what_broke(incident, place)}."]


def _bins(drawn: Reliability | None) -> dict[str, Any] | None:
    if drawn is None:
        return None
    return {
        "first": f"{drawn.first}",
        "last": f"{drawn.last}",
        "total": drawn.total,
        "delta": _number(drawn.delta),
        "level": _number(drawn.level),
        "reference": drawn.reference,
        "bins": [
            [
                *map(_number, (b.low, b.high, b.mean)),
                *map(_number, (b.adjusted_low, b.adjusted_high, b.adjusted_mean)),
                *(b.count, b.positives, *map(_number, b.accepted)),
                *(b.rejected, b.adjusted_rejected),
            ]
            for b in drawn.bins
        ],
    }


def _interval(estimate: Estimate | None) -> list[float | None] | None:
    return _round((estimate.value, estimate.low, estimate.high)) if estimate else None


def _round(values: Sequence[float]) -> list[float | None]:
    return [_number(value) for value in values]


def _number(value: float | None) -> float | None:
    """Round a number to the digits that can be seen; None if it is not finite."""
    if value is None or not isfinite(value):
        return None
    return float(f"{value:.{DIGITS}g}")
