"""A configuration cannot exhaust the machine, and no message repeats all of it."""

from pathlib import Path

import pytest

from monitor.base.errors import ConfigError, DataError
from monitor.config import load_config
from monitor.store.store import Store

HEAD = """\
store: s
models:
  ctr:
    predictions: {path: 'p/{day}'}
    outcomes: {path: 'o/{day}'}
"""
LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{below}'] * 10)}]\n"
    for below, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def complaint(folder: Path, text: str | bytes) -> str:
    """Load a configuration that is refused, and return the message."""
    path = folder / "monitor.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ConfigError) as raised:
        load_config(path).model("ctr")
    return str(raised.value).replace(str(path), "FILE")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD + LAUGHS, "FILE: has more than 10,000 values, aliases written out; "),
        (HEAD + "more: &m [*m]\n", "FILE: has more than 10,000 values, aliases written out; "),
        (HEAD + "more: [" + "1, " * 10_000 + "]\n", "FILE: has more than 10,000 values"),
        (HEAD + "# " + "x" * 1_000_000, "FILE: has more than 1,000,000 bytes; "),
        (HEAD + '    owner: "half \\ud83d"\n', "contains half of a character, a lone surrogate"),
        (HEAD.encode() + b"    owner: \xed\xa0\xbd\n", "FILE: is not UTF-8 text"),
    ],
)
def test_what_is_too_large_or_no_text_is_refused(
    tmp_path: Path, text: str | bytes, expected: str
) -> None:
    """Billions of values behind aliases, loops, and long files are refused unbuilt."""
    assert expected in complaint(tmp_path, text)


def test_messages_are_short_whatever_is_wrong(tmp_path: Path) -> None:
    """Long values, names of keys and tags are cut, each to one line of bounded length."""
    long = "y" * 100_000
    for text in (
        HEAD + f"    severity: {long}\n",
        HEAD + f"    {long}: 1\n",
        HEAD + f"    owner: !{long} 1\n",
        HEAD + f"    {long}: 1\n    {long}: 2\n",
        HEAD + f"    settled_after: 0x{'f' * 50_000}\n",
        HEAD + f"    windows: {[1] * 5_000}\n",
        long,
    ):
        said = complaint(tmp_path, text)
        assert all(len(line) < 500 for line in said.splitlines()), said[:1000]


def test_unknown_keys_are_listed_ten_at_a_time(tmp_path: Path) -> None:
    """Of 3,000 unknown keys ten are named, and the number of the others."""
    lines = complaint(
        tmp_path, HEAD + "".join(f"    key{i}: 1\n" for i in range(3_000))
    ).splitlines()

    assert sum("is not a known key" in line for line in lines) == 10
    assert lines[-1] == "FILE: 2,990 more keys are not known; correct those above first."
    assert len(lines) == 11


@pytest.mark.parametrize(
    "schedule",
    ["0 6 * * *", "*/15 0-6,22 1,15 jan-mar MON-FRI", "0 6 * * 7", "5-55/10 * * * *", "@daily"],
)
def test_a_schedule_is_taken_as_cron_writes_it(tmp_path: Path, schedule: str) -> None:
    """Five fields of numbers, names, ranges, lists and steps, or a word for them."""
    path = tmp_path / "monitor.yaml"
    path.write_text(HEAD + f"    schedule: '{schedule}'\n")

    assert load_config(path).model("ctr").schedule == schedule


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        ("at noon", "must have five fields (minute, hour, day, month, weekday), such as"),
        ("60 6 * * *", "has a minute that is not *, a number from 0 to 59, a range or a list"),
        ("0 6 0 * *", "has a day of the month that is not *, a number from 1 to 31"),
        ("0 6 * * */0", "has a weekday that is not"),
        ("0 6 * mon *", "has a month that is not"),
        ("@noon", "must have five fields"),
    ],
)
def test_a_wrong_schedule_is_refused_where_it_is_written(
    tmp_path: Path, schedule: str, said: str
) -> None:
    """Every command says so, not only Airflow."""
    message = complaint(tmp_path, HEAD + f"    schedule: '{schedule}'\n")

    assert message.startswith(f"FILE: models.ctr.schedule: {said}")
    assert message.endswith(f"got '{schedule}'; correct the value.")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://me:s3cr%20t@127.0.0.1:1/store",
        "sftp://me:s3cr@t@127.0.0.1:1/store",
        "http://me:s3crt@127.0.0.1:1/store",
        "nothing://me:s3crt@host/store",
        "github://me:s3crt@/store",
        "git://me:s3crt@host/store",
        "zip://me:s3crt@host/store.zip",
    ],
)
def test_a_place_that_cannot_be_opened_keeps_its_password(url: str) -> None:
    """Whatever the scheme, the error is one of the two, and has neither user nor password."""
    with pytest.raises((ConfigError, DataError)) as raised:
        Store(url).days("summaries", "ctr")

    said = "".join(map(str, (raised.value, repr(raised.value), raised.value.args)))
    assert "s3cr" not in said
    assert "me:" not in said
    assert url.partition("://")[0] in said
