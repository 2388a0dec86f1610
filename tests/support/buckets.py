"""An object store on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import fsspec
import pytest


@cache
def library() -> Any:
    """Import the library of the object store, which only workers that start one do: for a second.

    It would look through its folders on each request, for the service of an address.
    """
    from moto import server  # noqa: PLC0415

    dispatcher = server.DomainDispatcherApplication
    dispatcher.get_backend_for_host = cache(dispatcher.get_backend_for_host)
    return server


def started_server() -> Any:
    """Start an object store."""
    server = library().ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    return server


@contextmanager
def bucket_named(name: str) -> Iterator[str]:
    """Run an object store with one bucket; all stores of this process share their buckets."""
    server = started_server()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "nobody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        # A filesystem keeps the address that it was opened with: of earlier tests, another one.
        fsspec.filesystem("s3").clear_instance_cache()
        fsspec.filesystem("s3", use_listings_cache=False, skip_instance_cache=True).mkdir(name)
        yield f"s3://{name}"
        fsspec.filesystem("s3").clear_instance_cache()
    server.stop()
