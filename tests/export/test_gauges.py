"""The gauges: what is said of a store, byte for byte, and the words it is said with."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from math import nan
from pathlib import Path

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from monitor.arrivals import Arrivals
from monitor.config import Config
from monitor.drift.detectable import Detectable
from monitor.drift.detector import Ended, Incident, new_detector
from monitor.drift.evidence import DayEvidence
from monitor.drift.places import Condition, Explanation, Place, Where
from monitor.drift.verdict import STATES, Verdict
from monitor.errors import Fault
from monitor.evaluation.attribution import Causes, InterceptCorrection, Shares
from monitor.evaluation.class_measures import ClassErrors, ClassMeasures, VectorErrors
from monitor.evaluation.evaluate import Evaluation, TceNull
from monitor.evaluation.expected_prevalence import Expectation
from monitor.evaluation.map_gain import MapGain
from monitor.evaluation.score_errors import Errors
from monitor.export.gauges import CATALOGUE, Gauge
from monitor.export.snapshot_reader import Reader
from monitor.export.text import exposition, lines
from monitor.metrics.core.estimate import Estimate
from monitor.run_record import FailedDay
from monitor.store.store import Store
from tests.support.paths import GOLDEN, ROOT
from tools.pages import pages

EXPOSITION = GOLDEN / "exposition.txt"
PAGE = ROOT / "docs" / "gauges.md"

OLDER, FINAL, PROVISIONAL = date(2026, 2, 28), date(2026, 3, 1), date(2026, 3, 2)
LOGS = {"predictions": {"path": "p/{day}"}, "outcomes": {"path": "o/{day}"}}


def evaluation(
    number: int, day: date, *, model: str = "fraud", segment: str = "all", window: int = 1
) -> Evaluation:
    """Make an evaluation in which every number tells its place: the 3rd of number 7 is 0.0703."""

    def place(nth: int) -> float:
        return (100 * number + nth) / 10_000

    def errors(nth: int) -> Errors:
        return Errors(
            tce_published=place(nth),
            ece=place(nth + 1),
            rbs=place(nth + 2),
            tce=Estimate(place(nth + 60), place(nth + 61), place(nth + 62)),
            ece_interval=Estimate(place(nth + 1), place(nth + 70), place(nth + 71)),
            rbs_interval=Estimate(place(nth + 2), place(nth + 80), place(nth + 81)),
        )

    return Evaluation(
        model=model,
        segment=segment,
        day=day,
        window_days=window,
        days_present=1 if window == 1 else window - 2,
        final=day != PROVISIONAL,
        known_at=datetime(2026, 3, 5, tzinfo=UTC),
        predicted=1000 * number + 15,
        matched=1000 * number + 14,
        positives=1000 * number + 13,
        rejected={"outcome_orphan": 1000 * number + 17} if segment == "all" else {},
        coverage=place(18),
        prevalence=place(19),
        mean_score=place(20),
        shift=Estimate(value=-place(21), low=-place(22), high=place(23)),
        raw=errors(1),
        prior=errors(4),
        null=TceNull(mean=place(7), q05=place(8), q50=place(9), q95=place(10), q99=place(11)),
        slope=Estimate(place(24), place(25), place(26)),
        causes=Causes(*(Shares(*(place(27 + 4 * i + j) for j in range(4))) for i in range(4))),
        expected=Expectation(*map(place, range(43, 49))) if day == PROVISIONAL else None,
        correction=InterceptCorrection(
            *(Estimate.normal(place(90 + 2 * i), place(91 + 2 * i)) for i in range(3)), place(96)
        ),
        map=errors(100) if (segment, window) == ("all", 1) else None,
        map_slope=Estimate(0.9, 0.8, 1.0) if (segment, window) == ("all", 1) else None,
        map_gain=MapGain(12, *(Estimate(i / 8, i / 16, i / 4) for i in (1, 2, 3)))
        if (segment, window) == ("all", 1) and day == FINAL
        else None,
        classes=CLASSES if (model, segment, window) == ("fraud", "all", 7) else None,
    )


def verdict(segment: str, incident: Incident | None) -> Verdict:
    """Make the verdict of a day: with a drift, or with one that is over."""
    ended = None if incident else Ended(OLDER - timedelta(days=11), OLDER, "recovered")
    sums = 10.0 ** (np.arange(8) / 8)
    detector = replace(new_detector(), sums=sums, incident=incident, ended=ended)
    return Verdict(
        model="fraud",
        segment=segment,
        day=FINAL,
        final=True,
        known_at=datetime(2026, 3, 5, tzinfo=UTC),
        state="calibration_drift" if incident else "prior_shift",
        reasons=("Something moved.",),
        evidence=EVIDENCE,
        detector=detector,
        limit=3.75,
        shift=Estimate(0.5, 0.25, 0.75),
        level_change=Estimate(-0.5, -0.75, -0.25),
        slope=Estimate(0.75, 0.625, 0.875),
        reference_prevalence=0.125,
        reference_slope=Estimate(0.875, 0.75, 1.0),
        reference_intercept=Estimate(0.375, 0.25, 0.5),
        detectable=Detectable(
            tolerated=0.0625,
            found=0.25,
            rarer=50.0,
            days=12.5,
            days_strong=6.5,
            within_patience=0.1875,
        ),
        where=WHERE if incident else None,
        reached=2.625,
    )


def class_errors(name: str, at: float) -> ClassErrors:
    """Make the measures of a class."""
    known = Errors(at, at / 2, at / 4, tce=Estimate(at / 8, at / 16, at / 4))
    return ClassErrors(name, 100, at, at / 2, raw=known, prior=known)


def place(value: str, evidence: float) -> Place:
    """Make a place of a drift."""
    moved, slope = Estimate(-0.5, -0.75, -0.25), Estimate(0.5, 0.25, 0.75)
    flagged = evidence > 1.0
    return Place("device", value, 1_000, moved, slope, evidence, evidence / 4, flagged)


WHERE = Where(
    "top_overpredicted",
    Estimate(-0.5, -0.75, -0.25),
    (place("tv", 3.0), place("web", 0.5), Place("device", "watch", 10, new=True)),
    Explanation((Condition("device", "tv"), Condition("country", "FR")), 0.875, None, None, 0.25),
)
VECTOR = VectorErrors(rbs=Estimate(0.5, 0.375, 0.625), log_score=Estimate(1.5, 1.375, 1.625))
CLASSES = ClassMeasures(
    count=4,
    judged=0.875,
    raw=VECTOR,
    prior=VECTOR,
    by_class=(class_errors("cat", 0.5), class_errors("dog", 0.25)),
    pairs=6,
)
EVIDENCE = DayEvidence(
    ratios=np.zeros(8),
    tolerances=np.zeros(4),
    effects=np.zeros(4),
    scores=np.zeros(4),
    informations=np.zeros(4),
    slopes=np.zeros(6),
    levels=np.zeros(4),
    unknown_share=0.3125,
)
FAULT = Fault("predictions", "score_out_of_range", "scores lie outside [0, 1]", 14, 20_000, 1.75)
DRIFT = Incident(
    opened=FINAL,
    started=OLDER,
    start_low=date(2026, 2, 26),
    start_high=FINAL,
    kind="top_overpredicted",
    evidence=4.5,
    recovery=0.0,
    size=-0.25,
    size_error=0.0625,
    scores=np.zeros(4),
    informations=np.zeros(4),
    slopes=np.zeros(6),
)


def of_one_class(e: Evaluation) -> Evaluation:
    """Take away what has no finite intercept to rest on."""
    silent = replace(e, shift=None, prior=None, null=None, slope=None, causes=None)
    return replace(silent, expected=None, correction=None)


def without_outcomes(e: Evaluation) -> Evaluation:
    """Take away what rests on outcomes."""
    silent = replace(of_one_class(e), matched=0, positives=0, coverage=0.0, raw=None)
    return replace(silent, prevalence=nan, mean_score=nan)


def configure(folder: Path, **models: dict[str, object]) -> Config:
    """Configure models whose logs are nowhere."""
    content = {name: {**LOGS, **model} for name, model in models.items()}
    return Config.model_validate({"store": str(folder), "models": content})


def expose(config: Config) -> str:
    """Say what the exporter of version 1.2.3 says of a store."""
    snapshots = Reader(config, version="1.2.3").snapshots()
    return exposition(map(lines, snapshots.values())).decode()


def predictions(config: Config) -> list[str]:
    """Pick the samples of one gauge that every window has: their labels and numbers."""
    name = "calibration_window_predictions{"
    return [line[len(name) :] for line in expose(config).splitlines() if line.startswith(name)]


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Fill a store with two models, three days, segments, and windows of two lengths."""
    config = configure(
        tmp_path,
        ads={
            "time_zone": "America/New_York",
            "verdicts": {
                "references": [
                    {"first": date(2025, 6, 1), "last": date(2025, 6, 28)},
                    {"first": date(2025, 12, 1), "last": date(2025, 12, 28)},
                ]
            },
        },
        fraud={"owner": "risk-team", "severity": "page", "report_url": "https://r.test/fraud"},
    )
    days = {
        OLDER: [evaluation(9, OLDER)],
        FINAL: [
            evaluation(1, FINAL),
            evaluation(2, FINAL, segment="DE"),
            evaluation(3, FINAL, window=7),
            evaluation(4, FINAL, segment="DE", window=7),
        ],
        PROVISIONAL: [
            evaluation(5, PROVISIONAL),
            of_one_class(evaluation(6, PROVISIONAL, segment="DE")),
        ],
    }
    store = Store(config.store)
    for day, evaluations in days.items():
        store.write_evaluations("fraud", day, evaluations, inputs="")
    store.write_verdicts("fraud", FINAL, [verdict("all", DRIFT), verdict("DE", None)], basis="")
    never = (0,) * 26
    arrivals = Arrivals(date(2026, 1, 20), (5, 2, 0, 1, *never), (12, 3, 1, 0, *never))
    store.write_arrivals("fraud", arrivals)
    silent = without_outcomes(evaluation(7, FINAL, model="ads"))
    store.write_evaluations("ads", FINAL, [silent], inputs="")
    morning = datetime(2026, 3, 3, 6, tzinfo=UTC)
    for started, failed in ((morning - timedelta(days=1), False), (morning, True)):
        finished = started + timedelta(seconds=90.5)
        day = FailedDay(PROVISIONAL, FAULT) if failed else None
        store.write_run("fraud", started=started, finished=finished, failed=day)
    store.write_run(
        "ads", started=morning, finished=morning + timedelta(hours=1), failed=FailedDay(FINAL)
    )
    return config


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

    def test_is_this_text(self, config: Config, tmp_path: Path) -> None:
        """The whole exposition of the store is the golden text, byte for byte."""
        found = tmp_path / EXPOSITION.name
        found.write_bytes(expose(config).encode())

        meant = (
            f"see `diff {found} {EXPOSITION}`; if the change is meant: `cp {found} {EXPOSITION}`"
        )
        assert found.read_bytes() == EXPOSITION.read_bytes(), meant

    def test_tells_the_same_twice(self, config: Config) -> None:
        """A scrape leaves nothing behind that the next one would add to."""
        assert expose(config) == expose(config)

    def test_a_model_without_results_is_only_named(self, config: Config, tmp_path: Path) -> None:
        """A configured model that was never run has its info, its limits and no other sample."""
        models = {**config.models, "new": configure(tmp_path, new={}).models["new"]}
        added = expose(config.model_copy(update={"models": models})).splitlines()

        assert set(added).difference(expose(config).splitlines()) == NEW

    def test_an_empty_store_is_no_error(self, tmp_path: Path) -> None:
        """Before the first run a scrape names the models and the version, and nothing else."""
        lines = expose(configure(tmp_path / "none", new={})).splitlines()

        told = [line for line in lines if not line.startswith("#")]
        assert len(told) == len(set(told))
        assert set(told) == {*NEW, 'calibration_build_info{version="1.2.3"} 1.0'}

    def test_limits_are_those_of_each_model(self, tmp_path: Path) -> None:
        """What a model sets under verdicts is what the rules of its alerts compare with."""
        own = {
            "false_alert_days": 30,
            "segment_false_alert_days": 60,
            "run_overdue_hours": 54,
            "run_late_hours": 0.5,
            "outcome_coverage_limit": 0.25,
            "rejected_rows_limit": 10,
        }
        text = expose(configure(tmp_path, own={"verdicts": own}, new={}))

        assert set(text.splitlines()) > {
            *NEW,
            'calibration_false_alert_interval_seconds{model="own"} 2.592e+06',
            'calibration_segment_false_alert_interval_seconds{model="own"} 5.184e+06',
            'calibration_run_overdue_limit_seconds{model="own"} 194400.0',
            'calibration_run_late_limit_seconds{model="own"} 1800.0',
            'calibration_outcome_coverage_limit_ratio{model="own"} 0.25',
            'calibration_rejected_rows_limit_ratio{model="own"} 10.0',
        }

    @pytest.mark.parametrize(
        ("owner", "written"),
        [
            ('the "risk" team', r"the \"risk\" team"),
            ("EMEA\\risk", r"EMEA\\risk"),
            ("risk\nteam", r"risk\nteam"),
            (r"risk\nteam", r"risk\\nteam"),
            ("Überwachung {a=b}, 100 %", "Überwachung {a=b}, 100 %"),
        ],
    )
    def test_label_values_are_escaped(self, tmp_path: Path, owner: str, written: str) -> None:
        """An owner comes out of the text as it went in, whatever is in it."""
        text = expose(configure(tmp_path, ads={"owner": owner}))
        read = {f.name: f.samples for f in text_string_to_metric_families(text)}

        assert f'owner="{written}"' in text
        assert [s.labels["owner"] for s in read["calibration_model_info"]] == [owner]

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
            pytest.param("P", "P", id="one provisional day"),
            pytest.param("FF", ".F", id="the newer of two final days"),
            pytest.param("FP", "FP", id="a provisional day after the newest final one"),
            pytest.param("PF", ".F", id="no provisional day before the newest final one"),
            pytest.param("FPPP", "F..P", id="the newest of several provisional days"),
            pytest.param("FPFP", "..FP", id="of each the newest"),
        ],
    )
    def test_days(self, tmp_path: Path, stored: str, told: str) -> None:
        """The newest final day is exported, and the newest provisional one if it is newer."""
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
            'maturity="provisional",model="fraud",segment="all",window="7d"} 6015.0',
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

    def test_declares_each_gauge_once(self) -> None:
        """No two gauges share a name."""
        names = [gauge.name for gauge in CATALOGUE]

        assert len(names) == len(set(names)) > 0

    def test_declares_all_that_is_exposed(self, config: Config) -> None:
        """A store that holds everything fills every gauge of the catalogue, in its order."""
        families = text_string_to_metric_families(expose(config))
        filled = [family.name for family in families if family.samples]

        assert filled == [gauge.name for gauge in CATALOGUE]

    @pytest.mark.parametrize("gauge", CATALOGUE, ids=lambda gauge: gauge.name)
    def test_name_has_prefix_and_unit(self, gauge: Gauge) -> None:
        """A name begins with the project and ends with a unit; only the Brier score has none."""
        units = "ratio|logit|seconds|rows|predictions|outcomes|info|rbs"
        units += "|segments_left_out|config_valid|results_readable|slope|log10|log10_p|verdict|kind"
        units += "|flagged|values_left_out"
        units += "|explained|removed|days|slope_change|value|nats|classes_left_out|pairs_left_out"
        # A bound of an interval is named after its number.
        name = re.sub("_(low|high)$", "", gauge.name)

        assert re.fullmatch(rf"calibration_([a-z0-9]+_)*({units})", name)

    @pytest.mark.parametrize("gauge", CATALOGUE, ids=lambda gauge: gauge.name)
    def test_meaning_is_a_sentence(self, gauge: Gauge) -> None:
        """The help of a gauge is one line that begins and ends like a sentence."""
        assert re.fullmatch(r"[A-Z][^\n]+\.", gauge.meaning)

    @pytest.mark.parametrize("gauge", CATALOGUE, ids=lambda gauge: gauge.name)
    def test_labels_are_few_and_known(self, gauge: Gauge) -> None:
        """A gauge has labels of closed lists only: no day, no run, no id."""
        known = {"model", "segment", "window", "maturity", "adjusted", "quantile", "reason"}
        known |= {"owner", "severity", "version", "state", "kind", "cause", "reference"}
        known |= {"ending", "log", "check", "complaint", "url", "outcome", "age_days"}
        known |= {"class", "over", "column", "value", "values"}

        assert known.issuperset(gauge.labels)
        assert len(set(gauge.labels)) == len(gauge.labels)

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

    def test_reasons_are_the_checks_of_rows(self, config: Config) -> None:
        """Rows are counted by the checks that can reject a row, not by those of a whole day."""
        reasons = {
            sample.labels["reason"]
            for family in text_string_to_metric_families(expose(config))
            for sample in family.samples
            if family.name == "calibration_rejected_rows"
        }

        assert {"score_out_of_range", "outcome_orphan"} < reasons
        assert reasons.isdisjoint({"empty_day", "no_outcomes", "one_class"})


