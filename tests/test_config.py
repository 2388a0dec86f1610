"""The configuration: the example is complete and correct, and paths are read as written."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from pydantic import BaseModel, ValidationError

from monitor.base.errors import ConfigError
from monitor.config import (
    Checks,
    Common,
    Engine,
    Model,
    OutcomeLog,
    PredictionLog,
    Report,
    Segments,
    Verdicts,
    literal,
    load_config,
)
from monitor.logs import newest_settled_day, summarise_day
from tests.support.cases import some
from tests.support.paths import ROOT

EXAMPLE = ROOT / "monitor.example.yaml"
ROOMS: dict[str, type[BaseModel]] = {
    "": Common,
    "engine": Engine,
    "report": Report,
    "models.churn": Model,
    "models.churn.predictions": PredictionLog,
    "models.churn.outcomes": OutcomeLog,
    "models.churn.segments": Segments,
    "models.churn.strata": Segments,
    "models.churn.checks": Checks,
    "models.churn.verdicts": Verdicts,
}
# Keys that the example sets to another value than the default, because it is empty or off.
TELLING = {
    "engine": set(),
    "report": {"path"},
    "models.churn": {"checks", "outcomes", "predictions", "segments", "strata", "verdicts"},
    "models.churn.predictions": {"path"},
    "models.churn.outcomes": {"path"},
    "models.churn.checks": set(),
    "models.churn.verdicts": set(),
}  # fmt: skip
# Keys of the example that need no comment.
PLAIN = {"models"}
SMALL = """\
store: {store}
models:
  ctr:
    predictions: {{path: "{predictions}"}}
    outcomes: {{path: "outcomes/{{day}}.parquet"}}
"""


def example() -> dict[str, Any]:
    """Read the example as plain YAML."""
    content: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text())
    return content


def at(content: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    """Find a mapping inside the example."""
    for key in filter(None, place.split(".")):
        content = content[key]
    return content


def write_config(folder: Path, *, store: str = "store", predictions: str = "p/{day}") -> Path:
    """Write a small configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "monitor.yaml"
    path.write_text(SMALL.format(store=store, predictions=predictions))
    return path


OF_LISTS = {"columns"}  # the other entries of `segments`


def other_entries(place: str) -> set[str]:
    """Name the fields of a section that are written under another key."""
    return OF_LISTS if ROOMS[place] is Model else set()


def test_the_example_loads() -> None:
    """The example is a valid configuration, and its places are below its folder."""
    config = load_config(EXAMPLE)

    fraud = config.model("fraud")
    assert config.store == str(EXAMPLE.parent / "store")
    assert fraud.predictions.path == f"{EXAMPLE.parent}/logs/fraud/predictions/{{day}}/*.parquet"
    assert fraud.outcomes.path == f"{EXAMPLE.parent}/logs/fraud/outcomes/{{day}}.parquet"
    assert config.model("churn").segment_names == ("DE", "FR", "US", "other")


def test_the_example_fits_three_screens() -> None:
    """Every key of the configuration, 120 at most, is shown on 150 lines."""
    assert len(EXAMPLE.read_text().splitlines()) <= 150
    # Columns that are counted beside the segments are written under `segments` too.
    keys = {re.sub(r"^columns\.", "segments.", key) for key in keys_of(Model)}
    assert len(keys) + len([*keys_of(Common)]) <= 120


def keys_of(section: type[BaseModel]) -> Iterator[str]:
    """List the keys of a section and of those below it that hold a value."""
    for name, field in section.model_fields.items():
        below = {key: None for inner in sections_in(field.annotation) for key in keys_of(inner)}
        yield from (f"{name}.{key}" for key in below) if below else [name]


