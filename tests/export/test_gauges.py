"""The gauges: what is said of a store, byte for byte, and the words it is said with."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from monitor.config import Config
from monitor.measures.gauges import CATALOGUE
from monitor.store.store import Store
from tests.support.filled_store import FINAL, configure, evaluation, expose, fill_store
from tests.support.paths import ROOT
from tools.pages import EXPOSITION, pages

PAGE = ROOT / "docs" / "gauges.md"


def begun(config: Config) -> Config:
    """Begin a store that holds nothing yet."""
    Store(config.store).begin(datetime(2026, 3, 1, tzinfo=UTC))
    return config


def predictions(config: Config) -> list[str]:
    """Pick the samples of one gauge that every window has: their labels and numbers."""
    name = "calibration_window_predictions{"
    return [line[len(name) :] for line in expose(config).splitlines() if line.startswith(name)]


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Fill a store with two models, three days, segments, and windows of two lengths."""
    return fill_store(tmp_path)


# What is told of a model before anything is known of it.
NEW = {
    'calibration_false_alert_interval_seconds{model="new"} 8.64e+07',
    'calibration_segment_false_alert_interval_seconds{model="new"} 3.1536e+07',
    'calibration_run_overdue_limit_seconds{model="new"} 108000.0',
    'calibration_run_late_limit_seconds{model="new"} 21600.0',
    'calibration_data_error_limit_seconds{model="new"} 21600.0',
    'calibration_outcome_coverage_limit_ratio{model="new"} 0.5',
    'calibration_rejected_rows_limit_ratio{model="new"} 2.0',
    'calibration_model_info{model="new",owner="",severity="ticket"} 1.0',
    'calibration_model_config_valid{model="new"} 1.0',
    'calibration_model_results_readable{model="new"} 1.0',
}


class TestExposition:
    """What a scrape of a store answers."""

    def test_is_this_text(self, config: Config) -> None:
        """The whole exposition of the store is the golden text, byte for byte."""
        meant = "run `make pages`, and read the difference; is every changed line meant?"
        assert expose(config).encode() == EXPOSITION.read_bytes(), meant

    def test_a_model_without_results_is_only_named(self, config: Config, tmp_path: Path) -> None:
        """A configured model that was never run has its info, its limits and no other sample."""
        models = {**config.models, "new": configure(tmp_path, new={}).models["new"]}
        added = expose(config.model_copy(update={"models": models})).splitlines()

        assert set(added).difference(expose(config).splitlines()) == NEW

    def test_an_empty_store_is_no_error(self, tmp_path: Path) -> None:
        """Before the first run a scrape names the models and the version, and nothing else."""
        lines = expose(begun(configure(tmp_path / "none", new={}))).splitlines()

        told = [line for line in lines if not line.startswith("#")]
        assert len(told) == len(set(told))
        assert set(told) == {*NEW, 'calibration_build_info{version="1.2.3"} 1.0'}

    def test_limits_are_those_of_each_model(self, tmp_path: Path) -> None:
        """What a model sets under verdicts is what the rules of its alerts compare with."""
        own = {
            "false_alert_days": 200,
            "run_overdue_hours": 54,
        }
        text = expose(begun(configure(tmp_path, own={"verdicts": own}, new={})))

        assert set(text.splitlines()) > {
            *NEW,
            'calibration_false_alert_interval_seconds{model="own"} 1.728e+07',
            'calibration_segment_false_alert_interval_seconds{model="own"} 6.3072e+06',
            'calibration_run_overdue_limit_seconds{model="own"} 194400.0',
            'calibration_run_late_limit_seconds{model="own"} 21600.0',
            'calibration_outcome_coverage_limit_ratio{model="own"} 0.5',
            'calibration_rejected_rows_limit_ratio{model="own"} 2.0',
        }

    def test_a_check_of_a_former_program_is_counted(self, tmp_path: Path) -> None:
        """Rows that the store holds as rejected are shown under any name, beside known checks."""
        config = configure(tmp_path, fraud={})
        e = replace(evaluation(1, FINAL), rejected={"score_cursed": 3})
        Store(config.store).write_evaluations("fraud", FINAL, [e], inputs="")
        found = {
            line.split('reason="')[1].split('"')[0]: float(line.split()[-1])
            for line in expose(config).splitlines()
            if line.startswith("calibration_rejected_rows{")
        }

        assert found.pop("score_cursed") == 3
        assert found["outcome_orphan"] == 0
        assert set(found.values()) == {0}


