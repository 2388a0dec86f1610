"""How the labels of a model are chosen, as its configuration and its table of rates say."""

import csv

from pydantic import ValidationError

from monitor.base.errors import ConfigError
from monitor.base.files import open_filesystem
from monitor.config import Model, RateFile, ScoreRate, check_rates
from monitor.evaluation.score_errors import LabelRates

HEADER = ["low", "high", "rate"]


def label_rates_of(model: Model) -> LabelRates | None:
    """Give how labels are chosen; None without `label_rate`.

    Raises
    ------
    ConfigError
        If the table of rates cannot be read, or its ranges leave scores out.
    """
    if model.label_rate is None:
        return None
    rates = score_rates(model)
    return LabelRates(tuple((rate.high, rate.rate) for rate in rates), in_log=model.rates_in_log)


def score_rates(model: Model) -> tuple[ScoreRate, ...]:
    """Give the table of rates by score, from its file; empty without one.

    Raises
    ------
    ConfigError
        As `label_rates_of`.
    """
    if isinstance(model.label_rate, RateFile):
        return _read(model.label_rate.file)
    return ()


def rates_text(rates: tuple[ScoreRate, ...]) -> str:
    """Write a table of rates as the CSV that `label_rate: {file: ...}` reads.

    Examples
    --------
    >>> print(rates_text((ScoreRate(low=0.0, high=1.0, rate=0.05),)), end="")
    low,high,rate
    0,1,0.05
    """
    rows = (",".join(f"{n:.6g}" for n in (rate.low, rate.high, rate.rate)) for rate in rates)
    return "\n".join([",".join(HEADER), *rows, ""])


def _read(place: str) -> tuple[ScoreRate, ...]:
    filesystem, path = open_filesystem(place)
    try:
        text = filesystem.cat_file(path).decode("utf-8-sig")  # Excel writes a mark first
        header, *rows = [*csv.reader(text.splitlines())] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        msg = (
            f"label_rate: {place} cannot be read ({type(error).__name__}); write it with "
            f"calibration-monitor plan-labels, or correct label_rate.file."
        )
        raise ConfigError(msg) from None
    if header != HEADER:
        msg = f"label_rate: {place} must begin with the line {','.join(HEADER)}."
        raise ConfigError(msg)
    try:
        return check_rates(tuple(_rate(number, row) for number, row in enumerate(rows, 2) if row))
    except ValueError as error:
        said = f"{error}"
    msg = f"label_rate: {place}: {said}; correct the table."
    raise ConfigError(msg)


def _rate(line: int, row: list[str]) -> ScoreRate:
    """Read a row of the table; raise ValueError with its line if it is wrong."""
    try:
        low, high, rate = map(float, row)
        return ScoreRate(low=low, high=high, rate=rate)
    except ValidationError as error:
        first = error.errors()[0]
        named = f", {first['loc'][0]}" if first["loc"] else ""
        msg = f"line {line}{named}: {first['msg']}"
    except ValueError:
        msg = f"line {line}: must be three numbers"
    raise ValueError(msg)
