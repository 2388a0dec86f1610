"""Tells, every morning, whether a model's probabilities can still be trusted."""
