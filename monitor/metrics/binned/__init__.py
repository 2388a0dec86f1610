"""Bins, and the measures that compare mean score and prevalence within each."""
