"""A configuration as YAML with comments: every setting that was guessed, and why."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import wrap
from typing import Any

import yaml

from monitor.base.segment_names import printable
from monitor.logs.discovery.guess import Guess
from monitor.logs.discovery.pairing import Setting
from monitor.words.guesses import HEAD, REST, REST_WITHOUT_ZONE, UNSURE

WIDTH = 100


def configuration(guesses: Sequence[Guess], commands: Sequence[str]) -> str:
    """Write a complete configuration.

    Parameters
    ----------
    guesses : sequence of Guess
        The models.
    commands : sequence of str
        What to run next, for the head of the file.
    """
    head = HEAD.format(commands="\n".join(f"#     {command}" for command in commands))
    return head + "\n".join("\n".join(_model(guess)) + "\n" + _rest(guess) for guess in guesses)


def _rest(guess: Guess) -> str:
    has_zone = any(setting.key == "time_zone" for setting in guess.settings)
    return REST if has_zone else REST_WITHOUT_ZONE


def _model(guess: Guess) -> Iterator[str]:
    yield f"  {_scalar(guess.name)}:"
    if guess.doubts:
        yield from _comment(UNSURE, 4)
        yield "    doubts:"
        yield from (f"      - {_scalar(doubt)}" for doubt in guess.doubts)
    for section in ("predictions", "outcomes"):
        yield f"    {section}:"
        for setting in guess.settings:
            if setting.section == section:
                yield from _lines(setting, 6)
    for setting in guess.settings:
        if not setting.section and setting.key != "segments":
            yield from _lines(setting, 4)
    yield from _segments([s for s in guess.settings if s.key == "segments"])
    checks = [setting for setting in guess.settings if setting.section == "checks"]
    if checks:
        yield "    # Rows that break a check stop the day; these are left out and counted instead."
        yield "    checks:"
        for answer, listed in groupby(sorted(checks, key=_answer), _answer):
            yield f"      {answer}:"
            for setting in listed:
                yield from _comment(setting.why, 8)
                yield f"        - {setting.key}"


def _answer(check: Setting) -> str:
    return str(check.value)


def _lines(setting: Setting, indent: int) -> Iterator[str]:
    if setting.why:
        yield from _comment(setting.why, indent)
    if setting.active or setting.why:
        mark = "" if setting.active else "# "
        yield " " * indent + f"{mark}{setting.key}: {_scalar(setting.value)}"


def _segments(offered: Sequence[Setting]) -> Iterator[str]:
    for setting in [setting for setting in offered if setting.active]:
        yield from _lines(setting, 4)
    offered = [setting for setting in offered if not setting.active]
    if not offered:
        return
    yield from _comment("To monitor parts of the traffic separately, remove the # of one line:", 4)
    for setting in offered:
        yield f"    # segments: {_scalar(setting.value)}"
        yield from _comment(f"({setting.why})", 4, deeper="    ")


def _comment(text: str, indent: int, deeper: str = "") -> Iterator[str]:
    """Wrap a comment; signs that could end it are shown as spaces."""
    plain = "".join(sign if sign.isprintable() else " " for sign in text)
    for line in wrap(plain, WIDTH - indent - 2 - len(deeper)):
        yield f"{' ' * indent}# {deeper}{line}"


class _Dumper(yaml.SafeDumper):
    """Writes what stands in two places twice, as people do, with no anchor and alias."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - of no value
        return True


def _scalar(value: Any) -> str:
    """Write a value on one line, quoted where YAML needs it."""
    text = yaml.dump(
        value,
        Dumper=_Dumper,
        default_flow_style=True,
        width=10**9,
        allow_unicode=True,
        sort_keys=False,
    )
    line = text.removesuffix("\n").removesuffix("\n...").strip()
    if line.isprintable():
        return line
    return printable(json.dumps(value, ensure_ascii=False))  # JSON is YAML on one line
