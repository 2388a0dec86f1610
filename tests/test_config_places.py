"""`~` and `${NAME}` in every path of a configuration."""

from pathlib import Path

import pytest

from monitor.base.errors import ConfigError
from monitor.config import load_config
from monitor.config.places import OF_FILE, OF_MODEL

CONFIG = """\
store: "{0}/store"
report: {{path: "{0}/pages"}}
models:
  m:
    predictions: {{path: "{0}/p/{{day}}.parquet"}}
    outcomes: {{path: "{0}/o/{{day}}.parquet"}}
    map: {{file: "{0}/map.json", since: 2026-03-01}}
    label_rate: {{file: "{0}/rates.csv"}}
"""


def written(folder: Path, place: str) -> Path:
    """Write a configuration all of whose paths begin so."""
    (folder / "monitor.yaml").write_text(CONFIG.format(place))
    return folder / "monitor.yaml"


@pytest.mark.parametrize(("place", "is_at"), [
    ("~", "/home/me"),
    ("~/data", "/home/me/data"),
    ("${DATA}", "/mnt/a"),
    ("${DATA}/${TEAM}", "/mnt/a/risk"),
    ("s3://${TEAM}/x", "s3://risk/x"),
    ("a/${TEAM}", "{here}/a/risk"),
    ("$DATA", "{here}/$DATA"),
    ("a~", "{here}/a~"),
])  # fmt: skip
def test_every_path_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, is_at: str
) -> None:
    """The store, the pages, both logs, maps and rates of labels."""
    for name, value in {"HOME": "/home/me", "DATA": "/mnt/a", "TEAM": "risk"}.items():
        monkeypatch.setenv(name, value)
    config = load_config(written(tmp_path, place))
    model, at = config.model("m"), is_at.format(here=tmp_path)
    assert model.map
    assert config.report
    assert {
        "store": config.store,
        "pages": config.report.path,
        "p/{day}.parquet": model.predictions.path,
        "o/{day}.parquet": model.outcomes.path,
        "map.json": model.map[-1].file,
        "rates.csv": model.label_rate.file,
    } == {end: f"{at}/{end}" for end in ("store", "pages", "p/{day}.parquet", "o/{day}.parquet",
                                         "map.json", "rates.csv")}  # fmt: skip


def test_signs_of_a_variable_are_no_template(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder may be called so that it looks like a day or a wildcard."""
    monkeypatch.setenv("DATA", "/mnt/{day}*")
    model = load_config(written(tmp_path, "${DATA}")).model("m")
    assert model.predictions.path.format(day="D") == "/mnt/{day}[*]/p/D.parquet"


@pytest.mark.parametrize(("place", "said"), [
    ("${NOWHERE_52}", "the environment variable NOWHERE_52 is not set"),
    ("${}", "the environment variable  is not set"),
    ("~nobody-52/x", "there is no home folder of ~nobody-52"),
])  # fmt: skip
def test_one_that_is_not_there_is_named_with_its_key(tmp_path: Path, place: str, said: str) -> None:
    """Of the common keys it stops the command, of a model that model."""
    file = written(tmp_path, place)
    with pytest.raises(ConfigError, match=said) as raised:
        load_config(file)
    assert {f"{raised.value}".split(": ")[1]} == {"store"} or "report.path" in f"{raised.value}"
    text = file.read_text().replace(f'store: "{place}', 'store: "').replace(
        f'report: {{path: "{place}', 'report: {path: "'
    )  # fmt: skip
    file.write_text(text)
    (invalid,) = load_config(file).invalid.values()
    keys = [line.split(": ")[1] for line in invalid.message.splitlines()]
    assert keys == [f"models.m.{'.'.join(keys)}" for keys in OF_MODEL]


def test_every_path_of_the_configuration_is_listed() -> None:
    """A key that the schema calls a place or a path is one of these."""
    schema = (Path(load_config.__code__.co_filename).parent / "schema.py").read_text()
    found = {line.strip().split(":")[0] for line in schema.splitlines() if ": Place" in line}
    assert found == {keys[-1] for keys in OF_FILE} | {"file"}
