"""Whether a store can be read and written, for a server that shows it and is not the daily job."""

from monitor.store.store import Store


def look(root: str, model: str) -> None:
    """List a store as a scrape does.

    Raises
    ------
    ConfigError, DataError
        If there is none, or it cannot be reached.
    """
    store = Store(root)
    store.must_be_there()
    store.days("evaluations", model)


def try_to_write(root: str, name: str) -> None:
    """Write a small file under this name into a store, and remove it.

    Raises
    ------
    DataError
        If it cannot be written.
    """
    Store(root).try_to_write(name)
