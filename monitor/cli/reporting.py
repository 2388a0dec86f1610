"""The command that writes report pages, and the pages that the daily run writes."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.base.errors import ConfigError, DataError, within_memory
from monitor.cli.options import (
    DEFAULT_CONFIG,
    ConfigPath,
    OneModel,
    chosen_models,
    invalid_models,
)
from monitor.cli.printing import say, stop_at

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

    config = load_config(config_path)
    place = out or (config.report.path if config.report else "")
    if not place:
        msg = (
            "there is no place for the pages; add --out FOLDER, or set report.path in the "
            "configuration."
        )
        raise ConfigError(msg)
    require_jinja()
    if name and place.endswith(PAGE):
        written = [_write_file(config, name, place)]
        errors: list[ConfigError | DataError] = []
    else:
        models = chosen_models(config, name)
        written, errors = write_pages(config, models, place)
        errors += invalid_models(config, name)
    for path in written:
        say(f"written: {path}", soft_wrap=True, highlight=False)
    stop_at(errors)


def write_pages(
    config: "Config", names: Iterable[str], folder: str
) -> tuple[list[str], list[ConfigError | DataError]]:
    """Write the pages of some models and the index; also collect the errors of models."""
    from monitor.pipeline.verdicts.references import read_references
    from monitor.report.page.write import write_index, write_model

    written, errors = list[str](), list[ConfigError | DataError]()
    for name in names:
        try:
            with within_memory(name):
                references = read_references(config, name).fitted
                written.append(write_model(config, name, references, folder))
        except (ConfigError, DataError) as error:
            errors.append(error)
    return [*written, write_index(config, folder)], errors


def write_configured_pages(config: "Config", names: Iterable[str]) -> list[ConfigError | DataError]:
    """Write the pages of models that have just run, if the configuration asks for pages."""
    errors = [error for name in names for error in write_configured_page(config, name)]
    return [*errors, *write_configured_index(config)]


def write_configured_page(config: "Config", name: str) -> tuple[ConfigError | DataError, ...]:
    """Write the page of a model that has just run, if pages are configured; give its error."""
    if not config.report:  # then neither the page's modules nor Jinja are needed
        return ()
    try:
        from monitor.report.page import write

        write.write_configured_model(config, name)
    except (ConfigError, DataError) as error:  # the results of the run are stored all the same
        return (error,)
    return ()


def write_configured_index(config: "Config") -> list[ConfigError | DataError]:
    """Write the index of all pages, if pages are configured; give its error."""
    if not config.report:
        return []
    try:
        from monitor.report.page import write

        write.write_configured_index(config)
    except (ConfigError, DataError) as error:
        return [error]
    return []


def _write_file(config: "Config", name: str, path: str) -> str:
    """Write the page of one model into one file, without a link to an index."""
    from monitor.pipeline.verdicts.references import read_references
    from monitor.report.page.assemble import model_page
    from monitor.report.page.html import model_html
    from monitor.report.page.write import write_page

    references = read_references(config, name).fitted
    write_page(path, model_html(model_page(config, name, references)))
    return path
