"""Spark, for the tests that read logs with it."""

from tests.logs.conftest import spark

__all__ = ["spark"]
