"""TCE, the test-based calibration error, and its null reference."""
