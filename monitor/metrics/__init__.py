"""Calibration measures as pure functions of a tally: no files, no clock, no configuration."""
