"""Both logs grouped by id in one pass, where that is cheaper than to join them.

What an id has that is there once, or once in each log, is all known then. Only the others, which
are few, are joined.
"""

from monitor.logs.engines.steps import Steps, first_true
from monitor.logs.warehouse.asked import Asked
from monitor.logs.warehouse.reading import Span, observed, parts_of, scored_before, select

BY_ID, SEVERAL = "by_id", "ids_of_several"


def grouped(asked: Asked, span: Span, longest: int) -> Steps:
    """Group both logs by id, and list the ids that are there more than once in one of them."""
    scored = [name for name, _ in _of_scored(asked)]
    seen = ["seen_on", "outcome", *["observed_at"] * asked.keeps_times]
    keys = ", ".join(asked.keys)
    of_outcome = ", ".join(f"outcome_{key}" for key in asked.keys)
    nothing = dict(_of_scored(asked))
    entries = (
        f"  SELECT {', '.join([keys, *scored, *(f'{_nothing(asked, n)} AS {n}' for n in seen)])}\n"
        f"  FROM (\n{scored_before(asked, span, longest)}\n  ) AS p\n  UNION ALL\n"
        f"  SELECT {', '.join([of_outcome, *(nothing[name] for name in scored), *seen])}\n"
        f"  FROM (\n{observed(asked, span)}\n  ) AS o"
    )
    has_id = " AND ".join(f"{key} IS NOT NULL" for key in asked.keys)
    columns = [
        *((key, key) for key in asked.keys),
        ("predictions_of_id", "count(scored_on)"),
        ("outcomes_of_id", "count(seen_on)"),
        *((name, f"min({name})") for name in (*scored, *seen)),
    ]
    return [
        ("entries", entries),
        (BY_ID, select(columns, f"FROM entries\n  WHERE {has_id}\n  GROUP BY {keys}")),
        (
            SEVERAL,
            f"  SELECT {keys}\n  FROM {BY_ID}\n  WHERE predictions_of_id > 1 OR outcomes_of_id > 1",
        ),
    ]


def paired_once(asked: Asked, undated: str) -> str:
    """Put the predictions whose id is there once beside their outcome, as `paired` does."""
    last = asked.dialect.after("scored_on", asked.model.settled_after)
    in_time = f"seen_on >= scored_on AND seen_on <= {last}"
    names = ["scored_on", *asked.keys, "score", *(name for name, _ in parts_of(asked))]
    columns = [
        *((name, name) for name in names),
        ("times", "1"),
        *[("scored_at", "scored_at")] * asked.timed,
        ("outcome", "outcome"),
        *[("observed_at", "observed_at")] * asked.keeps_times,
        *[("undated", undated)] * asked.undated,
        ("has_outcome", f"CASE WHEN {in_time} THEN 1 ELSE 0 END"),
    ]
    once = "predictions_of_id = 1 AND outcomes_of_id <= 1 AND own = 1"
    return select(columns, f"FROM {BY_ID}\n  WHERE {once}")


def alone_once(asked: Asked, span: Span, longest: int) -> str:
    """Say of outcomes whose id is there once what `alone` says."""
    first, in_time = (
        asked.dialect.after("seen_on", -days) for days in (longest, asked.model.settled_after)
    )
    cases = [
        (
            f"predictions_of_id = 0 OR scored_on > seen_on OR scored_on < {first}",
            "'outcome_orphan'",
        ),
        (f"scored_on < {in_time}", "'outcome_late'"),
    ]
    columns = ("scored_on", "seen_on"), ("status", first_true(cases, "'matched'"))
    once = f"predictions_of_id <= 1 AND outcomes_of_id = 1 AND seen_on <= {span.last}"
    return select([*columns, ("arrivals", "1")], f"FROM {BY_ID}\n  WHERE {once}")


def _of_scored(asked: Asked) -> list[tuple[str, str]]:
    """List what is kept of predictions, and what stands for it in rows of outcomes."""
    parts = [(name, asked.as_text("NULL")) for name, _ in parts_of(asked)]
    return [
        ("scored_on", asked.as_day("NULL")),
        ("score", asked.as_real("NULL")),
        *parts,
        *[("scored_at", "NULL")] * asked.timed,
        ("own", "NULL"),
    ]


def _nothing(asked: Asked, name: str) -> str:
    """Write what stands for a value of an outcome in rows of predictions."""
    types = {"seen_on": asked.as_day, "outcome": asked.as_real}
    return types[name]("NULL") if name in types else "NULL"
