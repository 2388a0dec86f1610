"""Which tests take long: workers begin with them, and `make quick` leaves them out."""

from functools import cache
from types import ModuleType

import pytest

# Every file with a test that needs Spark, which starts for twenty seconds of processor time.
OF_SPARK = (
    "tests/logs/test_spark",
    "tests/logs/test_maps_in_spark.py",
    "tests/logs/test_columns.py",
    "tests/logs/test_entities.py",
    "tests/fuzz/test_combinations.py",
)
# What takes longest, as beginnings of paths. Tests that wait for programs are spread among those
# that compute, so that about one of them waits at a time and no core is idle. The files of one line
# stay together, because they share what starts slowly: a Java machine, the store of two models, a
# Prometheus.
IN_ORDER = """
cli/test_base_install.py dags/test_dag.py pipeline/test_run.py alerts/test_restarts.py
pipeline/test_verdicts.py pipeline/test_order_of_days.py logs/test_shapes.py demo/
alerts/test_rules.py logs/test_batches.py store/test_fencing.py combinations/ site/test_site.py
site/test_map_life.py store/test_chain.py site/test_tutorials.py dags/test_plans.py
read/test_all_renderers.py logs/test_logs.py report/test_page pipeline/test_catch_up.py
cli/test_init.py cli/test_one_of_many.py cli/test_cli_refusals.py store/test_refusing.py
metrics/test_metrics_page.py test_wheel.py cli/test_quiet_days.py cli/test_showing.py
cli/test_recalibrating cli/test_control_characters.py pipeline/test_class
pipeline/test_late_outcomes.py grafana/test_ pipeline/test_watching.py pipeline/test_prune.py
alerts/test_messages.py pipeline/test_where.py drift/test_class_segments.py torture/ pipeline/
logs/test_weights.py logs/test_contract.py logs/test_classes.py read/test_plans.py
drift/test_verdict.py drift/test_calibrated_limit.py drift/test_where.py drift/test_second.py
store/test_compaction.py store/test_decision_log.py logs/discovery/test_delays.py
drift/test_entities.py drift/test_incidents.py drift/test_levels.py drift/test_detectable.py
drift/test_crossings.py drift/test_third.py evaluation/test_expected_prevalence.py
drift/test_variance.py drift/test_spans.py drift/test_pairs.py cli/test_rebasing.py
evaluation/test_chosen_labels.py evaluation/test_attribution.py logs/discovery/test_choosing.py
logs/discovery/test_subsets.py test_release.py metrics/maps/test_class_fitting.py
metrics/maps/test_fitting.py report/diagrams/ metrics/smooth/test_cumulative.py
metrics/intervals/test_ cli/test_chosen_labels.py logs/test_row_settings.py
drift/test_explaining.py metrics/test_forms.py evaluation/test_population cli/test_checking.py
metrics/binomial/test_binomial.py metrics/binned/test_rows.py site/test_judges.py
report/notebook/test_strange_columns.py test_config_messages.py test_program.py
cli/test_bad_input.py logs/test_reading_errors.py store/test_sealing.py fuzz/ studies/
"""
LONGEST: tuple[str | tuple[str, ...], ...] = (
    "tests/dags/test_stack.py",
    OF_SPARK,
    *(f"tests/{name}" for name in IN_ORDER.split()),
)

# The names by which files of tests start servers, browsers, Java and Airflow.
STARTERS = {
    "airflow",
    "alertmanager",
    "chromium",
    "installed",
    "listening",
    "postgresql",
    "pushgateway",
    "serving",
    "started",
}
SERVERS = {"bucket", "filled", "spark"}  # fixtures


def place(nodeid: str) -> int:
    """Find the place of a test among the longest; all others come after them."""
    return _place_of_file(nodeid.partition("::")[0])


@cache
def _place_of_file(path: str) -> int:
    return next((i for i, start in enumerate(LONGEST) if path.startswith(start)), len(LONGEST))


def is_slow(item: pytest.Item) -> bool:
    """Tell whether a test takes long, or is in a file that starts servers."""
    module = getattr(item, "module", None)
    starts = isinstance(module, ModuleType) and not STARTERS.isdisjoint(vars(module))
    fixtures = getattr(item, "fixturenames", ())
    return starts or not SERVERS.isdisjoint(fixtures) or place(item.nodeid) < len(LONGEST)
