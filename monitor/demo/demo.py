"""The demo: logs of real flights, a configuration that monitors them, and the results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from fsspec.implementations.local import LocalFileSystem
from rich.console import RenderableType
from rich.table import Table

from monitor.base.errors import ConfigError
from monitor.base.files import replace
from monitor.base.segment_names import WHOLE
from monitor.config import Config, load_config, report_page
from monitor.demo.flight_classes import CLASSES, CLASSES_MODEL, COLUMNS
from monitor.demo.flights import (
    LATE_MINUTES,
    MODELS,
    SHIFT,
    SHIFTED_FROM,
    STRETCH,
    STRETCHED_FROM,
    FlightsLogs,
)
from monitor.pipeline.maps.recalibration import Asked, Came, Recalibration, came, recalibrate

TableOf = Callable[[str, Sequence[str]], Table]
REPAIR_DAYS = 21  # after the damage, to which maps are fitted

CONFIG = """\
# The flights demo: three models that predict whether a flight from New York will be late, and one
# that predicts how late, or whether it is cancelled.
# flights-stretched is the same model, broken on purpose from 2013-06-01 on, and flights-shifted
# from 2013-09-01 on.
store: store
report: {path: reports}
models:
"""
MODEL = """\
  {name}:
    predictions:
      path: logs/predictions/{name}/{{day}}.parquet
      time: scored_at
    outcomes:
      path: logs/outcomes/{{day}}.parquet
      time: observed_at
    segments:
      column: origin
      values: [EWR, JFK, LGA]
    owner: flights-team
    severity: ticket
    time_zone: America/New_York
    settled_after: 1            # some flights land after midnight
    windows: [1, 7, 28]
"""
CLASSES_OF_MODEL = """\
  {name}:
    predictions:
      path: logs/predictions/{name}/{{day}}.parquet
      time: scored_at
      classes:
        names: [{names}]
        vector: [{columns}]
    outcomes:
      path: logs/class-outcomes/{{day}}.parquet
      time: observed_at
    owner: flights-team
    severity: ticket
    time_zone: America/New_York
    settled_after: 1
    windows: [1, 7, 28]
"""


def write_config(folder: Path) -> Config:
    """Write the configuration of the demo into its folder, and load it."""
    if folder.is_file():
        msg = f"--into {folder}: is a file; name a folder."
        raise ConfigError(msg)
    path = folder / "monitor.yaml"
    text = CONFIG + "".join(MODEL.format(name=name) for name in MODELS)
    text += CLASSES_OF_MODEL.format(
        name=CLASSES_MODEL, names=", ".join(CLASSES), columns=", ".join(COLUMNS)
    )
    replace(LocalFileSystem(), str(path.absolute()), text.encode(), what=f"--into {folder}")
    return load_config(path)


@dataclass(frozen=True)
class Repair:
    """A map fitted to the three weeks after the damage, and what it gained on all later days."""

    fitted: Recalibration
    came: Came | None


def repairs(config: Config) -> dict[str, Repair]:
    """Fit a map to each model of one score, and apply the best one to the rest of the year."""
    repaired = {}
    last = STRETCHED_FROM + timedelta(days=REPAIR_DAYS - 1)
    for name in config.models:
        if name not in STRETCH:
            continue
        fitted = recalibrate(config, name, WHOLE, Asked(STRETCHED_FROM, last))
        if not fitted.worth_it:  # what would it have gained?
            kind = fitted.choice.best.fitted.map.kind
            fitted = recalibrate(config, name, WHOLE, Asked(STRETCHED_FROM, last, kind))
        later = came(config, fitted.content, last + timedelta(days=1))
        repaired[name] = Repair(fitted, later)
    return repaired


def repair_table(repairs: Mapping[str, Repair], table_of: TableOf) -> RenderableType:
    """Show for each model whether a map was worth it, and what it gained on later days.

    Parameters
    ----------
    repairs : mapping of str to Repair
        By model.
    table_of : function
        Makes an empty table with a title and columns.
    """
    days = f"{REPAIR_DAYS} days from {STRETCHED_FROM} on"
    title = f"The repair: maps of the {days}, and their gain"
    columns = ("model", "map", "worth\nit", "shape\npromised", "gained", "95 %", "level\ntoo")
    table = table_of(title, columns)
    for name, repair in repairs.items():
        promised, later = repair.fitted.content.gains, repair.came
        if promised and later:
            table.add_row(
                name,
                repair.fitted.content.map.kind,
                "yes" if repair.fitted.worth_it else "no",
                f"{promised.shape_log_loss.estimate:.4f value}",
                f"{later.shape:.4f value}",
                f"{later.shape:.3f range}",
                f"{later.log_loss:.4f value}",
            )
    return table


def repair_conclusion() -> str:
    """Explain the table of the repair."""
    return """\
Gains are nats of log loss for each flight. The shape gains whatever the prior
does. The last column is the whole map, which also carries the level of June, a
month of storms: recalibrate --follow-prior gives it a newer one.
"""


def introduction(logs: FlightsLogs) -> str:
    """Describe what the tables show."""
    stretch = STRETCH["flights-stretched"]
    return f"""
{logs.predictions:,} real flights from New York, {logs.first_day} to {logs.last_day}.
A model trained on January and February predicts how likely each is to arrive
more than {LATE_MINUTES} minutes late. On the calmest day \
{100 * logs.calmest.late_share:.0f} % were late ({logs.calmest.day}), on the
worst {100 * logs.worst.late_share:.0f} % ({logs.worst.day}): these are real prior shifts.

  flights             the model as trained
  flights-stretched   the same, but logits times {stretch} from {STRETCHED_FROM} on
  flights-shifted     the same, but {SHIFT:+} on the logits from {SHIFTED_FROM} on
  flights-classes     four classes: {", ".join(CLASSES)}
"""


def conclusion() -> str:
    """Explain the drifts that were found."""
    return f"""\
Each day was judged only by the days up to it, with March as the reference.
flights-stretched was broken on purpose on {STRETCHED_FROM}, and flights-shifted on
{SHIFTED_FROM}: all its scores are too high by a factor, the base rate as before.
flights may drift too: it was trained only on winter.
"""


def next_steps(command: str, folder: Path) -> str:
    """Name the commands to try next, and the report page."""
    config = f"--config {folder / 'monitor.yaml'}"
    page = folder / "reports" / report_page("flights-stretched")
    return f"""
Try next:
  {command} show {config} --model flights-stretched
  {command} show {config} --model flights --windows 28 --segment JFK
  {command} show {config} --model flights-classes
  {command} check {config} --day 2013-07-10
  {command} demo --into {folder} --tables
  {command} serve {config}
      and open http://127.0.0.1:9645/metrics

Open the report page of the broken model in your browser:
  {page}
"""
