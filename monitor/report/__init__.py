"""Evaluations for people to read."""
