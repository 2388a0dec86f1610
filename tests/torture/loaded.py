"""Loads all that a run needs: processes that are forked from one with this begin at once."""

from importlib import import_module

from monitor.evaluation import compile_ahead

for name in ("monitor.cli.many", "monitor.pipeline.runs.run", "pandas", "s3fs"):
    import_module(name)
compile_ahead.main()  # finds on disk what tests have compiled
