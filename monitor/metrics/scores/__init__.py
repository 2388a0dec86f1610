"""Proper scores, what they decompose into, and what they bound."""
