"""A limit on the whole of what may wait for another machine.

Rule: the limit counts for a whole answer. With one between two bytes, a server that sends a byte a
second would be waited for without end.
"""

from collections.abc import Callable, Iterable, Iterator
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


STOP_SECONDS = 10.0  # for what is asked to stop


class StillRunningError(TimeoutError):
    """What was called takes longer and did not stop: nothing that it uses may be closed."""


def within(seconds: float, call: Callable[[], T], stop: Callable[[], object] | None = None) -> T:
    """Call a function, and stop waiting for it after so many seconds.

    Parameters
    ----------
    seconds : float
        How long.
    call : function
        What to call. What it does goes on in a thread that ends with the process.
    stop : function, optional
        Asks it to stop, from another thread.

    Raises
    ------
    TimeoutError
        If it takes longer; `StillRunningError` if it was asked to stop, and goes on.

    Examples
    --------
    >>> within(60.0, lambda: 7)
    7
    """
    results, errors = list[T](), list[BaseException]()

    def do() -> None:
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001 - raised again below
            errors.append(error)

    thread = Thread(target=do, daemon=True)
    thread.start()
    thread.join(seconds)
    late = thread.is_alive()
    if late and stop:
        stop()
        thread.join(STOP_SECONDS)
    if late:
        msg = f"no whole answer within {seconds:g} seconds"
        raise StillRunningError(msg) if stop and thread.is_alive() else TimeoutError(msg)
    if errors:
        raise errors[0]
    return results[0]


def each_within(seconds: float, of: Iterable[T]) -> Iterator[T]:
    """Give one thing after another, and wait for each of them so many seconds; raises as `within`.

    Examples
    --------
    >>> [*each_within(60.0, "abc")]
    ['a', 'b', 'c']
    """
    rest, end = iter(of), object()
    while (found := within(seconds, lambda: next(rest, end))) is not end:
        yield found  # type: ignore[misc]