class TestNewest:
    """Which of the stored days a scrape shows."""

    @pytest.mark.parametrize(
        ("stored", "told"),
        [
            pytest.param("F", "F", id="one final day"),
            pytest.param("P", ".", id="one provisional day"),
            pytest.param("FF", ".F", id="the newer of two final days"),
            pytest.param("FP", "F.", id="no provisional day after the newest final one"),
            pytest.param("PF", ".F", id="no provisional day before the newest final one"),
            pytest.param("FPFP", "..F.", id="the newest final one among provisional days"),
        ],
    )
    def test_days(self, tmp_path: Path, stored: str, told: str) -> None:
        """The newest final day is exported; on others, outcomes are still missing."""
        config = configure(tmp_path, fraud={})
        for place, maturity in enumerate(stored):
            day = FINAL + timedelta(days=place)
            e = replace(evaluation(place, day), final=maturity == "F")
            Store(config.store).write_evaluations("fraud", day, [e], inputs="")
        lines = predictions(config)
        found = {
            int(float(line.split()[-1])) // 1000: "F" if 'maturity="final"' in line else "P"
            for line in lines
        }

        assert len(lines) == len(found)
        assert found == {place: maturity for place, maturity in enumerate(told) if maturity != "."}

    def test_windows_ripen_apart(self, tmp_path: Path) -> None:
        """A day whose long window is not final yet leaves the older long window in place."""
        config = configure(tmp_path, fraud={})
        ripe, late, newest = (FINAL + timedelta(days=n) for n in range(3))
        days = {
            ripe: [evaluation(1, ripe), evaluation(2, ripe, window=7)],
            late: [evaluation(3, late), evaluation(4, late, window=7)],
            newest: [evaluation(5, newest), evaluation(6, newest, window=7)],
        }
        final = {1, 2, 5}  # `late` was never settled, and it is in the newest week
        for day, evaluations in days.items():
            known = [replace(e, final=e.predicted // 1000 in final) for e in evaluations]
            Store(config.store).write_evaluations("fraud", day, known, inputs="")

        assert predictions(config) == [
            'maturity="final",model="fraud",segment="all",window="1d"} 5015.0',
            'maturity="final",model="fraud",segment="all",window="7d"} 2015.0',
        ]

    def test_what_is_no_longer_evaluated_is_not_told(self, tmp_path: Path) -> None:
        """A segment or window that the newest final day has not is gone, whatever came before."""
        config = configure(tmp_path, fraud={})
        day = FINAL + timedelta(days=1)
        days = {
            FINAL: [
                evaluation(1, FINAL),
                evaluation(2, FINAL, segment="DE"),
                evaluation(3, FINAL, window=7),
            ],
            day: [replace(evaluation(4, day), final=True)],
        }
        for one, evaluations in days.items():
            Store(config.store).write_evaluations("fraud", one, evaluations, inputs="")

        assert predictions(config) == [
            'maturity="final",model="fraud",segment="all",window="1d"} 4015.0'
        ]


class TestCatalogue:
    """The rules that hold for every gauge."""

    def test_declares_all_that_is_exposed(self, config: Config) -> None:
        """A store that holds everything fills every gauge of the catalogue, in its order."""
        families = text_string_to_metric_families(expose(config))
        filled = [family.name for family in families if family.samples]

        assert filled == [gauge.name for gauge in CATALOGUE]

    def test_name_has_prefix_and_unit(self) -> None:
        """A name begins with the project and ends with a unit; only the Brier score has none."""
        units = "ratio|logit|seconds|rows|predictions|outcomes|info|rbs"
        units += "|left_out|config_valid|results_readable|slope|log10|log10_p|verdict|kind"
        units += "|flagged|undecided|urgent|in_segments|worsenings|slope_before"
        units += "|explained|removed|lost|days|slope_change|value|nats"
        for gauge in CATALOGUE:
            # A bound of an interval is named after its number.
            name = re.sub("_(low|high)$", "", gauge.name)

            assert re.fullmatch(rf"calibration_([a-z0-9]+_)*({units})", name)

    def test_labels_are_few_and_known(self) -> None:
        """A gauge has labels of closed lists only: no day, no run, no id."""
        known = {"model", "segment", "window", "maturity", "adjusted", "quantile", "reason"}
        known |= {"owner", "severity", "version", "state", "kind", "cause", "reference"}
        known |= {"ending", "log", "check", "complaint", "url", "outcome", "age_days"}
        known |= {"class", "over", "column", "value", "values", "by", "currency", "map"}
        known |= {"streams", "settings", "end", "of"}
        for gauge in CATALOGUE:
            assert known.issuperset(gauge.labels), gauge.name
            assert len(set(gauge.labels)) == len(gauge.labels), gauge.name

    def test_no_label_holds_a_date(self, config: Config) -> None:
        """No label value of the store's exposition has a date or a time in it."""
        values = {
            value
            for family in text_string_to_metric_families(expose(config))
            for sample in family.samples
            for value in sample.labels.values()
        }

        assert "7d" in values
        assert not [value for value in values if re.search(r"\d{2}[-:T]?\d{2}", value)]


class TestPage:
    """docs/gauges.md against the catalogue."""

    def test_table_is_that_of_the_measures(self) -> None:
        """`make pages` would write the page as it is, with a row for every gauge."""
        page = PAGE.read_text(encoding="utf-8")

        assert page == pages()[PAGE], "run: make pages"
        rows = re.findall(r"^\| `(calibration_\w+)`( `_low` `_high`)? \|", page, re.MULTILINE)
        ends = ("", "_low", "_high")
        assert [f"{name}{end}" for name, both in rows for end in (ends if both else ends[:1])] == [
            gauge.name for gauge in CATALOGUE
        ]

    def test_explains_every_label(self) -> None:
        """The page has one row for each label that a gauge has, and for no other."""
        rows = re.findall(r"^\| `(?!calibration_)(\w+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)

        assert len(rows) == len(set(rows))
        assert set(rows) == {label for gauge in CATALOGUE for label in gauge.labels}