class TestPage:
    """docs/gauges.md against the catalogue."""

    def test_table_is_that_of_the_measures(self) -> None:
        """`make pages` would write the page as it is, with a row for every gauge."""
        page = PAGE.read_text(encoding="utf-8")

        assert page == pages()[PAGE], "run: make pages"
        assert re.findall(r"^\| `(calibration_\w+)`", page, re.MULTILINE) == [
            gauge.name for gauge in CATALOGUE
        ]

    @pytest.mark.parametrize("gauge", CATALOGUE, ids=lambda gauge: gauge.name)
    def test_cells_are_filled(self, gauge: Gauge) -> None:
        """Every gauge says its unit and when it is absent, without what would end a cell."""
        assert gauge.unit
        assert gauge.absent
        assert not re.search(r"[|\n]", gauge.unit + gauge.meaning + gauge.absent)

    def test_explains_every_label(self) -> None:
        """The page has one row for each label that a gauge has, and for no other."""
        rows = re.findall(r"^\| `(?!calibration_)(\w+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)

        assert len(rows) == len(set(rows))
        assert set(rows) == {label for gauge in CATALOGUE for label in gauge.labels}

    def test_speaks_of_no_other_gauge(self) -> None:
        """Every gauge that the page's examples mention is one of the catalogue."""
        mentioned = re.findall(r"\bcalibration_\w+", PAGE.read_text(encoding="utf-8"))

        assert set(mentioned) - set(STATES) == {gauge.name for gauge in CATALOGUE}
