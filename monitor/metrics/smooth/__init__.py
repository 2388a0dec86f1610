"""Measures without bins: kernels and cumulative differences."""
