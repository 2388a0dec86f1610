"""Measures for more than two classes and for regression."""
