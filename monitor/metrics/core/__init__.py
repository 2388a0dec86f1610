"""What every measure is made of: tallies, the grid of scores, estimates, resampling."""
