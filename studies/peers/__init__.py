"""Compares this monitor with other tools on logs whose truth is known; see run.py."""
