"""Results as Prometheus gauges: served, pushed, written to a file or exported with timestamps."""
