"""One day of the fold over all streams."""
