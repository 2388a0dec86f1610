"""`horizon`: the outcome is within so many days, so days wait as long for outcomes."""

from typing import Any

import pytest
from pydantic import ValidationError

from monitor.config import Model

LOGS = {"predictions": {"path": "p/{day}.parquet"}, "outcomes": {"path": "o/{day}.parquet"}}


def model(**keys: Any) -> Model:
    """Read a model with some keys."""
    return Model.model_validate({**LOGS, **keys})


@pytest.mark.parametrize(
    ("keys", "waits"),
    [
        ({"horizon": "30d"}, 30),
        ({"horizon": 400}, 400),
        ({"horizon": "30d", "settled_after": 45}, 45),
        ({"horizon": None}, 1),
        ({"settled_after": 400}, 400),
    ],
)
def test_the_wait_follows_unless_it_is_given(keys: dict[str, Any], waits: int) -> None:
    """Of a horizon of 30 days `settled_after` is 30, and a longer wait stays."""
    assert model(**keys).settled_after == waits


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            {"horizon": "30d", "settled_after": 7},
            r"horizon is 30d, but settled_after is 7; leave out settled_after, which then is 30",
        ),
        (
            {
                "horizon": "30d",
                "outcomes": {**LOGS["outcomes"], "absent_means": "negative after 7d"},
            },
            "horizon is 30d, but outcomes.absent_means is 'negative after 7d'; set it to",
        ),
        ({"horizon": "401d"}, "less than or equal to 400"),
        ({"horizon": 0}, "greater than or equal to 1"),
        ({"horizon": "a month"}, "integer"),
        ({"settled_after": 401}, "less than or equal to 400"),
    ],
)
def test_what_contradicts_it_is_refused(keys: dict[str, Any], said: str) -> None:
    """In one sentence that names the keys, their values and what to do, and no second one."""
    with pytest.raises(ValidationError, match=said) as refused:
        model(**keys)
    assert refused.value.error_count() == 1
