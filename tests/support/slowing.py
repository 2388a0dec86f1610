"""A way to a server that becomes slow: a byte now and then."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

SECONDS = 0.1  # between two bytes


def listen(answer: Callable[[socket.socket], None]) -> socket.socket:
    """Answer each connection in a thread, until the socket that is returned is shut down."""
    server = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        with suppress(OSError):
            while True:
                Thread(target=answer, args=server.accept()[:1], daemon=True).start()

    Thread(target=accept, daemon=True).start()
    return server


def place_of(server: socket.socket) -> str:
    """Give its host and port."""
    return f"127.0.0.1:{server.getsockname()[1]}"


def stop(server: socket.socket) -> None:
    """Accept nothing more."""
    with suppress(OSError):
        server.shutdown(socket.SHUT_RDWR)
    server.close()


@contextmanager
def slowing(place: str) -> Iterator[tuple[str, Event]]:
    """Pass on what comes to another place; what it answers as slow bytes once the event is set."""
    slow, ended = Event(), Event()
    host, _, port = place.rpartition(":")

    def answer(near: socket.socket) -> None:
        with suppress(OSError), near, socket.create_connection((host, int(port))) as far:
            Thread(target=_pass_on, args=(near, far, Event(), ended), daemon=True).start()
            _pass_on(far, near, slow, ended)

    server = listen(answer)
    try:
        yield place_of(server), slow
    finally:
        ended.set()
        stop(server)


def _pass_on(source: socket.socket, target: socket.socket, slow: Event, ended: Event) -> None:
    with suppress(OSError):
        while content := source.recv(65_536):
            if not slow.is_set():
                target.sendall(content)
                continue
            for number in content:
                if ended.wait(SECONDS):
                    return
                target.sendall(bytes([number]))
        target.shutdown(socket.SHUT_WR)
