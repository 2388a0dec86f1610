"""How fast it is: ratios measured side by side in one run. Run with `python -m bench.NAME`."""
