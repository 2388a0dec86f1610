"""Writes gauges to a file for the textfile collector of the Prometheus node exporter."""

from pathlib import Path

from fsspec.implementations.local import LocalFileSystem

from monitor.base.errors import ConfigError
from monitor.base.files import replace
from monitor.export.snapshot_reader import Reader
from monitor.export.text import exposition, lines

SUFFIX = ".prom"  # the collector ignores other files, such as a half-written temporary one


def write_textfile(reader: Reader, path: Path) -> list[str]:
    """Write the newest results of every model; a reader sees the old file or the new one.

    Returns
    -------
    list of str
        Why the results of some models could not be read.

    Raises
    ------
    ConfigError
        If the file would not be read by the collector, or its folder does not exist.
    DataError
        If no model can be read, or the file cannot be written.
    """
    if path.suffix != SUFFIX:
        msg = f"--into {path}: the collector reads only files ending in {SUFFIX}; name it so."
        raise ConfigError(msg)
    if not path.parent.is_dir():
        msg = (
            f"--into {path}: there is no folder {path.parent}; name the one that the node exporter "
            f"has as --collector.textfile.directory."
        )
        raise ConfigError(msg)
    snapshots = reader.snapshots().values()
    replace(LocalFileSystem(), str(path.absolute()), exposition(map(lines, snapshots)))
    return [fault for snapshot in snapshots for fault in snapshot.faults.values()]
