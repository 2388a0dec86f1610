"""`check --store`: what of the store is damaged, missing or left over, in words."""

from monitor.cli.options import of_each
from monitor.cli.printing import print_json, say, stop_at
from monitor.config import Config, Model
from monitor.errors import DataError
from monitor.pipeline.store_check import StoreCheck, check_store
from monitor.store.store import Store


def check_whole_store(config: Config, name: str | None, *, as_json: bool) -> None:
    """Read every file of the named model or of all, print what was found, and fail if it is bad."""
    store = Store(config.store)

    def look(model_name: str, _: Model) -> StoreCheck:
        return check_store(store, model_name)

    found, errors = of_each(config, name, look)
    others = [] if name else sorted(set(store.models()).difference(config.names))
    if as_json:
        print_json({"models": found, "not_configured": others})
    for one in [] if as_json else found.values():
        _say_found(one)
    for other in [] if as_json else others:
        say(
            f"{other}: is in the store but not in the configuration; delete its folders if it is "
            "no longer needed.",
            soft_wrap=True,
        )
    bad = [DataError(said) for one in found.values() for said in (*one.damaged, *one.missing)]
    stop_at([*bad, *errors])
    if not as_json:
        say("No file of the store is damaged or missing; nothing was written.")


def _say_found(one: StoreCheck) -> None:
    counts = f"damaged {len(one.damaged)}, missing {len(one.missing)}"
    say(
        f"{one.model}: files read {one.files}, {counts}, left over {len(one.left_over)}",
        soft_wrap=True,
    )
    for said in one.left_over:
        say(said, soft_wrap=True, markup=False, highlight=False)
