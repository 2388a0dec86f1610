"""The study of the 95 % intervals."""
