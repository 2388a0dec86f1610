"""`settled_after: auto` as the runs of a model have found it."""

from monitor.config import Model
from monitor.store.store import Store


def settled_model(store: Store, name: str, model: Model) -> Model:
    """Replace `settled_after: auto` by what a run has found and kept; until then it stays."""
    days = store.read_settled_after(name) if model.settles_by_itself else None
    return model if days is None else model.settled(days)
