"""The exact two-sided binomial test and the sets of probabilities that it accepts."""
