"""How the command line hands over a calibration map that was fitted, of scores or of vectors."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from monitor.base.errors import ConfigError
from monitor.cli.printing import print_json, say, say_aside, say_line, write_out

if TYPE_CHECKING:
    from monitor.pipeline.maps.class_recalibration import ClassRecalibration
    from monitor.pipeline.maps.recalibration import Recalibration

    Fitted = Recalibration | ClassRecalibration

AUTO = "auto"
K = TypeVar("K", bound=str)


def kind_among(given: str, kinds: Sequence[K], of: str = "") -> K | None:
    """Find the kind that an option names, None of `auto`; ConfigError if it is no kind `of` map."""
    for kind in kinds:
        if kind == given:
            return kind
    if given == AUTO:
        return None
    msg = f"--kind {given}: is no kind of map{of}; choose one of {', '.join((AUTO, *kinds))}."
    raise ConfigError(msg)


def span(fitted: "Fitted") -> str:
    """Name the days that a map was fitted to."""
    training = fitted.content.training
    why = ", since the estimated start of the open drift" if fitted.since_drift else ""
    return f"{training.days} days from {training.first} to {training.last}{why}"


def hand_over(
    fitted: "Fitted",
    head: str,
    sentences: Sequence[str],
    *,
    out: Path | None,
    sql: Callable[[], str] | None,
    as_json: bool,
    anyway: str,
    more: Mapping[str, object],
) -> None:
    """Write the file of a map, and say what the map is worth.

    `head` names the days, and `sentences` what the map is worth. `sql` writes the map if SQL is
    asked for, `anyway` is a kind to write although no map is worth it, and `more` are further
    entries of the JSON.
    """
    from monitor.report.candidates import candidate_table
    from monitor.store.map_file import write_map

    choice = fitted.choice
    written = out if out and (fitted.asked or fitted.worth_it) else None
    if written:
        write_map(str(written), fitted.content)
    if sql:
        write_out(sql())
        say_aside("\n".join(sentences))
    elif as_json:
        document = {
            "worth_it": fitted.worth_it,
            "chosen": choice.chosen.kind,
            "best_shape": choice.best.kind,
            "days_to_settle": choice.days_to_settle,
            "sentences": sentences,
            "since_drift": fitted.since_drift,
            **more,
            "candidates": choice.candidates,
            "map": fitted.content,
            "written": str(written) if written else None,
        }
        print_json(document)
    else:
        say_line(head)
        title = "Gain for each prediction on days left out"
        say(candidate_table(title, choice, worth_it=fitted.worth_it))
        for sentence in sentences:
            say(f"  {sentence}", highlight=False)
        if out:
            no = f"not written: {out}, because no map is worth it; --kind {anyway} writes one all"
            said = f"written: {out}" if written else f"{no} the same."
            say_line(said)
