"""Random configurations: accepted, or refused with code 2 or 3, never anything else."""

from typing import Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.damages import DAY, Command, Project
from tests.support.fuzzing import INTERNAL, fuzzed

KEYS = st.sampled_from(
    ["store", "engine", "threads", "memory_mb", "models", "ctr", "predictions", "outcomes", "path",
     "id", "score", "time", "segments", "column", "values", "severity", "time_zone", "<<",
     "settled_after", "windows", "checks", "reject", "accept", "fail", "empty_day", "where",
     "duplicates", "weight", "absent_means", "score_means", "outcome_means", "format", "day",
     "time_unit", "strata", "verdicts", "references", "first", "last", "known_drifts", "report",
     "schedule", "owner", "ids", "cast", "in_predictions", "kind", "catch_up_days",
     "cross", "top", "edges", "quantiles", "primary", "conf", "classes", "map", "calendar"]
)  # fmt: skip
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.dates(),
    st.text(max_size=6).filter(lambda text: not INTERNAL.search(text)),  # messages quote values
    st.sampled_from(
        ["{day}", "{day", "{day:%Q}", "{day.year}", "{0}", "a::b{day}", "~/{day}", "s9://{day}",
         "memory://{day}", "*{day}[", "UTC", "..", "reject", "accept", "\0", "DE", "{day:%Y/%j}",
         "score > 0.5", "score; DROP TABLE x", "(", "uuid", "percent", "negative after 7d", "auto",
         "0 6 * * *", "2026-03-01", "csv", "delta", "spark", "http://a:b@c/{day}", "a" * 300]
    ),
)  # fmt: skip
MOST_SAID = 20_000  # characters that errors print, however large the values are
TREES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(KEYS, SCALARS), inner, max_size=4)
    ),
    max_leaves=8,
)


def grafted(tree: Any, place: int, graft: Any) -> Any:
    """Replace one branch of a configuration, counted from the root."""
    branches = [(tree, key) for key in tree]
    for node, key in branches:
        if isinstance(node[key], dict):
            branches += [(node[key], inner) for inner in node[key]]
    node, key = branches[place % len(branches)]
    node[key] = graft
    return tree


@fuzzed(150)
@given(place=st.integers(0, 99), graft=TREES)
@example(place=0, graft="{folder}")
@example(place=44, graft=[{None: None}])  # once it was checked again for ever
def test_grafted_configurations_are_accepted_or_refused(
    place: int, graft: Any, project: Project, command: Command
) -> None:
    """Whatever value the configuration has anywhere, the exit code is 0, 2 or 3, never 1.

    Messages name keys as they are written, never the classes that check them.
    """
    config = project.folder / "monitor.yaml"
    sound = config.read_text()
    config.write_text(yaml.safe_dump(grafted(yaml.safe_load(sound), place, graft)))

    ended = command("check", "--day", DAY)

    config.write_text(sound)
    assert (ended.code, bool(ended.err)) in {(0, False), (2, True), (3, True)}, ended.err
    assert len(ended.err) < MOST_SAID
    assert not INTERNAL.search(ended.err)


@fuzzed(150)
@given(noise=st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)))
@example(noise=b"a: !!bool perhaps")
@example(noise=b"a: !!map b")
@example(noise=b"a: !!set [b]")
@example(noise=b"a: !!timestamp b")
@example(noise=b"a: 0x_")
@example(noise=b"a: " + 5_000 * b"9")
@example(noise=5_000 * b"[")
@example(noise=5_000 * b"a: {")
@example(noise=b"&a {store: *a, models: *a}")
@example(noise=b"? [a]\n: b")
@example(noise=b'a: "\\UFFFFFFFF"')
@example(noise=b"%YAML 9.9\n---\n")
def test_noise_is_no_configuration(noise: bytes, project: Project, command: Command) -> None:
    """Whatever text replaces the configuration, the exit code is 2."""
    (project.folder / "monitor.yaml").write_bytes(noise)

    ended = command("check", "--day", DAY)

    assert ended.code == 2
    assert ended.err.startswith("monitor.yaml")
