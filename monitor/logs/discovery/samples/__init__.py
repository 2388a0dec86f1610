"""Samples of logs that nobody has described: what lies in a folder, and rows of it."""
