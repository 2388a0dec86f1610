"""`check --store`: what of the store is damaged, missing or left over, in words."""

from monitor.base.errors import DataError
from monitor.cli.options import of_each
from monitor.cli.printing import print_json, say, say_line, stop_at
from monitor.config import Config, Model
from monitor.pipeline.housekeeping.store_check import StoreCheck, check_store
from monitor.store.store import Store


def check_whole_store(config: Config, name: str | None, *, as_json: bool) -> None:
    """Read every file of the named model or of all, print what was found, and fail if it is bad."""
    store = Store(config.store)

    def look(model_name: str, _: Model) -> StoreCheck:
        return check_store(store, model_name)

    checks, errors = of_each(config, name, look)
    others = [] if name else sorted(set(store.models()).difference(config.names))
    if as_json:
        print_json({"models": checks, "not_configured": others})
    for checked in [] if as_json else checks.values():
        _say_found(checked)
    for other in [] if as_json else others:
        say_line(
            f"{other}: is in the store but not in the configuration; delete its folders if it is "
            "no longer needed."
        )
    bad = [
        DataError(said)
        for checked in checks.values()
        for said in (*checked.damaged, *checked.missing)
    ]
    stop_at([*bad, *errors])
    if not as_json:
        say("No file of the store is damaged or missing; nothing was written.")


def _say_found(checked: StoreCheck) -> None:
    counts = f"damaged {len(checked.damaged)}, missing {len(checked.missing)}"
    say_line(
        f"{checked.model}: files read {checked.files}, {counts}, left over {len(checked.left_over)}"
    )
    for said in checked.left_over:
        say_line(said)
