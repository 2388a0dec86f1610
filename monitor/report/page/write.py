"""Writes report pages into a folder or an object store, each file as a whole."""

from monitor.base.files import open_filesystem, replace
from monitor.config import REPORT_INDEX, Config, report_page
from monitor.pipeline.verdicts.references import read_references
from monitor.read.results import results_of
from monitor.report.page.assemble import model_page
from monitor.report.page.html import index_html, model_html
from monitor.report.page.index import index_of


def write_model(config: Config, name: str, folder: str) -> str:
    """Write the page of a model into a folder of pages, and give its place.

    Parameters
    ----------
    config, name : Config, str
        The model.
    folder : str
        A local path or a URL such as ``s3://bucket/prefix``.

    Raises
    ------
    ConfigError
        If Jinja or the package of the object store is not installed.
    DataError
        If nothing is stored of the model, or a file cannot be read or written.
    """
    place = f"{folder.rstrip('/')}/{report_page(name)}"
    write_model_file(config, name, place, home=f"../{REPORT_INDEX}")
    return place


def write_model_file(config: Config, name: str, place: str, *, home: str = "") -> None:
    """Write the page of a model into a file; `home` is the address of an index that it links to.

    Raises
    ------
    ConfigError, DataError
        As `write_model`.
    """
    page = model_page(config, name, read_references(config, name).fitted)
    _write(place, model_html(page, home=home))


def write_index(config: Config, folder: str) -> str:
    """Write the index of all models into a folder of pages, and give its place."""
    place = f"{folder.rstrip('/')}/{REPORT_INDEX}"
    _write(place, index_html(index_of(config)))
    return place


def write_configured_model(config: Config, name: str) -> None:
    """Write the page of a model that has just run, if the configuration has a place for pages.

    A model of which nothing is judged yet has no page, and that is no error.

    Raises
    ------
    ConfigError, DataError
        As `write_model`.
    """
    if config.report and results_of(config, name).days("verdicts"):
        write_model(config, name, config.report.path)


def write_configured_index(config: Config) -> None:
    """Write the index of all models, if the configuration has a place for pages."""
    if config.report:
        write_index(config, config.report.path)


def _write(place: str, html: str) -> None:
    filesystem, path = open_filesystem(place)
    replace(filesystem, path, html.encode(), what=place)
