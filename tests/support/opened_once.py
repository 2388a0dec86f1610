"""Tables of a store that several renderers read, each several times, are opened once."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pyarrow as pa
import pytest

from monitor.store import day_files
from monitor.store.sealing import open_table


@contextmanager
def opened_once() -> Iterator[None]:
    """Keep each table by its bytes: to open one of verdicts takes longer than to show it."""

    @cache
    def kept(content: bytes, columns: tuple[str, ...] | None) -> tuple[pa.Table, str | None]:
        return open_table(content, None if columns is None else [*columns])

    def opened(content: bytes, columns: list[str] | None = None) -> tuple[pa.Table, str | None]:
        return kept(content, None if columns is None else tuple(columns))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(day_files, "open_table", opened)
        yield