def sections_in(kind: Any) -> Iterator[type[BaseModel]]:
    """List the sections that a field can hold."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for part in get_args(kind):
        yield from sections_in(part)


# What was a key once, where it was, and what its complaint says to write.
GONE = {
    "models.ctr.alpha": "0.05 for every model; remove it",
    "models.ctr.null_replicates": "100 for every model; remove it",
    "models.ctr.horizon": "write settled_after with that number of days",
    "models.ctr.report_url": "report: {url: ...} beside models",
    "models.ctr.predictions.catalog": "write connection in its place",
    "models.ctr.outcomes.catalog": "write connection in its place",
    "models.ctr.predictions.classes.columns": "write vector: [COLUMN, ...]",
    "models.ctr.predictions.classes.top.map": "write scores: COLUMN, without classes",
    "models.ctr.predictions.classes.top.true_score": "write outcome: [TRUE_SCORE, SQUARES]",
    "models.ctr.predictions.classes.top.squares": "write outcome: [TRUE_SCORE, SQUARES]",
    "models.ctr.budget.page": "is 4 times the budget; remove it",
    "models.ctr.budget.ticket": "is the budget itself; remove it",
    "models.ctr.budget.prior_shift": "does not count; remove it",
    "models.ctr.checks.score_missing": "write checks: {reject: [score_missing]}",
    "models.ctr.checks.one_class": "write checks: {accept: [one_class]}",
    "models.ctr.verdicts.wander": "remove it. Name the column that moves the slope",
    "models.ctr.verdicts.strata": "write strata: auto beside segments",
    "models.ctr.verdicts.slope_effect": "write slope_tolerance",
    "models.ctr.verdicts.shape_effect": "write slope_tolerance",
    "models.ctr.verdicts.shape_tolerance": "write slope_tolerance",
    "models.ctr.verdicts.prior_shift_odds": "write level_odds",
    "models.ctr.verdicts.segment_false_alert_days": "write another false_alert_days",
    "models.ctr.verdicts.run_late_hours": "write run_overdue_hours",
    "models.ctr.verdicts.outcome_coverage_limit": "remove it",
    "models.ctr.verdicts.rejected_rows_limit": "remove it",
    "engine.master": "write conf: {spark.master: ...} under engine",
    "engine.remote": "write conf: {spark.remote: ...} under engine",
}


@pytest.mark.parametrize("place", some(GONE, 3))
def test_a_key_that_is_gone_says_what_to_write(place: str, tmp_path: Path) -> None:
    """Not that it is unknown, and not another key with a name like it."""
    path = write_config(tmp_path)
    content = yaml.safe_load(path.read_text())
    *sections, key = place.split(".")
    at_it = content
    for section in sections:
        at_it = at_it.setdefault(section, {})
    at_it[key] = 1
    path.write_text(yaml.safe_dump(content))

    with pytest.raises(ConfigError) as refused:
        load_config(path).model("ctr")

    (said,) = [line for line in str(refused.value).splitlines() if f" {place}: " in line]
    assert GONE[place] in said


@pytest.mark.parametrize("place", ROOMS)
def test_the_example_holds_every_key(place: str) -> None:
    """The example contains every known key."""
    below = {"models"} if not place else set()
    known = set(ROOMS[place].model_fields) - other_entries(place)
    assert set(at(example(), place)) == known | below


@pytest.mark.parametrize("place", TELLING)
def test_the_example_states_the_defaults(place: str) -> None:
    """All other values of the example are the defaults; what is measured is null."""
    others = other_entries(place)
    fields = {k: v for k, v in ROOMS[place].model_fields.items() if k not in others}
    content = at(example(), place)
    given = {k: tuple(v) if isinstance(v, list) else v for k, v in content.items()}

    default = {k: None if field.default_factory else field.default for k, field in fields.items()}

    assert {key for key in fields if given[key] != default[key]} == TELLING[place]


@pytest.mark.parametrize(("given", "days"), [("1", 1), ("7", 7), ("7d", 7), ('"31d"', 31)])
def test_spans_of_days_are_numbers_of_days(tmp_path: Path, given: str, days: int) -> None:
    """How many days are judged together may be written with a d."""
    path = write_config(tmp_path)
    path.write_text(f"{path.read_text()}    verdicts: {{judge_every: {given}}}\n")

    assert load_config(path).model("ctr").verdicts.judge_every == days


@pytest.mark.parametrize(
    ("given", "message"),
    [("30d", ""), ("400", ""), ("401d", "must be at most 400"), ("a month", "Input should be")],
)
def test_a_wait_may_be_written_with_a_d(tmp_path: Path, given: str, message: str) -> None:
    """Of an outcome within 30 days, a day waits 30 days; 400 at most."""
    path = write_config(tmp_path)
    path.write_text(f"{path.read_text()}    settled_after: {given}\n")
    if message:
        with pytest.raises(ConfigError, match=f"settled_after: {message}"):
            load_config(path).model("ctr")
    else:
        assert load_config(path).model("ctr").settled_after == int(given.removesuffix("d"))


@pytest.mark.parametrize("given", ["0", "32", "week", "7.5", "-7", '"7 d"', "0d"])
def test_other_spans_of_days_are_refused(tmp_path: Path, given: str) -> None:
    """Between a day and a month, in whole days; the message names the key."""
    path = write_config(tmp_path)
    path.write_text(f"{path.read_text()}    verdicts: {{judge_every: {given}}}\n")

    with pytest.raises(ConfigError, match=r"verdicts\.judge_every"):
        load_config(path).model("ctr")


CALENDARS = {
    "{weekdays: [mon, fri]}": None,
    "{closed: [2026-12-25, 2027-07-01/2027-08-31]}": None,
    "{}": "calendar: must name weekdays or closed days",
    "{weekdays: []}": "calendar.weekdays: must name at least one of mon, tue, ",
    "{weekdays: [mon, mon]}": "calendar.weekdays: must name at least one of mon, tue, ",
    "{weekdays: [Monday]}": "calendar.weekdays.0: Input should be 'mon', 'tue', ",
    "{closed: [2027-01-01, 2026-12-25]}": "calendar.closed: must be in order and must not overlap",
    "{closed: ['2026-12-25', \"2027-07-01/2027-08-31\"]}": None,
    "{closed: ['2026-02-30']}": "calendar.closed.0: must be a date, such as 2026-12-25, or a span",
    "{closed: [christmas]}": "calendar.closed.0: must be a date, such as 2026-12-25, or a span",
    "{closed: [{first: 2026-12-25}]}": "calendar.closed.0: must be a date, such as 2026-12-25, or",
    "{open: [2026-12-25]}": "calendar.open: is not a known key",
    "{weekdays: [mon]}\n    checks: {accept: [missing_day]}": "cannot be combined with calendar",
}


@pytest.mark.parametrize("given", CALENDARS)
def test_calendars_are_checked(given: str, tmp_path: Path) -> None:
    """A calendar has weekdays or closed days, in order; the message names the key."""
    path, message = write_config(tmp_path), CALENDARS[given]
    path.write_text(f"{path.read_text()}    calendar: {given}\n")

    if message is None:
        assert load_config(path).model("ctr").calendar
    else:
        with pytest.raises(ConfigError, match=re.escape(message)):
            load_config(path).model("ctr")


def commented_keys(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each key, and whether it has a comment: in its line, above it, or at its parent."""
    above, parents = False, list[tuple[int, bool]]()
    for line in text.splitlines():
        key = re.match(r"( *)([\w]+):", line)
        if key:
            indent = len(key[1])
            parents = [parent for parent in parents if parent[0] < indent]
            commented = "#" in line or above or any(parent for _, parent in parents)
            parents.append((indent, commented))
            yield key[2], commented
        above = line.lstrip().startswith("#")


