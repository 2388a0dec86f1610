"""Two programs that test continuously, and this monitor, on the streams of those programs."""
