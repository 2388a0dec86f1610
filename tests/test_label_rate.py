"""What `label_rate` can be, and what it cannot be combined with."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.config import load_config
from monitor.errors import ConfigError

LOGS = {"predictions": {"path": "p/{day}.parquet"}, "outcomes": {"path": "o/{day}.parquet"}}
REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "predictions.classes": ("predictions", {"classes": {"names": ["a", "b", "c"], "vector": "p"}}),
    "predictions.entity": ("predictions", {"entity": "customer"}),
    "predictions.weight": ("predictions", {"weight": "w"}),
    "outcomes.weight": ("outcomes", {"weight": "w"}),
    "outcomes.absent_means": ("outcomes", {"absent_means": "negative after 1d"}),
}


def configured(folder: Path, **keys: Any) -> str:
    """Write and load a configuration, and say what is wrong with its model."""
    path = folder / "monitor.yaml"
    path.write_text(yaml.safe_dump({"store": "store", "models": {"m": {**LOGS, **keys}}}))
    config = load_config(path)
    return config.invalid["m"].message if config.invalid else str(config.models["m"].label_rate)


def test_it_is_by_score_or_nothing(tmp_path: Path) -> None:
    """Another word is refused with the one that is allowed."""
    assert configured(tmp_path) == "None"
    assert configured(tmp_path, label_rate="by_score") == "by_score"
    try:
        message = configured(tmp_path, label_rate="by_column")
    except ConfigError as error:
        message = str(error)
    assert "label_rate" in message
    assert "by_score" in message


@pytest.mark.parametrize("key", REFUSED)
def test_what_is_not_built_is_refused(key: str, tmp_path: Path) -> None:
    """The message names both keys and says what to do."""
    log, further = REFUSED[key]
    try:
        message = configured(tmp_path, label_rate="by_score", **{log: {**LOGS[log], **further}})
    except ConfigError as error:
        message = str(error)
    assert f"label_rate cannot be combined with {key}; remove label_rate, or it" in message