def test_the_example_explains_every_key() -> None:
    """Every key has a comment, or has one in the other log."""
    commented = {key for key, has_comment in commented_keys(EXAMPLE.read_text()) if has_comment}
    keys = {key for key, _ in commented_keys(EXAMPLE.read_text())}

    assert keys - commented == PLAIN


def test_relative_paths_belong_to_the_folder_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result does not depend on the current folder."""
    write_config(tmp_path / "project", store="../results", predictions="logs/{day}.parquet")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    config = load_config(Path("../project/monitor.yaml"))

    folder = tmp_path / "elsewhere" / "../project"
    assert config.store == str(folder / "../results")
    assert config.model("ctr").predictions.path == f"{folder}/logs/{{day}}.parquet"


@pytest.mark.parametrize("place", ["/srv/monitor/{day}", "s3://bucket/{day}", "file:///srv/{day}"])
def test_absolute_paths_and_urls_stay(place: str, tmp_path: Path) -> None:
    """Absolute paths and URLs are not changed."""
    store = place.removesuffix("/{day}")
    config = load_config(write_config(tmp_path, store=store, predictions=place))

    assert config.store == store
    assert config.model("ctr").predictions.path == place


@pytest.mark.parametrize("name", ["[!a]{{ü{day}", "50% a*b?]["])
def test_a_folder_may_have_any_name(name: str, tmp_path: Path) -> None:
    """Special characters of templates are ordinary characters in the name of the folder."""
    folder, day = tmp_path / name, date(2026, 3, 2)
    write_config(folder, predictions="predictions/{day}.parquet")
    sound = {
        "predictions": {"prediction_id": [1, 2], "score": [0.2, 0.7]},
        "outcomes": {"prediction_id": [1, 2], "outcome": [0, 1]},
    }
    for kind, rows in sound.items():
        (folder / kind).mkdir()
        for offset in (0, 1):
            table = pa.table(rows).slice(0, 2 - 2 * offset)
            pq.write_table(table, folder / kind / f"{day + timedelta(days=offset)}.parquet")
    (folder / "predictions" / f"{day + timedelta(days=1)}.parquet").unlink()

    model = load_config(folder / "monitor.yaml").model("ctr")

    assert newest_settled_day("ctr", model, as_of=date(2026, 4, 1)) == day
    summary = summarise_day("ctr", model, day, as_of=date(2026, 4, 1))
    assert summary.segments["all"].tally.total == 2
    assert literal(str(folder)).format() == str(folder).translate(
        {ord(sign): f"[{sign}]" for sign in "*?["}
    )


@pytest.mark.parametrize(
    "template",
    ["{day}", "{day:}", "{day:%Y/%m/%d}", "{day:%Y}/{day:%m}/{day:%d}", "{day:%Y}/{day}",
     "{day:%y%m%d}", "{day:%Y-%j}", "{{x}}/{day}", "{day:%Y-%-m-%-d}", "{day:%Y/%-j}-*"],
)  # fmt: skip
def test_templates_that_name_the_day(template: str) -> None:
    """Year, month and day may stand in any order, together or apart, and more than once."""
    assert PredictionLog(path=template).path == template


@pytest.mark.parametrize(
    "template",
    ["", "day", "{{day}}", "{day:%Y}", "{day:%m-%d}", "{day:%Y-%d}", "{day!r}", "{day.year}",
     "{day[0]}", "{0}", "{}", "{day:{day}}", "{day:>12}", "{day:%s}", "{day:%Y%-m-%d}",
     "{day:%Y-%-m-%-d}*", "*{day:%-d.%m.%Y}", "{day:%Y %B %d}", "{day", "day}", "{day}\0"],
)  # fmt: skip
def test_templates_that_do_not(template: str) -> None:
    """A template that would mix up days, or that cannot be parsed back, is rejected."""
    with pytest.raises(ValidationError):
        PredictionLog(path=template)


MODELS = """\
store: store
models:
  good: {predictions: {path: "p/{day}"}, outcomes: {path: "o/{day}"}}
  ctr:
    predictions: {path: "p/{day}"}
    outcomes: {path: "o/{day}"}
    severity: page
    time_zone: Europe/Berlin
    verdicts: {slope_tolerance: 0.2}
