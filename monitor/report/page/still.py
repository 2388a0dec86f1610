"""Charts of a report page that need no script: the evidence of all days, and the bins of one."""

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, exp, log

from monitor.drift.records.region_state import Break
from monitor.report.page.content import Bin, DayOnPage, Mapped
from monitor.report.page.restarts import restarts
from monitor.report.page.words import share as written
from monitor.words.numbers import percent

WIDTH, HEIGHT, SQUARE = 640, 160, 360
LEFT, TOP, BOTTOM = 46, 8, 22  # room for the numbers beside the axes
RARE = 0.05  # scores below, or as near to 1, are drawn in log-odds
LEAST = 1e-6  # probability that log-odds show
NARROWEST = 6.0  # pixels of the place of one value
LEAST_TOP = 3.75  # of the axis of evidence, in powers of ten


def evidence_svg(days: Sequence[DayOnPage]) -> str:
    """Draw the evidence of each day as a bar, and the limit at which an incident opens.

    Examples
    --------
    >>> from datetime import date
    >>> evidence_svg([DayOnPage(date(2026, 3, 1))]).count("<rect")
    0
    """
    verdicts = [day.whole.verdict for day in days]
    values = [v.reached if v else None for v in verdicts]
    limits = [v.limit for v in verdicts if v and v.compared]
    top = max(LEAST_TOP, *(1.25 * limit for limit in limits)) if limits else LEAST_TOP
    step, floor = (WIDTH - LEFT) / max(1, len(days)), HEIGHT - BOTTOM
    unit = (floor - TOP) / top

    def bars() -> Iterator[str]:
        for place, (value, verdict) in enumerate(zip(values, verdicts, strict=True)):
            if value is None or verdict is None:
                continue
            tall = unit * min(top, max(0.02, value))
            kind = "k-drift" if value >= verdict.limit else "k-other"
            x = LEFT + place * step + 0.1 * step
            yield (
                f'<rect class="bar {kind}" x="{x:.1f}" y="{floor - tall:.1f}" '
                f'width="{0.8 * step:.1f}" height="{tall:.1f}"/>'
            )
        for place, why in enumerate(restarts(days)):
            x = LEFT + place * step
            if why:
                yield f'<line class="again" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{floor}"/>'
        for limit in sorted(set(limits)):
            y = floor - unit * limit
            yield f'<line class="limit" x1="{LEFT}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
            yield _text(0, y + 4, f"10^{limit:.0f}")
        yield _text(LEFT, HEIGHT - 4, str(days[0].day))
        yield _text(WIDTH - 70, HEIGHT - 4, str(days[-1].day))

    label = "Evidence of a drift by day, and the limit at which an incident opens"
    return _svg(WIDTH, HEIGHT, label, bars())


def bins_svg(bins: Sequence[Bin], place: Break | None = None, delta: float = 0.0) -> str:
    """Draw each bin as a box: its scores, and the probabilities that its outcomes accept.

    Scores are without the prior shift, of `delta` in logit. Bins whose scores lie mostly outside
    have the colour of rejected ones. The place at which a drift sits is a band behind them.
    """
    side = SQUARE - LEFT - TOP

    def x(score: float) -> float:
        return LEFT + side * score

    def y(share: float) -> float:
        return TOP + side * (1.0 - share)

    def boxes() -> Iterator[str]:
        if place:
            ends = (
                _probability(_log_odds(p) + delta) for p in (place.first_score, place.last_score)
            )
            first, last = map(x, ends)
            wide = max(NARROWEST, last - first)
            yield (
                f'<rect class="place" x="{(first + last - wide) / 2:.1f}" y="{TOP}" '
                f'width="{wide:.1f}" height="{side}"/>'
            )
        for b in bins:
            low, high = b.accepted
            kind = "k-rejected" if 2 * b.adjusted_rejected > b.count else "k-accepted"
            wide = max(1.5, x(b.adjusted_high) - x(b.adjusted_low))
            yield (
                f'<rect class="range {kind}" x="{x(b.adjusted_low):.1f}" y="{y(high):.1f}" '
                f'width="{wide:.1f}" height="{max(1.5, y(low) - y(high)):.1f}"/>'
            )
        yield f'<line class="limit" x1="{x(0)}" y1="{y(0)}" x2="{x(1)}" y2="{y(1)}"/>'
        for share in (0.0, 0.5, 1.0):
            yield _text(0, y(share) + 4, percent(share, 0))
            yield _text(x(share) - (36 if share == 1.0 else 0), SQUARE - 6, percent(share, 0))

    label = "Bins of scores, and the shares of positive outcomes that they accept"
    return _svg(SQUARE, SQUARE + TOP, label, boxes())


def repair_svg(tenths: Sequence[Mapped]) -> str:
    """Draw the share that came true by mean score, as logged and mapped, beside the diagonal.

    The axes are log-odds where most scores are rare events, or nearly certain.
    """
    typical = tenths[len(tenths) // 2].score
    rare = not RARE <= typical <= 1.0 - RARE
    values = [v for each in tenths for v in (each.score, each.mapped, each.share)]
    to, back = (_log_odds, _probability) if rare else (float, float)
    low = to(min(values)) if rare else 0.0
    high = max(to(max(values)), low + 1e-9)
    high = high if rare else min(1.0, ceil(10.0 * high) / 10.0)  # even tenths have round halves
    side = SQUARE - LEFT - TOP

    def x(score: float) -> float:
        return LEFT + side * (to(score) - low) / (high - low)

    def y(share: float) -> float:
        return TOP + side * (1.0 - (max(low, to(share)) - low) / (high - low))

    def curve(kind: str, scores: Sequence[float]) -> Iterator[str]:
        dots = [(x(s), y(each.share)) for s, each in zip(scores, tenths, strict=True)]
        points = " ".join(f"{across:.1f},{down:.1f}" for across, down in dots)
        yield f'<polyline class="line {kind}" points="{points}"/>'
        for across, down in dots:
            yield f'<circle class="dot {kind}" cx="{across:.1f}" cy="{down:.1f}" r="3"/>'

    def marks() -> Iterator[str]:
        yield (f'<line class="limit" x1="{LEFT}" y1="{TOP + side}" x2="{LEFT + side}" y2="{TOP}"/>')
        yield from curve("dashed k-drift", [each.score for each in tenths])
        yield from curve("k-prior", [each.mapped for each in tenths])
        for step in range(3):
            tick = back(low + (high - low) * step / 2)
            yield _text(0, y(tick) + 4, written(tick))
            yield _text(x(tick) - 18 * step, SQUARE - 6, written(tick))

    label = "Share that came true by mean score of each tenth, as logged and mapped"
    return _svg(SQUARE, SQUARE + TOP, label, marks())


def _log_odds(p: float) -> float:
    kept = min(1.0 - LEAST, max(LEAST, p))
    return log(kept / (1.0 - kept))


def _probability(z: float) -> float:
    return 1.0 / (1.0 + exp(-z))


def _svg(width: int, height: int, label: str, marks: Iterator[str]) -> str:
    return (
        f'<svg class="still" role="img" aria-label="{escape(label)}" '
        f'viewBox="0 0 {width} {height}">{"".join(marks)}</svg>'
    )


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
