"""Snapshots in Prometheus' text format 0.0.4. Pure.

prometheus_client writes the same bytes (a test compares them), but it sorts and escapes the
labels of every sample, which takes most of its time. Here, gauges with the same labels share them.
What is written of thousands of models is joined gauge by gauge, so that it is in memory only once.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import chain
from math import isnan

from prometheus_client.utils import floatToGoString

from monitor.measures.gauges import CATALOGUE, Gauge
from monitor.measures.snapshot import Snapshot

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Lines = Mapping[str, bytes]  # the lines of each gauge
Parts = Sequence[Sequence[bytes]]  # of a text: of each gauge, what comes after one another


def lines(snapshot: Snapshot, gauges: Iterable[Gauge] = CATALOGUE) -> Lines:
    """Write the samples of every gauge, or of those given."""
    labels: dict[tuple[tuple[str, ...], tuple[str, ...]], str] = {}
    return {gauge.name: _lines(gauge, snapshot, labels) for gauge in gauges}


def exposition(models: Iterable[Lines], *, only: Container[str] | None = None) -> bytes:
    """Join the lines of several models to one text, in the order of the catalogue, as `parts`."""
    return b"".join(chain.from_iterable(parts(models, only=only)))


def parts(models: Iterable[Lines], *, only: Container[str] | None = None) -> Parts:
    """Put the lines of several models in the order of the catalogue, without copying them.

    Parameters
    ----------
    models : iterable of Lines
        What `lines` wrote for each model, at least one.
    only : container of str, optional
        Names of the requested gauges; all if None.
    """
    several = list(models)
    blocks = []
    for gauge in CATALOGUE:
        if only is not None and gauge.name not in only:
            continue
        head = f"# HELP {gauge.name} {gauge.meaning}\n# TYPE {gauge.name} gauge\n"
        # A gauge without the label model is in the lines of every model; one copy is enough.
        of_models = several if "model" in gauge.labels else several[:1]
        blocks.append([head.encode(), *(of_model[gauge.name] for of_model in of_models)])
    return blocks


def labels_text(names: tuple[str, ...], values: tuple[str, ...]) -> str:
    """Write labels in braces, sorted by name, values escaped."""
    pairs = sorted(zip(names, values, strict=True))
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs) + "}"


def _lines(
    gauge: Gauge, snapshot: Snapshot, labels: dict[tuple[tuple[str, ...], tuple[str, ...]], str]
) -> bytes:
    written = []
    for values, value in gauge.samples(snapshot):
        if not isnan(value):
            key = gauge.labels, values
            if key not in labels:
                labels[key] = labels_text(*key)
            number = floatToGoString(value)  # type: ignore[no-untyped-call]
            written.append(f"{gauge.name}{labels[key]} {number}\n")
    return "".join(written).encode()


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
