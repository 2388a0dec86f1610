"""An HTTP server that records what is posted to it, in place of Slack and PagerDuty."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

Posts = list[tuple[str, Any]]


@dataclass(frozen=True)
class Received:
    """Where the server listens, and what was posted there, in order: the path and the JSON.

    Beside each post, what its sender said of itself: the header Authorization.
    """

    url: str
    posts: Posts = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)


def at(path: str, posts: Posts) -> list[Any]:
    """Return what was posted to one path."""
    return [content for where, content in posts if where == path]


@contextmanager
def receiving() -> Iterator[Received]:
    """Listen on a free port of this machine, and answer every post as Slack does."""
    posts: Posts = []
    authorizations: list[str] = []
    both = Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            with both:
                posts.append((self.path, json.loads(content)))
                authorizations.append(self.headers.get("Authorization", ""))
            self.send_response(202 if "enqueue" in self.path else 200)  # PagerDuty's, or Slack's
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_arguments: Any) -> None:
            """Keep the output of the tests clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield Received(f"http://127.0.0.1:{server.server_port}", posts, authorizations)
        finally:
            server.shutdown()
            thread.join()