"""
# What is wrong with `ctr`, and what is said of it.
MISTAKES = {
    "severity: page": ("severity: loud", "models.ctr.severity: Input should be 'page', "),
    "slope_tolerance: 0.2": ("wander: fitted", "models.ctr.verdicts.wander: is gone, because it "),
    "    severity: page": (
        "    settled_after: auto\n    severity: page",
        "models.ctr.settled_after: 'auto' is gone, because the wait must not change while",
    ),
    "slope_tolerance": (
        "slope_tolernce",
        "models.ctr.verdicts.slope_tolernce: is not a known key; did ",
    ),
    "  ctr:": (
        "  click rate:",
        "models.click rate: must be a letter or digit followed",
    ),
    "time_zone: Europe/Berlin": (
        "time_zone: 2026-02-30",
        "is not valid YAML: cannot be read as",
    ),
    "    severity": ("    outcomes: {}\n    severity", "the key 'outcomes' appears twice"),
    "store: store": ("store: store\nengine: {threads: 1}", ""),
    "  good": ("  ctr: {owner: me}\n  good", "is not valid YAML: the key 'ctr' appears twice"),
}


class TestInvalidModels:
    """What is wrong in one model stops that model, and what all share stops all."""

    @pytest.mark.parametrize("old", MISTAKES)
    def test_one_mistake_leaves_the_others(self, old: str, tmp_path: Path) -> None:
        """A mistake in one model makes it invalid, with its message; the other one loads."""
        new, message = MISTAKES[old]
        (tmp_path / "monitor.yaml").write_text(MODELS.replace(old, new))

        config = load_config(tmp_path / "monitor.yaml")

        assert config.model("good").owner == ""
        assert len(config.invalid) == bool(message)
        for name, invalid in config.invalid.items():
            assert invalid.message.startswith(f"{tmp_path}/monitor.yaml")
            assert message in invalid.message
            with pytest.raises(ConfigError, match=re.escape(invalid.message)):
                config.model(name)

    def test_all_mistakes_of_all_models_come_at_once(self, tmp_path: Path) -> None:
        """A rule about several keys is checked beside mistakes in others, but not in its own."""
        path = tmp_path / "monitor.yaml"
        path.write_text("""\
