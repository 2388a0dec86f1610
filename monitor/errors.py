"""The two errors of this program; which one it is says whose fault it is."""


class ConfigError(Exception):
    """Raised when the configuration or the call is wrong: fix it here, then run again."""


class DataError(Exception):
    """Raised when the logs or the store are wrong: the data must be mended, or come later."""
