"""Maps from scores to calibrated probabilities: what they are, how they are fitted and chosen."""
