"""Write the exports of tests/golden/judges with the libraries of the tools themselves.

    python -m venv env && env/bin/pip install inspect-ai==0.3.285 \
        opentelemetry-sdk==1.45.2 opentelemetry-exporter-otlp-json-file==0.66b1
    env/bin/python tools/golden/write_exports.py

The answers are drawn at random. A judge states with which probability an answer is right; people
review three fifths of them. From `UPDATE` on another version of the judge answers. Identifiers and
times are set, so that a file becomes small; all else is what the libraries write.
"""

import json
import lzma
import random
import tempfile
from datetime import UTC, date, datetime, timedelta
from math import exp
from pathlib import Path
from typing import NamedTuple

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer
from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.json.file import FileSpanExporter
from opentelemetry.exporter.otlp.json.file._log_exporter import FileLogExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

FOLDER = Path(__file__).parents[2] / "tests" / "golden" / "judges"
FIRST, DAYS, UPDATE = date(2026, 3, 2), 38, 30
ANSWERS, REVIEWED = 200, 0.6
FEW, IN_LOG = 2, 40  # days of the other exports, and samples in a log of Inspect
CONFIDENCES = 0.02, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.98, 1.0
EVENT = "gen_ai.evaluation.result"


class Answer(NamedTuple):
    """An answer that was judged, and perhaps reviewed."""

    day: int
    number: int
    confidence: float
    right: bool
    model: str
    prompt: str
    reviewed: bool

    @property
    def moment(self) -> datetime:
        """When it was judged."""
        midnight = datetime.combine(FIRST + timedelta(self.day), datetime.min.time(), UTC)
        return midnight + timedelta(minutes=7 * self.number)

    @property
    def response(self) -> str:
        """The identifier of the response that was judged."""
        return f"resp-{1000 * self.day + self.number:06d}"


def answers() -> list[Answer]:
    """Draw all of them."""
    rng, drawn = random.Random(29), []  # noqa: S311 - answers, no secrets
    for day in range(DAYS):
        updated = day >= UPDATE
        for number in range(ANSWERS):
            x = rng.gauss(1.0, 2.5)
            p = 1 / (1 + exp(-x))
            confidence = min((abs(c - p), c) for c in CONFIDENCES)[1]
            odds = 0.8 + (0.4 if updated else 0.8) * (x - 1.0)
            right = rng.random() < 1 / (1 + exp(-odds))
            model = "judge-2026-04-01" if updated else "judge-2026-01-15"
            prompt, reviewed = rng.choice(["v3", "v4"]), rng.random() < REVIEWED
            drawn.append(Answer(day, number, confidence, right, model, prompt, reviewed))
    return drawn


def events(answer: Answer) -> list[tuple[int, dict[str, str | float]]]:
    """Give the evaluations of an answer by the conventions for GenAI, with their times in ns."""
    judged: dict[str, str | float] = {
        "gen_ai.evaluation.name": "correctness",
        "gen_ai.evaluation.score.value": answer.confidence,
        "gen_ai.evaluation.score.label": "pass" if answer.confidence > CONFIDENCES[3] else "fail",
        "gen_ai.response.id": answer.response,
        "gen_ai.request.model": answer.model,
        "gen_ai.prompt.name": answer.prompt,
    }
    review: dict[str, str | float] = {
        "gen_ai.evaluation.name": "human_review",
        "gen_ai.evaluation.score.value": float(answer.right),
        "gen_ai.response.id": answer.response,
    }
    given = [(answer.moment, judged), (answer.moment + timedelta(hours=20), review)]
    return [(int(at.timestamp()) * 10**9, of) for at, of in given[: 1 + answer.reviewed]]


def write_events(drawn: list[Answer]) -> None:
    """Write evaluations as events, which are log records, as OTLP in JSON lines."""
    path = Path(tempfile.mkdtemp()) / "events.jsonl"
    provider = LoggerProvider(resource=Resource({"service.name": "judge"}))
    batches = BatchLogRecordProcessor(
        FileLogExporter(path), max_export_batch_size=400, max_queue_size=2**15
    )
    provider.add_log_record_processor(batches)
    logger = provider.get_logger("evaluations")
    for answer in drawn:
        for at, of in events(answer):
            times = {"timestamp": at, "observed_timestamp": at}
            logger.emit(LogRecord(**times, event_name=EVENT, attributes=of))
        if answer.number == ANSWERS - 1:
            provider.force_flush()
    provider.shutdown()
    keep("opentelemetry-events.jsonl", path.read_bytes())


def write_spans(drawn: list[Answer]) -> None:
    """Write evaluations of two days as events of the spans that they evaluate."""
    path = Path(tempfile.mkdtemp()) / "spans.jsonl"
    provider = TracerProvider(resource=Resource({"service.name": "judge"}))
    batches = BatchSpanProcessor(
        FileSpanExporter(path), max_export_batch_size=400, max_queue_size=2**15
    )
    provider.add_span_processor(batches)
    tracer = provider.get_tracer("evaluations")
    for answer in (a for a in drawn if a.day < FEW):
        at = int(answer.moment.timestamp()) * 10**9
        about = {"gen_ai.operation.name": "chat", "gen_ai.response.id": answer.response}
        span = tracer.start_span("chat answerer", start_time=at - 10**9, attributes=about)
        for time, of in events(answer):
            span.add_event(EVENT, of, time)
        span.end(at)
    provider.shutdown()
    keep("opentelemetry-spans.jsonl", path.read_bytes())


@scorer(metrics=[accuracy()])
def agrees():  # noqa: ANN201
    """Compare the judge's verdict with the reviewers'."""

    async def score(state, target):  # noqa: ANN001, ANN202
        said = json.loads(state.output.completion)
        is_same = said["verdict"] == target.text
        return Score(
            value=CORRECT if is_same else INCORRECT,
            answer=said["verdict"],
            metadata={"confidence": said["confidence"]},
        )

    return score


def write_inspect(drawn: list[Answer]) -> None:
    """Write the logs of two days: the judge says whether answers are good that people reviewed."""
    for day in range(FEW):
        some = [a for a in drawn if a.day == day and a.reviewed][:IN_LOG]
        task = Task(
            name="judge",
            dataset=[
                Sample(id=a.response, input=a.response, target="good" if a.right else "bad")
                for a in some
            ],
            scorer=agrees(),
            version=3,
            metadata={"prompt_version": "v3"},
        )
        folder = tempfile.mkdtemp()
        model = get_model("mockllm/judge-2026-01-15", custom_outputs=[said(a) for a in some])
        quietly = {"display": "none", "max_samples": 1}
        (log,) = evaluate(task, model=model, log_dir=folder, log_format="json", **quietly)
        assert log.status == "success", log.error
        (path,) = Path(folder).glob("*.json")
        keep(f"inspect-{day + 1}.json", path.read_bytes())


def said(answer: Answer) -> ModelOutput:
    """Give what the judge answers: its verdict, and how sure it is of it."""
    is_good, p = answer.confidence >= CONFIDENCES[4], answer.confidence
    stated = {
        "verdict": "good" if is_good else "bad",
        "confidence": round(p if is_good else 1 - p, 2),
    }
    output = ModelOutput.from_content("judge-2026-01-15", json.dumps(stated))
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def keep(name: str, content: bytes) -> None:
    """Compress a file beside this one."""
    (FOLDER / f"{name}.xz").write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    everything = answers()
    write_events(everything)
    write_spans(everything)
    write_inspect(everything)
