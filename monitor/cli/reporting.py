"""The command that writes report pages, and the pages that the daily run writes."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from monitor.base.errors import ConfigError, DataError, within_memory
from monitor.cli.options import (
    DEFAULT_CONFIG,
    ConfigPath,
    OneModel,
    chosen_models,
    invalid_models,
)
from monitor.cli.printing import say_line, stop_at

if TYPE_CHECKING:
    from monitor.config import Config

PAGE = ".html"


def report(
    config_path: ConfigPath = DEFAULT_CONFIG,
    name: OneModel = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            help="A folder or object store for the pages, or with --model one .html file. "
            "By default report.path of the configuration.",
        ),
    ] = None,
) -> None:
    """Write a report page for each model, and an index.

    A page is one HTML file that needs nothing else: verdict, prior, reliability diagram, the last
    90 days, segments, incidents and data health.
    """
    from monitor.config import load_config
    from monitor.report.page.html import require_jinja
    from monitor.report.page.write import write_model_file

    config = load_config(config_path)
    place = out or (config.report.path if config.report else "")
    if not place:
        msg = (
            "there is no place for the pages; add --out FOLDER, or set report.path in the "
            "configuration."
        )
        raise ConfigError(msg)
    require_jinja()
    written, errors = [place], list[ConfigError | DataError]()
    if name and place.endswith(PAGE):  # without a link to an index
        write_model_file(config, name, place)
    else:
        written, errors = write_pages(config, chosen_models(config, name), place)
        errors += invalid_models(config, name)
    for path in written:
        say_line(f"written: {path}")
    stop_at(errors)


def write_pages(
    config: "Config", names: Iterable[str], folder: str
) -> tuple[list[str], list[ConfigError | DataError]]:
    """Write the pages of some models and the index; also collect the errors of models."""
    from monitor.report.page.write import write_index, write_model

    written, errors = list[str](), list[ConfigError | DataError]()
    for name in names:
        try:
            with within_memory(name):
                written.append(write_model(config, name, folder))
        except (ConfigError, DataError) as error:
            errors.append(error)
    return [*written, write_index(config, folder)], errors


def write_configured_pages(config: "Config", names: Iterable[str]) -> list[ConfigError | DataError]:
    """Write the pages of models that have just run, if the configuration asks for pages."""
    errors = [error for name in names for error in write_configured_page(config, name)]
    return [*errors, *write_configured_index(config)]


def write_configured_page(config: "Config", name: str) -> list[ConfigError | DataError]:
    """Write the page of a model that has just run, if pages are configured; give its error."""
    return _error_of(config, lambda pages: pages.write_configured_model(config, name))


def write_configured_index(config: "Config") -> list[ConfigError | DataError]:
    """Write the index of all pages, if pages are configured; give its error."""
    return _error_of(config, lambda pages: pages.write_configured_index(config))


def _error_of(config: "Config", write: Callable[[Any], None]) -> list[ConfigError | DataError]:
    """Give the error of writing pages, which hides no result of a run that is stored."""
    if not config.report:  # then neither the page's modules nor Jinja are needed
        return []
    try:
        from monitor.report.page import write as pages

        write(pages)
    except (ConfigError, DataError) as error:
        return [error]
    return []
