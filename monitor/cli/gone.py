"""Options that commands had once, and what to write instead."""

from collections.abc import Mapping, Sequence

from monitor.base.errors import ConfigError

_NO_JSON = "it says in one line what it did; remove the option, and read the exit code"
_NO_WAIT = "it waits for another process that works on the same model; remove the option"
_SEGMENTS = "it exports the 50 segments with the most outcomes; remove the option"
_JOBS = "it takes as many processes as there are cores; remove the option"
_ALL = "it writes all models; remove the option, and choose by the label or the column model"
# By command: the option, and the sentence.
GONE: Mapping[tuple[str, ...], Mapping[str, str]] = {
    ("assets",): {"--json": _NO_JSON},
    ("demo",): {"--json": "write show --model NAME --json for each model", "--jobs": _JOBS},
    ("evaluate",): {"--wait": _NO_WAIT, "--no-wait": _NO_WAIT, "--jobs": _JOBS},
    ("export", "openmetrics"): {"--json": _NO_JSON, "--most-segments": _SEGMENTS, "--model": _ALL},
    ("export", "table"): {"--json": _NO_JSON, "--model": _ALL},
    ("map", "compose"): {"--json": _NO_JSON},
    ("map", "retire"): {"--json": _NO_JSON},
    ("map", "show"): {"--json": "the map file is JSON itself; remove the option"},
    ("map", "sql"): {"--json": "it prints the expression alone; remove the option"},
    ("plan-labels",): {
        "--slope": "write --find 0.8, a slope",
        "--kind": "write --find top_overpredicted, a kind of drift",
        "--uniform": "a quarter of the labels is drawn from all scores alike; remove the option",
    },
    ("prune",): {"--json": _NO_JSON, "--wait": _NO_WAIT, "--no-wait": _NO_WAIT},
    ("push",): {
        "--json": _NO_JSON,
        "--most-segments": _SEGMENTS,
        "--model": "it pushes all models; to delete the group of one write --delete NAME",
    },
    ("rebase",): {"--json": "write ack --list --json, which has every decision"},
    ("report",): {"--json": _NO_JSON, "--day": "a page ends with the newest day; remove it"},
    ("run",): {"--recompute": "write backfill --recompute, with --from and --to"},
    ("serve",): {"--json": "it says where it listens; remove the option"},
    ("show",): {"--window": "write --windows, with the number of days"},
    ("store", "compact"): {"--json": _NO_JSON, "--wait": _NO_WAIT, "--no-wait": _NO_WAIT},
    ("where",): {"--most": "the table shows 20 values, and --json has all; remove the option"},
    ("textfile",): {"--json": _NO_JSON, "--most-segments": _SEGMENTS},
}


def check_options(words: Sequence[str]) -> None:
    """Check that a call gives no option that is gone.

    Raises
    ------
    ConfigError
        If it does; says what to write.

    Examples
    --------
    >>> check_options(["show", "--windows", "7"])
    """
    given = [word.partition("=")[0] for word in words]
    for command, options in GONE.items():
        if tuple(given[: len(command)]) != command:
            continue
        for option in options.keys() & {*given}:
            msg = f"{' '.join(command)}: the option {option} is gone: {options[option]}."
            raise ConfigError(msg)
