"""The command that says which scores to label."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from monitor.base.errors import ConfigError
from monitor.cli.options import DEFAULT_CONFIG, AsJson, ConfigPath, must_be_stored
from monitor.cli.printing import answer

USUAL_SLOPE = 0.8  # to be found


def plan_labels(
    name: Annotated[str, typer.Argument(metavar="MODEL", show_default=False)],
    budget: Annotated[int, typer.Option(min=1, help="Labels a day.", show_default=False)],
    config_path: ConfigPath = DEFAULT_CONFIG,
    find: Annotated[
        str,
        typer.Option(
            help="What is to be found: a slope, such as 0.8, or a kind of drift as verdicts name "
            "it, such as top_overpredicted."
        ),
    ] = "0.8",
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the table of rates to this CSV file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say which scores to label, so that a drift is found soonest.

    Needs no logs: the reference says how outcomes follow scores, and the last 28 stored days which
    scores there are. Draw each prediction with the rate of its score. A verdict needs no weights;
    with `label_rate: {file: ...}` the measures of all predictions are estimated too.
    """
    from monitor.base.files import open_filesystem, replace
    from monitor.config import load_config
    from monitor.drift.incidents.label_plan import UNIFORM
    from monitor.drift.records.day_evidence import KINDS
    from monitor.pipeline.days.label_rates import rates_text
    from monitor.pipeline.maps.label_plan import SLOPES, plan_for
    from monitor.store.store import Store
    from monitor.words.labels import plan_sentence

    slope = _slope(find, KINDS)
    config = load_config(config_path, only=name)
    config.model(name)
    must_be_stored(name, Store(config.store).days("summaries", name))
    sought = find if find in KINDS else SLOPES[slope > 1.0]
    planned = plan_for(config, name, budget, kind=sought, slope=slope)
    table = rates_text(planned.rates)
    if out:
        filesystem, path = open_filesystem(f"{out}")
        replace(filesystem, path, table.encode(), what=f"{out}")
    written = f"written: {out}" if out else table.rstrip("\n")
    document = {
        "model": name,
        "kind": planned.kind,
        "slope": planned.slope,
        "scores_of": (planned.first, planned.last),
        "predictions": planned.plan.predictions,
        "labels": planned.plan.labels,
        "as_uniform_labels": planned.plan.worth,
        "uniform": UNIFORM,
        "days": planned.days,
        "days_uniform": planned.days_uniform,
        "rates": [rate.model_dump() for rate in planned.rates],
        "written": out,
    }
    sentence = plan_sentence(
        planned.kind,
        planned.slope,
        planned.plan,
        uniform=UNIFORM,
        days=planned.days,
        days_uniform=planned.days_uniform,
    )
    answer(document, f"{name}: {sentence}", written, as_json=as_json, soft_wrap=True)


def _slope(find: str, kinds: Sequence[str]) -> float:
    """Read the slope that is to be found; of a kind of drift, the usual one."""
    if find in kinds:
        return USUAL_SLOPE
    try:
        slope = float(find)
    except ValueError:
        msg = (
            f"--find {find}: is no slope and no kind of drift; give a slope, such as 0.8, or "
            f"choose one of {', '.join(kinds)}."
        )
        raise ConfigError(msg) from None
    if not 0.0 < slope < 4.0 or abs(slope - 1.0) < 0.01:  # noqa: PLR2004 - beyond, any plan finds it
        msg = f"--find {slope:g}: must be above 0, below 4 and not 1; write for example 0.8."
        raise ConfigError(msg)
    return slope
