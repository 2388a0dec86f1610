"""Calibration maps from stored days, and which labels to buy."""