store: s
models:
  a:
    predictions: {path: "p/{day}.parquet", id: [x, y], scor: p}
    outcomes: {path: "o/{day}.parquet", duplicates: latest}
    windows: [7]
  b:
    predictions: {path: "p/{day}.parquet"}
    outcomes: {path: "o/{day}.parquet", absent_means: negative after 9d}
    settled_after: -1
    severity: loud
""")

        invalid = load_config(path).invalid

        found = [m.partition(": ")[2] for i in invalid.values() for m in i.message.splitlines()]
        assert [message.partition(": ")[::2] for message in found] == [
            ("models.a.predictions.scor", "is not a known key; did you mean 'score'?"),
            (
                "models.a.outcomes",
                (
                    "duplicates: latest needs time, the column that says when an outcome was "
                    "observed, got {'path': 'o/{day}.parquet', 'duplicates': 'latest'}; correct "
                    "the value."
                ),
            ),
            (
                "models.a.windows",
                "must increase and start with 1, such as [1, 7, 28], got [7]; correct the value.",
            ),
            (
                "models.b.severity",
                "Input should be 'page', 'ticket' or 'info', got 'loud'; correct the value.",
            ),
            (
                "models.b.settled_after",
                "must be at least 0, got -1; correct the value.",
            ),
        ]

    def test_what_is_valid_of_it_is_shown(self, tmp_path: Path) -> None:
        """Results go on being exported with the valid keys; the invalid ones get defaults."""
        text = MODELS.replace("slope_tolerance", "slope_tolernce")
        (tmp_path / "monitor.yaml").write_text(text)

        shown = load_config(tmp_path / "monitor.yaml").shown("ctr")

        assert [shown.severity, shown.time_zone] == ["page", "Europe/Berlin"]
        assert shown.verdicts == Verdicts()

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("store: store", "shop: store", "store: is missing; add it"),
            ("models:", "engine: {threads: 0}\nmodels:", "engine.threads: must be at least 1"),
            ("models:", "models: []\nmodel:", "models: must contain keys"),
            ("page", "[", "is not valid YAML: "),
        ],
    )
    def test_a_mistake_in_common_keys_stops_all(
        self, old: str, new: str, message: str, tmp_path: Path
    ) -> None:
        """Without a store, or with text that is no YAML, there is no configuration."""
        (tmp_path / "monitor.yaml").write_text(MODELS.replace(old, new))

        with pytest.raises(ConfigError, match=message):
            load_config(tmp_path / "monitor.yaml")


class TestFolder:
    """A folder with one file for each model is as good as one file."""

    def write(self, folder: Path, **files: str) -> Path:
        """Write the common keys, and files of models."""
        (folder / "models").mkdir(parents=True)
        (folder / "monitor.yaml").write_text("store: store\nengine: {threads: 3}\n")
        for name, text in files.items():
            (folder / "models" / f"{name}.yaml").write_text(text)
        return folder

    def test_is_the_same_as_one_file(self, tmp_path: Path) -> None:
        """Paths are relative to the folder, whether a model has a file of its own or not."""
        keys = yaml.safe_load(MODELS)["models"]
        folder = self.write(tmp_path, **{name: yaml.safe_dump(keys[name]) for name in keys})
        (folder / "models" / ".ctr.yaml.swp").write_text("of an editor")
        (folder / "models" / "README.md").write_text("of people")
        config = load_config(folder)
        (folder / "one.yaml").write_text(MODELS.replace("models:", "engine: {threads: 3}\nmodels:"))

        assert set(config.names) == {"good", "ctr"}
        assert config == load_config(folder / "one.yaml")

    def test_models_may_be_in_both(self, tmp_path: Path) -> None:
        """The common file may hold models too; a model that is in both is invalid."""
        model = 'predictions: {path: "p/{day}"}\noutcomes: {path: "o/{day}"}\n'
        folder = self.write(tmp_path, ctr=model, ads=model)
        (folder / "monitor.yaml").write_text(MODELS)

        config = load_config(folder)

        assert set(config.models) == {"good", "ads"}
        assert config.invalid["ctr"].message == (
            f"{folder}/models/ctr.yaml: the model 'ctr' is also in {folder}/monitor.yaml; "
            "remove one of them."
        )

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("owner: [", ", line 1, column 9: is not valid YAML: "),
            ("", ": must contain keys (see monitor.example.yaml), got None; "),
            ("ownr: me", ": ownr: is not a known key; did you mean 'owner'?"),
        ],
    )
    def test_a_file_that_is_wrong_stops_its_model(
        self, text: str, message: str, tmp_path: Path
    ) -> None:
        """Also one that is no YAML at all; the message names the file."""
        folder = self.write(tmp_path, ctr=text, good=yaml.safe_dump(example()["models"]["fraud"]))

        config = load_config(folder)

        assert set(config.models) == {"good"}
        assert f"{folder}/models/ctr.yaml{message}" in config.invalid["ctr"].message


@pytest.mark.parametrize(
    ("renamed", "expected"),
    [
        ("{prob: prob}", "must name no column twice"),
        ("{a: score, b: score}", "must name no column twice"),
        ("[[prob, score]]", "must map names of columns in older files to those of today"),
        ("{prob: 1}", "must map names of columns in older files to those of today"),
        ("{}", "must map names of columns in older files to those of today"),
        ("{prob: score}, format: delta, day: at", "renamed is for files; write {sql: 'coalesce("),
    ],
)
def test_other_forms_of_renamed_columns_are_refused(
    tmp_path: Path, renamed: str, expected: str
) -> None:
    """Each name is written once, and a table has both columns."""
    path = tmp_path / "monitor.yaml"
    place = "p" if "delta" in renamed else "p/{day}.parquet"
    predictions = f'{{path: "{place}", renamed: {renamed}}}'
    outcomes = '{path: "o/{day}.parquet"}'
    path.write_text(
        f"store: s\nmodels: {{ctr: {{predictions: {predictions}, outcomes: {outcomes}}}}}\n"
    )
    with pytest.raises(ConfigError, match=re.escape(expected)):
        load_config(path).model("ctr")
