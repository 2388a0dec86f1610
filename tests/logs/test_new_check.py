"""A new check of rows is two files: its status and its object, and its key of the configuration."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

DAYS = "2026-03-01", "2026-03-02"
# What a person writes, by file: the line that is there, and what comes before it.
CHECKS = """    Check(
        Status.SCORE_ROUND,
        "score_round",
        "scores are 0.5, which this model never gives",
        *("prediction", "score"),
        "score = 0.5e0",
    ),
    Check(
        Status.OUTCOME_WITHDRAWN,
        "outcome_withdrawn",
        "outcomes are -1, which withdraws them",
        *("outcome", "outcome"),
        "outcome = -1",
    ),
"""
STATUSES = "    SCORE_ROUND = auto()\n    OUTCOME_WITHDRAWN = auto()\n"
KEYS = '    "score_round": _STRICT,\n    "outcome_withdrawn": _STRICT,\n'
EDITS = {
    "monitor.logs.checks.checks": [
        ("    NOT_CHOSEN = auto()", STATUSES),
        ("    Check(\n        Status.PREDICTION_ID_MISSING,", CHECKS),
    ],
    "monitor.config.checks": [('    "score_missing": _STRICT,\n', KEYS)],
}
# Runs in a process of its own, which loads both files with these lines.
PROGRAM = """
import json, sys
from datetime import date
from importlib.machinery import PathFinder, SourceFileLoader

edits, root, days = json.loads(sys.argv[1])

class Edited(SourceFileLoader):
    def get_code(self, name):
        text = self.get_source(name)
        for there, before in edits[name]:
            assert text.count(there) == 1, there
            text = text.replace(there, before + there)
        return compile(text, self.path, "exec")

class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        spec = super().find_spec(name, path, target) if name in edits else None
        if spec:
            spec.loader = Edited(name, spec.origin)
        return spec

sys.meta_path.insert(0, Finder)
from monitor.base.errors import DataError
from monitor.config import Engine, Model
from monitor.logs import open_databases, summarise_day
from monitor.logs.days.days import batches_of
from monitor.logs.days.many_days import read_days
from monitor.logs.engines.session import open_session
from monitor.logs.warehouse.forms import statement

kinds = "predictions", "outcomes"
logs = {k: {"path": f"{root}/{k}-{{day}}.parquet"} for k in kinds}
strict = Model.model_validate({**logs, "settled_after": 0})
mild = strict.model_copy(
    update={"checks": strict.checks.also(dict.fromkeys(
        ("score_round", "outcome_withdrawn", "outcome_invalid"), "reject"))})
first, last = map(date.fromisoformat, days)
as_of = date(2026, 3, 4)
said = {}
try:
    summarise_day("m", strict, first, as_of=as_of)
except DataError as error:
    said["stops"] = [str(error), error.fault.check]
summary = summarise_day("m", mild, first, as_of=as_of)
said["alone"] = dict(summary.rejected)
said["predicted"] = summary.segments["all"].predicted
with open_databases(Engine(threads=1)) as databases, open_session("m", databases) as session:
    (batch,) = batches_of("m", mild, [first, last], as_of=as_of)
    said["together"] = [
        {violation.check: violation.rows for violation in day.violations}
        for day in read_days(session, batch)]
dated = {k: logs[k] | {"format": "sql", "connection": "W", "sql": "SELECT", "day": "on"}
         for k in kinds}
for log in dated.values():
    log.pop("path")
model = Model.model_validate({**dated, "settled_after": 0})
text = statement("m", model, "trino", "dbt")
said["sent"] = [name in text for name in ("'score_round'", "'outcome_withdrawn'")]
print(json.dumps(said))
"""


def test_a_check_is_two_files(tmp_path: Path) -> None:
    """It stops a day, is counted where it rejects, alone and in a batch, and a warehouse has it."""
    ids, score = [1, 2, 3, 4, 5, 6], [0.1, 0.5, 0.7, 0.9, 0.5, 0.3]
    seen, outcome = [1, 2, 3, 4, 6], [0.0, 1.0, -1.0, 1.0, 7.0]  # of id 5, nothing is known
    for day in DAYS:
        predictions = pa.table({"prediction_id": ids, "score": score})
        pq.write_table(predictions, tmp_path / f"predictions-{day}.parquet")
        outcomes = pa.table({"prediction_id": seen, "outcome": outcome})
        pq.write_table(outcomes, tmp_path / f"outcomes-{day}.parquet")
        ids, seen = [i + 10 for i in ids], [i + 10 for i in seen]
    asked = json.dumps([EDITS, f"{tmp_path}", DAYS])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, asked], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

    said = json.loads(done.stdout)
    rejected = {"score_round": 2, "outcome_withdrawn": 1, "outcome_invalid": 1}
    message, check = said["stops"]
    assert check == "score_round"
    first, second, *_ = message.splitlines()
    assert first == (
        "m 2026-03-01: 2 of 6 scores are 0.5, which this model never gives, first 0.5 (id 2); fix "
        "the log, then rerun this day; or list score_round under checks.reject, and such rows are "
        "left out and counted."
    )
    assert "1 of 5 outcomes are -1, which withdraws them, first -1.0 (id 3); fix" in second
    assert said["alone"] == rejected
    assert said["predicted"] == 4
    assert said["together"] == [rejected, rejected]
    assert said["sent"] == [True, True]
