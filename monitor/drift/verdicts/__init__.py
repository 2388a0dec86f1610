"""Verdicts: the fold over days, and what is said of a stream on each."""
