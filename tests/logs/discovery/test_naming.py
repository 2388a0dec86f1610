"""Names of files become templates; every template finds the days and files that it came from."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from monitor.config import Model
from monitor.days.files import list_days, list_files
from monitor.logs.discovery.samples.naming import patterns

DAYS = [date(2025, 12, 28) + timedelta(n) for n in range(14)]
UUID = "8d1f7a3e-0000-4000-8000-00000000000"
CASES = {
    "{:%Y-%m-%d}.parquet": "{day}.parquet",
    "{:%Y%m%d}.parquet": "{day:%Y%m%d}.parquet",
    "log_{:%Y_%m_%d}.parquet": "log_{day:%Y_%m_%d}.parquet",
    "{:%d.%m.%Y}.csv": "{day:%d.%m.%Y}.csv",
    "{:%Y/%m/%d}/data.csv.gz": "{day:%Y}/{day:%m}/{day:%d}/data.csv.gz",
    "{:%Y-%m}/{:%d}.parquet": "{day:%Y-%m}/{day:%d}.parquet",
    "{0.year}/{0.month}/{0.day}/x.parquet": "{day:%Y}/{day:%-m}/{day:%-d}/x.parquet",
    "year={0.year}/month={0.month}/day={0.day}/x.parquet": (
        "year={day:%Y}/month={day:%-m}/day={day:%-d}/x.parquet"
    ),
    "year={:%Y}/month={:%m}/{:%Y-%m-%d}.parquet": "year={day:%Y}/month={day:%m}/{day}.parquet",
    "ds={:%Y-%m-%d}/part-00001-" + UUID + "1.c000.snappy.parquet": "ds={day}/part-*.parquet",
    "ds={:%Y-%m-%d}/000000_0": "ds={day}/*",
    "dt={:%Y%m%d}/hour=7/x.parquet": "dt={day:%Y%m%d}/hour=*/x.parquet",
    "{:%Y-%m-%d}/07/x.parquet": "{day}/*/x.parquet",
    "{:%Y-%m-%dT%H}.json.gz": "{day}T*.json.gz",
    "s_{:%Y%m%d%H}.parquet": "s_{day:%Y%m%d}*.parquet",
    "country=DE/ds={:%Y-%m-%d}/x.parquet": "country=*/ds={day}/x.parquet",
    "ds={:%Y-%m-%d}/part-20260401T0101.parquet": "ds={day}/part-*.parquet",
    "v2/{:%Y-%m-%d}/model_v2.parquet": "v2/{day}/model_v2.parquet",
    "a[b]{{x}}/{:%Y-%m-%d}.parquet": "a[[]b]{{x}}/{day}.parquet",
}


@pytest.mark.parametrize("form", CASES)
def test_a_form_of_names_becomes_a_template(form: str, tmp_path: Path) -> None:
    """The template loads as a configuration and finds every day and its file again."""
    names = {form.format(*[day] * 3): day for day in DAYS}
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    (pattern,) = patterns(names)

    assert pattern.template == CASES[form]
    place = f"{tmp_path}/{pattern.template}"
    Model.model_validate({"predictions": {"path": place}, "outcomes": {"path": place}})
    assert list_days(place) == DAYS
    for name, day in names.items():
        assert list_files(place, day) == [f"file://{tmp_path / name}"]


def test_logs_beside_one_another_stay_apart() -> None:
    """Folders before the day and words in names tell logs apart; parts of one log do not."""
    names = [
        f"{folder}/{day}/{log}-{part}.parquet"
        for folder in ("fraud", "ctr")
        for day in DAYS
        for log in ("scores", "labels")
        for part in (0, 12)
    ]

    assert sorted(pattern.template for pattern in patterns(names)) == [
        "ctr/{day}/labels-*.parquet",
        "ctr/{day}/scores-*.parquet",
        "fraud/{day}/labels-*.parquet",
        "fraud/{day}/scores-*.parquet",
    ]


def test_many_names_in_one_folder_are_parts_of_one_log() -> None:
    """Random names of parts do not become logs of their own."""
    names = [f"{day}/{name}.parquet" for day in DAYS for name in ("ab", "cd", "ef", "gh", "ij")]

    assert [pattern.template for pattern in patterns(names)] == ["{day}/*.parquet"]


def test_names_without_a_day() -> None:
    """One large file and a folder of parts are logs whose path names no day."""
    found = patterns(["all.parquet", "out/part-00000.parquet", "out/part-00001.parquet"])

    assert [(p.template, p.dated) for p in found] == [
        ("all.parquet", False),
        ("out/part-*.parquet", False),
    ]


@pytest.mark.parametrize("name", ["2026-02-30.parquet", "1234567890.parquet", "20260230", "a/b"])
def test_numbers_that_are_no_day(name: str) -> None:
    """A day must exist in the calendar."""
    (pattern,) = patterns([name])

    assert not pattern.dated
