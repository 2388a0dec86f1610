"""Lay out the tables of docs/gain-estimators.md."""

from typing import Any

from studies.recalibration.settings import NONE

MARK = "<!-- `python -m studies.recalibration.run` writes everything below this line. -->\n"
WORDS = {
    "temperature": "temperature",
    "ensemble": "ensemble",
    "order_preserving": "order-preserving",
    "vector": "vector",
    "dirichlet": "Dirichlet",
}


def row(cells: list[str]) -> str:
    """Write one line of a table."""
    return "| " + " | ".join(cells) + " |"


def head(cells: list[str]) -> list[str]:
    """Write the first two lines of a table: names left, numbers right."""
    return [row(cells), "|---|" + "---:|" * (len(cells) - 1)]


def cell(value: list[float] | None, decimals: int = 4, *, signed: bool = False) -> str:
    """Write a mean with its Monte-Carlo error."""
    if value is None:
        return "-"
    mean, error = value
    written = f"{mean:+.{decimals}f}" if signed else f"{mean:.{decimals}f}"
    return written + (f" ± {error:.{decimals}f}" if error else "")


def levels(setting: dict[str, Any]) -> list[str]:
    """Show estimates before recalibration by size."""
    sizes = [str(size) for size in setting["sizes"]]
    lines = head(["before a map, rows", *(f"{int(size):,}" for size in sizes)])
    for name, by_size in setting["estimators"].items():
        cells = [cell(by_size[s]["level"] if s in by_size else None) for s in sizes]
        lines.append(row([name, *cells]))
    if setting["true"]:
        true = f"{setting['true'][NONE] ** 0.5:.4f}"
        lines.append(row(["**true CE_2**", *[f"**{true}**"] * len(sizes)]))
    return lines


def gains(setting: dict[str, Any], kind: str, power: int) -> list[str]:
    """Show improvements by a map, of the estimates or of their squares, by size."""
    sizes = [str(size) for size in setting["sizes"]]
    what = "lower by the" if power == 1 else "square lower by the"
    lines = head([f"{what} {WORDS[kind]} map, rows", *(f"{int(size):,}" for size in sizes)])
    for name, by_size in setting["estimators"].items():
        found = [by_size[s]["gains"][kind][power - 1] if s in by_size else None for s in sizes]
        lines.append(row([name, *(cell(one, signed=True) for one in found)]))
    true = setting["true"]
    if true:
        roots = {k: v ** (power / 2) for k, v in true.items()}
        gain = f"**{roots[NONE] - roots[kind]:+.4f}**"
        lines.append(row(["**true CE_2**" if power == 1 else "**true CE_2 squared**",
                          *[gain] * len(sizes)]))  # fmt: skip
    return lines


def choices(setting: dict[str, Any]) -> list[str]:
    """Show which map an estimator would choose: its true squared error, and wrong orders."""
    sizes = [str(size) for size in setting["sizes"]]
    true = setting["true"]
    lines = head([
        "choosing the map with the smallest estimate, rows",
        *(f"{int(size):,}" for size in sizes), *(f"wrong, {int(size):,}" for size in sizes),
    ])  # fmt: skip
    for name, by_size in setting["estimators"].items():
        chosen = [cell(by_size[s]["chosen"], 5) if s in by_size else "-" for s in sizes]
        wrong = [str(by_size[s]["wrong"]) if s in by_size else "-" for s in sizes]
        lines.append(row([name, *chosen, *wrong]))
    best = min(true, key=lambda kind: true[kind])
    lines.append("")
    listed = ", ".join(
        f"{WORDS.get(kind, kind)} {value:.5f}" for kind, value in sorted(true.items(), key=by_value)
    )
    lines.append(f"True squares of CE_2: {listed}. The best is {WORDS.get(best, best)}.")
    return lines


def by_value(item: tuple[str, float]) -> float:
    """Sort maps by their truth."""
    return item[1]


def tables(found: dict[str, Any]) -> str:
    """Write everything below the mark."""
    lines = ["## Tables"]
    for name, setting in found.items():
        lines += ["", f"### {name[0].upper()}{name[1:]}", "", *levels(setting)]
        for kind in ("temperature", "order_preserving", "dirichlet"):
            lines += ["", *gains(setting, kind, 1)]
        lines += ["", *gains(setting, "temperature", 2)]
        if setting["true"]:
            lines += ["", *gains(setting, "dirichlet", 2), "", *choices(setting)]
    return "\n".join(lines) + "\n"
